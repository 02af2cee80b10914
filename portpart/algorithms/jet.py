"""Jet: multilevel graph partitioning on graphics processors.

M. S. Gilbert, K. Madduri, E. G. Boman, S. Rajamanickam, SIAM J. Sci. Comput. 46 (2024) B700-B724.
Two-hop matching, hash contraction, METIS on the coarsest graph, Jet refinement on every level.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.multilevel.options import JetRefinedConfig
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.starting import start_from_pool
from portpart.algorithms.multilevel.walk import Recipe, partition_multilevel
from portpart.algorithms.refinement.jet_refinement import RefinementOptions
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class JetConfig(JetRefinedConfig):
    """Parameters of the Jet partitioner.

    Parameters
    ----------
    temperatures : tuple of float
        Filter ratios c (inequality 4.3), one refinement loop each, on all but the finest level.
    finest_temperatures : tuple of float
        The same on the finest level.
    coarse_once_above, finest_once_above : int, optional
        A level of more vertices gets one loop: a coarse one the first, the finest the last.  So
        does the finest level of a graph of skewed degrees, if there is such a limit.
    coarsest_per_block, least_coarsest, most_coarsest : int
        Coarsening stops at `coarsest_per_block` times k vertices, but not below `least_coarsest`;
        and if that is above `most_coarsest`, at the larger of `most_coarsest` and 2 k.
    dense_per_block : int, optional
        While a graph is dense it is coarsened further, to so many times k vertices.
    starts, start_blocks : int
        Initial partitions by METIS, each refined on the coarsest graph; the best one is used.  At
        most `starts`, and no more than make `start_blocks` blocks together: METIS's time grows with
        k, the gain falls.
    start : {"metis", "grown", "auto"}
        Who makes initial partitions: METIS, on the host, or growing, in the space of the graph;
        "auto": the latter, one candidate only where one start is enough.
    grown : StartOptions
        Parameters of partitions that are grown.
    least_shrink : float
        Coarsening stops when a level keeps more than this share of the vertices.
    runs, cycles : int
        One and none: the paper searches no further.
    refinement : RefinementOptions
    finest_refinement : RefinementOptions, optional
        The same on the finest level, if it differs there.
    finest_once : RefinementOptions, optional
        The same on a finest level that gets one loop, if it differs.
    max_matchmaker_degree : int
        Vertices of higher degree make no relatives.

    Raises
    ------
    InputError
        If no temperature is given or a value is out of range.
    """

    max_matchmaker_degree: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_least(max_matchmaker_degree=0)
        if not self.is_one_walk:
            raise InputError(f"runs is {self.runs} and cycles is {self.cycles}; with Jet they must "
                             "be 1 and 0")


ULTRA_TEMPERATURES = tuple(round(0.85 - 0.05 * i, 2) for i in range(17))

PRESETS = {
    "fast": JetConfig(starts=1, refinement=RefinementOptions(tolerance=0.99)),
    "default": JetConfig(),
    "ultra": JetConfig(
        temperatures=ULTRA_TEMPERATURES,
        finest_temperatures=ULTRA_TEMPERATURES,
        starts=16,
        start_blocks=2048,
    ),
}


def jet(problem: Problem, config: JetConfig) -> Array:
    """Partition the graph: coarsen by matching, start, refine upwards.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    limit = problem.balance.cluster_limit(config.coarsest_vertices(problem.num_blocks))

    def match(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        return matched_clusters(fine, limit, level_seed, label,
                                max_matchmaker_degree=config.max_matchmaker_degree)

    return partition_multilevel(problem, Recipe(
        config, match, start_from_pool(problem, config),
        lambda seed: config.refiner(problem, seed)))
