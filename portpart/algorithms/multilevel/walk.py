"""The multilevel method: coarsen, start on the coarsest graph, refine upwards.

All partitions, mappings and sections use the same walk. A recipe contains its parts: the rule for
clusters, the source of starts, and the refiner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from portpart.algorithms.coarsening import (
    ClusterRule,
    CoarseningOptions,
    Contraction,
    Level,
    coarsen,
    contract,
    value_of_clusters,
)
from portpart.algorithms.initial import trivial_partition
from portpart.algorithms.multilevel.population import Clock, Partition
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.refiners import LastPass, LevelFlows, level_flows
from portpart.algorithms.multilevel.search import (
    ONE_WALK,
    SearchOptions,
    Walk,
    concurrent_runs,
    search,
)
from portpart.algorithms.objectives import total_cost
from portpart.algorithms.placement import well_placed
from portpart.algorithms.refinement import FlowOptions, Refiner
from portpart.algorithms.refinement.blocks import PreviousBlocks, previous_blocks_on
from portpart.algorithms.refinement.incumbent import RefinementOutcome
from portpart.backends.programs import Array
from portpart.graphs import Graph

MAX_KEPT_IN_BRIEF = 0.75
"""Coarsening of a brief walk ends if a level keeps more than this share of its vertices."""

EARLY_BLOCKS = 256
"""Up to this many blocks, a refiner of graphs takes little memory before it has vertices."""

Early = Callable[[], Refiner]
"""Makes the refiner of a walk when it is first called."""

StartRule = Callable[[Refiner, Level, Constraints, int], int]
"""Starts a refiner on the coarsest graph, with the constraints there and a seed.

Returns the number of passes over that graph that the partition has had, if they count.
"""


Passes = Callable[[int, Graph], tuple[float, ...]]
"""Returns a temperature for each pass over a level; level 0 is the finest."""


def one_pass(depth: int, graph: Graph) -> tuple[float, ...]:
    """Return the temperature of one pass without losses."""
    return (0.0,)


class Start(NamedTuple):
    """The constraints on the coarsest graph, and the seed of a walk."""

    wanted: Constraints
    seed: int


class ByOneDevice:
    """The steps of a walk on one device: making levels, moving values to them, refining them."""

    def coarsen(self, problem: Problem, recipe: Recipe, **when: Any) -> list[Level]:
        """Return the levels of a graph by the clusters of the recipe; `when` is for `coarsen`."""
        return coarsen(problem.space, problem.graph, recipe.find_clusters,
                       contraction=recipe.contraction, **when)

    def on_finest(self, levels: list[Level], values: Array) -> Array:
        """Return values of vertices in the form of the finest level."""
        return values

    def on_coarser(self, fine: Level, values: Array, coarse: Level) -> Array:
        """Return the value of each cluster, which is that of all its vertices."""
        assert fine.cluster is not None
        return value_of_clusters(fine.graph, fine.cluster, values, coarse.graph)

    def refiner_early(self, problem: Problem, early: Early) -> AbstractContextManager[None]:
        """Return a context in which the refiner is made while the host waits, if it is small.

        Those of nets or of many blocks have large arrays.
        """
        is_small = isinstance(problem.graph, Graph) and problem.num_blocks <= EARLY_BLOCKS
        return problem.space.while_waiting(early) if is_small else nullcontext()

    def refiner(self, early: Early, levels: list[Level], seed: int) -> Refiner:
        """Return the recipe's refiner."""
        return early()

    def flows(self, problem: Problem, recipe: Recipe, levels: list[Level]) -> LevelFlows | None:
        """Return flow refinement of these levels; None if no level is refined by flows."""
        return level_flows(problem, recipe.flows, [level.graph for level in levels])

    def max_concurrent_walks(self, problem: Problem) -> int:
        """Return the maximum number of walks at the same time; only small graphs have several."""
        return concurrent_runs(problem.graph)

    def refined(self, problem: Problem, recipe: Recipe, refiner: Refiner, levels: list[Level],
                fixed: list[Array | None], start: Start) -> tuple[Array, RefinementOutcome]:
        """Return the best partition, refined from the coarsest level up, and its outcome."""
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
        Finds clusters of the graph on a level; must respect labels.
    start : callable
        Starts a refiner on the coarsest graph.
    refiner : callable
        Makes the refiner of all levels for a seed.
    passes : callable
        Temperatures of the passes over a level.
    search : SearchOptions
    contraction : callable
        Makes the graph of the clusters.
    label : array of int32, shape (n,), optional
        Walks from scratch merge only vertices of equal label,
    communities : array of int32, shape (n,), optional
        and, while coarsening does not stall, only vertices of one community.
    offered : array of int32, shape (n,), optional
        A partition from which there is another walk if it costs less than those found.
    stop_at : int, optional
        Number of vertices at which coarsening ends; by default that of the options.
    combine : callable, optional
        Combines a partition with the result of a walk from it; by default the result is kept.
    swaps : bool
        Whether blocks are swapped at the end of each walk.
    flows : FlowOptions
        Flow refinement after the passes over a level.
    last_pass : LastPass, optional
        A last pass over the finest level.
    ways : ByOneDevice
        The steps of a walk, on one device or over several ranks.
    others : tuple of Recipe
        Recipes for the further runs of a search, in turn with this one.
    """

    coarsening: CoarseningOptions
    find_clusters: ClusterRule
    start: StartRule
    refiner: Callable[[int], Refiner]
    passes: Passes = one_pass
    search: SearchOptions = ONE_WALK
    contraction: Contraction = contract
    label: Array | None = None
    communities: Array | None = None
    offered: Array | None = None
    stop_at: int | None = None
    combine: Callable[[list[Array]], Partition] | None = None
    swaps: bool = False
    flows: FlowOptions = NO_FLOWS
    last_pass: LastPass | None = None
    ways: ByOneDevice = BY_ONE_DEVICE
    others: tuple[Recipe, ...] = ()

    def in_turn(self, rules: Sequence[ClusterRule]) -> Recipe:
        """Return the recipe with other rules for clusters in the runs after the first one."""
        others = tuple(replace(self, find_clusters=rule) for rule in rules)
        return replace(self, others=others) if others else self

    def once_more(self) -> Recipe:
        """Return the recipe for a walk from a partition, which may have fewer passes."""
        last, passes = self.search.passes, self.passes
        if last is None:
            return self
        return replace(self, passes=lambda depth, graph: passes(depth, graph)[-last:])


def partition_multilevel(problem: Problem, recipe: Recipe) -> Array:
    """Return the best partition of walks and combinations, or a trivial one without a walk.

    Returns
    -------
    array of int32, shape (n,)
        In the space of the graph.
    """
    trivial, wanted = trivial_partition(problem.graph, problem.num_blocks), problem.constraints
    # numbers of blocks do not matter: cuts, equal limits, no fixed or initial blocks
    alike = (problem.balance.are_alike and problem.objective.rules.is_cut
             and wanted.fixed is None and wanted.initial is None)
    if trivial is not None and (problem.num_blocks == 1 or alike):
        problem.trace.ended = "optimum"
        return trivial
    if not problem.objective.rules.is_cut:
        recipe = replace(recipe, swaps=True)
    return search_multilevel(problem, recipe)


def search_multilevel(problem: Problem, recipe: Recipe) -> Array:
    """Return the best partition of walks and combinations."""
    wanted = problem.constraints
    if wanted.rounds > 0:
        problem = replace(problem, constraints=replace(wanted,
                                                       out_of_time=Clock(wanted.out_of_time)))
    recipes, last_cycle = (recipe, *recipe.others), None
    in_rounds = [walk_of(problem, replace(each, flows=each.flows.in_rounds()))
                 for each in (recipes if wanted.rounds > 0 else ())]
    if recipe.flows.last_cycle_only and recipe.search.cycles > 0:
        last_cycle = walk_of(problem, recipe)
        recipes = tuple(replace(each, flows=NO_FLOWS) for each in recipes)
    walks = [walk_of(problem, each) for each in recipes]
    return search(problem, walks, recipe.search,
                  lambda found: problem.trace.walked(found.value), in_rounds,
                  recipe.ways.max_concurrent_walks(problem), recipe.offered, last_cycle)


def walk_of(problem: Problem, recipe: Recipe) -> Walk:
    """Return the walk over all levels of a problem.

    Coarsening respects fixed vertices and the blocks of an initial partition. So that is also a
    partition of the coarsest graph, and refinement starts from it.
    """
    trace, wanted, ways = problem.trace, problem.constraints, recipe.ways
    again = recipe.once_more()

    def walk(seed: int, part: Array | None = None, label: Array | None = None) -> Partition:
        early = cache(partial(recipe.refiner, seed))
        with trace.phase("coarsening"), ways.refiner_early(problem, early):
            levels = levels_of(problem, recipe, seed, label)
            fixed = on_levels(levels, wanted.fixed, ways)
            initial = on_levels(levels, part, ways)[-1]
        refiner = ways.refiner(early, levels, seed)
        previous_blocks = None if wanted.previous_blocks is None else _settled(refiner, levels,
                                                                               wanted.previous_blocks)
        here = Constraints(fixed[-1], initial, wanted.out_of_time, previous_blocks, wanted.grows)
        best, outcome = ways.refined(problem, recipe if part is None else again, refiner, levels,
                                     fixed, Start(here, seed))
        is_last = recipe.search.is_one_walk and wanted.rounds == 0 and recipe.offered is None
        if problem.evaluation is not None and is_last:
            with trace.phase("finish"):
                problem.evaluation.begin(problem.graph, best, problem.num_blocks)
        if part is not None and recipe.combine is not None:
            return recipe.combine([part, best])
        trace.read_times()
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
    """Swap blocks and return the new partition."""
    part = well_placed(problem.graph, found.part, problem.balance, problem.objective, seed,
                       problem.constraints.fixed)
    return Partition(part, found.balanced, total_cost(problem.graph, part, problem.objective))


def levels_of(problem: Problem, recipe: Recipe, seed: int,
              label: Array | None = None) -> list[Level]:
    """Return the hierarchy of a walk, finest first; only vertices of equal label are merged.

    Without `label` the walk is from scratch; the labels and communities of the recipe are used.
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
    """Return the values on all levels; all vertices of a cluster have the same value."""
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

    When time is over, and in a brief walk, each level gets only one pass.

    Parameters
    ----------
    levels : list of Level
        Finest first. The first `left` ones remain; the others are removed as soon as possible.
    fixed : list
        For each level None, or the fixed blocks (-1: not fixed). Removed with the levels.
    done : int, optional
        Passes that the coarsest level has had. None: the refiner holds a partition of the
        clusters of that level.
    left : int
        Number of finest levels that are not refined.

    Returns
    -------
    RefinementOutcome
        The outcome of the last refinement.
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
        outcome = refine_level(problem, refiner, depth, graph, passes, anchors, flows,
                               recipe.last_pass if depth == 0 else None)
    return outcome


def refine_level(problem: Problem, refiner: Refiner, depth: int, graph: Graph,
                 passes: Sequence[float], anchors: Array | None, flows: LevelFlows | None,
                 last: LastPass | None = None) -> RefinementOutcome:
    """Refine a level by passes, flows and a last pass, and return the outcome.

    Flows on a band graph replace the passes after the first one, if they gain something.
    """
    wanted, gain = problem.constraints, None
    taken = flows if flows is not None and flows.takes(depth, graph) else None
    for index, temperature in enumerate(passes):
        if index > 0:
            if gain or wanted.is_brief or wanted.out_of_time():
                break
            refiner.restart(graph)
        outcome = refiner.refine(graph, temperature, anchors)
        problem.trace.refined_level(depth, graph, outcome)
        if taken is not None and taken.options.on_band and not wanted.out_of_time():
            gain = taken.improve(graph, refiner, anchors)
    if taken is not None and not taken.options.on_band and not wanted.out_of_time():
        gain = taken.improve(graph, refiner, anchors)
    if gain is not None:
        problem.trace.refined_by_flows(depth, gain)
    if last is not None and (wanted.is_brief or wanted.out_of_time()):
        last = None
    alone = last is not None and last.is_alone
    if gain and not alone:
        outcome = refiner.refine(graph, 0.0, anchors)
        problem.trace.refined_level(depth, graph, outcome)
    if last is not None:
        if not (gain and alone):
            refiner.restart(graph)
        outcome = refiner.refine(graph, fixed=anchors, variant=last.variant)
        problem.trace.refined_level(depth, graph, outcome)
    return outcome
