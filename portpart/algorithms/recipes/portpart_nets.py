"""The library's own recipe for hypergraphs: communities, clusters, starts, Jet refinement on nets.

Clusters by heavy-edge rating inside communities after Heuer, Schlag (2017) and Gottesbueren,
Heuer, Maas, Sanders, Schlag (2024); refinement after Jet as Krause, Gottesbueren, Maas (2025)
adapt it to nets; combinations and cycles as for graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from portpart.algorithms import multilevel
from portpart.algorithms.coarsening import (
    ClusteringOptions,
    CoarseningOptions,
    CommunityOptions,
    NetOptions,
    NetProposals,
    cluster_rules,
    communities,
    contract_in_walk,
    end_for,
    in_order,
    places_by_nets,
    reduced_nets,
)
from portpart.algorithms.initial import (
    GROWING_ON_NETS,
    GrowingOptions,
    InitialOptions,
    partition_net_by_net,
)
from portpart.algorithms.refinement import FlowOptions, RefinementOptions, Refiner, Variant
from portpart.algorithms.refinement.nets import ORDERS, constrained_on_nets
from portpart.backends.programs import Array
from portpart.graphs import Graph, Hypergraph
from portpart.options import changed, derived, option, option_class
from portpart.primitives import put_to


@option_class
class SmallOptions:
    """Changes for small hypergraphs: flows; cycles and one pass for few blocks, or fewer starts."""

    max_pins: int = option(2**18, "Hypergraphs with at most this number of pins are small.", min=0)
    max_blocks: int = option(
        8, "Partitions into more blocks have no cycles and all passes.", min=2)
    cycles: int = option(1, "`search.cycles` for these, if there is one walk otherwise.", min=0)
    passes: int | None = option(1, "`search.passes` with these cycles.", min=1)
    once: bool = option(
        True, "Whether levels get one pass: the finest the last one, others the first.")
    flow_levels: int = option(1, "`flows.levels` for these, if that is 0 otherwise.", min=0)
    fewer_hierarchies: int = option(2, "Divisor of `hierarchies` for more blocks.", min=1)


CONSTRAINED_STALLS, CONSTRAINED_TOLERANCE = 10, 0.9999
"""`stall_limit` and `tolerance` of a constrained pass."""


@option_class
class ConstrainedOptions:
    """A last pass over the finest level, whose moves keep all limits."""

    max_block: int = option(500, "With more vertices per block there is no such pass.", min=0)
    alone: bool = option(True, "Whether it is the only pass after flows.")


@option_class
class HypergraphConfig:
    """Parameters of the library's own partitioner of hypergraphs.

    Examples
    --------
    >>> import portpart
    >>> from portpart.options import changed
    >>> config = changed(portpart.HypergraphConfig(), {"search.cycles": 1})
    >>> nets = portpart.generators.netlist(500)
    >>> portpart.partition(nets, 2, preset=config).feasible
    True
    """

    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=160, min_coarsest=3072, max_coarsest=16384,
                          max_kept=0.9, skip_above=0.8), "Where coarsening ends.")
    clustering: ClusteringOptions = option(
        ClusteringOptions(max_coarse_weight=3), "Merging by clusters.")
    communities: CommunityOptions | None = option(
        CommunityOptions(), "Communities, which clusters stay within; None: no communities.")
    communities_in_turn: int | None = option(
        None, "Number of runs with communities, in turn with as many without; None: all.", min=1,
        max=64)
    nets: NetOptions = option(NetOptions(), "Nets that are used.")
    initial: InitialOptions = option(
        InitialOptions(method="auto", start_blocks=512,
                       growing=changed(GROWING_ON_NETS, {"net_levels_for_many": 3})),
        "Partitions of the coarsest hypergraph.")
    deeper_per_block: int = option(
        160, "Vertices per block of another start in every second run, if the coarsest hypergraph "
        "may have four times as many; 0: none.", min=0)
    refinement: multilevel.ScheduleOptions = option(
        multilevel.ScheduleOptions(temperatures=(0.75, 0.3), finest_temperatures=(0.75, 0.3),
                                   coarse=RefinementOptions(tolerance=0.999, stall_limit=5,
                                                            weak_limit=4, until_balanced=True)),
        "Passes over the levels.")
    coarsest_once_above: int | None = option(
        32, "With more blocks, the coarsest level has one pass; None: never.", min=1)
    order: str = option(
        "id", 'Order of moves that the afterburner assumes: by "id", or largest "gain" first.',
        choices=ORDERS)
    flows: FlowOptions = option(
        FlowOptions(levels=0, alpha=16.0, max_entries=6000, max_matchings=5, max_blocks=256,
                    last_cycle_only=True),
        "Refinement by flows after the passes over a level.")
    constrained: ConstrainedOptions | None = option(
        ConstrainedOptions(), "A last pass where blocks have few vertices; None: no such pass.")
    search: multilevel.SearchOptions = option(
        multilevel.SearchOptions(), "A search by several cycles through the levels.")
    small: SmallOptions | None = option(
        SmallOptions(), "What differs for small hypergraphs; None: nothing.")

    @derived
    def for_size(self, num_pins: int, num_blocks: int) -> HypergraphConfig:
        """Return the configuration with the changes for this many pins and blocks."""
        small, search, initial, passes = self.small, self.search, self.initial, self.refinement
        if small is None or num_pins > small.max_pins:
            return replace(self, small=None)
        if num_blocks > small.max_blocks:
            initial = replace(initial, growing=initial.growing.on_fewer(small.fewer_hierarchies,
                                                                        num_blocks))
        else:
            if search.is_one_walk:
                search = replace(search, cycles=small.cycles, passes=small.passes)
            if small.once:
                passes = replace(passes, coarse_once_above=0, finest_once_above=0)
        flows = replace(self.flows, levels=self.flows.levels or small.flow_levels)
        return replace(self, small=None, search=search, initial=initial, refinement=passes,
                       flows=flows)

    def passes(self, num_blocks: int) -> multilevel.Passes:
        """Return the passes over the levels, for a number of blocks."""
        above, passes = self.coarsest_once_above, self.refinement.passes
        if above is None or num_blocks <= above:
            return passes
        coarsest = self.coarsening.coarsest_vertices(num_blocks)

        def on_level(depth: int, graph: Graph) -> tuple[float, ...]:
            temperatures = passes(depth, graph)
            once = 0 < depth and graph.num_vertices <= coarsest
            return temperatures[:1] if once else temperatures

        return on_level


STRONG = changed(HypergraphConfig(), {
    "coarsening.skip_above": 1.0, "coarsest_once_above": None,
    "initial.growing.refined": 4, "initial.growing.refined_for_many": None,
    "initial.growing.hierarchies_for_many": None, "initial.growing.max_moves_for_many": None,
    "refinement.coarse.stall_limit": 10, "refinement.coarse.weak_limit": 8,
    "constrained.max_block": 2**31, "constrained.alone": False,
    "refinement.temperatures": (0.9, 0.6, 0.3), "refinement.finest_temperatures": (0.9, 0.6, 0.3),
    "flows.levels": 100, "flows.max_matchings": None, "flows.max_blocks": 1024,
    "flows.last_cycle_only": False, "search.runs": 2, "communities_in_turn": 1,
    "small": None})

PRESETS = {
    "fast": changed(HypergraphConfig(), {
        "coarsening.min_coarsest": 768,
        "initial.growing.hierarchies": 4, "initial.growing.candidates": 4,
        "initial.growing.net_levels_for_many": None, "initial.growing.hierarchies_for_many": None,
        "refinement.coarse.tolerance": 0.997, "refinement.coarse.stall_limit": 4,
        "refinement.temperatures": (0.6,), "refinement.finest_temperatures": (0.6,),
        "constrained": None, "deeper_per_block": 0, "small": None,
    }),
    "default": HypergraphConfig(),
    "strong": STRONG,
    "best": changed(STRONG, {
        "coarsening.min_coarsest": 1536, "clustering.growth": 4.0, "deeper_per_block": 96,
        "initial.growing.twice_up_to": 64,
        "refinement.coarse.tolerance": 0.9995, "refinement.coarse.stall_limit": 20,
        "flows.max_entries": 2**20, "communities_in_turn": 2,
        "search.runs": 4, "search.cycles": 2, "search.population": 24}),
}

SLOW_GROWTH = {"clustering.growth": 3.0, "clustering.skewed_growth": 3.0, "deeper_per_block": 0,
               "coarsest_once_above": None, "communities_in_turn": None}
STARTS_ON_NETS = {"initial.growing.max_net_size": 100_000, "initial.growing.max_pins_per_arc": 1e3}

PRESETS_OF_EDGES = {
    "fast": changed(PRESETS["fast"], SLOW_GROWTH),
    "default": changed(PRESETS["default"], {
        **SLOW_GROWTH, **STARTS_ON_NETS, "coarsening.skip_above": 1.0,
        "coarsening.min_coarsest": 2000, "refinement.coarse.tolerance": 0.999,
        "refinement.coarse.stall_limit": 10, "refinement.coarse.weak_limit": 8,
        "search.cycles": 1, "small": None}),
    "strong": changed(PRESETS["strong"], SLOW_GROWTH | STARTS_ON_NETS),
    "best": changed(PRESETS["best"], SLOW_GROWTH | STARTS_ON_NETS | {
        "coarsening.min_coarsest": 3072, "initial.growing.twice_up_to": 0}),
}
"""For edges of graphs: each edge has two nets, many of them large. Clusters that grow slowly leave
more choice, and with more levels refinement takes smaller steps. Starts need the large nets, whose
weight is small in the clique graph. A cycle finds what the first walk has missed."""


FEW_NETS = 6
"""With this number of vertices per net or more, a partition grows net by net."""


def prepared(problem: multilevel.Problem, config: HypergraphConfig) -> multilevel.Prepared:
    """Remove huge nets, and merge repeated ones if there are many.

    Results are evaluated on all nets. Options differ where nets are few or large. If many vertices
    have large nets only, vertices are numbered in the order of their nets, unless there is an
    initial partition.
    """
    fewer = reduced_nets(problem.graph, config.nets)
    if fewer is not problem.graph:
        problem.trace.left_out(problem.graph, fewer)
        problem = replace(problem, graph=fewer)
    wanted = problem.constraints
    if wanted.initial is not None or wanted.previous_blocks is not None:
        return multilevel.Prepared(problem)
    places = places_by_nets(fewer, config.nets)
    config = for_nets(config, fewer, places is not None)
    if places is None:
        return multilevel.Prepared(problem, config=config)
    if wanted.fixed is not None:
        wanted = replace(wanted, fixed=put_to(problem.space, places, wanted.fixed))
    problem = replace(problem, graph=in_order(fewer, places), constraints=wanted)
    return multilevel.Prepared(problem, places, config)


def for_nets(config: HypergraphConfig, hypergraph: Hypergraph, are_large: bool) -> HypergraphConfig:
    """Return the configuration for few nets, or if many vertices have large nets only."""
    if are_large:
        config = changed(config, {"initial.growing.also_on_large_nets": True,
                                  "communities_in_turn": None})
    if are_large or hypergraph.num_vertices >= FEW_NETS * hypergraph.num_nets:
        wanted = max(1, config.initial.growing.net_by_net)
        config = changed(config, {"initial.growing.net_by_net": wanted})
    return config


def portpart_nets(problem: multilevel.Problem, config: HypergraphConfig) -> multilevel.Recipe:
    """Coarsen by clusters, start, refine upwards, search.

    The refinement of an initial partition does not depend on the size.
    """
    if problem.constraints.initial is None:
        config = config.for_size(problem.graph.num_pins, problem.num_blocks)
    coarsest = config.coarsening.coarsest_vertices(problem.num_blocks)
    passes = config.passes(problem.num_blocks)
    first, *others = cluster_rules(problem.graph, coarsest, problem.balance.cluster_limit(coarsest),
                                   config.clustering, problem.num_blocks, NetProposals(config.nets))
    offered = _net_by_net(problem, config.initial.growing)
    refiner = multilevel.jet_refiner(problem, config.refinement, config.order)
    deeper = _deeper(problem, config, refiner)
    start = multilevel.start_from_pool(problem, config.initial, passes, deeper)
    recipe = multilevel.Recipe(
        config.coarsening, first, start, refiner, passes, config.search,
        contraction=contract_in_walk, communities=_apart(problem, config, offered),
        offered=offered, flows=config.flows, last_pass=_last_pass(problem, config)).in_turn(others)
    plain = start if deeper is None else multilevel.start_from_pool(problem, config.initial, passes)
    return _in_runs(recipe, config, plain)


def _in_runs(recipe: multilevel.Recipe, config: HypergraphConfig,
             plain: multilevel.StartRule) -> multilevel.Recipe:
    """Return the recipe with others for the further runs of a search.

    Every second run has the plain start, and runs with and without communities alternate. The best
    run counts, so that neither can make a search much worse.
    """
    kinds = (recipe, *recipe.others)
    turn = None if recipe.communities is None else config.communities_in_turn
    if config.search.runs == 1 or (plain is recipe.start and turn is None):
        return recipe
    first, *others = (
        replace(kinds[number % len(kinds)], others=(),
                start=plain if number % 2 else recipe.start,
                communities=None if turn and number // turn % 2 else recipe.communities)
        for number in range(2 * (turn or 1) * len(kinds)))
    return replace(first, others=tuple(others))


MIN_SHRINK = 4
"""Levels below the coarsest hypergraph must shrink it by this factor."""


def _deeper(problem: multilevel.Problem, config: HypergraphConfig,
            refiner: Callable[[int], Refiner]) -> multilevel.Recipe | None:
    """Return the recipe for levels below the coarsest hypergraph, if there are such."""
    k, passes = problem.num_blocks, config.refinement.passes
    stop_at = config.deeper_per_block * k
    if not 0 < MIN_SHRINK * stop_at <= config.coarsening.coarsest_vertices(k):
        return None
    rule, *_ = cluster_rules(problem.graph, stop_at, problem.balance.cluster_limit(stop_at),
                             config.clustering, k, NetProposals(config.nets))
    return multilevel.Recipe(
        config.coarsening, rule, multilevel.start_on_nets(problem, config.initial.growing), refiner,
        lambda depth, graph: passes(depth + 1, graph)[:1], contraction=contract_in_walk,
        stop_at=stop_at)


def _last_pass(problem: multilevel.Problem,
               config: HypergraphConfig) -> multilevel.LastPass | None:
    """Return the constrained pass, if there is one."""
    options = config.constrained
    if options is None or problem.graph.num_vertices > options.max_block * problem.num_blocks:
        return None
    pass_options = replace(config.refinement.coarse, tolerance=CONSTRAINED_TOLERANCE,
                           stall_limit=CONSTRAINED_STALLS)
    return multilevel.LastPass(Variant(pass_options, constrained_on_nets(config.order)),
                               options.alone)


def _apart(problem: multilevel.Problem, config: HypergraphConfig,
           offered: Array | None) -> Array | None:
    """Return the communities of vertices that coarsening respects, if there is coarsening.

    If only large nets are left, these are the blocks of a partition that grew net by net.
    """
    if offered is not None and config.initial.growing.also_on_large_nets:
        return offered
    options, k = config.coarsening, problem.num_blocks
    end = end_for(problem.graph, options.coarsest_vertices(k), options.coarsest_dense_vertices(k))
    if (config.communities is None or problem.constraints.initial is not None
            or problem.graph.num_vertices <= end):
        return None
    return communities(problem.graph, problem.seed, config.communities)


def _net_by_net(problem: multilevel.Problem, options: GrowingOptions) -> Array | None:
    """Return a partition that grows net by net, if wanted and possible, without given blocks."""
    wanted, balance = problem.constraints, problem.balance
    if options.net_by_net == 0 or wanted.initial is not None or wanted.fixed is not None:
        return None
    return partition_net_by_net(problem.graph, balance.num_blocks, balance.shares, balance.limits,
                                problem.seed, options)
