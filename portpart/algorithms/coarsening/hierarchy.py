"""The hierarchy of coarser and coarser graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, contract
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import kernel
from portpart.graphs.graph import Graph


@dataclass
class Level:
    """A graph of the hierarchy, the map of its vertices to the next coarser graph, and labels."""

    graph: Graph
    cluster: Array | None = None
    label: Array | None = None


ClusterRule = Callable[[Graph, int, "Array | None"], Clusters]
"""Clusters of a graph, from a seed of its level, of vertices of equal label if there are labels."""


DENSE_DEGREE = 128
"""A graph of higher mean degree is dense: a first partition of it takes long for its size."""


def coarsen(
    space: ExecutionSpace,
    graph: Graph,
    find_clusters: ClusterRule,
    *,
    stop_at: int,
    max_kept: float,
    stop_dense_at: int | None = None,
    seed: int = 0,
    label: Array | None = None,
    on_level: Callable[[Graph], None] = lambda graph: None,
    contraction: str = "hash",
    drop_below: float = 0.25,
) -> list[Level]:
    """Levels from `graph` down to at most `stop_at` vertices.

    Parameters
    ----------
    find_clusters : callable
        Clusters of the graph on a level.
    seed : int
        The rule gets this plus the number of the level, 0 for the finest.
    stop_at : int
        Coarsening ends at the first graph with at most so many vertices.
    max_kept : float
        Coarsening ends when a level keeps more than this share of its vertices.
    stop_dense_at : int, optional
        What takes the place of `stop_at` while a graph is dense.
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a cluster, on every level.
    contraction : {"hash", "sort", "auto"}
        How coarse rows are made, as in :func:`contract`.
    drop_below : float
        A graph with less than this share of `stop_at` vertices is dropped again (Jet's released
        code).

    Returns
    -------
    list of Level
        Finest first; the last one has no cluster map.
    """
    levels = [Level(graph, label=label)]
    weight_type = graph.weight_sum_dtype
    while graph.num_vertices > (end := end_for(graph, stop_at, stop_dense_at)):
        clusters = find_clusters(graph, (seed + len(levels) - 1) % 2**63, label)
        coarse = contract(space, graph, clusters, weight_type, contraction)
        too_small = coarse.num_vertices < drop_below * end
        stalled = coarse.num_vertices > max_kept * graph.num_vertices
        if too_small or stalled:
            break
        levels[-1].cluster = clusters.cluster
        if label is not None:
            label = label_of_clusters(space, label, clusters.cluster, coarse.num_vertices)
        levels.append(Level(coarse, label=label))
        graph = coarse
        on_level(graph)
    return levels


def end_for(graph: Graph, stop_at: int, stop_dense_at: int | None) -> int:
    """At how many vertices coarsening ends."""
    if stop_dense_at is None or graph.mean_degree <= DENSE_DEGREE:
        return stop_at
    return min(stop_at, stop_dense_at)


def label_of_clusters(space: ExecutionSpace, label: Array, cluster: Array, count: int) -> Array:
    """The label of each of the `count` clusters, which all of its vertices have."""
    result = space.empty(count, np.int32)
    space.parallel_for(len(label), give_label, label, cluster, result)
    return result


@kernel
def give_label(v, label, cluster, result):
    """The cluster of v has v's label; all who write it write the same."""
    result[cluster[v]] = label[v]
