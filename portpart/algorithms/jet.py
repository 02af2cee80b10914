"""Jet: multilevel graph partitioning on graphics processors.

M. S. Gilbert, K. Madduri, E. G. Boman, S. Rajamanickam, SIAM J. Sci. Comput. 46 (2024) B700-B724.
Two-hop matching, hash contraction, METIS on the coarsest graph, Jet refinement on every level.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_matching
from portpart.algorithms.coarsening.hierarchy import Level, coarsen
from portpart.algorithms.coarsening.matching import heavy_edge_matching
from portpart.algorithms.coarsening.two_hop import two_hop_matching
from portpart.algorithms.initial.metis import metis_partition
from portpart.algorithms.initial.trivial import trivial_partition
from portpart.algorithms.refinement.balance import Balance
from portpart.algorithms.refinement.jet_refinement import JetRefiner, RefinementOptions
from portpart.algorithms.tracing import Trace
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graph import Graph


@dataclass(frozen=True)
class JetConfig:
    """Parameters of the Jet partitioner.

    Parameters
    ----------
    temperatures : tuple of float
        Filter ratios c (inequality 4.3), one refinement loop each, on all but the finest level.
    finest_temperatures : tuple of float
        The same on the finest level.
    coarsest_per_block, least_coarsest, most_coarsest : int
        Coarsening stops at `coarsest_per_block` times k vertices, but not below `least_coarsest`;
        and if that is above `most_coarsest`, at the larger of `most_coarsest` and 2 k.
    starts, start_blocks : int
        Initial partitions, each refined on the coarsest graph; the best one is used.  At most
        `starts`, and no more than make `start_blocks` blocks together: METIS's time grows with k,
        the gain falls.
    least_shrink : float
        Coarsening stops when a level keeps more than this share of the vertices.
    max_matchmaker_degree : int
        Vertices of higher degree make no relatives.
    refinement : RefinementOptions

    Raises
    ------
    InputError
        If no temperature is given or a value is out of range.
    """

    temperatures: tuple[float, ...] = (0.75,)
    finest_temperatures: tuple[float, ...] = (0.25,)
    coarsest_per_block: int = 32
    least_coarsest: int = 512
    most_coarsest: int = 8192
    starts: int = 8
    start_blocks: int = 64
    least_shrink: float = 0.98
    max_matchmaker_degree: int = 1000
    refinement: RefinementOptions = field(default_factory=RefinementOptions)

    def __post_init__(self) -> None:
        for name in ("temperatures", "finest_temperatures"):
            values = getattr(self, name)
            if not isinstance(values, tuple) or not values or not all(0 <= c <= 1 for c in values):
                raise InputError(f"{name} are {values!r}; a tuple of one or more numbers from 0 to "
                                 "1 is needed")
        for name, least in (("coarsest_per_block", 0), ("least_coarsest", 0), ("most_coarsest", 0),
                            ("starts", 1), ("start_blocks", 0), ("max_matchmaker_degree", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if not 0 < self.least_shrink < 1:  # at 1 coarsening would go on for ever
            raise InputError(f"least_shrink is {self.least_shrink}; it must be between 0 and 1")

    def coarsest_vertices(self, num_blocks: int) -> int:
        """Number of vertices at which coarsening stops."""
        wanted = max(self.coarsest_per_block * num_blocks, self.least_coarsest)
        return wanted if wanted <= self.most_coarsest else max(self.most_coarsest, 2 * num_blocks)

    def num_starts(self, num_blocks: int) -> int:
        """Number of initial partitions."""
        return max(1, min(self.starts, self.start_blocks // num_blocks))


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


def jet(graph: Graph, balance: Balance, imbalance: float, config: JetConfig, seed: int,
        trace: Trace) -> Array:
    """Partition `graph`: coarsen, start, refine upwards.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    trivial = trivial_partition(graph, balance.num_blocks)
    if trivial is not None:
        return trivial
    levels = _coarsen(graph, balance, config, seed, trace)
    refiner = JetRefiner(graph.space, graph, balance, config.refinement, seed)
    with trace.phase("initial"):
        _start(refiner, levels[-1].graph, imbalance, config, seed)
    with trace.phase("refinement"):
        for depth in reversed(range(len(levels))):
            _refine_level(refiner, levels, depth, config, trace)
    return refiner.best


def _coarsen(graph: Graph, balance: Balance, config: JetConfig, seed: int,
             trace: Trace) -> list[Level]:
    space = graph.space
    stop_at = config.coarsest_vertices(balance.num_blocks)
    limit = max(balance.max_block_weight // 4, 1)

    def find_clusters(fine: Graph, depth: int) -> Clusters:
        level_seed = (seed + depth) % 2**63
        mate = heavy_edge_matching(space, fine, limit, level_seed)
        two_hop_matching(space, fine, mate, limit, level_seed, config.max_matchmaker_degree)
        return clusters_of_matching(space, mate)

    with trace.phase("coarsening"):
        return coarsen(space, graph, find_clusters, stop_at=stop_at,
                       least_shrink=config.least_shrink, on_level=trace.coarse_level)


def _start(refiner: JetRefiner, coarsest: Graph, imbalance: float, config: JetConfig,
           seed: int) -> None:
    """Start from the best of several METIS partitions, each refined."""
    space = coarsest.space
    matrix = coarsest.to_scipy()
    weights = coarsest.vertex_weights
    host_weights = None if weights is None else space.to_host(weights)
    best, best_rank = None, None
    starts = config.num_starts(refiner.balance.num_blocks)
    for start in range(starts):
        part = metis_partition(matrix, host_weights, refiner.balance.num_blocks, imbalance,
                               seed + start)
        refiner.start(coarsest, space.asarray(part))
        if starts == 1:
            return
        outcome = refiner.refine(coarsest, config.temperatures[0])
        rank = (-outcome["balanced"], outcome["cut"])
        if best_rank is None or rank < best_rank:
            best, best_rank = space.copy(refiner.best[: coarsest.num_vertices]), rank
    refiner.start(coarsest, best)


def _refine_level(refiner: JetRefiner, levels: list[Level], depth: int, config: JetConfig,
                  trace: Trace) -> None:
    level = levels[depth]
    if level.cluster is not None:
        refiner.project(level.graph, level.cluster)
    temperatures = config.finest_temperatures if depth == 0 else config.temperatures
    for index, temperature in enumerate(temperatures):
        if index > 0:
            refiner.restart(level.graph)
        outcome = refiner.refine(level.graph, temperature)
        trace.refined_level(depth, level.graph, outcome)
