"""A graph and a partition of it on the host, checked, with the arrays that several metrics need."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.arrays import host_integers
from portpart.graphs.by_name import in_order
from portpart.graphs.convert import as_graph
from portpart.options import MANY_BLOCKS, number_of_blocks


class PartitionView:
    """Host arrays of a graph and a partition.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
    part : array_like of int, shape (n,), or PartitionResult
        Block of each vertex, 0 ... k - 1.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Raises
    ------
    InputError
        If `part` has the wrong length or type, or names a block outside 0 ... k - 1.
    """

    def __init__(self, graph: Any, part: Any, k: int | None = None) -> None:
        self.graph = as_graph(graph, copy=False)
        part, k = part_of(part, k)
        k = None if k is None else number_of_blocks(k, self.graph.num_vertices)
        part = in_order(part, self.graph.names, "part")
        self.part = checked_part(part, self.graph.num_vertices, k)
        self.k = int(self.part.max(initial=-1)) + 1 if k is None else k
        to_host = self.graph.space.to_host
        self.offsets: np.ndarray = to_host(self.graph.offsets)
        self.targets: np.ndarray = to_host(self.graph.targets)

    @cached_property
    def arc_weights(self) -> np.ndarray | None:
        """Weights of the arcs, None if all are one."""
        weights = self.graph.weights
        return None if weights is None else self.graph.space.to_host(weights)

    @cached_property
    def vertex_weights(self) -> np.ndarray | None:
        """Weights of the vertices, None if all are one."""
        weights = self.graph.vertex_weights
        return None if weights is None else self.graph.space.to_host(weights)

    @cached_property
    def cut_arcs(self) -> np.ndarray:
        """Positions of the arcs whose ends lie in different blocks."""
        tails = np.repeat(self.part, np.diff(self.offsets))
        return np.flatnonzero(tails != self.part[self.targets])

    @cached_property
    def cut_arc_tails(self) -> np.ndarray:
        """The vertex that each of the cut arcs leaves."""
        return np.searchsorted(self.offsets, self.cut_arcs, side="right") - 1

    @cached_property
    def cut_arc_heads(self) -> np.ndarray:
        """The vertex that each of the cut arcs enters."""
        return self.targets[self.cut_arcs]

    @cached_property
    def cut_arc_weights(self) -> np.ndarray:
        """Weights of the cut arcs, as int64."""
        if self.arc_weights is None:
            return np.ones(len(self.cut_arcs), np.int64)
        return self.arc_weights[self.cut_arcs].astype(np.int64)


def part_of(part: Any, k: int | None) -> tuple[Any, int | None]:
    """Blocks and their number; those of a result, if it is one."""
    if hasattr(part, "__array__") or not hasattr(part, "part"):  # names of a Series may be "part"
        return part, k
    return part.part, getattr(part, "k", None) if k is None else k


def checked_part(part: Any, n: int, k: int | None) -> np.ndarray:
    """`part` as a host array of integers, after checking its length and range."""
    if part is None:
        raise InputError(f"part is None; the blocks of {n} vertices are needed")
    array = host_integers(part)
    if array.ndim != 1 or len(array) != n:
        raise InputError(
            f"part has shape {tuple(array.shape)} for a graph of {n} vertices; shape ({n},) is "
            "needed"
        )
    if array.dtype.kind not in "iub" and n:
        raise InputError(f"part is of type {array.dtype}; block numbers must be integers")
    bad = array < 0 if k is None else (array < 0) | (array >= k)
    if bad.any():
        vertex = int(bad.argmax())
        allowed = "must be >= 0" if k is None else f"must lie in 0 ... {k - 1}"
        raise InputError(f"part[{vertex}] is {array[vertex]}; block numbers {allowed}")
    if k is None and int(array.max(initial=0)) >= max(n, MANY_BLOCKS):
        vertex = int(array.argmax())
        raise InputError(f"part[{vertex}] is {array[vertex]} for a graph of {n} vertices; pass k "
                         "if there are so many blocks")
    return array.astype(np.int64, copy=False)
