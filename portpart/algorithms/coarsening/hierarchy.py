"""The hierarchy of coarser and coarser graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, contract
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import kernel
from portpart.graph import Graph


@dataclass
class Level:
    """A graph of the hierarchy and the map of its vertices to the next coarser graph."""

    graph: Graph
    cluster: Array | None = None


ClusterRule = Callable[[Graph, int, "Array | None"], Clusters]
"""Clusters of a graph on a given level (0 is the finest), of vertices of equal label only."""


def coarsen(
    space: ExecutionSpace,
    graph: Graph,
    find_clusters: ClusterRule,
    *,
    stop_at: int,
    least_shrink: float,
    label: Array | None = None,
    on_level: Callable[[Graph], None] = lambda graph: None,
) -> list[Level]:
    """Levels from `graph` down to at most `stop_at` vertices.

    Parameters
    ----------
    find_clusters : callable
        Clusters of the graph on a level.
    stop_at : int
        Coarsening ends at the first graph with at most so many vertices; a graph with less than
        a quarter of them is dropped again (Jet's released code).
    label : array of int32, shape (n,), optional
        Vertices of different labels stay apart on all levels.
    least_shrink : float
        Coarsening ends when a level keeps more than this share of its vertices.

    Returns
    -------
    list of Level
        Finest first; the last one has no cluster map.
    """
    levels = [Level(graph)]
    weight_type = graph.weight_sum_dtype
    while graph.num_vertices > stop_at:
        clusters = find_clusters(graph, len(levels) - 1, label)
        too_small = clusters.count < stop_at / 4
        stalled = clusters.count > least_shrink * graph.num_vertices
        if too_small or stalled:
            break
        coarse = contract(space, graph, clusters, weight_type)
        levels[-1].cluster = clusters.cluster
        levels.append(Level(coarse))
        graph = coarse
        label = carried(label, levels[-2], levels[-1])
        on_level(graph)
    return levels


def carried(values: Array | None, fine: Level, coarse: Level) -> Array | None:
    """What all vertices of a cluster have in common, as an array of the coarse graph."""
    if values is None:
        return None
    space = coarse.graph.space
    result = space.empty(coarse.graph.num_vertices, np.int32)
    space.parallel_for(len(values), hand_to_cluster, values, fine.cluster, result)
    return result


@kernel
def hand_to_cluster(v, values, cluster, result):
    """The cluster of v has v's value; all its vertices write the same."""
    result[cluster[v]] = values[v]
