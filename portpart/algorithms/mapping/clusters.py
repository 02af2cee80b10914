"""How the graphs of a mapping are coarsened: by clusters of vertices."""

from __future__ import annotations

from portpart.algorithms.coarsening.clustering import ClusteringOptions, cluster
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.hierarchy import ClusterRule, Level, coarsen
from portpart.algorithms.starts import LEAST_SHRINK, StartOptions
from portpart.backends.interface import Array
from portpart.graph import Graph

SKEW = 32
"""Degrees are skewed where the highest is so many times the mean: there clusters may be larger."""


def cluster_rule(graph: Graph, coarsest: int, limit: int, growth: float, skewed_growth: float,
                 most_coarse_weight: float) -> ClusterRule:
    """Clusters of at most `growth` mean vertices, of weight that suits `coarsest` vertices."""
    total = graph.total_vertex_weight
    highest = min(limit, int(most_coarse_weight * total / coarsest))
    skewed = graph.max_degree > SKEW * graph.mean_degree
    options = ClusteringOptions()

    def find_clusters(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        most = min(int((skewed_growth if skewed else growth) * total / fine.num_vertices), highest)
        return cluster(fine.space, fine, max(1, most), level_seed, options, label)

    return find_clusters


def levels_below(graph: Graph, options: StartOptions, least: int, seed: int,
                 label: Array | None = None) -> list[Level]:
    """Coarser and coarser graphs, from `graph` down to about `least` vertices, to start on."""
    total = graph.total_vertex_weight
    clustering = ClusteringOptions()

    def find_clusters(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        vertices = max(fine.num_vertices / options.shrink, least)
        return cluster(fine.space, fine, max(1, int(1.5 * total / vertices)), level_seed,
                       clustering, label)

    return coarsen(graph.space, graph, find_clusters, stop_at=least, least_shrink=LEAST_SHRINK,
                   seed=seed, label=label)
