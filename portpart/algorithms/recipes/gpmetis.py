"""GP-metis: a multilevel graph partitioner for a CPU with a GPU.

B. Goodarzi, M. Burtscher, D. Goswami, Parallel Graph Partitioning on a CPU-GPU Architecture,
IPDPS Workshops 2016.
Lock-free heavy-edge matching on the device until a graph is small; then the CPU continues
coarsening, partitions the coarsest graph and refines; two-direction refinement on the device. The
preset "paper" is the method as published, with METIS's k-way method for all work of the CPU. By
default the CPU runs the same recipe.
"""

from __future__ import annotations

from dataclasses import replace

from portpart import backends
from portpart.algorithms.coarsening import CoarseningOptions, Level, MatchingOptions, matching_rule
from portpart.algorithms.initial import InitialOptions
from portpart.algorithms.multilevel import (
    Constraints,
    Problem,
    Recipe,
    SearchOptions,
    partition_multilevel,
    start_from_pool,
)
from portpart.algorithms.refinement import Refiner, TwoDirectionOptions
from portpart.algorithms.refinement.prefix import two_direction_refiner
from portpart.errors import InputError
from portpart.options import changed, check_options, option, option_class


@option_class
class GpmetisConfig:
    """Parameters of the GP-metis partitioner.

    Examples
    --------
    >>> import portpart
    >>> config = portpart.GpmetisConfig(handoff_vertices=4096)
    >>> graph = portpart.generators.grid_2d(20)
    >>> portpart.partition(graph, 2, preset=config).feasible
    True
    """

    handoff_vertices: int = option(
        16384, "The first graph with at most this number of vertices is moved to the CPU, unless "
        "coarsening ends there.", min=0)
    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=80, min_coarsest=2048, max_coarsest=16384),
        "Where coarsening ends.")
    matching: MatchingOptions = option(MatchingOptions(), "Merging by pairs.")
    initial: InitialOptions = option(
        InitialOptions(method="auto"), "Partitions of the coarsest graph.")
    refinement: TwoDirectionOptions = option(TwoDirectionOptions(), "Refinement of a level.")
    search: SearchOptions = option(SearchOptions(), "Cycles; runs must be 1.")

    def __post_init__(self) -> None:
        check_options(self)
        for name in ("runs", "max_runs"):
            if (given := getattr(self.search, name)) not in (1, None):
                raise InputError(f"search.{name} is {given}; with GP-metis it must be 1")


PRESETS = {
    "default": GpmetisConfig(),
    "strong": changed(GpmetisConfig(), {"search.cycles": 2}),
    "paper": changed(GpmetisConfig(), {
        "coarsening.coarsest_per_block": 0, "coarsening.min_coarsest": 16384,
        "coarsening.max_kept": 0.85,
        "matching.two_hop": False, "matching.rounds": 4, "matching.max_share": None,
        "initial.method": "metis-kway", "initial.starts": 1,
        "refinement.zero_gain": False, "refinement.tolerance": 1, "refinement.pass_limit": 10,
        "refinement.rebalance": False, "refinement.slack": 0, "refinement.spare_sources": True,
    }),
}


def gpmetis(problem: Problem, config: GpmetisConfig) -> Recipe:
    """Coarsen by matching, hand over to the CPU and back, refine upwards."""
    coarsest = max(config.handoff_vertices, config.coarsening.coarsest_vertices(problem.num_blocks))
    above = replace(config.coarsening, coarsest_per_block=0, min_coarsest=coarsest,
                    max_coarsest=coarsest)
    host = backends.host_of(problem.space)

    def hand_over(refiner: Refiner, level: Level, wanted: Constraints, walk_seed: int) -> int:
        there = level.graph.to(host)
        with problem.trace.below(there) as inner:
            rest = replace(problem, graph=there, seed=walk_seed, trace=inner,
                           constraints=wanted.moved(problem.space, host),
                           objective=problem.objective.moved(problem.space, host))
            on_host = replace(_levels(rest, config, config.coarsening), search=SearchOptions())
            part = partition_multilevel(rest, on_host)
        refiner.start(level.graph, problem.space.asarray(host.to_host(part)))
        return 0

    return replace(_levels(problem, config, above), start=hand_over)


def _levels(problem: Problem, config: GpmetisConfig, coarsening: CoarseningOptions) -> Recipe:
    """Return the parts that both devices share."""
    limit = problem.balance.cluster_limit(config.coarsening.coarsest_vertices(problem.num_blocks),
                                          config.matching.max_share)

    return Recipe(
        coarsening, matching_rule(limit, config.matching),
        start_from_pool(problem, config.initial),
        lambda seed: two_direction_refiner(problem.space, problem.graph, problem.balance,
                                           config.refinement, seed, problem.objective),
        search=config.search)
