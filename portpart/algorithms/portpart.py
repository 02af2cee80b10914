"""The library's own recipe: clusters, several starts, Jet refinement, and search with several runs.

Cluster coarsening after Meyerhenke, Sanders, Schulz (2016), made synchronous; refinement after Jet
(Gilbert et al. 2024); combinations and cycles after Sanders, Schulz (2012) and Walshaw (2004).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from portpart.algorithms.initial.deep_multilevel import GrowingOptions
from portpart.algorithms.multilevel.clustered import ClusteredConfig
from portpart.algorithms.multilevel.pool import StartOptions
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.starting import start_from_pool
from portpart.algorithms.multilevel.walk import Recipe, partition_multilevel
from portpart.algorithms.refinement.jet_refinement import RefinementOptions
from portpart.backends.interface import Array

FEW_STARTS = StartOptions(refined=1, growing=GrowingOptions(candidates=1))
MANY_STARTS = StartOptions(refined=4, growing=GrowingOptions(candidates=4))


@dataclass(frozen=True)
class PortpartConfig(ClusteredConfig):
    """Parameters of the library's own partitioner.

    Parameters
    ----------
    temperatures : tuple of float
        Filter ratios c (Jet's inequality 4.3), one refinement loop each, on all but the finest
        level.
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
        Initial partitions: at most `starts`, and no more than make `start_blocks` blocks together.
        METIS's are each refined on the coarsest graph, and the best one is used.
    start : {"auto", "metis", "grown"}
        Who makes initial partitions: METIS, on the host, or growing, in the space of the graph;
        "auto": the latter, one candidate only where one start is enough.
    grown : StartOptions
        Parameters of partitions that are grown.
    least_shrink : float
        Coarsening stops when a level keeps more than this share of the vertices.
    runs, cycles : int
        Partitions from scratch, which are combined with the best one; and times that the result
        is coarsened inside its blocks and refined again.
    refinement : RefinementOptions
    finest_refinement : RefinementOptions, optional
        The same on the finest level, if it differs there.
    finest_once : RefinementOptions, optional
        The same on a finest level that gets one loop, if it differs.
    growth, skewed_growth : float
        A cluster weighs at most so many times the mean vertex of its level, the latter on graphs
        whose highest degree is far above the mean.
    most_coarse_weight : float
        No cluster weighs more times the mean vertex of a graph at which coarsening may stop.
    clustering : ClusteringOptions

    Raises
    ------
    InputError
        If no temperature is given or a value is out of range.
    """

    finest_temperatures: tuple[float, ...] = (0.75, 0.25)
    finest_once_above: int | None = 2**22
    start_blocks: int = 512
    finest_refinement: RefinementOptions | None = field(
        default_factory=lambda: RefinementOptions(tolerance=0.9997, stall_limit=20))
    finest_once: RefinementOptions | None = field(
        default_factory=lambda: RefinementOptions(tolerance=0.9995, stall_limit=16))
    start: str = "auto"
    grown: StartOptions = MANY_STARTS


STRONG = PortpartConfig(
    temperatures=(0.75, 0.5, 0.25),
    coarse_once_above=None,
    finest_once_above=None,
    refinement=RefinementOptions(stall_limit=20),
    finest_refinement=RefinementOptions(tolerance=0.9998, stall_limit=40),
    finest_once=None,
    cycles=1,
)

PRESETS = {
    "fast": PortpartConfig(
        temperatures=(0.5,),
        finest_temperatures=(0.25,),
        starts=2,
        start_blocks=64,
        grown=FEW_STARTS,
        refinement=RefinementOptions(tolerance=0.99),
        finest_refinement=None,
        finest_once=None,
    ),
    "default": PortpartConfig(),
    "strong": STRONG,
    "best": replace(STRONG, runs=4, cycles=2),
}


def portpart(problem: Problem, config: PortpartConfig) -> Array:
    """Partition the graph: coarsen by clusters, start, refine upwards, search on.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    return partition_multilevel(problem, Recipe(
        config, config.clusters_of_levels(problem, config.coarsest_vertices(problem.num_blocks)),
        start_from_pool(problem, config), lambda seed: config.refiner(problem, seed)))
