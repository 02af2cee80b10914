"""The hierarchy of coarser graphs over several ranks: level by level that of one device."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from portpart.algorithms.coarsening.cluster_size import weight_rule
from portpart.algorithms.coarsening.hierarchy import Level, coarsen
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.rank_clustering import RankClusters, cluster_ranks, look_up
from portpart.algorithms.coarsening.rank_contraction import contract_ranks
from portpart.backends.interface import Array
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.route import Route

__all__ = ["coarsen_ranks"]


def coarsen_ranks(graph: DistributedGraph, coarsest: int, limit: int,
                  options: ClusteringOptions, **when: Any) -> list[Level[Any]]:
    """Levels of a graph that belongs to several ranks.

    All ranks call it.

    Parameters
    ----------
    graph : DistributedGraph
    coarsest : int
        Coarsening ends at about so many vertices.
    limit : int
        No cluster may weigh more.
    options : ClusteringOptions
    **when
        When coarsening ends, and which graphs are no levels: as :func:`coarsen` takes them.

    Returns
    -------
    list of Level
        Finest first.  Clusters are those of own vertices and ghosts, by numbers among all ranks.
    """
    max_weight = weight_rule(graph, coarsest, limit, options)

    def find_clusters(fine: DistributedGraph, seed: int, label: Array | None) -> RankClusters:
        return cluster_ranks(fine, max_weight(fine), seed, options)

    return coarsen(graph.space, cast(Any, graph), cast(Any, find_clusters),
                   contraction=cast(Any, contract_ranks), through=cast(Any, _through), **when)


def _through(between: DistributedGraph, cluster: Array, further: RankClusters) -> Array:
    """The clusters of clusters, which are vertices of the graph between."""
    route = Route(between, cluster)
    number, = route.fetch([further.cluster])
    result = between.space.empty(len(cluster), np.int64)
    between.space.parallel_for(len(cluster), look_up, cluster, route.names, len(route.names),
                               number, result)
    return result
