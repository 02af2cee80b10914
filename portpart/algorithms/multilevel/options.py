"""Parameters of the walk: passes over the levels, and the search by several walks."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.coarsening import is_skewed
from portpart.algorithms.refinement import RefinementOptions
from portpart.graphs import EitherGraph
from portpart.options import check_options, described, option


@described
@dataclass(frozen=True)
class SearchOptions:
    """A search by several walks."""

    runs: int = option(
        1, "Number of partitions from scratch, which are combined with the best one.", min=1)
    cycles: int = option(
        0, "Number of times that the result is coarsened inside its blocks and refined "
        "again.", min=0)
    population: int = option(
        0, "Number of partitions that the rounds of `rounds=` keep and combine; 0: no rounds.",
        min=0)
    passes: int | None = option(
        None, "Number of passes over a level, the last ones, in walks that "
        "begin with a partition, as combinations and cycles do; None: all.",
        min=1)

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def is_one_walk(self) -> bool:
        """Whether one partition is made and that is it."""
        return self.runs == 1 and self.cycles == 0


ONE_WALK = SearchOptions()


@described
@dataclass(frozen=True)
class ScheduleOptions:
    """Passes of Jet refinement over the levels."""

    temperatures: tuple[float, ...] = option(
        (0.75,), "One pass for each value, on all but the finest level: the share of a vertex's "
        "connection to its block that a move may lose.", min=0, max=1)
    finest_temperatures: tuple[float, ...] = option(
        (0.25,), "The same on the finest level.", min=0, max=1)
    coarse_once_above: int | None = option(
        None, "A coarse level with more vertices gets the first pass only.", min=0)
    finest_once_above: int | None = option(
        None, "A finest level with more vertices gets the last pass only; with such a limit, so "
        "does the finest level of a graph with skewed degrees.", min=0)
    coarse: RefinementOptions = option(RefinementOptions(), "A pass.")
    finest: RefinementOptions | None = option(
        None, "A pass over the finest level, if different.")
    finest_once: RefinementOptions | None = option(
        None, "The pass over a finest level that gets one only, if different.")
    finest_small: RefinementOptions | None = option(
        None, "A pass over a finest level with fewer than `small_blocks` vertices per block, if "
        "different.")
    small_blocks: int = option(200, "Blocks with fewer vertices are small.", min=0)

    def __post_init__(self) -> None:
        check_options(self)

    def passes(self, depth: int, graph: EitherGraph) -> tuple[float, ...]:
        """The temperatures of a level, 0 being the finest."""
        if depth == 0:
            return self.finest_temperatures[-1:] if self._once(graph) else self.finest_temperatures
        above = self.coarse_once_above
        once = above is not None and graph.whole.num_vertices > above
        return self.temperatures[:1] if once else self.temperatures

    def _once(self, finest: EitherGraph) -> bool:
        """Whether the finest level gets one pass."""
        above = self.finest_once_above
        return above is not None and (finest.whole.num_vertices > above or is_skewed(finest))

    def of_finest(self, finest: EitherGraph, num_blocks: int) -> RefinementOptions:
        """What holds for the finest level."""
        is_small = finest.whole.num_vertices < self.small_blocks * num_blocks
        of_one = self.finest_once if self._once(finest) else None
        return (self.finest_small if is_small else None) or of_one or self.finest or self.coarse
