"""The hierarchy of coarser graphs over several ranks, with the same levels as on one device.

Small levels are *gathered*: every rank collects the graph and continues as one device does, without
messages.  Ranks whose arrays are in the same memory do so once.  The levels do not depend on where
this begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from portpart.algorithms.coarsening import (
    ClusteringOptions,
    Clusters,
    ClustersOfLevels,
    Level,
    MadeLevel,
    cluster_of_cluster,
    cluster_rule,
    coarsen,
    contract,
    give_label,
    value_of_clusters,
)
from portpart.algorithms.coarsening.ranks.clustering import cluster_ranks
from portpart.algorithms.coarsening.ranks.contraction import contract_ranks
from portpart.backends import language as kl
from portpart.backends.communication import Communicator, keepers, once, planned
from portpart.backends.programs import Array
from portpart.graphs import Graph
from portpart.graphs.ranks import DistributedGraph, Route, gathered
from portpart.primitives import Talk, converted, held, lower_bound

__all__ = ["Fold", "coarsen_ranks", "fold_for"]

AnyPart = DistributedGraph | Graph

UNKNOWN = -(2**62)
"""The value of a cluster of which this rank has no vertex; less than any other."""


class Fold(NamedTuple):
    """The size up to which every rank has the whole graph."""

    max_vertices: int
    max_arcs: int

    def takes(self, graph: DistributedGraph) -> bool:
        """Whether a graph is small enough."""
        whole = graph.whole
        return whole.num_vertices <= self.max_vertices and whole.num_arcs <= self.max_arcs

    def fold_graph(self, given: list[DistributedGraph]) -> AnyPart:
        """Return the whole graph if it is small enough, otherwise the graph, which is removed."""
        return gathered(given) if self.takes(given[0]) else given.pop()


CPU_FOLD, GPU_FOLD = Fold(1 << 18, 1 << 22), Fold(10_000_000, 150_000_000)
"""Sizes up to which one device coarsens a graph faster than ranks exchange messages."""

SHARED_GPU_FOLD = Fold(1 << 27, 1 << 30)
"""The same for ranks that share a GPU and take turns there, up to what its memory has space for."""


def fold_for(graph: DistributedGraph) -> Fold:
    """Return the sizes up to which graphs are gathered by default.  All ranks call it."""
    if graph.space.kind == "cpu":
        return CPU_FOLD
    take_turns = graph.comm.size > 1 and not any(keepers(graph.comm, graph.space))
    return SHARED_GPU_FOLD if take_turns else GPU_FOLD


def coarsen_ranks(graph: DistributedGraph, coarsest: int, limit: int,
                  options: ClusteringOptions, fold: Fold | None = None,
                  labels: Sequence[Array | None] = (None,), **when: Any) -> list[Level[Any]]:
    """Return the levels of a graph that belongs to several ranks.

    All ranks must call it.

    Parameters
    ----------
    graph : DistributedGraph
    coarsest : int
        Coarsening ends at about this many vertices.
    limit : int
        Maximum weight of a cluster.
    options : ClusteringOptions
    fold : Fold, optional
        The levels that are gathered; the default depends on the kind of device.
    labels : sequence of (array of int32, or None)
        Labels of own vertices, as in :func:`coarsen`.
    **when
        Options for the end of coarsening and for levels, as in :func:`coarsen`.

    Returns
    -------
    list of Level
        Finest first.  Gathered levels have a `Graph`, the same on all ranks.  Cluster maps of the
        others are those of own vertices and ghosts, with the names of coarse vertices.
    """
    fold = fold or fold_for(graph)
    find_clusters = _ClustersOverRanks(cluster_rule(graph, coarsest, limit, options), graph.comm,
                                       graph.totals.weight_sum_dtype)

    def contraction(fine: AnyPart, clusters: Any, weight_type: np.dtype) -> AnyPart:
        if not isinstance(fine, DistributedGraph):
            return once(graph.comm, fine.space, lambda: contract(fine, clusters, weight_type))
        coarse = [clusters.take_graph()]
        if fold.takes(coarse[0]):
            clusters.cluster = ids_of(coarse[0], clusters.cluster)
        return fold.fold_graph(coarse)

    if fold.takes(graph):
        labels = [each if each is None else graph.gather_values(each) for each in labels]
    return coarsen(graph.space, cast(Any, fold.fold_graph([graph])), cast(Any, find_clusters),
                   labels=labels, contraction=cast(Any, contraction), through=cast(Any, _through),
                   carry=cast(Any, partial(projected, graph.comm)), **when)


def fold_coarsest(levels: list[Level[Any]]) -> None:
    """Gather the coarsest graph on every rank.  All ranks must call it."""
    coarsest = levels[-1].graph
    if isinstance(coarsest, DistributedGraph):
        if len(levels) > 1:
            levels[-2].cluster = ids_of(coarsest, levels[-2].taken())
        levels[-1].graph = coarsest.gather()


def ids_of(graph: DistributedGraph, names: Array) -> Array:
    """Return the global ids of vertices with these names.  All ranks must call it."""
    return _fetched(graph, names, graph.global_ids) if graph.are_moved else names


@dataclass(eq=False)
class _Coarsened:
    """Clusters of own vertices and ghosts, and their graph until it is taken."""

    cluster: Array
    graph: DistributedGraph | None

    def take_graph(self) -> DistributedGraph:
        """Return the graph, which is freed when the caller drops it."""
        graph, self.graph = self.graph, None
        assert graph is not None
        return graph


@dataclass(frozen=True)
class _ClustersOverRanks:
    """The rule for clusters of levels of several ranks, and of gathered ones."""

    rule: ClustersOfLevels
    comm: Communicator
    weight_type: np.dtype

    def __call__(self, fine: AnyPart, seed: int, label: Array | None) -> _Coarsened | Clusters:
        if isinstance(fine, DistributedGraph):
            limit = self.rule.limit.on(fine.whole.num_vertices)
            return held(fine.comm, fine.space, _coarsened(
                fine, limit, seed, self.rule.options, label, self.weight_type))
        return once(self.comm, fine.space, lambda: self.rule(fine, seed, label))

    def below(self, graph: AnyPart, seed: int, **given: Any) -> list[MadeLevel]:
        if isinstance(graph, DistributedGraph) or not self.rule.makes_levels(graph):
            return []
        return once(self.comm, graph.space, lambda: self.rule.below(graph, seed, **given))


def _coarsened(graph: DistributedGraph, max_weight: int, seed: int, options: ClusteringOptions,
               label: Array | None, weight_type: np.dtype) -> Talk[_Coarsened]:
    clusters = yield from cluster_ranks(graph, max_weight, seed, options, label)
    coarse = yield from contract_ranks(graph, clusters, weight_type)
    return _Coarsened(clusters.cluster, coarse)


def _through(between: AnyPart, cluster: Array, further: Any) -> Array:
    """Return the further clusters of clusters, which are vertices of the graph between."""
    if isinstance(between, Graph):
        return cluster_of_cluster(between, cluster, further)
    return _fetched(between, cluster, further.cluster)


def _fetched(graph: DistributedGraph, names: Array, values: Array) -> Array:
    """Return the values that owners have for vertices of these names."""
    route = Route(graph, names)
    received, = route.fetch([values])
    result = graph.space.empty(len(names), received.dtype)
    graph.space.parallel_for(len(names), look_up, names, route.names, len(route.names), received,
                             result)
    return result


def projected(comm: Communicator, graph: AnyPart, cluster: Array, values: Array,
              coarse: AnyPart) -> Array:
    """Return the value of each cluster, which all of its vertices have.

    All ranks must call it.

    Parameters
    ----------
    comm : Communicator
    graph : DistributedGraph or Graph
    cluster : array
        The cluster map of the level of `graph`.
    values : array of int32
        Values of the vertices of `graph`, or of own vertices if it is distributed.
    coarse : DistributedGraph or Graph
        The graph of the clusters, or a coarser one.

    Returns
    -------
    array of int32
        Values of the vertices of `coarse`, or of own vertices if it is distributed.

    Notes
    -----
    The owner of a cluster owns its leader, so owners know values without a message.
    """
    if isinstance(graph, Graph):
        return once(comm, graph.space, lambda: value_of_clusters(graph, cluster, values,
                                                                 cast(Graph, coarse)))
    space, own = graph.space, graph.local.num_vertices
    if isinstance(coarse, DistributedGraph):
        first, last = (int(each) for each in coarse.first[comm.rank : comm.rank + 2])
        result = space.empty(last - first, np.int32)
        space.parallel_for(own, give_to_own, values, cluster, first, last, result)
        return result

    def known_here() -> Array:
        known = space.full(coarse.num_vertices, UNKNOWN, np.int64)
        space.parallel_for(own, give_label, values, cluster, known)
        return known

    words = planned(comm, known_here)
    comm.all_reduce(words, 0, len(words), "max")
    return once(comm, space, lambda: converted(space, words, np.int32))


@kl.kernel
def give_to_own(v, values, cluster, first, last, result):
    """Give v's cluster the value of v if this rank owns it; all threads write the same value."""
    if cluster[v] >= first and cluster[v] < last:
        result[cluster[v] - first] = values[v]


@kl.kernel
def look_up(v, requested, names, count, values, result):
    """result[v] = the value for the name requested[v]."""
    result[v] = values[lower_bound(names, 0, count, requested[v])]
