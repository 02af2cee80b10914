"""Clusters of two: heavy edges matched to maximality, then vertices at distance two."""

from __future__ import annotations

from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_matching
from portpart.algorithms.coarsening.matching import heavy_edge_matching, part_unlike
from portpart.algorithms.coarsening.two_hop import two_hop_matching
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph


def matched_clusters(graph: Graph, max_weight: int, seed: int, label: Array | None = None,
                     two_hop: bool = True, max_matchmaker_degree: int = 1000) -> Clusters:
    """Pairs and single vertices, numbered in the order of their smaller vertex.

    Parameters
    ----------
    graph : Graph
    max_weight : int
        No pair weighs more than this.
    seed : int
        Breaks ties.
    label : array of int32, shape (n,), optional
        Only vertices of equal label make a pair.
    two_hop : bool
        Whether vertices at distance two are paired while too many are single.
    max_matchmaker_degree : int
        Vertices of higher degree do not make relatives.
    """
    space = graph.space
    mate = heavy_edge_matching(space, graph, max_weight, seed, label)
    if two_hop:
        two_hop_matching(space, graph, mate, max_weight, seed, max_matchmaker_degree)
        if label is not None:
            mate = part_unlike(space, mate, label)
    return clusters_of_matching(space, mate)
