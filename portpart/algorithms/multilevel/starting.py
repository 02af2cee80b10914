"""Starts of refinement: an initial partition, or the best of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain

import numpy as np

from portpart.algorithms.coarsening import AnyGraph, Level
from portpart.algorithms.final_balance import with_heavy_apart
from portpart.algorithms.initial import (
    GrowingOptions,
    InitialOptions,
    start_partition,
    trivial_partition,
)
from portpart.algorithms.multilevel.deeper_start import Refined, refined_from_below
from portpart.algorithms.multilevel.greedy_start import (
    MAX_GROWN,
    greedy_start_in_groups,
    grown_from,
    grown_parts,
)
from portpart.algorithms.multilevel.inherited import renumbered
from portpart.algorithms.multilevel.problem import UNCONSTRAINED, Constraints, Problem
from portpart.algorithms.multilevel.walk import Passes, Recipe, StartRule, one_pass
from portpart.algorithms.objectives import NO_PARTS, Balance, costs_and_weights, stacked
from portpart.algorithms.placement import well_placed
from portpart.algorithms.refinement import Refiner
from portpart.algorithms.refinement.blocks import PreviousBlocks, has_heavy
from portpart.algorithms.refinement.incumbent import BestOf
from portpart.backends.programs import Array
from portpart.graphs import EitherGraph, Graph, plain_graph

# The best of several partitions of the coarsest graph ------------------------------------------
#
# They are METIS's, made sequentially on the host, or grown (`grown_parts`).


Choose = Callable[[list[Array]], Array]
"""Selects the best of several partitions, or combines them."""


def metis_parts(coarsest: Graph, balance: Balance, seeds: range,
                fixed: Array | None = None, recursive: bool = True) -> Iterator[Array]:
    """Yield a METIS partition for each seed, by `recursive` bisection or by the k-way method."""
    space, obvious = coarsest.space, trivial_partition(coarsest, balance.num_blocks)
    if obvious is not None and fixed is None:
        yield from (obvious for _ in seeds)
        return
    if space.is_dry_run:
        yield from (space.zeros(coarsest.num_vertices, np.int32) for _ in seeds)
        return
    matrix = coarsest.to_scipy()
    weights, anchors = (None if array is None else space.to_host(array)
                        for array in (coarsest.vertex_weights, fixed))
    for seed in seeds:
        yield space.asarray(start_partition(matrix, weights, balance.limits, balance.imbalance,
                                            seed, balance.shares, anchors, recursive))


def start_from_best(refiner: Refiner, coarsest: Graph, parts: Iterable[Array], count: int,
                    temperature: float, wanted: Constraints = UNCONSTRAINED,
                    choose: Choose | None = None, refined_before: Refined | None = None) -> int:
    """Refine `count` partitions, as many as time allows, and start from the best.

    A single partition is not refined here.

    Parameters
    ----------
    choose : callable, optional
        Makes one partition of the refined ones, if there are several; by default the best.
    refined_before : Refined, optional
        One that has been refined, and may be the best.

    Returns
    -------
    int
        Passes over the coarsest graph that each partition has had.
    """
    space, refined = coarsest.space, list[Array]()
    # partitions around fixed vertices differ much in balance, so overload has a cost
    best = BestOf(space, 0 if wanted.fixed is None else _cost_of_overload(coarsest))
    if refined_before is not None:
        best.offer(*refined_before)
    for number, part in enumerate(parts):
        refiner.start(coarsest, part)
        only = count == 1 and wanted.fixed is None and refined_before is None
        if only or (number == 0 and wanted.out_of_time()):
            return 0
        outcome = refiner.refine(coarsest, temperature, wanted.fixed)
        found = refiner.best[: coarsest.num_vertices]
        if choose is None:
            best.offer(found, outcome)
        else:
            refined.append(space.copy(found))
        if wanted.out_of_time():
            break
    chosen = best.part if choose is None else choose(refined)
    assert chosen is not None
    refiner.start(coarsest, chosen)
    return 1


def best_starts(problem: Problem, graph: EitherGraph, parts: Array, count: int) -> list[Array]:
    """Return the `count` best of several partitions, unrefined, best first.

    Overload has a cost: these partitions are not refined, and differ much in balance.
    """
    if len(parts) <= count:
        return list(parts)
    costs, weights = costs_and_weights(graph, parts, problem.num_blocks, problem.objective)
    above = np.maximum(weights - problem.balance.limits, 0).max(1)
    penalty = _cost_of_overload(graph)
    # Python's integers: with huge weights the products exceed 64 bits
    ranks = [cost // 2 + penalty * over
             for cost, over in zip(costs.tolist(), above.tolist(), strict=True)]
    return [parts[each] for each in sorted(range(len(parts)), key=ranks.__getitem__)[:count]]


def _cost_of_overload(graph: EitherGraph) -> int:
    """Return a cost per overload: the weight of edges or nets per vertex weight."""
    return 1 + graph.mean_joint_weight(graph.num_entries) // max(1, graph.total_vertex_weight)


# The start rule of recipes: an initial partition, or the best of a pool ------------------------


def start_from_pool(problem: Problem, options: InitialOptions, passes: Passes = one_pass,
                    deeper: Recipe | None = None) -> StartRule:
    """Return a rule that starts from the best of several METIS or grown partitions.

    Each is refined on the coarsest graph. An initial partition is the start; with previous blocks
    it is one of several. METIS partitions the clique graph of a hypergraph. With a recipe for
    deeper levels, a partition that is refined upwards from these takes the place of one.
    """
    balance = problem.balance

    def start(refiner: Refiner, level: Level, wanted: Constraints, seed: int) -> int:
        if wanted.initial is not None and (wanted.previous_blocks is None or not wanted.grows):
            refiner.start(level.graph, wanted.initial)
            return 0
        coarsest, fixed = level.graph, wanted.fixed
        apart = problem.objective.rules.net_cost is not None and has_heavy(coarsest, balance)

        def placed(parts: Array) -> Array:
            if not problem.objective.rules.is_cut:
                parts = stacked(problem.space, [
                    well_placed(coarsest, part, balance, problem.objective, seed, fixed)
                    for part in parts])
            return with_heavy_apart(coarsest, parts, balance, fixed) if apart else parts

        def placed_in_turn(parts: Iterable[Array]) -> Iterator[Array]:
            return (placed(part.reshape(1, -1))[0] for part in parts)

        below = None
        if deeper is not None and wanted.fixed is None and wanted.previous_blocks is None:
            below = refined_from_below(problem, deeper, refiner, coarsest, wanted, seed)
        plain = cache(lambda: plain_graph(coarsest))
        grown = _grown(coarsest, balance, options, wanted, seed, plain, refiner.slack_on(coarsest))
        if len(grown):
            growing = _growing(options, balance).for_blocks(balance.num_blocks)
            count = max(1, min(growing.refined, len(grown)) - (below is not None))
            parts: Iterable[Array] = best_starts(problem, coarsest, placed(grown), count)
        else:
            count = options.num_starts(balance.num_blocks)
            parts = placed_in_turn(metis_parts(plain(), balance, range(seed, seed + count), fixed,
                                               options.bisects))
        problem.trace.started("grown" if len(grown) else "metis", count + (below is not None))
        parts = chain(parts, placed_in_turn(grown_from(coarsest.space, balance.limits, fixed,
                                                       plain)))
        if wanted.previous_blocks is not None:
            parts, count = _beside_old(problem, parts, wanted, wanted.previous_blocks), count + 1
        return start_from_best(refiner, coarsest, parts, count, passes(1, coarsest)[0], wanted,
                               refined_before=below)

    return start


def _beside_old(problem: Problem, parts: Iterable[Array], wanted: Constraints,
                previous_blocks: PreviousBlocks) -> Iterator[Array]:
    """Yield the initial partition, then the others renumbered so that most vertices stay.

    With fixed vertices the blocks already have their numbers.
    """
    assert wanted.initial is not None
    yield wanted.initial
    for part in parts:
        yield (part if wanted.fixed is not None else
               renumbered(problem.space, part, previous_blocks, problem.balance))


def _grown(coarsest: AnyGraph, balance: Balance, options: InitialOptions, wanted: Constraints,
           seed: int, plain: Callable[[], Graph], slack_of_refinement: int) -> Array:
    """Return grown partitions; none if growing is disabled or impossible."""
    if not options.grows or coarsest.num_vertices > MAX_GROWN:
        return NO_PARTS
    growing = _growing(options, balance)
    slack = growing.slack_of_blocks(balance.num_blocks, slack_of_refinement)
    if wanted.fixed is not None:
        return greedy_start_in_groups(coarsest, balance, growing, seed, wanted.fixed, plain, slack)
    return grown_parts(coarsest, balance, growing, seed, slack=slack)


def _growing(options: InitialOptions, balance: Balance) -> GrowingOptions:
    """Return options for growing; for a single partition if one start is enough."""
    one = options.method == "auto" and options.num_starts(balance.num_blocks) == 1
    return options.growing.of_one() if one else options.growing
