"""The library's own recipe: clusters, several starts, Jet refinement, and search by several runs.

Cluster coarsening after Meyerhenke, Sanders, Schulz (2016), made synchronous; refinement after Jet
(Gilbert et al. 2024); flows after Sanders, Schulz (2011); combinations and cycles after Sanders,
Schulz (2012) and Walshaw (2004).
"""

from __future__ import annotations

from portpart.algorithms import multilevel
from portpart.algorithms.coarsening import (
    ClusteringOptions,
    CoarseningOptions,
    cluster_rules,
    is_skewed,
)
from portpart.algorithms.initial import GrowingOptions, InitialOptions
from portpart.algorithms.refinement import FlowOptions, RefinementOptions
from portpart.graphs import Graph
from portpart.options import changed, option, option_class

MANY_STARTS = GrowingOptions(refined=4, candidates=4, hierarchies_for_few=4, twice_up_to=4)
STARTS = changed(MANY_STARTS, {"candidates_for_many": 2})


@option_class
class PortpartConfig:
    """Parameters of the library's own partitioner.

    Examples
    --------
    >>> import portpart
    >>> from portpart.options import changed
    >>> config = changed(portpart.PortpartConfig(), {"search.runs": 2, "search.cycles": 1})
    >>> graph = portpart.generators.grid_2d(20)
    >>> portpart.partition(graph, 2, preset=config).feasible
    True
    """

    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=48, min_coarsest=768, max_coarsest=12288,
                          min_per_block=24, dense_per_block=8, max_kept=0.9),
        "Where coarsening ends.")
    clustering: ClusteringOptions = option(ClusteringOptions(), "Merging by clusters.")
    initial: InitialOptions = option(
        InitialOptions(method="auto", start_blocks=512, growing=STARTS),
        "Partitions of the coarsest graph.")
    refinement: multilevel.ScheduleOptions = option(
        multilevel.ScheduleOptions(
            temperatures=(0.6, 0.3), finest_temperatures=(0.75, 0.25),
            coarse_once_above=2**18, finest_once_above=2**21,
            coarse=RefinementOptions(tolerance=0.998, stall_limit=8),
            finest=RefinementOptions(tolerance=0.9997, stall_limit=20),
            finest_once=RefinementOptions(tolerance=0.9995, stall_limit=16),
            finest_small=RefinementOptions(tolerance=0.9997, stall_limit=20, iteration_limit=60,
                                           weak_limit=4)),
        "Passes over the levels.")
    flows: FlowOptions = option(
        FlowOptions(levels=1, max_level=2**18, max_blocks=256),
        "Refinement by flows after the passes over a level.")
    large_flows: FlowOptions | None = option(
        FlowOptions(levels=1, on_band=True, max_blocks=256, max_vertices=2**22),
        "The same for a finest level too large for `flows`, unless degrees are skewed or "
        "`flows.levels` is 0.")
    search: multilevel.SearchOptions = option(
        multilevel.SearchOptions(), "A search by several cycles through the levels.")


STRONG = changed(PortpartConfig(), {
    "initial.growing": MANY_STARTS, "refinement.temperatures": (0.75, 0.5, 0.25),
    "refinement.coarse_once_above": None, "refinement.finest_once_above": None,
    "refinement.coarse": RefinementOptions(stall_limit=20),
    "refinement.finest": RefinementOptions(tolerance=0.9998, stall_limit=40),
    "refinement.finest_once": None,
    "refinement.finest_small": RefinementOptions(tolerance=0.9998, stall_limit=40, weak_limit=4),
    "flows": FlowOptions(levels=100, max_matchings=16, max_vertices=2**22),
    "large_flows": FlowOptions(levels=1, on_band=True), "search.cycles": 1,
})

PRESETS = {
    "fast": changed(PortpartConfig(), {
        "initial.starts": 2, "initial.start_blocks": 64,
        "initial.growing": GrowingOptions(refined=1, candidates=1, twice_up_to=4,
                                          min_vertices_for_many=256),
        "refinement.temperatures": (0.5,), "refinement.finest_temperatures": (0.25,),
        "refinement.coarse": RefinementOptions(tolerance=0.99, stall_limit=8),
        "refinement.finest": RefinementOptions(tolerance=0.99),
        "refinement.finest_once": None, "refinement.finest_small": None, "flows.levels": 0,
        "large_flows": None,
    }),
    "default": PortpartConfig(),
    "strong": STRONG,
    "best": changed(STRONG, {
        "clustering.growths_for_two": (8, 4, 3),
        "initial.growing": GrowingOptions(
            refined=4, candidates=16, candidates_for_many=4, hierarchies=16,
            hierarchies_for_many=1, max_blocks=128, twice_up_to=4),
        "flows": FlowOptions(levels=100), "large_flows": None,
        "search.runs": 4, "search.max_runs": 12, "search.cycles": 2, "search.population": 24,
    }),
}


def portpart(problem: multilevel.Problem, config: PortpartConfig) -> multilevel.Recipe:
    """Coarsen by clusters, start, refine upwards, search."""
    coarsest = config.coarsening.coarsest_vertices(problem.num_blocks)
    passes = config.refinement.passes
    first, *others = cluster_rules(problem.graph, coarsest, problem.balance.cluster_limit(coarsest),
                                   config.clustering, problem.num_blocks)
    return multilevel.Recipe(
        config.coarsening, first, multilevel.start_from_pool(problem, config.initial, passes),
        multilevel.jet_refiner(problem, config.refinement), passes, config.search,
        flows=flows_for(problem.graph, config)).in_turn(others)


def flows_for(graph: Graph, config: PortpartConfig) -> FlowOptions:
    """Return the options of flows for a graph of this size."""
    sizes, large = (graph.whole.num_vertices, graph.whole.num_entries), config.large_flows
    if large is None or not config.flows.levels or config.flows.take(*sizes) or is_skewed(graph):
        return config.flows
    return large
