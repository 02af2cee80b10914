"""G-kway: multilevel GPU-accelerated k-way graph partitioner.

W. L. Lee, D.-L. Lin, T.-W. Huang, S. Jiang, T.-Y. Ho, Y. Lin, B. Yu, DAC 2024; and chapter 1 of
W. L. Lee's dissertation, University of Wisconsin-Madison, 2025.
Union-find grouping, METIS on the coarsest graph, independent-set refinement on every level.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.grouping import MOST_SCORE, group
from portpart.algorithms.multilevel.options import MultilevelConfig
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.starting import start_from_pool
from portpart.algorithms.multilevel.walk import Recipe, partition_multilevel
from portpart.algorithms.refinement.independent_refinement import (
    IndependentOptions,
    IndependentSetRefiner,
)
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class GkwayConfig(MultilevelConfig):
    """Parameters of the G-kway partitioner.

    Parameters
    ----------
    coarsest_per_block, least_coarsest, most_coarsest : int
        The paper's gamma: coarsening stops at `coarsest_per_block` times k vertices, but not below
        `least_coarsest`; and if that is above `most_coarsest`, at the larger of `most_coarsest` and
        2 k.
    dense_per_block : int, optional
        While a graph is dense it is coarsened further, to so many times k vertices.
    starts, start_blocks : int
        Initial partitions by METIS, each refined on the coarsest graph; the best one is used.  At
        most `starts`, and no more than make `start_blocks` blocks together.  The paper has one.
    start : {"metis", "grown", "auto"}
        Who makes initial partitions: METIS, on the host, or growing, in the space of the graph;
        "auto": the latter, one candidate only where one start is enough.
    grown : StartOptions
        Parameters of partitions that are grown.
    least_shrink : float
        Coarsening stops when a level keeps more than this share of the vertices.
    runs, cycles : int
        Partitions from scratch, which are combined with the best one; and times that the result
        is coarsened inside its blocks and refined again.  The paper has one and none.
    score_factor : int, optional
        The paper's c: the score of an edge is c times its weight less the degree of its other end.
        By default one more than the highest degree of each level.
    group_size : int
        The dissertation's s: most vertices that become one.
    most_coarse_weight : float
        A group weighs at most so many times the mean vertex of a graph at which coarsening may
        stop.
    refinement : IndependentOptions

    Raises
    ------
    InputError
        If a value is out of range.
    """

    coarsest_per_block: int = 160
    least_coarsest: int = 0
    most_coarsest: int = 20480
    start: str = "auto"
    least_shrink: float = 0.95
    score_factor: int | None = None
    group_size: int = 6
    most_coarse_weight: float = 4
    refinement: IndependentOptions = field(default_factory=IndependentOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_least(group_size=2)
        if self.score_factor is not None and not 1 <= self.score_factor <= MOST_SCORE:
            raise InputError(f"score_factor is {self.score_factor}; it must be from 1 to "
                             f"{MOST_SCORE}")
        if not 1 < self.most_coarse_weight < float("inf"):
            raise InputError(f"most_coarse_weight is {self.most_coarse_weight}; it must be a "
                             "number above 1")

    def refiner(self, problem: Problem, seed: int) -> IndependentSetRefiner:
        """Independent-set refinement."""
        return IndependentSetRefiner(problem.space, problem.graph, problem.balance,
                                     self.refinement, seed)


PRESETS = {
    "default": GkwayConfig(),
    "strong": GkwayConfig(cycles=2),
}


def gkway(problem: Problem, config: GkwayConfig) -> Array:
    """Partition the graph: coarsen by grouping, start, refine upwards.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    coarsest = config.coarsest_vertices(problem.num_blocks)
    limit = min(problem.balance.cluster_limit(coarsest), max(1, int(
        config.most_coarse_weight * problem.graph.total_vertex_weight / coarsest)))

    def find_groups(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        return group(fine.space, fine, limit, config.group_size, level_seed, config.score_factor,
                     label)

    return partition_multilevel(problem, Recipe(
        config, find_groups, start_from_pool(problem, config),
        lambda seed: config.refiner(problem, seed)))
