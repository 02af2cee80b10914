"""Rows of a range of vertices, which one rank holds, and their checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.arrays import item_of
from portpart.graphs.csr import without_loops
from portpart.graphs.structure import MAX_INT32
from portpart.graphs.weights import NOT_NEGATIVE, surveyed_weights, total_of
from portpart.options import checked_integer

# Rows of a range of vertices: the part of a graph that one of several ranks holds --------------


MAX_ROWS = 2**62
"""Maximum number of vertices of a graph of which only ranges are in memory."""

VERTEX_COST = 4
"""A vertex counts as this many arcs in the cost of a range."""


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The rows of the vertices ``first <= v < last`` of a graph.

    Parameters
    ----------
    first : int
        The first vertex of the range.
    num_vertices : int
        Vertices of the whole graph.
    offsets : array of int32 or int64, shape (last - first + 1,)
        Arcs ``offsets[i] ... offsets[i + 1] - 1`` leave vertex ``first + i``; the first offset
        is 0.
    targets : array of int32 or int64
        Head of each arc, a vertex of the whole graph; int64 from 2^31 vertices on.
    weights : array of int32 or int64, or None
        Weight of each arc; None means that every arc weighs 1.
    vertex_weights : array of int64, shape (last - first,), or None
        None means that every vertex weighs 1.
    space : ExecutionSpace
        The space that owns the arrays.

    Examples
    --------
    >>> import portpart
    >>> rows = portpart.generators.shares.grid_2d(3).rows(3, 5)
    >>> rows
    <Rows: vertices 3 to 5 of 9, 7 arcs, on cpu>
    >>> rows.offsets.tolist(), rows.targets.tolist()
    ([0, 3, 7], [0, 4, 6, 1, 3, 5, 7])
    """

    first: int
    num_vertices: int
    offsets: Array
    targets: Array
    weights: Array | None
    vertex_weights: Array | None
    space: ExecutionSpace

    @property
    def last(self) -> int:
        """The vertex behind the range."""
        return self.first + len(self.offsets) - 1

    @property
    def num_arcs(self) -> int:
        """Number of arcs that leave vertices of the range."""
        return len(self.targets)

    def __repr__(self) -> str:
        return (f"<Rows: vertices {self.first:,} to {self.last:,} of {self.num_vertices:,}, "
                f"{self.num_arcs:,} arcs, on {self.space.name}>")


def checked_range(first: int, last: int, num_vertices: int) -> tuple[int, int]:
    """Return the borders of a range of vertices as integers.

    Raises
    ------
    InputError
        If they are not integers, descend, or are outside 0 ... `num_vertices`.
    """
    low = checked_integer("first", first, 0, num_vertices)
    high = checked_integer("last", last, 0, num_vertices)
    if low > high:
        raise InputError(f"first is {low} and last {high}; they must ascend")
    return low, high


def id_dtype(num_vertices: int) -> np.dtype:
    """Return the type of the ids of a graph of this many vertices: int32 below 2^31."""
    return np.dtype(np.int32 if num_vertices <= MAX_INT32 else np.int64)


def balanced_borders(offset_at: Callable[[int], int], num_vertices: int, num_arcs: int,
                     size: int, vertex_cost: int) -> list[int]:
    """Return the borders of `size` ranges of about equal cost, by binary search.

    Parameters
    ----------
    offset_at : callable
        ``offset_at(v)``: the number of arcs of the vertices before v.
    num_vertices, num_arcs : int
    size : int
    vertex_cost : int
        A vertex costs as much as this many arcs.

    Returns
    -------
    list of int
        ``size + 1`` borders from 0 to `num_vertices`.  A range costs at most a row more than the
        mean.
    """
    total = num_arcs + vertex_cost * num_vertices
    borders = [0]
    for rank in range(1, size):
        low, high = borders[-1], num_vertices
        while low < high:
            middle = (low + high) // 2
            if size * (offset_at(middle) + vertex_cost * middle) < rank * total:
                low = middle + 1
            else:
                high = middle
        borders.append(low)
    return [*borders, num_vertices]


# Checks of the rows of a range: ends, weights, loops -------------------------------------------
#
# Reverse arcs cannot be checked here: that needs all rows of a graph.


BAD_TARGET, NEGATIVE_WEIGHT, LOOPS = 0, 1, 2


def checked_rows(first: int, num_vertices: int, offsets: Array, targets: Array,
                 weights: Array | None, vertex_weights: Array | None,
                 space: ExecutionSpace | str) -> Rows:
    """Return checked rows in the memory of `space`, without loops.

    Parameters
    ----------
    first, num_vertices : int
    offsets : array of int64
        From 0 to the number of targets, ascending.  All arrays are on the host, or in `space`.
    targets : array of int32 or int64
    weights : array of int32 or int64, or None
        They keep their type, so that it is the same for all ranges.
    vertex_weights : array of integers or None
    space : ExecutionSpace or str

    Raises
    ------
    InputError
        Its `vertex` has the first target that is not a vertex, or the first negative weight.
    """
    count, num_arcs, where = len(offsets) - 1, len(targets), backends.as_space(space)
    here = backends.space("cpu") if isinstance(offsets, np.ndarray) else where
    words = here.asarray(np.array([num_arcs, num_arcs, 0]))
    here.parallel_for(count, survey_row, first, num_vertices, offsets, targets, weights, words,
                      team=8)
    found = here.to_host(words).tolist()
    if found[BAD_TARGET] < num_arcs:
        v, u, _ = _arc_at(here, found[BAD_TARGET], first, offsets, targets, None)
        raise InputError(f"{u}, a neighbour of vertex {v}, is not a vertex: it must lie in 0 ... "
                         f"{num_vertices - 1}", vertex=v)
    if weights is not None and found[NEGATIVE_WEIGHT] < num_arcs:
        v, u, weight = _arc_at(here, found[NEGATIVE_WEIGHT], first, offsets, targets, weights)
        raise InputError(f"arc ({v}, {u}) has weight {weight}; {NOT_NEGATIVE}", vertex=v)
    if found[LOOPS]:
        offsets, targets, weights = without_loops(here, offsets, targets, weights, first)
    if weights is not None:
        total_of(weights, "arc weights")
    masses = None if vertex_weights is None else _checked_masses(here, first, vertex_weights)
    return Rows(first, num_vertices, where.asarray(offsets),
                where.asarray(targets.astype(id_dtype(num_vertices), copy=False)),
                None if weights is None else where.asarray(weights),
                None if masses is None else where.asarray(masses), where)


def _checked_masses(space: ExecutionSpace, first: int, weights: Array) -> Array:
    """Return vertex weights as int64; raise if one is negative."""
    wide = weights.astype(np.int64, copy=False)
    place, _ = surveyed_weights(space, wide, "vertex weights")
    if place is not None:
        raise InputError(f"vertex {first + place} has weight {int(wide[place])}; vertex weights "
                         "must be >= 0", vertex=first + place)
    return wide


def _arc_at(space: ExecutionSpace, arc: int, first: int, offsets: Array, targets: Array,
            weights: Array | None) -> tuple[int, int, Any]:
    """Return tail, head and weight of an arc."""
    tail = first + int(np.searchsorted(space.to_host(offsets), arc, side="right")) - 1
    return tail, item_of(space, targets, arc), None if weights is None else item_of(
        space, weights, arc)


@kl.kernel
def survey_row(i, first, num_vertices, offsets, targets, weights, found):
    """Store the first arcs with invalid ends and weights in `found`, and count loops; atomic."""
    v = first + i
    for arc in range(offsets[i] + kl.lane(), offsets[i + 1], kl.team_size()):
        u = kl.int64(targets[arc])
        if u < 0 or u >= num_vertices:
            kl.atomic_min(found, BAD_TARGET, arc)
        if u == v:
            kl.atomic_add(found, LOOPS, 1)
        elif kl.value_or(weights, arc, 1) < 0:
            kl.atomic_min(found, NEGATIVE_WEIGHT, arc)
