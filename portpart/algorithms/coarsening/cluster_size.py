"""How large clusters may become on each level."""

from __future__ import annotations

from collections.abc import Callable

from portpart.algorithms.coarsening.arc_proposals import HEAVY_ARCS
from portpart.algorithms.coarsening.cluster_program import ProposalRule
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.hierarchy import AnyGraph, ClusterRule
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.backends.interface import Array
from portpart.graphs.structure import WithMeasures

SKEW = 32
"""Degrees are skewed where the highest is this many times the mean."""


def is_skewed(graph: WithMeasures) -> bool:
    """Whether few vertices have most of the arcs, as in social networks.

    Hubs hold clusters of many vertices together, so clusters may grow faster, which takes fewer
    levels and rarely costs cut; for k = 2 it can (wiki-Vote: three times the cut).
    A second loop on the finest level finds little where the first one goes from hub to hub.
    """
    return graph.whole.max_degree > SKEW * graph.whole.mean_degree


def cluster_rule(graph: AnyGraph, coarsest: int, limit: int, options: ClusteringOptions,
                 proposal_rule: ProposalRule = HEAVY_ARCS) -> ClusterRule[AnyGraph]:
    """Clusters for the levels of a hierarchy from `graph` down to about `coarsest` vertices.

    Parameters
    ----------
    limit : int
        No cluster may weigh more.
    proposal_rule : ProposalRule
        How vertices find their proposals: `NetProposals` for hypergraphs.
    """
    max_weight = weight_rule(graph, coarsest, limit, options)

    def find_clusters(fine: AnyGraph, level_seed: int, label: Array | None) -> Clusters:
        return cluster(fine.space, fine, max_weight(fine), level_seed, options, label,
                       proposal_rule)

    return find_clusters


def weight_rule(graph: WithMeasures, coarsest: int, limit: int,
                options: ClusteringOptions) -> Callable[[WithMeasures], int]:
    """What clusters of the levels may weigh, as in `cluster_rule`."""
    total = graph.whole.total_vertex_weight
    highest = min(limit, int(options.max_coarse_weight * total / coarsest))
    growth = options.skewed_growth if is_skewed(graph) else options.growth
    return lambda fine: max(1, min(int(growth * total / fine.whole.num_vertices), highest))
