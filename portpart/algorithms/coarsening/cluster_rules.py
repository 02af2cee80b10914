"""Rules for the clusters of all levels: the maximum weight of a cluster, by the level's size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from portpart.algorithms.coarsening.clustering import (
    HEAVY_ARCS,
    ArcProposals,
    ProposalRule,
    cluster,
)
from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.hierarchy import MadeLevel
from portpart.algorithms.coarsening.level_loop import MAX_LEVELS, ClusterLimit
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.small_levels import SmallLevels, is_small
from portpart.backends.programs import Array
from portpart.graphs import Graph, Hypergraph, WithMeasures

SKEW, MUCH_SKEW = 2, 16
"""Degrees are skewed, or very skewed, if their mean square exceeds the square of their mean by this
factor.
"""


def is_skewed(graph: WithMeasures, factor: int = SKEW) -> bool:
    """Whether few vertices have most of the arcs, as in social networks.  Exact.

    A second pass of refinement on the finest level then finds little, because the first one goes
    from hub to hub.  In a very skewed graph hubs connect clusters of many vertices, so clusters
    may grow faster, which needs fewer levels.
    """
    whole = graph.whole
    return whole.num_vertices * whole.squared_degrees > factor * whole.num_entries**2


@dataclass(frozen=True)
class ClustersOfLevels(SmallLevels):
    """The rule for clusters of each level: of one, or of all below a small graph.

    It is also for hypergraphs, with `NetProposals`.
    """

    def __call__(self, fine: Graph | Hypergraph, level_seed: int, label: Array | None) -> Clusters:
        """Return the clusters of a level."""
        return cluster(fine.space, fine, self.limit.on(fine.whole.num_vertices), level_seed,
                       self.options, label, self.proposal_rule)

    def below(self, graph: Graph | Hypergraph, seed: int, stop_at: int, max_kept: float,
              weight_type: np.dtype, label: Array | None = None,
              max_levels: int = MAX_LEVELS) -> list[MadeLevel]:
        """Return the levels below a graph if it is small, as `SmallLevels.below` does."""
        return (super().below(graph, seed, stop_at, max_kept, weight_type, label, max_levels)
                if self.makes_levels(graph) else [])

    def makes_levels(self, graph: Graph | Hypergraph) -> TypeGuard[Graph]:
        """Whether the levels below a graph are made at once."""
        return (isinstance(graph, Graph) and isinstance(self.proposal_rule, ArcProposals)
                and is_small(graph))


def cluster_rules(graph: WithMeasures, coarsest: int, limit: int, options: ClusteringOptions,
                  num_blocks: int,
                  proposal_rule: ProposalRule = HEAVY_ARCS) -> list[ClustersOfLevels]:
    """Return a `cluster_rule` for each run of a search in turn."""
    return [cluster_rule(graph, coarsest, limit, each, proposal_rule)
            for each in options.of_runs(num_blocks)]


def cluster_rule(graph: WithMeasures, coarsest: int, limit: int, options: ClusteringOptions,
                 proposal_rule: ProposalRule = HEAVY_ARCS) -> ClustersOfLevels:
    """Return the rule for clusters of each level from `graph` down to about `coarsest` vertices.

    Parameters
    ----------
    limit : int
        Maximum weight of a cluster.
    proposal_rule : ProposalRule
        The rule by which vertices find their proposals: `NetProposals` for hypergraphs.
    """
    return ClustersOfLevels(limit_rule(graph, coarsest, limit, options), options, proposal_rule)


def limit_rule(graph: WithMeasures, coarsest: int, limit: int,
               options: ClusteringOptions) -> ClusterLimit:
    """Return the maximum weight of a cluster on each level, as in `cluster_rule`."""
    total = graph.whole.total_vertex_weight
    highest = max(1, min(limit, int(options.max_coarse_weight * total / coarsest)))
    growth = options.skewed_growth if is_skewed(graph, MUCH_SKEW) else options.growth
    return ClusterLimit(float(growth * total), 1.0, 0.0, highest)
