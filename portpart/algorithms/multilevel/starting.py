"""Where partitions start: an initial one, or the best of the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.balance.overload import with_heavy_apart
from portpart.algorithms.coarsening.hierarchy import AnyGraph, Level
from portpart.algorithms.initial.options import GrowingOptions, InitialOptions
from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.greedy_start import MAX_GROWN, grown_parts
from portpart.algorithms.multilevel.greedy_start_in_groups import greedy_start_in_groups, grown_from
from portpart.algorithms.multilevel.numbering import renumbered
from portpart.algorithms.multilevel.pool import best_starts, metis_parts, start_from_best
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiner import LevelRefiner
from portpart.algorithms.multilevel.walk import Passes, StartRule, one_pass
from portpart.algorithms.objectives.candidates import NO_PARTS, CandidateParts
from portpart.algorithms.placement.traffic import well_placed
from portpart.algorithms.refinement.blocks.heavy_vertices import has_heavy
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.backends.interface import Array
from portpart.graphs.clique_graph import plain_graph
from portpart.graphs.graph import Graph


def start_from_pool(problem: Problem, options: InitialOptions,
                    passes: Passes = one_pass) -> StartRule:
    """Partitions by METIS or by growing, each refined on the coarsest graph, of which the best.

    An initial partition is the start; with previous blocks it is one of several.  METIS partitions
    the clique graph of a hypergraph.
    """
    balance = problem.balance

    def start(refiner: LevelRefiner, level: Level, wanted: Constraints, seed: int) -> int:
        if wanted.initial is not None and (wanted.previous_blocks is None or not wanted.grows):
            refiner.start(level.graph, wanted.initial)
            return 0
        coarsest, fixed = level.graph, wanted.fixed
        apart = problem.objective.rules.price is not None and has_heavy(coarsest, balance)

        def placed(parts: CandidateParts) -> CandidateParts:
            if not problem.objective.rules.is_cut:
                parts = CandidateParts.of(problem.space, [
                    well_placed(coarsest, part, balance, problem.objective, seed, fixed)
                    for part in parts])
            return with_heavy_apart(coarsest, parts, balance, fixed) if apart else parts

        def placed_in_turn(parts: Iterable[Array]) -> Iterator[Array]:
            return (placed(CandidateParts(part, 1))[0] for part in parts)

        plain = cache(lambda: plain_graph(coarsest))
        grown = _grown(coarsest, balance, options, wanted, seed, plain)
        if grown:
            growing = _growing(options, balance).for_blocks(balance.num_blocks)
            count = min(growing.refined, len(grown))
            parts: Iterable[Array] = best_starts(problem, coarsest, placed(grown), count)
        else:
            count = options.num_starts(balance.num_blocks)
            parts = placed_in_turn(metis_parts(plain(), balance, range(seed, seed + count), fixed,
                                               options.bisects))
        problem.trace.started("grown" if grown else "metis", count)
        parts = chain(parts, placed_in_turn(grown_from(coarsest.space, balance.limits, fixed,
                                                       plain)))
        if wanted.previous_blocks is not None:
            parts, count = _beside_old(problem, parts, wanted, wanted.previous_blocks), count + 1
        return start_from_best(refiner, coarsest, parts, count, passes(1, coarsest)[0], wanted)

    return start


def _beside_old(problem: Problem, parts: Iterable[Array], wanted: Constraints,
                previous_blocks: PreviousBlocks) -> Iterator[Array]:
    """The initial partition, then the others renumbered so that most vertices stay.

    Fixed vertices have numbered those already.
    """
    assert wanted.initial is not None
    yield wanted.initial
    for part in parts:
        yield (part if wanted.fixed is not None else
               renumbered(problem.space, part, previous_blocks, problem.balance))


def _grown(coarsest: AnyGraph, balance: Balance, options: InitialOptions, wanted: Constraints,
           seed: int, plain: Callable[[], Graph]) -> CandidateParts:
    """Partitions that are grown; none where that is not to be, or cannot be."""
    if not options.grows or coarsest.num_vertices > MAX_GROWN:
        return NO_PARTS
    growing = _growing(options, balance)
    if wanted.fixed is not None:
        return greedy_start_in_groups(coarsest, balance, growing, seed, wanted.fixed, plain)
    return grown_parts(coarsest, balance, growing, seed)


def _growing(options: InitialOptions, balance: Balance) -> GrowingOptions:
    """How partitions are grown: a single one where one start is enough."""
    one = options.method == "auto" and options.num_starts(balance.num_blocks) == 1
    return options.growing.of_one() if one else options.growing
