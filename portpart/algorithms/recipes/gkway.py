"""G-kway: multilevel GPU-accelerated k-way graph partitioner; and the full partition of iG-kway.

W. L. Lee, D.-L. Lin, T.-W. Huang, S. Jiang, T.-Y. Ho, Y. Lin, B. Yu, DAC 2024; and chapter 1 of
W. L. Lee's dissertation, University of Wisconsin-Madison, 2025.
Union-find grouping, a start on the coarsest graph, independent-set refinement on every level. The
preset "paper" is the method as published, with METIS on the coarsest graph. By default groups have
a limited size and starts are grown.

iG-kway (W. L. Lee, S. Jiang, D.-L. Lin, C. Chang, B. Zhang, Y.-H. Chung, U. Schlichtmann, T.-Y. Ho,
T.-W. Huang, DAC 2025; and chapter 3 of the dissertation) is incremental. Its full partition is
G-kway with constrained coarsening: groups are split into runs of a few vertices.
"""

from __future__ import annotations

from portpart.algorithms.coarsening import CoarseningOptions, GroupingOptions, grouping_rule
from portpart.algorithms.initial import InitialOptions
from portpart.algorithms.multilevel import Problem, Recipe, SearchOptions, start_from_pool
from portpart.algorithms.refinement import IndependentOptions
from portpart.algorithms.refinement.prefix import independent_set_refiner
from portpart.options import MAX_BLOCKS, changed, option, option_class


@option_class
class GkwayConfig:
    """Parameters of the G-kway partitioner.

    Examples
    --------
    >>> import portpart
    >>> from portpart.options import changed
    >>> config = changed(portpart.GkwayConfig(), {"grouping.group_size": 4})
    >>> graph = portpart.generators.grid_2d(20)
    >>> portpart.partition(graph, 2, preset=config).feasible
    True
    """

    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=160, min_coarsest=0, max_coarsest=20480,
                          max_kept=0.95), "Where coarsening ends.")
    grouping: GroupingOptions = option(GroupingOptions(), "Merging by union-find groups.")
    initial: InitialOptions = option(
        InitialOptions(method="auto"), "Partitions of the coarsest graph.")
    refinement: IndependentOptions = option(IndependentOptions(), "Refinement of a level.")
    search: SearchOptions = option(
        SearchOptions(), "A search by several cycles through the levels.")


AS_PUBLISHED = {
    "coarsening.max_coarsest": MAX_BLOCKS,
    "coarsening.drop_below": 0,
    "grouping.max_coarse_weight": None,
    "initial.method": "metis-kway",
    "initial.starts": 1,
    "refinement.zero_gain": False,
    "refinement.apply_later_moves": False,
    "refinement.tolerance": 1,
    "refinement.stall_limit": 1,
    "refinement.rebalance": False,
    "refinement.slack": 0,
}
"""Changes of the preset "paper" for both algorithms."""

PRESETS = {
    "default": GkwayConfig(),
    "strong": changed(GkwayConfig(), {"search.cycles": 2}),
    "paper": changed(GkwayConfig(), {**AS_PUBLISHED, "grouping.group_size": None}),
}


@option_class
class IgkwayConfig:
    """Parameters of the iG-kway partitioner.

    Examples
    --------
    >>> import portpart
    >>> graph = portpart.generators.grid_2d(20)
    >>> session = portpart.Session(graph, 2, preset=portpart.IgkwayConfig())
    >>> session.cut < 40
    True
    """

    coarsening: CoarseningOptions = option(
        CoarseningOptions(coarsest_per_block=1280, min_coarsest=0, max_coarsest=12288,
                          max_kept=0.95), "Where coarsening ends.")
    grouping: GroupingOptions = option(
        GroupingOptions(group_size=4, broken_up=True), "Merging by union-find groups.")
    initial: InitialOptions = option(
        InitialOptions(method="auto"), "Partitions of the coarsest graph.")
    refinement: IndependentOptions = option(IndependentOptions(), "Refinement of a level.")
    search: SearchOptions = option(
        SearchOptions(), "A search by several cycles through the levels.")


PRESETS_OF_IGKWAY = {
    "default": IgkwayConfig(),
    "paper": changed(IgkwayConfig(), {
        **AS_PUBLISHED,
        "coarsening.coarsest_per_block": 35,
        "coarsening.max_kept": 0.9,
        "grouping.group_size": 6,
    }),
}


def gkway(problem: Problem, config: GkwayConfig | IgkwayConfig) -> Recipe:
    """Coarsen by grouping, start, refine upwards."""
    coarsest = config.coarsening.coarsest_vertices(problem.num_blocks)
    rule = grouping_rule(problem.graph.total_vertex_weight, coarsest,
                         problem.balance.cluster_limit(coarsest), config.grouping)
    return Recipe(
        config.coarsening, rule,
        start_from_pool(problem, config.initial),
        lambda seed: independent_set_refiner(problem.space, problem.graph, problem.balance,
                                             config.refinement, seed, problem.objective),
        search=config.search)
