"""Contraction over several ranks: each adds up its rows, and owners of clusters add up these."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.rank_clustering import RankClusters
from portpart.backends import language as kl
from portpart.backends.communication.plan import planned
from portpart.backends.interface import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.csr import merged_arcs, tails, unpacked
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.distribution import distributed
from portpart.graphs.limits import MAX_INT32
from portpart.graphs.row_range import Rows
from portpart.graphs.runs import Runs
from portpart.primitives.basic import converted, gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.ship import exchanged, sent
from portpart.primitives.sort import sort_keys


def contract_ranks(graph: DistributedGraph, clusters: RankClusters,
                   weight_type: np.dtype[Any]) -> DistributedGraph:
    """Quotient of a graph: weights of parallel arcs add up, arcs inside a cluster vanish.

    All ranks call it.  The owner of a leader owns the cluster.  Rows are ascending.

    Parameters
    ----------
    graph : DistributedGraph
    clusters : RankClusters
    weight_type : dtype
        Type of the coarse arc weights.

    Raises
    ------
    InputError
        If there are 2^31 clusters.
    OutOfMemory
        On all ranks, if one of them has too little memory.
    """
    space, comm, local = graph.space, graph.comm, graph.local
    number, first = clusters.cluster, clusters.first

    def rows() -> tuple[Array, Array]:
        if first[-1] > MAX_INT32:
            raise InputError(f"{first[-1]} clusters are too many; {MAX_INT32} are the most")
        sources = gather(space, number, tails(space, local.offsets, local.num_arcs))
        weights = local.weights
        if weights is None:
            weights = space.full(local.num_arcs, 1, np.int64)
        keys, sums = merged_arcs(space, int(first[-1]), sources,
                                 gather(space, number, local.targets), weights)
        return keys, converted(space, sums, np.int64)

    def members() -> tuple[Array, Array]:
        masses = local.vertex_weights
        if masses is None:
            masses = space.full(local.num_vertices, 1, np.int64)
        return _added(space, number[: local.num_vertices], masses[: local.num_vertices])

    keys, sums = _at_owners(graph, first, 32, *planned(comm, rows))
    _, masses = _at_owners(graph, first, 0, *planned(comm, members))

    def made() -> Rows:
        low, own = int(first[comm.rank]), int(first[comm.rank + 1] - first[comm.rank])
        space.parallel_for(len(keys), shift_key, keys, low << 32)
        offsets, targets, weights = unpacked(space, own, keys, sums)
        weights = space.asarray(weights).astype(weight_type, copy=False)
        return Rows(low, int(first[-1]), offsets, targets, weights, masses, space)

    return distributed(comm, planned(comm, made))


def _added(space: ExecutionSpace, keys: Array, values: Array) -> tuple[Array, Array]:
    """Distinct keys in ascending order, and the sum of the values of each."""
    ordered, order = sort_keys(space, keys)
    runs = Runs(space, ordered)
    return runs.first_of(ordered), runs.sums_of(values, order)


def _at_owners(graph: DistributedGraph, first: np.ndarray, shift: int, keys: Array,
               values: Array) -> tuple[Array, Array]:
    """The same keys and sums of all ranks at the owners of the clusters, ``key >> shift``."""
    space, size = graph.space, graph.comm.size
    bounds = space.empty(size + 1, np.int64)
    space.parallel_for(size + 1, find_first_key, keys, len(keys), space.asarray(first), shift,
                       bounds)
    counts = np.diff(space.to_host(bounds))
    arriving = exchanged(graph.comm, counts)
    return _added(space, *sent(graph.comm, space, [keys, values], counts, arriving))


@kl.kernel
def find_first_key(rank, keys, count, first, shift, bounds):
    """bounds[rank] = the first key of a cluster of the rank, or of one behind it."""
    bounds[rank] = lower_bound(keys, 0, count, first[rank] << shift)


@kl.kernel
def shift_key(i, keys, offset):
    """keys[i] -= offset."""
    keys[i] -= offset
