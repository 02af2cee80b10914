"""Metrics of partitions whose blocks several ranks have; nothing is gathered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from portpart.backends.communication.calls import agree, sum_over_ranks
from portpart.backends.communication.plan import planned
from portpart.graphs.blocks import blocks_of, held_number
from portpart.graphs.rank_graph import RankGraph
from portpart.metrics.view import PartitionView

if TYPE_CHECKING:
    from portpart.graphs.distributed import DistributedGraph

Result = TypeVar("Result")


class RankView(PartitionView):
    """The rows of a rank on the host, and the blocks of its vertices and ghosts.

    All ranks make one.

    Parameters
    ----------
    rows : DistributedGraph
    part : array_like of int, shape (own vertices,), or RankPartitionResult
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Raises
    ------
    InputError
        On all ranks, if blocks of one do not fit, or ranks have different `k`.
    """

    def __init__(self, rows: DistributedGraph, part: Any, k: int | None) -> None:
        local, own, space = rows.local, rows.local.num_vertices, rows.space
        blocks, number = planned(rows.comm, lambda: blocks_of(part, own, k))
        agree(rows.comm, {"k": str(held_number(part, k))})
        largest = np.array([number], np.int64)
        rows.comm.all_reduce(largest, 0, 1, "max")
        every = planned(rows.comm, lambda: space.empty(own + rows.num_ghosts, np.int32))
        every[:own] = space.asarray(blocks)
        rows.push([every])
        self.comm, self.num_own, self.first = rows.comm, own, int(rows.first[rows.comm.rank])
        self.graph, self.k = local, int(largest[0])
        self.part = space.to_host(every).astype(np.int64)
        self.offsets, self.targets = space.to_host(local.offsets), space.to_host(local.targets)


def on_ranks(graph: RankGraph, part: Any, k: int | None,
             measure: Callable[[RankView], Result]) -> Result:
    """What a function finds with the views of all ranks.  All ranks call it."""
    return graph.call(lambda rows: measure(RankView(rows, part, k)))


def cut_of_ranks(view: RankView) -> int:
    """:func:`cut` of the views of all ranks."""
    return int(sum_over_ranks(view.comm, [view.cut_arc_weights.sum()])[0]) // 2


def boundary_of_rank(view: RankView) -> np.ndarray:
    """:func:`boundary_vertices` of this rank."""
    return view.first + np.unique(view.cut_arc_tails)


def block_weights_of_ranks(view: RankView) -> np.ndarray:
    """:func:`block_weights` of the views of all ranks."""
    weights, own = np.zeros(view.k, np.int64), view.part[: view.num_own]
    masses = view.vertex_weights
    np.add.at(weights, own, 1 if masses is None else masses[: view.num_own])
    return sum_over_ranks(view.comm, weights)

