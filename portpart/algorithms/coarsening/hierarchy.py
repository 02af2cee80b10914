"""The hierarchy of coarser and coarser graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.contraction import Guess, contract, guess_of_clusters
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Graph, Hypergraph
from portpart.primitives import gather

AnyGraph = TypeVar("AnyGraph", Graph, Hypergraph)


@dataclass
class Level(Generic[AnyGraph]):
    """A graph of the hierarchy, the map of its vertices to the next coarser graph, and labels."""

    graph: AnyGraph
    cluster: Array | None = None
    label: Array | None = None

    def taken(self) -> Array:
        """The map, which the level gives up: the caller may hold the last reference."""
        cluster, self.cluster = self.cluster, None
        assert cluster is not None
        return cluster


ClusterRule = Callable[[AnyGraph, int, "Array | None"], Clusters]
"""Clusters of a graph, from a seed of its level, of vertices of equal label if there are labels."""

Contraction = Callable[[AnyGraph, Clusters, "np.dtype"], AnyGraph]
"""The graph of clusters, whose edges or nets have weights of a type."""


def contraction_by(way: str, guess: Guess = guess_of_clusters) -> Contraction:
    """The contraction of graphs that makes rows in a way, as in :func:`contract`."""
    return lambda graph, clusters, weight_type: contract(graph.space, graph, clusters,
                                                         weight_type, way, guess)


Through = Callable[[AnyGraph, Any, Clusters], Array]
"""``through(between, cluster, further)``: the map past a graph between two levels."""


def cluster_of_cluster(between: Graph | Hypergraph, cluster: Array, further: Clusters) -> Array:
    """The further cluster of the cluster of each vertex."""
    return gather(between.space, further.cluster, cluster)


Carry = Callable[[AnyGraph, Array, Array, AnyGraph], Array]
"""``carry(graph, cluster, values, coarse)``: the value of each cluster, which all of its vertices
have."""


def value_of_clusters(graph: Graph | Hypergraph, cluster: Array, values: Array,
                      coarse: Graph | Hypergraph) -> Array:
    """The same as int32, by one device."""
    return label_of_clusters(graph.space, values, cluster, coarse.num_vertices)


BY_HASHING = contraction_by("hash")

DENSE_DEGREE = 128
"""A graph of higher mean degree is dense: a first partition of it takes long for its size."""


def coarsen(
    space: ExecutionSpace,
    graph: AnyGraph,
    find_clusters: ClusterRule[AnyGraph],
    *,
    stop_at: int,
    max_kept: float,
    stop_dense_at: int | None = None,
    seed: int = 0,
    labels: Sequence[Array | None] = (None,),
    on_level: Callable[[AnyGraph, bool], None] = lambda graph, instead: None,
    contraction: Contraction[AnyGraph] = BY_HASHING,
    drop_below: float = 0.25,
    skip_above: float = 1,
    through: Through[AnyGraph] = cluster_of_cluster,
    carry: Carry[AnyGraph] = value_of_clusters,
) -> list[Level[AnyGraph]]:
    """Levels from `graph` down to at most `stop_at` vertices.

    Parameters
    ----------
    find_clusters : callable
        Clusters of the graph on a level.
    seed : int
        The rule gets this plus the number of the level, 0 for the finest.
    stop_at : int
        Coarsening ends at the first graph with at most this many vertices.
    max_kept : float
        Coarsening ends when a level keeps more than this share of its vertices.
    stop_dense_at : int, optional
        What takes the place of `stop_at` while a graph is dense.
    labels : sequence of (array of int32, shape (n,), or None)
        Only vertices of equal label share a cluster.  Where that stalls coarsening, the next labels
        count from there on.
    on_level : callable
        ``on_level(graph, instead)`` is called with each coarser graph, and whether it replaces the
        one before.
    contraction : callable
        The graph of clusters; `contract_nets` for hypergraphs.
    drop_below : float
        A graph with less than this share of `stop_at` vertices is dropped again (Jet's released
        code).
    skip_above : float
        A graph with more than this share of the arcs or pins of the finer one is no level if there
        is a coarser one: work on it would take as long as on the finer one.
    through : callable
        The cluster map past a graph that is no level.
    carry : callable
        The labels of clusters.

    Returns
    -------
    list of Level
        Finest first; the last one has no cluster map.
    """
    labels = list(labels)
    levels = [Level(graph, label=labels[0])]
    weight_type, number = graph.whole.weight_sum_dtype, 0
    while graph.whole.num_vertices > (end := end_for(graph, stop_at, stop_dense_at)):
        clusters = find_clusters(graph, (seed + number) % 2**63, labels[0])
        coarse = contraction(graph, clusters, weight_type)
        too_small = coarse.whole.num_vertices < drop_below * end
        stalled = coarse.whole.num_vertices > max_kept * graph.whole.num_vertices
        if stalled and len(labels) > 1:
            del labels[0]
            continue
        if too_small or stalled:
            break
        skipped = (len(levels) > 1
                   and graph.whole.num_entries
                   > skip_above * levels[-2].graph.whole.num_entries)
        if skipped:
            between = levels.pop().graph
            levels[-1].cluster = through(between, levels[-1].cluster, clusters)
        else:
            levels[-1].cluster = clusters.cluster
        labels = [label if label is None else carry(graph, clusters.cluster, label, coarse)
                  for label in labels]
        levels.append(Level(coarse, label=labels[0]))
        graph, number = coarse, number + 1
        on_level(graph, skipped)
    if space.is_dry_run and len(labels) > 1:
        find_clusters(graph, seed, labels[-1])  # a run may stall
    return levels


def end_for(graph: Graph | Hypergraph, stop_at: int, stop_dense_at: int | None) -> int:
    """At how many vertices coarsening ends."""
    if stop_dense_at is None or graph.whole.mean_degree <= DENSE_DEGREE:
        return stop_at
    return min(stop_at, stop_dense_at)


def label_of_clusters(space: ExecutionSpace, label: Array, cluster: Array, count: int) -> Array:
    """The label of each of the `count` clusters, which all of its vertices have."""
    result = space.empty(count, np.int32)
    space.parallel_for(len(label), give_label, label, cluster, result)
    return result


@kl.kernel
def give_label(v, label, cluster, result):
    """The cluster of v has v's label; all threads write the same value."""
    result[cluster[v]] = label[v]
