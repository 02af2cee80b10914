"""Refinement of the levels of a walk: passes of the refiner that most recipes use, and flows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from portpart.algorithms.coarsening import is_skewed
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.objectives import Objective
from portpart.algorithms.refinement import JET, FlowOptions, Piece, RefinementOptions, Refiner
from portpart.algorithms.refinement.flows import FlowRefiner
from portpart.backends.programs import Array
from portpart.graphs import EitherGraph, Graph, Structure
from portpart.options import option, option_class


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


# Flows ----------------------------------------------------------------------------------------


class LevelFlows:
    """Refinement of levels by flows.

    Parameters
    ----------
    flows : FlowRefiner
    """

    def __init__(self, flows: FlowRefiner) -> None:
        self.flows = flows

    def takes(self, depth: int, graph: Structure) -> bool:
        """Whether a level is refined by flows."""
        options = self.flows.options
        return depth < options.levels and options.take(*sizes_of(graph))

    def improve(self, graph: Graph, refiner: Refiner, fixed: Array | None) -> int:
        """Refine the best partition of a level by flows and return the gain.

        If it is positive, `refiner` restarts from the new partition. Waits for the device.
        """
        part = graph.space.copy(refiner.best[: graph.num_vertices])
        gain = self.flows.refine(graph, part, fixed, refiner.slack_on(graph))
        if gain > 0:
            refiner.start(graph, part)
        return gain


def level_flows(problem: Problem, options: FlowOptions,
                graphs: Sequence[Structure]) -> LevelFlows | None:
    """Return flow refinement for graphs of which some are small enough; else None.

    Only for cuts and net costs without migration costs: flows minimise cuts, no other costs.
    """
    rules = problem.objective.rules
    small = [graph for graph in graphs if options.take(*sizes_of(graph))]
    if not small or not rules.is_cut or problem.num_blocks > options.max_blocks or (
            problem.constraints.previous_blocks is not None):
        return None
    return LevelFlows(FlowRefiner(problem.space, small[0], problem.balance, options, problem.seed,
                                  rules.net_cost))


def sizes_of(graph: Structure) -> tuple[int, int]:
    """Vertices and entries of the whole graph that rows are of."""
    return graph.whole.num_vertices, graph.whole.num_entries
