"""The multilevel method: coarsen, partition the coarsest graph several times, refine upwards.

A recipe gives its rule for clusters and a configuration; all else is shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.cluster_size import is_skewed
from portpart.algorithms.coarsening.hierarchy import ClusterRule, Level, coarsen, label_of_clusters
from portpart.algorithms.initial.trivial import trivial_partition
from portpart.algorithms.multilevel.constraints import NOTHING_MORE, Request, never
from portpart.algorithms.multilevel.pool import (
    MOST_GROWN,
    STARTERS,
    StartOptions,
    grown_parts,
    metis_parts,
    start_from_best,
)
from portpart.algorithms.multilevel.search import Found, search
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.refinement.jet_refinement import JetRefiner, RefinementOptions
from portpart.algorithms.refinement.outcomes import Outcome
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.options import shown


@dataclass(frozen=True)
class MultilevelConfig(ABC):
    """Parameters that every multilevel recipe has.

    Parameters
    ----------
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
        Partitions from scratch, which are combined with the best one; and times that the result
        is coarsened inside its blocks and refined again.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    coarsest_per_block: int = 32
    dense_per_block: int | None = None
    least_coarsest: int = 512
    most_coarsest: int = 8192
    starts: int = 8
    start_blocks: int = 64
    start: str = "metis"
    grown: StartOptions = field(default_factory=StartOptions)
    least_shrink: float = 0.98
    runs: int = 1
    cycles: int = 0

    def __post_init__(self) -> None:
        self.check_least(coarsest_per_block=0, least_coarsest=0, most_coarsest=0, starts=1,
                         start_blocks=0, runs=1, cycles=0)
        if self.start not in STARTERS:
            raise InputError(f"start is {shown(self.start)}; it must be one of {STARTERS}")
        if not 0 < self.least_shrink < 1:  # at 1 coarsening would go on for ever
            raise InputError(f"least_shrink is {self.least_shrink}; it must be between 0 and 1")

    def check_least(self, **least: float) -> None:
        """Refuse a field below the number given for it."""
        for name, value in least.items():
            if not getattr(self, name) >= value:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least {value}")

    def passes(self, depth: int, graph: Graph) -> tuple[float, ...]:
        """What the refiner is told for each pass over a level, 0 being the finest."""
        return (0.0,)

    @abstractmethod
    def refiner(self, graph: Graph, balance: Balance, seed: int) -> JetRefiner:
        """What refines the levels below `graph`."""

    @property
    def contraction(self) -> str:
        """How coarse rows are made: "hash", "sort" or "auto", as in `contract`."""
        return "hash"

    @property
    def is_one_walk(self) -> bool:
        """Whether one partition is made and that is it."""
        return self.runs == 1 and self.cycles == 0

    def coarsest_vertices(self, num_blocks: int) -> int:
        """Number of vertices at which coarsening stops."""
        wanted = max(self.coarsest_per_block * num_blocks, self.least_coarsest)
        return wanted if wanted <= self.most_coarsest else max(self.most_coarsest, 2 * num_blocks)

    def coarsest_dense_vertices(self, num_blocks: int) -> int | None:
        """The same for a dense graph."""
        if self.dense_per_block is None:
            return None
        return max(self.dense_per_block * num_blocks, self.least_coarsest // 4)

    def with_starts(self, starts: int, num_blocks: int) -> MultilevelConfig:
        """The same with so many initial partitions, whoever makes them."""
        growing = replace(self.grown.growing, candidates=starts, most_candidates=max(
            starts, self.grown.growing.most_candidates))
        return replace(self, starts=starts, start_blocks=starts * num_blocks,
                       grown=replace(self.grown, refined=starts, growing=growing))

    def num_starts(self, num_blocks: int) -> int:
        """Number of initial partitions."""
        return max(1, min(self.starts, self.start_blocks // num_blocks))


@dataclass(frozen=True)
class JetRefinedConfig(MultilevelConfig):
    """Parameters of the recipes that refine as Jet does, beside those of every recipe.

    Parameters
    ----------
    temperatures : tuple of float
        Filter ratios c (inequality 4.3), one refinement loop each, on all but the finest level.
    finest_temperatures : tuple of float
        The same on the finest level.
    coarse_once_above, finest_once_above : int, optional
        A level of more vertices gets one loop: a coarse one the first, the finest the last.  So
        does the finest level of a graph of skewed degrees, if there is such a limit.
    refinement : RefinementOptions
    finest_refinement : RefinementOptions, optional
        The same on the finest level, if it differs there.
    finest_once : RefinementOptions, optional
        The same on a finest level that gets one loop, if it differs.

    Raises
    ------
    InputError
        If no temperature is given or a value is out of range.
    """

    temperatures: tuple[float, ...] = (0.75,)
    finest_temperatures: tuple[float, ...] = (0.25,)
    coarse_once_above: int | None = None
    finest_once_above: int | None = None
    refinement: RefinementOptions = field(default_factory=RefinementOptions)
    finest_refinement: RefinementOptions | None = None
    finest_once: RefinementOptions | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("coarse_once_above", "finest_once_above"):
            if getattr(self, name) is not None:
                self.check_least(**{name: 0})
        for name in ("temperatures", "finest_temperatures"):
            values = getattr(self, name)
            if not isinstance(values, tuple) or not values or not all(0 <= c <= 1 for c in values):
                raise InputError(f"{name} are {shown(values)}; a tuple of one or more numbers "
                                 "from 0 to 1 is needed")

    def passes(self, depth: int, graph: Graph) -> tuple[float, ...]:
        """The temperatures of a level."""
        if depth == 0:
            return self.finest_temperatures[-1:] if self._once(graph) else self.finest_temperatures
        above = self.coarse_once_above
        once = above is not None and graph.num_vertices > above
        return self.temperatures[:1] if once else self.temperatures

    def _once(self, finest: Graph) -> bool:
        """Whether the finest level gets one loop."""
        above = self.finest_once_above
        return above is not None and (finest.num_vertices > above or is_skewed(finest))

    def refinement_of_finest(self, finest: Graph) -> RefinementOptions:
        """What holds for the finest level."""
        of_one = self.finest_once if self._once(finest) else None
        return of_one or self.finest_refinement or self.refinement

    def refiner(self, graph: Graph, balance: Balance, seed: int) -> JetRefiner:
        """Jet refinement."""
        return JetRefiner(graph.space, graph, balance, self.refinement, seed,
                          self.refinement_of_finest(graph))


PartRule = Callable[[Graph, int, Request], Array]
"""A partition of the coarsest graph, from a seed and what is wanted of it."""


def partition_multilevel(graph: Graph, balance: Balance, imbalance: float,
                         config: MultilevelConfig, find_clusters: ClusterRule, seed: int,
                         trace: Trace, request: Request = NOTHING_MORE,
                         find_part: PartRule | None = None) -> Array:
    """Partition `graph`: coarsen, start, refine upwards; search on if the configuration says so.

    Parameters
    ----------
    find_clusters : callable
        Clusters of the graph on a level; must respect labels.
    request : Request
        Coarsening stays apart from fixed vertices and within the blocks of an initial partition,
        so that is one of the coarsest graph too, from which refinement starts.
    find_part : callable, optional
        Partitions the coarsest graph, whether or not there is an initial partition.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    trivial = trivial_partition(graph, balance.num_blocks)
    if trivial is not None and (balance.num_blocks == 1 or _is_plain(balance, request)):
        return trivial
    space, num_blocks = graph.space, balance.num_blocks

    def walk(seed: int, part: Array | None = None, label: Array | None = None) -> Found:
        with trace.phase("coarsening"):
            levels = coarsen(space, graph, find_clusters, seed=seed,
                             label=request.label(space, label),
                             stop_at=config.coarsest_vertices(num_blocks),
                             stop_dense_at=config.coarsest_dense_vertices(num_blocks),
                             least_shrink=config.least_shrink, on_level=trace.coarse_level,
                             contraction=config.contraction)
            fixed = on_levels(levels, request.fixed)
            initial = on_levels(levels, part)[-1]
        refiner, coarsest = config.refiner(graph, balance, seed), levels[-1].graph
        done = 0
        with trace.phase("initial"):
            if find_part is not None:
                wanted = Request(fixed[-1], initial, request.out_of_time)
                refiner.start(coarsest, find_part(coarsest, seed, wanted))
            elif initial is None:
                done = start(refiner, coarsest, imbalance, config, seed, fixed[-1],
                             request.out_of_time)
            else:
                refiner.start(coarsest, initial)
        with trace.phase("refinement"):
            outcome = refine_upwards(refiner, levels, config, trace, fixed, request.out_of_time,
                                     done)
        return Found(refiner.best, outcome["balanced"], outcome["cut"])

    return search(space, walk, num_blocks, seed, config.runs, config.cycles,
                  lambda found: trace.walked(found.cut), request.initial, request.out_of_time)


def _is_plain(balance: Balance, request: Request) -> bool:
    """Whether blocks are alike and so are partitions that differ in their numbers only."""
    return balance.own_limits is None and request.fixed is None and request.initial is None


def on_levels(levels: list[Level], values: Array | None) -> list[Array | None]:
    """What the vertices of clusters have in common, on all levels."""
    result = [values]
    for fine, coarse in pairwise(levels):
        if values is not None:
            values = label_of_clusters(coarse.graph.space, values, fine.cluster,
                                       coarse.graph.num_vertices)
        result.append(values)
    return result


def start(refiner: JetRefiner, coarsest: Graph, imbalance: float, config: MultilevelConfig,
          seed: int, fixed: Array | None = None,
          out_of_time: Callable[[], bool] = never) -> int:
    """Start from the best of several partitions of the coarsest graph.

    Returns
    -------
    int
        The passes over the coarsest graph that each of them has had.
    """
    balance = refiner.balance
    parts: Iterable[Array]
    count = config.num_starts(balance.num_blocks)
    grows = config.start != "metis" and fixed is None
    if grows and coarsest.num_vertices <= MOST_GROWN:
        one = config.start == "auto" and count == 1
        parts = grown_parts(coarsest, balance, config.grown.of_one() if one else config.grown, seed)
        count = len(parts)
    else:
        parts = metis_parts(coarsest, balance, imbalance, range(seed, seed + count), fixed)
    temperature = config.passes(1, coarsest)[0]
    return start_from_best(refiner, coarsest, parts, count, temperature, fixed, out_of_time)


def refine_upwards(refiner: JetRefiner, levels: list[Level], config: MultilevelConfig,
                   trace: Trace, fixed: list[Array | None],
                   out_of_time: Callable[[], bool] = never, done: int = 0) -> Outcome:
    """Refine the partition that the refiner holds for the coarsest graph, up to the finest.

    Parameters
    ----------
    fixed : list
        For each level the block of a fixed vertex, -1 for the others; or None.
    out_of_time : callable
        From then on every level gets one pass only.
    done : int
        Passes that the coarsest level has had.

    Returns
    -------
    Outcome
        That of the last refinement.
    """
    for depth in reversed(range(len(levels))):
        level = levels[depth]
        if level.cluster is not None:
            refiner.project(level.graph, level.cluster)
        passes = config.passes(depth, level.graph)
        if depth == len(levels) - 1 and 0 < depth and done < len(passes):
            passes = passes[done:]
        for index, temperature in enumerate(passes):
            if index > 0:
                if out_of_time():
                    break
                refiner.restart(level.graph)
            outcome = refiner.refine(level.graph, temperature, fixed[depth])
            trace.refined_level(depth, level.graph, outcome)
    return outcome
