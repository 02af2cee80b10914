"""Rows of a range that are checked: ends, weights, no loops.

Whether arcs have reverse arcs shows in all rows of a graph only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.errors import InputError
from portpart.graphs.arrays import item_of
from portpart.graphs.csr import proper_rows, tails
from portpart.graphs.row_range import Rows, id_dtype
from portpart.graphs.weights import NOT_NEGATIVE, total_of

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace

BAD_TARGET, NEGATIVE_WEIGHT, LOOPS = 0, 1, 2


def checked_rows(first: int, num_vertices: int, offsets: Array, targets: Array,
                 weights: Array | None, vertex_weights: Array | None,
                 space: ExecutionSpace | str) -> Rows:
    """Rows in the memory of `space`, without their loops.

    Parameters
    ----------
    first, num_vertices : int
    offsets : array of int64
        From 0 to the number of targets, ascending.  All arrays are of the host, or of `space`.
    targets : array of int32 or int64
    weights : array of int32 or int64, or None
        They keep their type, so that those of all ranges have the same.
    vertex_weights : array of integers or None
    space : ExecutionSpace or str

    Raises
    ------
    InputError
        Its `vertex` is the one with the first target that is no vertex, or with the first negative
        weight.
    """
    count, num_arcs, where = len(offsets) - 1, len(targets), backends.as_space(space)
    here = backends.space("cpu") if isinstance(offsets, np.ndarray) else where
    words = here.asarray(np.array([num_arcs, num_arcs, 0]))
    here.parallel_for(count, survey_row, first, num_vertices, offsets, targets, weights, words,
                      team=8)
    found = here.to_host(words).tolist()
    if found[BAD_TARGET] < num_arcs:
        v, u, _ = _arc_at(here, found[BAD_TARGET], first, offsets, targets, None)
        _refuse(v, f"{u}, a neighbour of vertex {v}, is not a vertex: it must lie in 0 ... "
                   f"{num_vertices - 1}")
    if weights is not None and found[NEGATIVE_WEIGHT] < num_arcs:
        v, u, weight = _arc_at(here, found[NEGATIVE_WEIGHT], first, offsets, targets, weights)
        _refuse(v, f"arc ({v}, {u}) has weight {weight}; {NOT_NEGATIVE}")
    if found[LOOPS]:
        offsets, targets, weights = _without_loops(here, first, offsets, targets, weights)
    if weights is not None:
        total_of(weights, "arc weights")
    masses = None if vertex_weights is None else _checked_masses(first, vertex_weights)
    return Rows(first, num_vertices, where.asarray(offsets),
                where.asarray(targets.astype(id_dtype(num_vertices), copy=False)),
                None if weights is None else where.asarray(weights),
                None if masses is None else where.asarray(masses), where)


def _checked_masses(first: int, weights: Array) -> Array:
    """Vertex weights as int64, none of which may be negative."""
    wide = weights.astype(np.int64, copy=False)
    if len(wide) and int(wide.min()) < 0:
        place = int((wide < 0).argmax())
        _refuse(first + place, f"vertex {first + place} has weight {int(wide[place])}; vertex "
                               "weights must be >= 0")
    total_of(wide, "vertex weights")
    return wide


def _arc_at(space: ExecutionSpace, arc: int, first: int, offsets: Array, targets: Array,
            weights: Array | None) -> tuple[int, int, Any]:
    """Tail, head and weight of an arc."""
    tail = first + int(np.searchsorted(space.to_host(offsets), arc, side="right")) - 1
    return tail, item_of(space, targets, arc), None if weights is None else item_of(
        space, weights, arc)


def _refuse(vertex: int, problem: str) -> NoReturn:
    error = InputError(problem)
    error.vertex = vertex
    raise error


def _without_loops(space: ExecutionSpace, first: int, offsets: Array, targets: Array,
                   weights: Array | None) -> tuple[Array, Array, Array | None]:
    """The same rows without arcs from a vertex to itself."""
    heads = targets if first == 0 else targets.astype(np.int64) - first
    return proper_rows(space, offsets, targets, weights,
                       heads != tails(space, offsets, len(targets)))


@kl.kernel
def survey_row(i, first, num_vertices, offsets, targets, weights, found):
    """Note the smallest arcs with bad ends and weights in `found`, and count loops; atomic."""
    v = first + i
    for arc in range(offsets[i] + kl.lane(), offsets[i + 1], kl.team_size()):
        u = kl.int64(targets[arc])
        if u < 0 or u >= num_vertices:
            kl.atomic_min(found, BAD_TARGET, arc)
        if u == v:
            kl.atomic_add(found, LOOPS, 1)
        elif kl.value_or(weights, arc, 1) < 0:
            kl.atomic_min(found, NEGATIVE_WEIGHT, arc)
