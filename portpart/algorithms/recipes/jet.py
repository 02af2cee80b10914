"""Jet: multilevel graph partitioning on graphics processors.

M. S. Gilbert, K. Madduri, E. G. Boman, S. Rajamanickam, SIAM J. Sci. Comput. 46 (2024) B700-B724.
Two-hop matching, hash contraction, METIS on the coarsest graph, Jet refinement on every level.
The presets "paper" and "paper-ultra" are as published, "code" and "code-ultra" as in the authors'
released code, the others are tuned.
"""

from __future__ import annotations

from portpart.algorithms import multilevel
from portpart.algorithms.coarsening import CoarseningOptions, MatchingOptions, matching_rule
from portpart.algorithms.initial import InitialOptions
from portpart.options import changed, option, option_class


@option_class
class JetConfig:
    """Parameters of the Jet partitioner.

    Examples
    --------
    >>> import portpart
    >>> from portpart.options import changed
    >>> config = changed(portpart.JetConfig(), {"refinement.temperatures": (0.5,)})
    >>> graph = portpart.generators.grid_2d(20)
    >>> portpart.partition(graph, 2, preset=config).feasible
    True
    """

    coarsening: CoarseningOptions = option(CoarseningOptions(), "Where coarsening ends.")
    matching: MatchingOptions = option(MatchingOptions(), "Merging by pairs.")
    initial: InitialOptions = option(InitialOptions(), "Partitions of the coarsest graph.")
    refinement: multilevel.ScheduleOptions = option(multilevel.ScheduleOptions(),
                                                    "Passes over the levels.")


ULTRA_TEMPERATURES = tuple(round(0.85 - 0.05 * i, 2) for i in range(17))

PAPER = changed(JetConfig(), {
    "coarsening": CoarseningOptions(coarsest_per_block=8, min_coarsest=0, max_coarsest=2**30),
    "matching.max_share": None,
    "initial.method": "metis-kway",
    "initial.starts": 1,
    "refinement.coarse.slack": 0,
    "refinement.coarse.leave_by": "loss",
})
"""As published: coarsening ends at the first graph of at most 8 k vertices (at least 4 k, since
matching at most halves a graph). METIS's k-way method partitions it once (section 3). Blocks keep
the limits of the finest graph on every level and evict the vertices of least loss (section 4.2)."""

PAPER_ULTRA = changed(PAPER, {"refinement.temperatures": ULTRA_TEMPERATURES,
                              "refinement.finest_temperatures": ULTRA_TEMPERATURES})
"""With the 17 temperatures of the released code, which the paper does not list."""

CODE = changed(PAPER, {
    "coarsening.max_coarsest": 1024,
    "matching.mutual": False,
    "refinement.coarse.leave_by": "code",
})
"""As released: coarsening ends at 8 k vertices if that is at most 1,024, else at the larger of
1,024 and 2 k. Of a pair, one vertex must propose the other. Blocks evict the vertices of least loss
per weight; vertices that fit nowhere are last.
"""

CODE_ULTRA = changed(CODE, {"refinement.temperatures": ULTRA_TEMPERATURES,
                            "refinement.finest_temperatures": ULTRA_TEMPERATURES})
"""As released, with the settings that are called ultra there."""

PRESETS = {
    "fast": changed(JetConfig(), {"initial.starts": 1, "refinement.coarse.tolerance": 0.99}),
    "default": JetConfig(),
    "ultra": changed(JetConfig(), {
        "initial.starts": 16,
        "initial.start_blocks": 2048,
        "refinement.temperatures": ULTRA_TEMPERATURES,
        "refinement.finest_temperatures": ULTRA_TEMPERATURES,
    }),
    "paper": PAPER,
    "paper-ultra": PAPER_ULTRA,
    "code": CODE,
    "code-ultra": CODE_ULTRA,
}


def jet(problem: multilevel.Problem, config: JetConfig) -> multilevel.Recipe:
    """Coarsen by matching, start, refine upwards."""
    limit = problem.balance.cluster_limit(config.coarsening.coarsest_vertices(problem.num_blocks),
                                          config.matching.max_share)

    passes = config.refinement.passes
    return multilevel.Recipe(config.coarsening, matching_rule(limit, config.matching),
                             multilevel.start_from_pool(problem, config.initial, passes),
                             multilevel.jet_refiner(problem, config.refinement), passes)
