"""Walks over several ranks: levels belong to ranks as long as they are large.

These are refined by all ranks; smaller ones every rank has as a whole, and refines as one device
does.  Each rank has the blocks of its vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from portpart.algorithms.coarsening import Level
from portpart.algorithms.coarsening.ranks import fold_coarsest, projected
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiners import LevelFlows, ScheduleOptions, level_flows
from portpart.algorithms.multilevel.walk import (
    ByOneDevice,
    Recipe,
    Start,
    refine_upwards,
    refined_from,
)
from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement import Refiner
from portpart.algorithms.refinement.incumbent import RefinementOutcome
from portpart.algorithms.refinement.ranks import RankRefiner
from portpart.backends.communication import once, planned
from portpart.backends.programs import Array
from portpart.graphs import Graph
from portpart.graphs.ranks import DistributedGraph
from portpart.primitives import gather


@dataclass(frozen=True, eq=False)
class OverRanks(ByOneDevice):
    """The ways of several ranks, which all call them.

    Attributes
    ----------
    graph : DistributedGraph
    coarsened : callable
        Levels of the graph, finest first, from the options of `coarsen`.
    balance : Balance
    passes : ScheduleOptions
        How levels are refined.
    """

    graph: DistributedGraph
    coarsened: Callable[..., list[Level[Any]]]
    balance: Balance
    passes: ScheduleOptions

    def coarsen(self, problem: Problem, recipe: Recipe, **when: Any) -> list[Level]:
        """Levels of the graph; the coarsest one every rank has as a whole."""
        levels = self.coarsened(**when)
        fold_coarsest(levels)
        return levels

    def on_finest(self, levels: list[Level], values: Array) -> Array:
        """Those of own vertices, or of all where the finest graph is the coarsest."""
        return self.graph.gather_values(values) if len(levels) == 1 else values

    def on_coarser(self, fine: Level, values: Array, coarse: Level) -> Array:
        """What owners know, or all ranks of a level that they have as a whole."""
        assert fine.cluster is not None
        return projected(self.graph.comm, fine.graph, fine.cluster, values, coarse.graph)

    def refiner(self, recipe: Recipe, levels: list[Level], seed: int) -> Refiner:
        """One that refines levels over ranks, too, if there are any."""
        graphs: list[Any] = [level.graph for level in levels]
        finest: Any = self.graph
        of_finest = self.passes.of_finest(finest, self.balance.num_blocks)
        options = self.balance, self.passes.coarse, seed, of_finest

        def made() -> Refiner:
            if isinstance(graphs[0], Graph):
                return Refiner(self.graph.space, graphs[0], *options)
            return RankRefiner(graphs, *options)

        return planned(self.graph.comm, made)

    def flows(self, problem: Problem, recipe: Recipe, levels: list[Level]) -> LevelFlows | None:
        """That of whole levels, or for each rank one that refines the whole of divided levels."""
        graphs: list[Any] = [level.graph for level in levels]
        if all(isinstance(graph, Graph) for graph in graphs):
            return level_flows(problem, recipe.flows, graphs)
        made = planned(self.graph.comm, lambda: level_flows(problem, recipe.flows, graphs))
        return None if made is None else RankFlows(made.flows)

    def refined(self, problem: Problem, recipe: Recipe, refiner: Refiner, levels: list[Level],
                fixed: list[Array | None], start: Start) -> tuple[Array, RefinementOutcome]:
        """Ranks in the same memory refine once what they have as a whole; then all go on."""
        comm, space, own = self.graph.comm, self.graph.space, self.graph.local.num_vertices
        divided = sum(isinstance(level.graph, DistributedGraph) for level in levels)
        coarse = levels[divided].graph.num_vertices

        def of_whole_levels() -> tuple[Refiner, RefinementOutcome]:
            return refiner, refined_from(start, problem, recipe, refiner, levels, fixed, divided)

        other, outcome = once(comm, space, of_whole_levels)
        if not isinstance(refiner, RankRefiner):
            return own_values(self.graph, other.best), outcome
        planned(comm, partial(refiner.take, cast(RankRefiner, other), coarse))
        del levels[divided:], fixed[divided:], other
        with problem.trace.phase("refinement"):
            outcome = refine_upwards(problem, recipe, refiner, levels, fixed, None)
        return space.copy(refiner.best[:own]), outcome


class RankFlows(LevelFlows):
    """Refinement of divided levels by flows: as these are small, each rank gathers them as a whole.

    Ranks in the same memory gather and refine them once.
    """

    def improve(self, graph: Any, refiner: Refiner, fixed: Array | None) -> int:
        """By how much the best partition is better now, from which `refiner` begins again."""
        if isinstance(graph, Graph):
            return super().improve(graph, refiner, fixed)
        comm, own = graph.comm, graph.local.num_vertices
        slack = refiner.slack_on(graph)
        whole, part = graph.gather(), graph.gather_values(refiner.best[:own])
        held = None if fixed is None else graph.gather_values(fixed)
        gain, part = once(comm, graph.space,
                          lambda: (self.flows.refine(whole, part, held, slack), part))
        if gain > 0:
            ids: Array = graph.local.global_ids
            planned(comm, lambda: refiner.start(graph, gather(graph.space, part, ids)))
        return gain


def own_values(graph: DistributedGraph, values: Array) -> Array:
    """Of values of all vertices, those of this rank."""
    own = graph.local.num_vertices
    if graph.are_moved:
        return gather(graph.space, values, graph.global_ids[:own])
    first = int(graph.first[graph.comm.rank])
    return graph.space.copy(values[first : first + own])
