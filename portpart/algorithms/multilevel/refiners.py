"""Refinement of the levels of a walk: passes of the refiner that most recipes use, and flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from portpart.algorithms.coarsening import is_skewed
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.objectives import Objective
from portpart.algorithms.refinement import (
    JET,
    FlowOptions,
    Piece,
    RefinementOptions,
    Refiner,
    Variant,
)
from portpart.algorithms.refinement.flows import Band, FlowRefiner, band_of
from portpart.backends.programs import Array
from portpart.graphs import EitherGraph, Graph, Structure
from portpart.options import option, option_class
from portpart.primitives import put_one


@option_class
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
    finest: RefinementOptions | None = option(None, "A pass over the finest level, if different.")
    finest_once: RefinementOptions | None = option(
        None, "The pass over a finest level that gets one only, if different.")
    finest_small: RefinementOptions | None = option(
        None, "A pass over a finest level with fewer than `small_blocks` vertices per block, if "
        "different.")
    small_blocks: int = option(200, "Blocks with fewer vertices are small.", min=0)

    def passes(self, depth: int, graph: EitherGraph) -> tuple[float, ...]:
        """Return the temperatures of a level; level 0 is the finest."""
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
        """Return the options for the finest level."""
        is_small = finest.whole.num_vertices < self.small_blocks * num_blocks
        of_one = self.finest_once if self._once(finest) else None
        return (self.finest_small if is_small else None) or of_one or self.finest or self.coarse


def jet_refiner(problem: Problem, options: ScheduleOptions,
                order: str = "id") -> Callable[[int], Refiner]:
    """Return a function from a seed to Jet's refiner; `order` is that of moves on nets."""
    return lambda seed: Refiner(
        problem.space, problem.graph, problem.balance, options.coarse, seed,
        options.of_finest(problem.graph, problem.num_blocks), objective=problem.objective,
        pieces=pieces_for(problem.objective, order))


def pieces_for(objective: Objective, order: str = "id") -> tuple[Piece, ...]:
    """Return the pieces of Jet's refinement for an objective of graphs or hypergraphs."""
    if objective.rules.net_cost is None:
        return JET
    from portpart.algorithms.refinement.nets import jet_on_nets

    return jet_on_nets(order)


class LastPass(NamedTuple):
    """A last pass over the finest level, and whether it is the only pass after flows."""

    variant: Variant
    is_alone: bool


# Flows ----------------------------------------------------------------------------------------


class LevelFlows:
    """Refinement of levels by flows.

    Parameters
    ----------
    problem : Problem
    options : FlowOptions
    largest : Graph, DistributedGraph or Hypergraph
        The largest level that is refined.
    """

    def __init__(self, problem: Problem, options: FlowOptions, largest: Structure) -> None:
        self.problem, self.options = problem, options
        self._flows = None if options.on_band else self._refiner(largest)

    def takes(self, depth: int, graph: Structure) -> bool:
        """Whether a level is refined by flows."""
        return depth < self.options.levels and self.options.take(*sizes_of(graph))

    def improve(self, graph: Graph, refiner: Refiner, fixed: Array | None) -> int | None:
        """Refine the best partition of a level by flows and return the gain.

        None if there is no band graph. If the gain is positive, `refiner` restarts from the new
        partition. Waits for the device.
        """
        part = graph.space.copy(refiner.best[: graph.num_vertices])
        refine = self._refine_band if self.options.on_band else self.refine
        gain = refine(graph, part, fixed, refiner.slack_on(graph))
        if gain:
            refiner.start(graph, part)
        return gain

    def refine(self, graph: EitherGraph, part: Array, fixed: Array | None, slack: int) -> int:
        """Refine a partition of a whole level, in place, and return the gain."""
        assert self._flows is not None
        return self._flows.refine(graph, part, fixed, slack)

    def _refine_band(self, graph: Graph, part: Array, fixed: Array | None,
                     slack: int) -> int | None:
        """Refine a partition on its band graph, in place, and return the gain."""
        found = band_of(graph, part, fixed, self.problem.num_blocks, self.options.depth)
        if found is None:
            return None
        band, vertices = found
        gain = self.refine_band(band, slack)
        graph.space.parallel_for(len(vertices), put_one, vertices, band.part, part)
        return gain

    def refine_band(self, band: Band, slack: int) -> int:
        """Refine the partition of a band graph, in place, and return the gain."""
        return self._refiner(band.graph).refine(band.graph, band.part, band.fixed, slack, band.rest)

    def _refiner(self, largest: Structure) -> FlowRefiner:
        problem = self.problem
        return FlowRefiner(problem.space, largest, problem.balance, self.options, problem.seed,
                           problem.objective.rules.net_cost)


def level_flows(problem: Problem, options: FlowOptions, graphs: Sequence[Structure],
                kind: type[LevelFlows] = LevelFlows) -> LevelFlows | None:
    """Return flow refinement for graphs of which some are small enough; else None.

    Only for cuts and net costs without migration costs: flows minimise cuts, no other costs.
    """
    small = [graph for graph in graphs if options.take(*sizes_of(graph))]
    if not small or not problem.objective.rules.is_cut or (
            problem.num_blocks > options.max_blocks
            or problem.constraints.previous_blocks is not None):
        return None
    return kind(problem, options, small[0])


def sizes_of(graph: Structure) -> tuple[int, int]:
    """Vertices and entries of the whole graph that rows are of."""
    return graph.whole.num_vertices, graph.whole.num_entries
