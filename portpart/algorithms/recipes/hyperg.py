"""HyperG: multilevel GPU-accelerated k-way hypergraph partitioner; and iHyperG, for sessions.

W. L. Lee, D.-L. Lin, C.-H. Chiu, U. Schlichtmann, T.-W. Huang, ASP-DAC 2025; and chapter 2 of
W. L. Lee's dissertation, University of Wisconsin-Madison, 2025.
Balanced groups, a start on the coarsest hypergraph, sequences of moves on every level. The preset
"paper" is the method as published, except for the start: the paper calls Mt-KaHyPar, the library
uses its own. By default blocks are also filled up and rebalanced. iHyperG (chapter 4) has the full
partition of HyperG; only its sessions differ (`incremental/critical_pins.py`).
"""

from __future__ import annotations

from dataclasses import fields

from portpart.algorithms.coarsening import (
    ClusterRule,
    Clusters,
    CoarseningOptions,
    NetGroupingOptions,
    contract_in_walk,
    group_by_nets,
)
from portpart.algorithms.initial import GROWING_ON_NETS, InitialOptions
from portpart.algorithms.multilevel import Problem, Recipe, SearchOptions, start_from_pool
from portpart.algorithms.refinement import SequenceOptions
from portpart.algorithms.refinement.nets import sequence_refiner
from portpart.backends.programs import Array
from portpart.graphs import Hypergraph
from portpart.options import MAX_BLOCKS, changed, option, option_class


@option_class
class HypergConfig:
    """Parameters of the HyperG partitioner.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.generators.netlist(500)
    >>> portpart.partition(nets, 2, preset=portpart.HypergConfig()).feasible
    True
    """

    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=160, min_coarsest=1024, max_coarsest=20480,
                          max_kept=0.95), "Where coarsening ends.")
    grouping: NetGroupingOptions = option(NetGroupingOptions(), "Merging by groups.")
    initial: InitialOptions = option(
        InitialOptions(method="grown", start_blocks=512, growing=GROWING_ON_NETS),
        "Partitions of the coarsest hypergraph.")
    refinement: SequenceOptions = option(SequenceOptions(), "Refinement of a level.")
    search: SearchOptions = option(
        SearchOptions(), "A search by several cycles through the levels.")


PRESETS = {
    "default": HypergConfig(),
    "paper": changed(HypergConfig(), {
        "coarsening.min_coarsest": 0, "coarsening.max_coarsest": MAX_BLOCKS,
        "coarsening.drop_below": 0, "grouping.max_coarse_weight": None,
        "refinement.apply_later_moves": False, "refinement.tolerance": 1,
        "refinement.stall_limit": 1, "refinement.rebalance": False,
        "refinement.hold_heavy": False, "refinement.slack": 0,
    }),
}


@option_class
class IhypergConfig(HypergConfig):
    """Parameters of the iHyperG partitioner: those of HyperG.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.generators.netlist(500)
    >>> session = portpart.Session(nets, 2, preset=portpart.IhypergConfig())
    >>> session.km1 < 250
    True
    """


PRESETS_OF_IHYPERG = {
    name: IhypergConfig(**{each.name: getattr(config, each.name) for each in fields(config)})
    for name, config in PRESETS.items()}
"""Presets of iHyperG."""


def hyperg(problem: Problem, config: HypergConfig) -> Recipe:
    """Coarsen by balanced groups, start, refine upwards."""
    return Recipe(
        config.coarsening, grouping_rule(problem, config),
        start_from_pool(problem, config.initial),
        lambda seed: sequence_refiner(problem.space, problem.graph, problem.balance,
                                      config.refinement, seed, problem.objective),
        search=config.search, contraction=contract_in_walk)


def grouping_rule(problem: Problem, config: HypergConfig) -> ClusterRule:
    """Return the rule for groups of limited size."""
    options, limit = config.grouping, weight_limit(problem, config)

    def find_groups(fine: Hypergraph, level_seed: int, label: Array | None) -> Clusters:
        return group_by_nets(fine, limit, options.group_size, level_seed, options.max_rated, label)

    return find_groups


def weight_limit(problem: Problem, config: HypergConfig) -> int:
    """Return the maximum weight of a vertex together with the one that it selects."""
    total, share = problem.graph.total_vertex_weight, config.grouping.max_coarse_weight
    coarsest = config.coarsening.coarsest_vertices(problem.num_blocks)
    limit = problem.balance.cluster_limit(coarsest, config.grouping.max_share)
    return limit if share is None else min(limit, max(1, int(share * total / coarsest)))
