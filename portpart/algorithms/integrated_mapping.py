"""Integrated mapping: the multilevel method with the communication cost as its objective (GPU-IM).

P. Samoldekin, C. Schulz, H. Woydt, GPU-Accelerated Algorithms for Process Mapping, 2026, section
4.2: matching by rating, multisection of the coarsest graph, label propagation on J.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_matching
from portpart.algorithms.coarsening.hierarchy import ClusterRule, Level
from portpart.algorithms.coarsening.matching import part_unlike, rated_matching
from portpart.algorithms.coarsening.two_hop import two_hop_matching
from portpart.algorithms.initial.deep_multilevel import GrowingOptions, grown_partitions
from portpart.algorithms.mapping.problem import MappingProblem
from portpart.algorithms.mapping.refinement import MappingRefiner
from portpart.algorithms.multilevel.clustered import ClusteredConfig
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.pool import StartOptions, levels_below, start_from_best
from portpart.algorithms.multilevel.refiner import Refiner
from portpart.algorithms.multilevel.walk import Recipe, StartRule, search_multilevel
from portpart.algorithms.placement.traffic import traffic_of, with_swaps
from portpart.algorithms.placement.tree import splits_along
from portpart.algorithms.refinement.jet_refinement import RefinementOptions
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.options import shown

COARSENINGS = ("clusters", "matching")

MAX_MATCHMAKER_DEGREE = 1000
"""Vertices of higher degree make no relatives."""

ONE_START = StartOptions(refined=1, growing=GrowingOptions(candidates=4, most_candidates=16))
MANY_STARTS = StartOptions(refined=8, growing=GrowingOptions(candidates=8, most_candidates=16))


PLACED = 4
"""Candidates, at least, that are placed and refined for a machine that is no hierarchy."""


@dataclass(frozen=True)
class IntegratedConfig(ClusteredConfig):
    """Parameters of integrated mapping.

    Parameters
    ----------
    temperatures, finest_temperatures : tuple of float
        How much of what holds a vertex where it is a move may lose, one refinement loop each, on
        coarse levels and on the finest; 0, as in the paper, allows no loss.
    coarse_once_above, finest_once_above : int, optional
        A level of more vertices gets one loop: a coarse one the first, the finest the last.  So
        does the finest level of a graph of skewed degrees, if there is such a limit.
    coarsest_per_block, least_coarsest, most_coarsest : int
        Coarsening stops at `coarsest_per_block` times k vertices, but not below `least_coarsest`;
        and if that is above `most_coarsest`, at the larger of `most_coarsest` and 2 k.
    dense_per_block : int, optional
        While a graph is dense it is coarsened further, to so many times k vertices.
    coarsening : {"clusters", "matching"}
        By clusters as the library's partitioner, or by pairs of high rating as in the paper.
    growth, skewed_growth, most_coarse_weight : float
        A cluster weighs at most so many times the mean vertex of its level, the second on graphs
        whose highest degree is far above the mean; and at most so many times the mean vertex of a
        graph at which coarsening may stop.
    clustering : ClusteringOptions
    grown : StartOptions
        Mappings of the coarsest graph, by bisections along the hierarchy; the best one is used.
    starts, start_blocks : int
        Not used: mappings of the coarsest graph are grown.
    start : str
        Not used.
    least_shrink : float
        Coarsening stops when a level keeps more than this share of the vertices.
    runs, cycles : int
        Mappings from scratch, which are combined with the best one; and times that the result is
        coarsened inside its blocks and refined again.
    refinement : RefinementOptions
    finest_refinement : RefinementOptions, optional
        The same on the finest level, if it differs there.
    finest_once : RefinementOptions, optional
        The same on a finest level that gets one loop, if it differs.
    swaps : bool
        Whether blocks swap places at the end where that lowers the cost.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    least_coarsest: int = 3072
    finest_temperatures: tuple[float, ...] = (0.6, 0.3)
    finest_once_above: int | None = 2**21
    finest_refinement: RefinementOptions | None = field(
        default_factory=lambda: RefinementOptions(tolerance=0.9995, stall_limit=16))
    finest_once: RefinementOptions | None = field(
        default_factory=lambda: RefinementOptions(tolerance=0.9995, stall_limit=64))
    grown: StartOptions = ONE_START
    coarsening: str = "clusters"
    swaps: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coarsening not in COARSENINGS:
            raise InputError(f"coarsening is {shown(self.coarsening)}; it must be one of "
                             f"{COARSENINGS}")


STRONG = IntegratedConfig(
    temperatures=(0.75, 0.5, 0.25),
    finest_temperatures=(0.75, 0.25),
    coarse_once_above=None,
    finest_once_above=None,
    grown=MANY_STARTS,
    refinement=RefinementOptions(stall_limit=20),
    finest_refinement=RefinementOptions(tolerance=0.9998, stall_limit=40),
    finest_once=None,
    cycles=1,
)

PRESETS = {
    "paper": IntegratedConfig(
        temperatures=(0.0,),
        finest_temperatures=(0.0,),
        coarsest_per_block=8,
        dense_per_block=None,
        least_coarsest=0,
        most_coarsest=2**30,
        least_shrink=0.98,
        grown=StartOptions().of_one(),
        refinement=RefinementOptions(),
        finest_refinement=None,
        finest_once=None,
        coarsening="matching",
    ),
    "fast": IntegratedConfig(temperatures=(0.3,), finest_temperatures=(0.25,), finest_once=None),
    "default": IntegratedConfig(),
    "strong": STRONG,
    "best": replace(STRONG, runs=4, cycles=2),
}


def integrated_mapping(problem: MappingProblem, config: IntegratedConfig) -> Array:
    """Map the graph: coarsen, map the coarsest graph, refine upwards on J; search on if asked to.

    Returns
    -------
    array of int32, shape (n,)
        Processing element of each vertex, in the space of the graph.
    """
    if problem.num_blocks == 1 or problem.graph.num_vertices == 0:
        return problem.space.zeros(problem.graph.num_vertices, np.int32)
    return search_multilevel(problem, recipe_of(problem, config))


def recipe_of(problem: MappingProblem, config: IntegratedConfig) -> Recipe:
    """The parts of a walk that refines on J."""
    return Recipe(
        config, _cluster_rule(problem, config), _start_rule(problem, config),
        lambda seed: MappingRefiner(
            problem.space, problem.graph, problem.balance, problem.distances, config.refinement,
            seed, config.refinement_of_finest(problem.graph)))


def _cluster_rule(problem: MappingProblem, config: IntegratedConfig) -> ClusterRule:
    """How levels are coarsened."""
    coarsest = config.coarsest_vertices(problem.num_blocks)
    if config.coarsening == "clusters":
        return config.clusters_of_levels(problem, coarsest)
    limit = problem.balance.cluster_limit(coarsest)

    def match(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        mate = rated_matching(fine, limit, level_seed, label)
        two_hop_matching(fine.space, fine, mate, limit, level_seed, MAX_MATCHMAKER_DEGREE)
        if label is not None:
            mate = part_unlike(fine.space, mate, label)
        return clusters_of_matching(fine.space, mate)

    return match


def _start_rule(problem: MappingProblem, config: IntegratedConfig) -> StartRule:
    """Mappings of the coarsest graph by bisections along the hierarchy, the best refined."""
    is_hierarchy, splits = problem.topology.is_hierarchy, splits_along(problem.topology)
    refined = config.grown.refined if is_hierarchy else max(PLACED, config.grown.refined)
    options = replace(config.grown, refined=refined)

    def start(refiner: Refiner, level: Level, wanted: Constraints, seed: int) -> int:
        coarsest = level.graph
        if wanted.initial is not None:
            refiner.start(coarsest, wanted.initial)
            return 0
        parts = _starts(coarsest, problem.balance, options, splits, seed)
        if not is_hierarchy:
            parts = [_better_placed(coarsest, part, problem, seed) for part in parts]
        temperature = config.passes(1, coarsest)[0]
        start_from_best(refiner, coarsest, parts, len(parts), temperature, wanted)
        return 0

    return start


def _better_placed(coarsest: Graph, part: Array, problem: MappingProblem, seed: int) -> Array:
    """The mapping after swaps: bisections know nothing of distances that are no hierarchy's."""
    traffic = traffic_of(coarsest, part, problem.num_blocks)
    return with_swaps(coarsest, part, traffic, problem.distances, seed)[0]


def _starts(coarsest: Graph, balance: Balance, options: StartOptions,
            splits: tuple[np.ndarray, np.ndarray], seed: int) -> list[Array]:
    """Mappings of the coarsest graph by multisection, the most promising first."""
    levels = levels_below(coarsest, options, seed)
    n = coarsest.num_vertices
    parts = grown_partitions(
        [level.graph for level in levels], [level.cluster for level in levels[:-1]],
        np.ones(balance.num_blocks), balance.limits, seed, options.growing, options.refined, splits,
    )
    return [parts[start : start + n] for start in range(0, len(parts), n)]
