"""The multilevel method: coarsen, start on the coarsest graph, refine upwards.

There is one walk, for partitions, mappings and sections.  A recipe gives it its parts: the rule for
clusters, the source of starts, and the refiner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from portpart.algorithms.coarsening import (
    BY_HASHING,
    ClusterRule,
    CoarseningOptions,
    Contraction,
    Level,
    coarsen,
    value_of_clusters,
)
from portpart.algorithms.initial import trivial_partition
from portpart.algorithms.multilevel.population import Clock, Partition
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.refiners import LevelFlows, level_flows
from portpart.algorithms.multilevel.search import ONE_WALK, SearchOptions, Walk, search
from portpart.algorithms.objectives import total_cost
from portpart.algorithms.placement import well_placed
from portpart.algorithms.refinement import FlowOptions, Refiner
from portpart.algorithms.refinement.blocks import PreviousBlocks, previous_blocks_on
from portpart.algorithms.refinement.incumbent import RefinementOutcome
from portpart.backends.programs import Array
from portpart.graphs import Graph

MAX_KEPT_IN_BRIEF = 0.75
"""A brief walk coarsens no more where a level keeps more than this share of its vertices."""

StartRule = Callable[[Refiner, Level, Constraints, int], int]
"""Starts a refiner on the coarsest graph, from what is wanted there and a seed.

Returns the passes over that graph which the partition has had, if they count.
"""


Passes = Callable[[int, Graph], tuple[float, ...]]
"""What a refiner gets for each pass over a level, 0 being the finest."""


def one_pass(depth: int, graph: Graph) -> tuple[float, ...]:
    """A pass that never loses."""
    return (0.0,)


class Start(NamedTuple):
    """What is wanted of the coarsest graph, and the seed of a walk."""

    wanted: Constraints
    seed: int


class ByOneDevice:
    """How a walk makes levels, carries values to them, and refines them: the ways of one device."""

    def coarsen(self, problem: Problem, recipe: Recipe, **when: Any) -> list[Level]:
        """Levels of a graph, by the clusters of the recipe; options are those of `coarsen`."""
        return coarsen(problem.space, problem.graph, recipe.find_clusters,
                       contraction=recipe.contraction, **when)

    def on_finest(self, levels: list[Level], values: Array) -> Array:
        """Values of vertices, as the finest level has them."""
        return values

    def on_coarser(self, fine: Level, values: Array, coarse: Level) -> Array:
        """The value of each cluster, which all of its vertices have."""
        assert fine.cluster is not None
        return value_of_clusters(fine.graph, fine.cluster, values, coarse.graph)

    def refiner(self, recipe: Recipe, levels: list[Level], seed: int) -> Refiner:
        """What refines the levels: that of the recipe."""
        return recipe.refiner(seed)

    def flows(self, problem: Problem, recipe: Recipe, levels: list[Level]) -> LevelFlows | None:
        """What refines these levels by flows, if the recipe has it and one of them may be."""
        return level_flows(problem, recipe.flows, [level.graph for level in levels])

    def refined(self, problem: Problem, recipe: Recipe, refiner: Refiner, levels: list[Level],
                fixed: list[Array | None], start: Start) -> tuple[Array, RefinementOutcome]:
        """The best partition that a refiner finds from the coarsest level on."""
        outcome = refined_from(start, problem, recipe, refiner, levels, fixed)
        return refiner.best, outcome


BY_ONE_DEVICE = ByOneDevice()

NO_FLOWS = FlowOptions(levels=0)


@dataclass(frozen=True, eq=False)
class Recipe:
    """The parts of a walk.

    Attributes
    ----------
    coarsening : CoarseningOptions
    find_clusters : callable
        Clusters of the graph on a level; must respect labels.
    start : callable
        Starts on the coarsest graph.
    refiner : callable
        What refines all levels, made for a seed.
    passes : callable
        Passes over a level.
    search : SearchOptions
    contraction : callable
        The graph of clusters.
    label : array of int32, shape (n,), optional
        Walks from scratch merge vertices of equal label only.
    communities : array of int32, shape (n,), optional
        And those of one community only, while coarsening does not stall.
    stop_at : int, optional
        Vertices at which coarsening ends; by default as the options say.
    combine : callable, optional
        The best of a partition and of what a walk has made of it; by default the latter.
    swaps : bool
        Whether blocks are swapped at the end of each walk.
    flows : FlowOptions
        Refinement by flows after the passes over a level.
    ways : ByOneDevice
        Those of one device, or of several ranks, which then have what is not for one device alone.
    others : tuple of Recipe
        Of the runs after the first one of a search, in turn with this one.
    """

    coarsening: CoarseningOptions
    find_clusters: ClusterRule
    start: StartRule
    refiner: Callable[[int], Refiner]
    passes: Passes = one_pass
    search: SearchOptions = ONE_WALK
    contraction: Contraction = BY_HASHING
    label: Array | None = None
    communities: Array | None = None
    stop_at: int | None = None
    combine: Callable[[list[Array]], Partition] | None = None
    swaps: bool = False
    flows: FlowOptions = NO_FLOWS
    ways: ByOneDevice = BY_ONE_DEVICE
    others: tuple[Recipe, ...] = ()

    def in_turn(self, rules: Sequence[ClusterRule]) -> Recipe:
        """The same with other clusters in the runs after the first one."""
        return replace(self, others=tuple(replace(self, find_clusters=rule) for rule in rules))

    def once_more(self) -> Recipe:
        """The same for a walk that begins with a partition, which may have fewer passes."""
        last, passes = self.search.passes, self.passes
        if last is None:
            return self
        return replace(self, passes=lambda depth, graph: passes(depth, graph)[-last:])


def partition_multilevel(problem: Problem, recipe: Recipe) -> Array:
    """The best partition that walks and their combinations find; obvious ones without any.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    trivial = trivial_partition(problem.graph, problem.num_blocks)
    if trivial is not None and (problem.num_blocks == 1 or _is_plain(problem)):
        problem.trace.ended = "optimum"
        return trivial
    return search_multilevel(problem, replace(recipe, swaps=not problem.objective.rules.is_cut))


def search_multilevel(problem: Problem, recipe: Recipe) -> Array:
    """The best partition that walks and their combinations find."""
    wanted = problem.constraints
    if wanted.rounds > 0:
        problem = replace(problem, constraints=replace(wanted,
                                                       out_of_time=Clock(wanted.out_of_time)))
    recipes = recipe, *recipe.others
    walks = [walk_of(problem, each) for each in recipes]
    in_rounds = [walk_of(problem, replace(each, flows=each.flows.in_rounds()))
                 for each in (recipes if wanted.rounds > 0 else ())]
    return search(problem, walks, recipe.search,
                  lambda found: problem.trace.walked(found.value), in_rounds)


def _is_plain(problem: Problem) -> bool:
    """Whether blocks are alike and so are partitions that differ in their numbers only."""
    wanted = problem.constraints
    alike = problem.balance.are_alike and problem.objective.rules.is_cut
    return alike and wanted.fixed is None and wanted.initial is None


def walk_of(problem: Problem, recipe: Recipe) -> Walk:
    """The walk through all levels of a problem.

    Coarsening stays apart from fixed vertices and within the blocks of an initial partition, so
    that is one of the coarsest graph too, from which refinement starts.
    """
    trace, wanted, ways = problem.trace, problem.constraints, recipe.ways
    again = recipe.once_more()

    def walk(seed: int, part: Array | None = None, label: Array | None = None) -> Partition:
        with trace.phase("coarsening"):
            levels = levels_of(problem, recipe, seed, label)
            fixed = on_levels(levels, wanted.fixed, ways)
            initial = on_levels(levels, part, ways)[-1]
        refiner = ways.refiner(recipe, levels, seed)
        previous_blocks = None if wanted.previous_blocks is None else _settled(refiner, levels,
                                                                               wanted.previous_blocks)
        here = Constraints(fixed[-1], initial, wanted.out_of_time, previous_blocks, wanted.grows)
        best, outcome = ways.refined(problem, recipe if part is None else again, refiner, levels,
                                     fixed, Start(here, seed))
        if part is not None and recipe.combine is not None:
            return recipe.combine([part, best])
        found = Partition(best, outcome["balanced"], outcome["cut"])
        return _swapped(problem, found, seed) if recipe.swaps else found

    return walk


def _settled(refiner: Refiner, levels: list[Level],
             previous_blocks: PreviousBlocks) -> PreviousBlocks:
    """Set the previous blocks on all levels, and return those of the coarsest graph."""
    of_levels = previous_blocks_on(levels, previous_blocks)
    refiner.set_previous_blocks(of_levels, levels[0].graph.num_vertices)
    return of_levels[-1]


def _swapped(problem: Problem, found: Partition, seed: int) -> Partition:
    """The same after swaps of blocks."""
    part = well_placed(problem.graph, found.part, problem.balance, problem.objective, seed,
                       problem.constraints.fixed)
    return Partition(part, found.balanced, total_cost(problem.graph, part, problem.objective))


def levels_of(problem: Problem, recipe: Recipe, seed: int,
              label: Array | None = None) -> list[Level]:
    """The hierarchy of a walk, finest first; only vertices of equal label are merged.

    Without labels it is one from scratch, for which the recipe may have some.
    """
    options, k, wanted = recipe.coarsening, problem.num_blocks, problem.constraints
    apart = [recipe.label if label is None else label]
    if label is None and recipe.communities is not None:
        apart.insert(0, recipe.communities)
    labels = [wanted.label(problem.space, each) for each in apart]
    return recipe.ways.coarsen(
        problem, recipe, seed=seed,
        labels=labels,
        stop_at=options.coarsest_vertices(k) if recipe.stop_at is None else recipe.stop_at,
        stop_dense_at=options.coarsest_dense_vertices(k),
        max_kept=min(options.max_kept, MAX_KEPT_IN_BRIEF if wanted.is_brief else 1),
        on_level=problem.trace.coarse_level,
        drop_below=options.drop_below, skip_above=options.skip_above,
    )


def on_levels(levels: list[Level], values: Array | None,
              ways: ByOneDevice = BY_ONE_DEVICE) -> list[Array | None]:
    """What the vertices of clusters have in common, on all levels."""
    if values is None:
        return [None] * len(levels)
    result: list[Array | None] = [values := ways.on_finest(levels, values)]
    for fine, coarse in pairwise(levels):
        result.append(values := ways.on_coarser(fine, values, coarse))
    return result


def refined_from(start: Start, problem: Problem, recipe: Recipe, refiner: Refiner,
                 levels: list[Level], fixed: list[Array | None],
                 left: int = 0) -> RefinementOutcome:
    """Start on the coarsest graph and refine upwards, as `refine_upwards` does."""
    with problem.trace.phase("initial"):
        done = recipe.start(refiner, levels[-1], start.wanted, start.seed)
    with problem.trace.phase("refinement"):
        return refine_upwards(problem, recipe, refiner, levels, fixed, done, left)


def refine_upwards(problem: Problem, recipe: Recipe, refiner: Refiner, levels: list[Level],
                   fixed: list[Array | None], done: int | None = 0,
                   left: int = 0) -> RefinementOutcome:
    """Refine the partition that the refiner holds for the coarsest graph, up to the finest.

    When time is over, every level gets one more pass only; of a brief walk each gets one.

    Parameters
    ----------
    levels : list of Level
        Finest first; the `left` ones stay.  No other is kept longer than it is needed.
    fixed : list
        For each level the block of a fixed vertex, -1 for the others; or None.  The same.
    done : int, optional
        Passes that the coarsest level has had.  None: the refiner holds a partition of the clusters
        of that level.
    left : int
        This many levels are left, the finest ones.

    Returns
    -------
    RefinementOutcome
        That of the last refinement.
    """
    coarsest = len(levels) - (done is not None)
    flows = recipe.ways.flows(problem, recipe, levels[left : recipe.flows.levels])
    while len(levels) > left:
        depth, graph, anchors = len(levels) - 1, levels[-1].graph, fixed.pop()
        if depth < coarsest:
            refiner.project(graph, levels[-1].taken())
        del levels[-1]
        passes = recipe.passes(depth, graph)
        if depth == coarsest and 0 < depth and done is not None and done < len(passes):
            passes = passes[done:]
        for index, temperature in enumerate(passes):
            if index > 0:
                if problem.constraints.is_brief or problem.constraints.out_of_time():
                    break
                refiner.restart(graph)
            outcome = refiner.refine(graph, temperature, anchors)
            problem.trace.refined_level(depth, graph, outcome)
        if (flows is not None and flows.takes(depth, graph)
                and not problem.constraints.out_of_time()):
            gain = flows.improve(graph, refiner, anchors)
            problem.trace.refined_by_flows(depth, gain)
            if gain > 0:
                outcome = refiner.refine(graph, 0.0, anchors)
                problem.trace.refined_level(depth, graph, outcome)
    return outcome
