"""GP-metis: a multilevel graph partitioner for a CPU with a GPU.

B. Goodarzi, M. Burtscher, D. Goswami, Parallel Graph Partitioning on a CPU-GPU Architecture,
IPDPS Workshops 2016.
Lock-free heavy-edge matching on the device until a graph is small; the CPU goes on from there,
partitions the coarsest graph and refines back; two-direction refinement on the device.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from portpart import backends
from portpart.algorithms.coarsening.contract_by_sorting import WAYS
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.hierarchy import Level
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.options import MultilevelConfig
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiner import Refiner
from portpart.algorithms.multilevel.starting import start_from_pool
from portpart.algorithms.multilevel.walk import Recipe, partition_multilevel
from portpart.algorithms.refinement.two_direction_refinement import (
    TwoDirectionOptions,
    TwoDirectionRefiner,
)
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.options import shown


@dataclass(frozen=True)
class GpmetisConfig(MultilevelConfig):
    """Parameters of the GP-metis partitioner.

    Parameters
    ----------
    handoff_vertices : int
        The first graph of at most so many vertices is handed over to the CPU, unless coarsening
        stops there anyway.
    coarsest_per_block, least_coarsest, most_coarsest : int
        Coarsening stops at `coarsest_per_block` times k vertices, but not below `least_coarsest`;
        and if that is above `most_coarsest`, at the larger of `most_coarsest` and 2 k.
    dense_per_block : int, optional
        While a graph is dense it is coarsened further, to so many times k vertices.
    starts, start_blocks : int
        Initial partitions by METIS, each refined on the coarsest graph; the best one is used.  At
        most `starts`, and no more than make `start_blocks` blocks together.
    start : {"metis", "grown", "auto"}
        Who makes initial partitions: METIS, or growing; "auto": the latter, one candidate only
        where one start is enough.
    grown : StartOptions
        Parameters of partitions that are grown.
    least_shrink : float
        Coarsening stops when a level keeps more than this share of the vertices.
    runs, cycles : int
        One; and times that the result is coarsened inside its blocks and refined again.  The paper
        has none.
    two_hop : bool
        Whether vertices at distance two are matched too while many are single.  Not in the paper.
    contraction : {"auto", "hash", "sort"}
        How coarse rows are made: by a hash table, or sorted and merged; "auto": the latter while
        the mean degree is at most 4 and the highest at most 128.
    refinement : TwoDirectionOptions

    Raises
    ------
    InputError
        If a value is out of range.
    """

    handoff_vertices: int = 16384
    coarsest_per_block: int = 80
    least_coarsest: int = 2048
    most_coarsest: int = 16384
    start: str = "auto"
    two_hop: bool = True
    contraction: str = "auto"
    refinement: TwoDirectionOptions = field(default_factory=TwoDirectionOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_least(handoff_vertices=0)
        if self.runs != 1:
            raise InputError(f"runs is {self.runs}; with GP-metis it must be 1")
        if self.contraction not in WAYS:
            raise InputError(f"contraction is {shown(self.contraction)}; it must be one of {WAYS}")

    def refiner(self, problem: Problem, seed: int) -> TwoDirectionRefiner:
        """Refinement in two directions."""
        return TwoDirectionRefiner(problem.space, problem.graph, problem.balance,
                                   self.refinement, seed)

    def above(self, num_blocks: int) -> MultilevelConfig:
        """The same for the levels on the device: coarsening ends at the hand-off."""
        least = max(self.handoff_vertices, self.coarsest_vertices(num_blocks))
        return replace(self, coarsest_per_block=0, least_coarsest=least, most_coarsest=least)


PRESETS = {
    "default": GpmetisConfig(),
    "strong": GpmetisConfig(cycles=2),
}


def gpmetis(problem: Problem, config: GpmetisConfig) -> Array:
    """Partition the graph: coarsen by matching, hand over to the CPU and back, refine upwards.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    limit = problem.balance.cluster_limit(config.coarsest_vertices(problem.num_blocks))
    host = backends.host_of(problem.space)

    def match(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        return matched_clusters(fine, limit, level_seed, label, config.two_hop)

    def hand_over(refiner: Refiner, level: Level, wanted: Constraints, walk_seed: int) -> int:
        there = level.graph.to(host)
        with problem.trace.below(there) as inner:
            rest = replace(problem, graph=there, seed=walk_seed, trace=inner,
                           constraints=wanted.moved(problem.space, host))
            once = replace(config, cycles=0)
            part = partition_multilevel(rest, Recipe(
                once, match, start_from_pool(rest, once), lambda seed: once.refiner(rest, seed)))
        refiner.start(level.graph, problem.space.asarray(host.to_host(part)))
        return 0

    return partition_multilevel(problem, Recipe(
        config.above(problem.num_blocks), match, hand_over,
        lambda seed: config.refiner(problem, seed)))
