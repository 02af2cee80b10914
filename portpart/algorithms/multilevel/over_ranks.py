"""Walks over several ranks: large levels are distributed over the ranks.

All ranks refine a distributed level together. Each rank holds the smaller levels whole, and refines
them as one device does. Each rank has the blocks of its vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from portpart.algorithms.coarsening import Level
from portpart.algorithms.coarsening.ranks import fold_coarsest, projected
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiners import LevelFlows, ScheduleOptions, level_flows
from portpart.algorithms.multilevel.walk import (
    ByOneDevice,
    Early,
    Recipe,
    Start,
    refine_upwards,
    refined_from,
)
from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement import Coarser, Refiner
from portpart.algorithms.refinement.incumbent import RefinementOutcome
from portpart.algorithms.refinement.ranks import RankRefiner, refine_band
from portpart.backends.communication import keepers, once, planned
from portpart.backends.programs import Array
from portpart.graphs import Graph
from portpart.graphs.ranks import DistributedGraph
from portpart.primitives import gather


@dataclass(frozen=True, eq=False)
class OverRanks(ByOneDevice):
    """The steps of a walk over several ranks, which all ranks call.

    Attributes
    ----------
    graph : DistributedGraph
    coarsened : callable
        Makes the levels of the graph, finest first, from the options of `coarsen`.
    balance : Balance
    passes : ScheduleOptions
        Passes over the levels.
    """

    graph: DistributedGraph
    coarsened: Callable[..., list[Level[Any]]]
    balance: Balance
    passes: ScheduleOptions

    def coarsen(self, problem: Problem, recipe: Recipe, **when: Any) -> list[Level]:
        """Return the levels of the graph; every rank holds the coarsest one whole."""
        levels = self.coarsened(**when)
        fold_coarsest(levels)
        return levels

    def on_finest(self, levels: list[Level], values: Array) -> Array:
        """Return values of own vertices, or of all vertices if there is only one level."""
        return self.graph.gather_values(values) if len(levels) == 1 else values

    def on_coarser(self, fine: Level, values: Array, coarse: Level) -> Array:
        """Return the values of coarse vertices: of own ones, or of all on a level held whole."""
        assert fine.cluster is not None
        return projected(self.graph.comm, fine.graph, fine.cluster, values, coarse.graph)

    def refiner_early(self, problem: Problem, early: Early) -> AbstractContextManager[None]:
        """Return an empty context: the refiner depends on the levels."""
        return nullcontext()

    def max_concurrent_walks(self, problem: Problem) -> int:
        """Return 1: ranks communicate in the order of the steps of a walk."""
        return 1

    def refiner(self, early: Early, levels: list[Level], seed: int) -> Refiner:
        """Return a refiner, one over ranks if there are distributed levels."""
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
        """Return flows for whole levels, or flows of each rank on gathered distributed levels."""
        graphs: list[Any] = [level.graph for level in levels]
        if all(isinstance(graph, Graph) for graph in graphs):
            return level_flows(problem, recipe.flows, graphs)
        return planned(self.graph.comm,
                       lambda: level_flows(problem, recipe.flows, graphs, RankFlows))

    def refined(self, problem: Problem, recipe: Recipe, refiner: Refiner, levels: list[Level],
                fixed: list[Array | None], start: Start) -> tuple[Array, RefinementOutcome]:
        """Refine whole levels, once for all ranks in the same memory, then distributed levels."""
        comm, space, own = self.graph.comm, self.graph.space, self.graph.local.num_vertices
        divided = sum(isinstance(level.graph, DistributedGraph) for level in levels)
        refines = keepers(comm, space)[comm.rank] == comm.rank

        def drop_whole_levels() -> None:
            if not refines:  # so that the rank that refines them frees each as it goes on
                del levels[divided:], fixed[divided:]

        planned(comm, drop_whole_levels)

        def of_whole_levels() -> tuple[Refiner, Coarser | None, RefinementOutcome]:
            outcome = refined_from(start, problem, recipe, refiner, levels, fixed, divided)
            known = refiner.coarser if isinstance(refiner, RankRefiner) else None
            return refiner, known, outcome

        other, known, outcome = once(comm, space, of_whole_levels)
        if not isinstance(refiner, RankRefiner):
            return own_values(self.graph, other.best), outcome
        planned(comm, partial(refiner.take, cast(RankRefiner, other), cast(Coarser, known)))
        del levels[divided:], fixed[divided:], other, known
        with problem.trace.phase("refinement"):
            outcome = refine_upwards(problem, recipe, refiner, levels, fixed, None)
        return space.copy(refiner.best[:own]), outcome


class RankFlows(LevelFlows):
    """Refinement of distributed levels by flows.

    Each rank gathers them whole, and ranks in the same memory gather and refine them once; or
    rank 0 gathers and refines the band graph.
    """

    def improve(self, graph: Any, refiner: Refiner, fixed: Array | None) -> int | None:
        """Refine by flows and return the gain; `refiner` restarts from an improved partition."""
        if isinstance(graph, Graph):
            return super().improve(graph, refiner, fixed)
        comm, own = graph.comm, graph.local.num_vertices
        slack = refiner.slack_on(graph)
        if self.options.on_band:
            gain, part = refine_band(graph, refiner.best[:own], fixed, self.problem.num_blocks,
                                     self.options.depth, lambda band: self.refine_band(band, slack))
            if gain:
                planned(comm, lambda: refiner.start(graph, part))
            return gain
        whole, part = graph.gather(), graph.gather_values(refiner.best[:own])
        held = None if fixed is None else graph.gather_values(fixed)
        gain, part = once(comm, graph.space,
                          lambda: (self.refine(whole, part, held, slack), part))
        if gain > 0:
            ids: Array = graph.local.global_ids
            planned(comm, lambda: refiner.start(graph, gather(graph.space, part, ids)))
        return gain


def own_values(graph: DistributedGraph, values: Array) -> Array:
    """Select the values of this rank's vertices from those of all vertices."""
    own = graph.local.num_vertices
    if graph.are_moved:
        return gather(graph.space, values, graph.global_ids[:own])
    first = int(graph.first[graph.comm.rank])
    return graph.space.copy(values[first : first + own])
