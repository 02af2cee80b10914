"""Integrated mapping: the multilevel method with the communication cost as its objective (GPU-IM).

P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
4.2: matching by rating, multisection of the coarsest graph, label propagation on J.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portpart.algorithms import multilevel
from portpart.algorithms.coarsening import (
    ClusteringOptions,
    ClusterRule,
    CoarseningOptions,
    Level,
    MatchingOptions,
    cluster_rules,
    matching_rule,
)
from portpart.algorithms.initial import GrowingOptions
from portpart.algorithms.mapping.anchors import start_mapping
from portpart.algorithms.mapping.sections import splits_along
from portpart.algorithms.placement import well_placed
from portpart.algorithms.refinement import RefinementOptions
from portpart.backends.programs import Array
from portpart.options import changed, option, option_class

PLACED = 4
"""Minimum number of candidates that are placed and refined for a machine without hierarchy."""


@option_class
class IntegratedConfig:
    """Parameters of integrated mapping.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(20)
    >>> config = portpart.IntegratedConfig(swaps=False)
    >>> portpart.map_processes(graph, "2:2", "1:10", preset=config).feasible
    True
    """

    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=48, min_coarsest=3072, max_coarsest=12288,
                          dense_per_block=8, max_kept=0.9), "Where coarsening ends.")
    clustering: ClusteringOptions | None = option(
        ClusteringOptions(),
        "Merging by clusters; None: by pairs of high rating, as in the paper.")
    initial: GrowingOptions = option(
        GrowingOptions(refined=1, candidates=4, max_candidates=16, balanced=False),
        "Mappings of the coarsest graph, by bisections along the hierarchy.")
    refinement: multilevel.ScheduleOptions = option(
        multilevel.ScheduleOptions(
            temperatures=(0.6, 0.3), finest_temperatures=(0.6, 0.3),
            coarse_once_above=2**18, finest_once_above=2**21,
            coarse=RefinementOptions(tolerance=0.998, stall_limit=8),
            finest=RefinementOptions(tolerance=0.9995, stall_limit=16),
            finest_once=RefinementOptions(tolerance=0.9995, stall_limit=64)),
        "Passes over the levels.")
    search: multilevel.SearchOptions = option(
        multilevel.SearchOptions(), "A search by several cycles through the levels.")
    swaps: bool = option(True, "Whether blocks swap places at the end if that lowers the cost.")


STRONG = changed(IntegratedConfig(), {
    "initial": GrowingOptions(refined=8, candidates=8, max_candidates=16, balanced=False),
    "refinement.temperatures": (0.75, 0.5, 0.25),
    "refinement.finest_temperatures": (0.75, 0.25),
    "refinement.coarse_once_above": None,
    "refinement.finest_once_above": None,
    "refinement.coarse": RefinementOptions(stall_limit=20),
    "refinement.finest": RefinementOptions(tolerance=0.9998, stall_limit=40),
    "refinement.finest_once": None,
    "search.cycles": 1,
})

PRESETS = {
    "paper": changed(IntegratedConfig(), {
        "coarsening": CoarseningOptions(coarsest_per_block=8, min_coarsest=0, max_coarsest=2**30),
        "clustering": None,
        "initial": GrowingOptions(balanced=False).of_one(),
        "refinement.temperatures": (0.0,),
        "refinement.finest_temperatures": (0.0,),
        "refinement.coarse": RefinementOptions(weak_again=True, leave_by="loss", slack=0),
        "refinement.finest": None,
        "refinement.finest_once": None,
        "swaps": False,
    }),
    "fast": changed(IntegratedConfig(), {
        "refinement.temperatures": (0.3,),
        "refinement.finest_temperatures": (0.25,),
        "refinement.finest_once": None,
    }),
    "default": IntegratedConfig(),
    "strong": STRONG,
    "best": changed(STRONG, {"search.runs": 4, "search.cycles": 2}),
}


def integrated_mapping(problem: multilevel.MappingProblem, config: IntegratedConfig) -> Array:
    """Map the graph: coarsen, map the coarsest graph, refine on J; search if configured.

    Returns
    -------
    array of int32, shape (n,)
        Processing element of each vertex, in the space of the graph.
    """
    if problem.num_blocks == 1 or problem.graph.num_vertices == 0:
        return problem.space.zeros(problem.graph.num_vertices, np.int32)
    return multilevel.search_multilevel(problem, recipe_of(problem, config))


def recipe_of(problem: multilevel.MappingProblem, config: IntegratedConfig) -> multilevel.Recipe:
    """Return the parts of a walk that refines on J."""
    first, *others = _cluster_rules(problem, config)
    return multilevel.Recipe(config.coarsening, first, _start_rule(problem, config),
                             multilevel.jet_refiner(problem, config.refinement),
                             config.refinement.passes, config.search).in_turn(others)


def _cluster_rules(problem: multilevel.MappingProblem,
                   config: IntegratedConfig) -> list[ClusterRule]:
    """Return the rules for clusters in the runs of a search."""
    coarsest = config.coarsening.coarsest_vertices(problem.num_blocks)
    limit = problem.balance.cluster_limit(coarsest)
    if config.clustering is not None:
        return [*cluster_rules(problem.graph, coarsest, limit, config.clustering,
                               problem.num_blocks)]
    return [matching_rule(limit, MatchingOptions(), rated=True)]


def _start_rule(problem: multilevel.MappingProblem,
                config: IntegratedConfig) -> multilevel.StartRule:
    """Return a rule that starts from the best mapping by bisections along the hierarchy."""
    is_hierarchy, splits = problem.topology.is_hierarchy, splits_along(problem.topology)
    refined = config.initial.refined if is_hierarchy else max(PLACED, config.initial.refined)
    options = config.initial
    if refined != options.refined:
        options = replace(options, refined=refined)

    def grow(level: Level, wanted: multilevel.Constraints, seed: int) -> list[Array]:
        parts = multilevel.grown_parts(level.graph, problem.balance, options, seed, splits)
        if is_hierarchy:
            return [*parts]
        return [well_placed(level.graph, part, problem.balance, problem.objective, seed,
                            problem.constraints.fixed) for part in parts]

    return start_mapping(problem, problem.num_blocks, config.refinement.passes, grow)
