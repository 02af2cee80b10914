"""Rows of a range of vertices: what one of several owners holds of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.limits import MAX_INT32
from portpart.options import checked_integer

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace

MAX_ROWS = 2**62
"""Vertices that a graph may have of which only ranges are in memory."""

VERTEX_COST = 4
"""A vertex counts as much as this many arcs, where ranges must have equal cost."""


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


def checked_range(first: Any, last: Any, num_vertices: int) -> tuple[int, int]:
    """The borders of a range of vertices, as integers.

    Raises
    ------
    InputError
        If they are no integers, descend, or are beyond the vertices.
    """
    low = checked_integer("first", first, 0, num_vertices)
    high = checked_integer("last", last, 0, num_vertices)
    if low > high:
        raise InputError(f"first is {low} and last {high}; they must ascend")
    return low, high


def id_dtype(num_vertices: int) -> np.dtype[Any]:
    """The type of the ids of a graph of this many vertices: int32 below 2^31 of them."""
    return np.dtype(np.int32 if num_vertices <= MAX_INT32 else np.int64)


def balanced_borders(offset_at: Callable[[int], int], num_vertices: int, num_arcs: int,
                     size: int, vertex_cost: int) -> list[int]:
    """Borders of `size` ranges of about equal cost, by binary search.

    Parameters
    ----------
    offset_at : callable
        ``offset_at(v)``: arcs of the vertices before v.
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
