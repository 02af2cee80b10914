"""The rule for groups that options ask for: of limited size, split, or all linked vertices."""

from __future__ import annotations

from portpart.algorithms.coarsening.components import linked_components
from portpart.algorithms.coarsening.constrained import constrained_groups
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.grouping import group
from portpart.algorithms.coarsening.hierarchy import ClusterRule
from portpart.algorithms.coarsening.options import GroupingOptions
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph


def grouping_rule(total_weight: int, coarsest: int, max_weight: int,
                  options: GroupingOptions) -> ClusterRule:
    """Union-find groups of graphs of a total weight, down to this many vertices.

    Groups weigh no more than their share of that, as the options say, and `max_weight`; where they
    are broken up, two vertices that select each other weigh no more.
    """
    share, limit = options.max_coarse_weight, total_weight
    if share is not None:
        limit = min(max_weight, max(1, int(share * total_weight / max(1, coarsest))))
    size, factor, ties = options.group_size, options.score_factor, options.ties

    def find_groups(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        if size is None:
            return linked_components(fine.space, fine, limit, level_seed, factor, label, ties)
        if options.broken_up:
            return constrained_groups(fine.space, fine, limit, size, level_seed, factor, label,
                                      ties)
        return group(fine.space, fine, limit, size, level_seed, factor, label)

    return find_groups
