"""What the recipes share that coarsen by clusters and refine as Jet does."""

from __future__ import annotations

from dataclasses import dataclass, field

from portpart.algorithms.coarsening.cluster_size import cluster_rule
from portpart.algorithms.coarsening.clustering import ClusteringOptions
from portpart.algorithms.coarsening.hierarchy import ClusterRule
from portpart.algorithms.multilevel.options import JetRefinedConfig
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.refinement.jet_refinement import RefinementOptions
from portpart.errors import InputError


@dataclass(frozen=True)
class ClusteredConfig(JetRefinedConfig):
    """Parameters of these recipes, beside those of every recipe that refines as Jet does.

    Parameters
    ----------
    growth, skewed_growth : float
        A cluster weighs at most so many times the mean vertex of its level, the latter on graphs
        whose highest degree is far above the mean.
    most_coarse_weight : float
        No cluster weighs more times the mean vertex of a graph at which coarsening may stop.
    clustering : ClusteringOptions

    Raises
    ------
    InputError
        If a value is out of range.
    """

    temperatures: tuple[float, ...] = (0.6, 0.3)
    coarse_once_above: int | None = 2**18
    coarsest_per_block: int = 48
    dense_per_block: int | None = 8
    least_coarsest: int = 768
    most_coarsest: int = 12288
    least_shrink: float = 0.9
    refinement: RefinementOptions = field(
        default_factory=lambda: RefinementOptions(tolerance=0.998, stall_limit=8))
    growth: float = 8
    skewed_growth: float = 32
    most_coarse_weight: float = 8
    clustering: ClusteringOptions = field(default_factory=ClusteringOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("growth", "skewed_growth", "most_coarse_weight"):
            if not 1 < getattr(self, name) < float("inf"):
                raise InputError(f"{name} is {getattr(self, name)}; it must be a number above 1")

    def clusters_of_levels(self, problem: Problem, coarsest: int) -> ClusterRule:
        """Clusters for the levels down to about `coarsest` vertices."""
        return cluster_rule(problem.graph, coarsest, problem.balance.cluster_limit(coarsest),
                            self.growth, self.skewed_growth, self.most_coarse_weight,
                            self.clustering)
