"""Parameters that recipes share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from portpart.algorithms.coarsening.cluster_size import is_skewed
from portpart.algorithms.multilevel.pool import STARTERS, StartOptions
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.refinement.jet_refinement import JetRefiner, RefinementOptions
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
    def refiner(self, problem: Problem, seed: int) -> JetRefiner:
        """What refines all levels."""

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

    def refiner(self, problem: Problem, seed: int) -> JetRefiner:
        """Jet refinement."""
        return JetRefiner(problem.space, problem.graph, problem.balance, self.refinement, seed,
                          self.refinement_of_finest(problem.graph))
