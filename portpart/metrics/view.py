"""A graph and a partition in the form that metrics use, on the host or on several ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from portpart.backends.communication import agree, planned, sum_over_ranks
from portpart.errors import InputError
from portpart.graphs import Blocks, GraphLike, Hypergraph, blocks_of, held_number
from portpart.graphs.ranks import RankGraph, with_ghost_values
from portpart.inputs import as_graph
from portpart.primitives import held

if TYPE_CHECKING:
    from portpart.graphs.ranks import DistributedGraph

# A graph and a partition on the host, checked, with the arrays that several metrics need


class PartitionView:
    """Host arrays of a graph and a partition.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`
    part : array_like of int, shape (n,), dict, PartitionResult or Session
        Block of each vertex, 0 ... k - 1.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Raises
    ------
    InputError
        If `part` has the wrong length or type, or a block outside 0 ... k - 1.
    """

    def __init__(self, graph: GraphLike, part: Blocks, k: int | None = None) -> None:
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
        """Positions of the arcs whose ends are in different blocks."""
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
        """Communication volume of each block: its vertices, once per other adjacent block."""
        pairs = np.unique(self.cut_arc_tails * self.k + self.part[self.cut_arc_heads])
        return np.bincount(self.part[pairs // max(1, self.k)], minlength=self.k)

    @cached_property
    def cut_arc_weights(self) -> np.ndarray:
        """Weights of the cut arcs, as int64."""
        if self.arc_weights is None:
            return np.ones(len(self.cut_arcs), np.int64)
        return self.arc_weights[self.cut_arcs].astype(np.int64)


# Metrics of partitions over several ranks, without gathering -----------------------------------


Result = TypeVar("Result")


class RankView(PartitionView):
    """The rows of a rank on the host, and the blocks of its vertices and ghosts.

    All ranks make a view together.

    Parameters
    ----------
    rows : DistributedGraph
    part : array_like of int, shape (own vertices,), or RankPartitionResult
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Raises
    ------
    InputError
        On all ranks, if blocks of a rank do not fit, or ranks have different `k`.
    """

    def __init__(self, rows: DistributedGraph, part: Blocks, k: int | None) -> None:
        local, own, space = rows.local, rows.local.num_vertices, rows.space
        blocks, number = planned(rows.comm, lambda: blocks_of(part, own, k))
        agree(rows.comm, {"k": str(held_number(part, k))})
        largest = np.array([number], np.int64)
        rows.comm.all_reduce(largest, 0, 1, "max")
        given = planned(rows.comm, lambda: space.asarray(blocks, np.int32))
        (every,), _ = held(rows.comm, space, with_ghost_values(space, rows.halo, [given]))
        self.comm, self.num_own, self.first = rows.comm, own, int(rows.first[rows.comm.rank])
        self.graph, self.k = local, int(largest[0])
        self.part = space.to_host(every).astype(np.int64)
        self.offsets, self.targets = space.to_host(local.offsets), space.to_host(local.targets)


def on_ranks(graph: RankGraph, part: Blocks, k: int | None,
             measure: Callable[[RankView], Result]) -> Result:
    """Return the result of a function of the views of all ranks. All ranks call it."""
    return graph.call(lambda rows: measure(RankView(rows, part, k)))


def block_weights_of_ranks(view: RankView) -> np.ndarray:
    """Return :func:`block_weights` of the views of all ranks."""
    weights, own = np.zeros(view.k, np.int64), view.part[: view.num_own]
    masses = view.vertex_weights
    np.add.at(weights, own, 1 if masses is None else masses[: view.num_own])
    return sum_over_ranks(view.comm, weights)
