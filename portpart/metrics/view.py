"""A graph and a partition of it on the host, checked, with the arrays that several metrics need."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.blocks import blocks_of
from portpart.graphs.convert import as_graph
from portpart.graphs.hypergraph import Hypergraph


class PartitionView:
    """Host arrays of a graph and a partition.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
    part : array_like of int, shape (n,), dict, PartitionResult or Session
        Block of each vertex, 0 ... k - 1.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Raises
    ------
    InputError
        If `part` has the wrong length or type, or names a block outside 0 ... k - 1.
    """

    def __init__(self, graph: Any, part: Any, k: int | None = None) -> None:
        if isinstance(graph, Hypergraph):
            raise InputError("this metric is for graphs; for hypergraphs use km1, their "
                             "communication volume, cut, soed, absorption, connectivity_histogram "
                             "and metrics of block weights: portpart.metrics.evaluate has all")
        self.graph = as_graph(graph, copy=False)
        self.part, self.k = blocks_of(part, self.graph.num_vertices, k, self.graph.names)
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
        tails = np.repeat(self.part[: len(self.offsets) - 1], np.diff(self.offsets))
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
    def sent(self) -> np.ndarray:
        """Communication volume of each block: its vertices, once for each other block nearby."""
        pairs = np.unique(self.cut_arc_tails * self.k + self.part[self.cut_arc_heads])
        return np.bincount(self.part[pairs // max(1, self.k)], minlength=self.k)

    @cached_property
    def cut_arc_weights(self) -> np.ndarray:
        """Weights of the cut arcs, as int64."""
        if self.arc_weights is None:
            return np.ones(len(self.cut_arcs), np.int64)
        return self.arc_weights[self.cut_arcs].astype(np.int64)
