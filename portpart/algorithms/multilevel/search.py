"""Search with several partitions: walks from scratch, combinations of two, cycles on the best.

A walk goes from the finest graph to the coarsest and back. If it coarsens inside the blocks of a
partition, that is also a partition of the coarsest graph, and refinement starts from it: a cycle
(Walshaw 2004). If it coarsens inside the overlay of two partitions, refinement can adopt whole
regions of the worse one where they are better: a combination (Sanders, Schulz 2012). The better of
the old and the new partition is kept. Rounds of a population may follow.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Protocol

import numpy as np

from portpart.algorithms.multilevel.population import (
    CYCLES,
    FRESH,
    Clock,
    Draws,
    Partition,
    Population,
    TimeIsUp,
)
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.objectives import costs_and_weights
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import WithMeasures
from portpart.options import option, option_class

MAX_COMBINED_BLOCKS = 46340
"""With more blocks, pairs of blocks have no int32 number."""

RUN_SEEDS, COMBINATION_SEEDS, CYCLE_SEEDS = 10**9, 10**6, 10**3
"""Differences between the seeds of walks of one kind; levels of a walk use the next seeds."""

ROUND_SEEDS = 2**62
"""Upper limit of the seeds of walks in rounds, as for callers' seeds."""

CONCURRENT_ROUNDS = 4
"""Number of rounds whose partitions may be made at the same time."""

MANY_RUNS_WORK = 2**22
"""Runs on a small graph, and those at the same time, together process at most this many arcs or
pins, where a vertex counts as `WORK_OF_VERTEX` of them.
"""

LEAST_CONCURRENT_WORK = 2**10
"""A run that processes fewer is mostly Python code, which threads cannot execute at the same time.
"""

WORK_OF_VERTEX = 8


@option_class
class SearchOptions:
    """A search by several walks."""

    runs: int = option(
        1, "Number of partitions from scratch, which are combined.", min=1)
    cycles: int = option(
        0, "Number of V-cycles, which coarsen inside the blocks and refine again.", min=0)
    population: int = option(
        0, "Number of partitions that the rounds of `rounds=` keep and combine; 0: no rounds.",
        min=0)
    passes: int | None = option(
        None, "Number of last passes over a level in walks from a partition; None: all.", min=1)
    max_runs: int | None = option(
        None, "Number of partitions from scratch of a small graph, if these process at most 2^22 "
        "arcs or pins together, where a vertex counts as eight; at least `runs`. None: `runs`.",
        min=1)

    @property
    def is_one_walk(self) -> bool:
        """Whether only one partition is made."""
        return self.runs == 1 and self.cycles == 0 and self.max_runs is None

    def runs_on(self, graph: WithMeasures) -> int:
        """Return the number of partitions from scratch of a graph."""
        if self.max_runs is None:
            return self.runs
        return max(self.runs, min(self.max_runs, runs_together(graph)))


def work_of(graph: WithMeasures) -> int:
    """Return the work of a run on a graph, in arcs or pins."""
    return graph.whole.num_entries + WORK_OF_VERTEX * graph.whole.num_vertices


def runs_together(graph: WithMeasures) -> int:
    """Return the number of runs on a graph that process at most `MANY_RUNS_WORK` together."""
    return MANY_RUNS_WORK // max(1, work_of(graph))


def concurrent_runs(graph: WithMeasures) -> int:
    """Return the maximum number of runs on a graph at the same time."""
    return runs_together(graph) if work_of(graph) >= LEAST_CONCURRENT_WORK else 1


ONE_WALK = SearchOptions()

Partitions = Generator[Partition, None, None]
"""Yields the partition of each walk."""

Steps = Generator[tuple[Partition, int], None, None]
"""Yields the best partition after each walk, and the number of rounds before it."""


class Walk(Protocol):
    """One walk: from scratch, or from a partition that does not divide vertices of a label."""

    def __call__(self, seed: int, part: Array | None = None,
                 label: Array | None = None) -> Partition:
        """Return the partition of a walk."""


def search(problem: Problem, walks: Sequence[Walk], options: SearchOptions,
           found_one: Callable[[Partition], None] = lambda found: None,
           in_rounds: Sequence[Walk] = (), max_concurrent: int = 1,
           offered: Array | None = None, last_cycle: Walk | None = None) -> Array:
    """Return the best partition of walks from scratch, combinations, cycles and rounds.

    With an initial partition there are one walk and cycles. Time is checked before each further
    walk. A dry run makes only some walks of a kind, after copies of a partition for the others.

    With rounds, the end of time or Ctrl-C ends the current walk. The best partition before it is
    returned.

    Parameters
    ----------
    walks : sequence of callable
        Walks from scratch, in turn. The first one also makes combinations and cycles.
    found_one : callable
        Called with the best partition after each walk.
    in_rounds : sequence of callable
        Walks for rounds; each round draws one. By default `walks`.
    max_concurrent : int
        Maximum number of walks at the same time.
    offered : array of int32, shape (n,), optional
        A partition from which there is another walk if it costs less than those found.
    last_cycle : callable, optional
        The walk of the last cycle; by default the first of `walks`.
    """
    found, clock = None, problem.constraints.out_of_time
    try:
        with closing(_best_so_far(problem, walks, options, in_rounds or walks, max_concurrent,
                                  offered, last_cycle or walks[0])) as steps:
            for found in steps:
                found_one(found[0])
                if isinstance(clock, Clock):
                    clock.leaves = True
    except (TimeIsUp, KeyboardInterrupt) as end:
        if found is None or problem.constraints.rounds == 0:
            raise
        problem.trace.ended_early("time" if isinstance(end, TimeIsUp) else "interrupt", found[1])
    assert found is not None
    return found[0].part


def _best_so_far(problem: Problem, walks: Sequence[Walk], options: SearchOptions,
                 in_rounds: Sequence[Walk], max_concurrent: int, offered: Array | None,
                 last_cycle: Walk) -> Steps:
    """Yield the best partition after each walk, and the number of rounds before it."""
    found: list[Partition] = []
    with closing(_from_scratch(problem, walks, options, max_concurrent)) as partitions:
        for partition in partitions:
            found.append(partition)
            best = min(found, key=_rank)
            yield best, 0
    if offered is not None and _is_better(problem, offered, best):
        found.append(walks[0](problem.seed, offered, offered))
        best = min(found, key=_rank)
        yield best, 0
    with closing(_improved(problem, walks[0], found, options.cycles, max_concurrent,
                           last_cycle)) as partitions:
        for partition in partitions:
            best = min(best, partition, key=_rank)
            yield best, 0
    if problem.constraints.rounds > 0:
        yield from _rounds(problem, in_rounds, [best, *found], options, max_concurrent)


def _is_better(problem: Problem, offered: Array, best: Partition) -> bool:
    """Whether a partition costs less than the best, and there is time for a walk from it."""
    if problem.space.is_dry_run:
        return True
    if problem.constraints.out_of_time():
        return False
    costs, _ = costs_and_weights(problem.graph, offered.reshape(1, -1), problem.num_blocks,
                                 problem.objective)
    return bool(costs[0] < 2 * best.value)  # these costs are twice the value


def _from_scratch(problem: Problem, walks: Sequence[Walk], options: SearchOptions,
                  max_concurrent: int) -> Partitions:
    """Yield the partitions of walks from scratch, or of one from the initial partition."""
    seed, wanted, space = problem.seed, problem.constraints, problem.space
    runs = options.runs_on(problem.graph) if wanted.initial is None else 1
    found: list[Partition] = []

    def run(number: int) -> Partition:
        if number == 0:
            return walks[0](seed, wanted.initial, wanted.initial)
        if space.is_dry_run and number < runs - len(walks):
            return replace(found[0], part=space.copy(found[0].part))
        return walks[number % len(walks)](seed + RUN_SEEDS * number)

    with closing(_until_late(problem, [partial(run, each) for each in range(runs)],
                             max_concurrent)) as partitions:
        for partition in partitions:
            found.append(partition)
            yield partition


def _improved(problem: Problem, walk: Walk, found: Sequence[Partition], cycles: int,
              max_concurrent: int, last_cycle: Walk) -> Partitions:
    """Improve the best two partitions, both at the same time, and yield each improvement.

    They are combined with the others in turn, go through cycles, and are combined with each other.
    A dry run makes only some steps of a kind.
    """
    dry = problem.space.is_dry_run
    left, cycles = sorted(found, key=_rank), min(cycles, 2) if dry else cycles
    heads, others = left[:2], left[2 : 4 if dry else None]
    numbers = {COMBINATION_SEEDS: count(1), CYCLE_SEEDS: count(1)}

    def partners() -> Iterator[Sequence[Partition | None]]:
        """Yield what the heads are combined with in each step; None: they go through a cycle."""
        for first in range(0, len(others), 2):
            yield others[first : first + 2]
        together, rest = divmod(cycles, len(heads))
        yield from [[None] * len(heads)] * together
        if len(heads) > 1:
            heads.sort(key=_rank)
            yield [heads.pop()]
        yield from [[None]] * rest

    def improved(walk: Walk, seed: int, parent: Partition, other: Partition | None) -> Partition:
        label = parent.part if other is None else _overlay_of(problem, parent, other)
        return min(parent, walk(seed, parent.part, label), key=_rank)

    for step in partners():
        if problem.constraints.out_of_time():
            return
        tasks = []
        for head, other in zip(heads, step):
            distance = CYCLE_SEEDS if other is None else COMBINATION_SEEDS
            number = next(numbers[distance])
            again = last_cycle if other is None and number == cycles else walk
            tasks.append(partial(improved, again, problem.seed + distance * number, head, other))
        with closing(_until_late(problem, tasks, max_concurrent)) as partitions:
            for index, partition in enumerate(partitions):
                heads[index] = partition
                yield partition


def _until_late(problem: Problem, tasks: Sequence[Callable[[], Partition]],
                max_concurrent: int) -> Partitions:
    """Yield the partitions of tasks in order, until time is over."""
    with closing(problem.space.run_tasks(tasks, max_concurrent)) as partitions:
        for number, partition in enumerate(partitions, 1):
            yield partition
            if number < len(tasks) and problem.constraints.out_of_time():
                return


def _rounds(problem: Problem, walks: Sequence[Walk], found: list[Partition],
            options: SearchOptions, max_concurrent: int) -> Steps:
    """Yield the same for the rounds of a population that begins with the partitions found.

    The partitions of `CONCURRENT_ROUNDS` rounds are made from the same population.
    """
    population, trace = Population(problem, options.population, CONCURRENT_ROUNDS), problem.trace
    for each in found:
        population.add(each)
    if problem.space.is_dry_run:
        best = population.members[0]
        label = overlay(problem.space, best.part, best.part, problem.num_blocks)
        again = partial(walks[0], 0, best.part, label)
        for child in problem.space.run_tasks([again, again], max_concurrent):
            population.differing(child.part)
        return
    rounds = problem.constraints.rounds
    for first in count(1, CONCURRENT_ROUNDS):
        numbers = [each for each in range(first, first + CONCURRENT_ROUNDS) if each <= rounds]
        tasks = [partial(_child, problem, walks, population.members, options.population,
                         Draws(problem.seed, number)) for number in numbers]
        with closing(problem.space.run_tasks(tasks, max_concurrent)) as children:
            for number in numbers:
                if population.members[0].rank == (-1, 0):
                    trace.ended = "optimum"
                    return
                problem.constraints.out_of_time()
                kind, child = next(children)
                population.add(child)
                trace.ended_round(kind, child.value, population.members[0].value)
                yield population.members[0], number
        if len(numbers) < CONCURRENT_ROUNDS:
            return


def _child(problem: Problem, walks: Sequence[Walk], members: list[Partition], size: int,
           draws: Draws) -> tuple[str, Partition]:
    """Return the kind of a child, and the child: a new start, or no worse than its parent."""
    drawn, seed = draws.below(FRESH * CYCLES), draws.below(ROUND_SEEDS)
    walk = walks[draws.below(len(walks))]
    starts = 2 if len(members) < size else FRESH
    if len(members) == 1 or drawn % starts == 0:
        return "start", walk(seed)
    first = draws.winner(len(members))
    if drawn // FRESH == 0:
        kind, parent, label = "cycle", members[first], members[first].part
    else:
        pair = sorted((first, draws.winner(len(members), without=first)))
        parent, other = (members[each] for each in pair)
        kind = "combination"
        label = _overlay_of(problem, parent, other)
    return kind, min(parent, walk(seed, parent.part, label), key=_rank)


def _overlay_of(problem: Problem, better: Partition, other: Partition) -> Array:
    with problem.trace.phase("search"):
        return overlay(problem.space, better.part, other.part, problem.num_blocks)


def _rank(found: Partition) -> tuple[int, int]:
    return found.rank


def overlay(space: ExecutionSpace, part: Array, other: Array, num_blocks: int) -> Array:
    """Return a label for each pair of blocks, equal where both partitions keep vertices together.

    With too many blocks, return the first partition.
    """
    if num_blocks > MAX_COMBINED_BLOCKS:
        return part
    label = space.empty(len(part), np.int32)
    space.parallel_for(len(part), label_pair, part, other, num_blocks, label)
    return label


@kl.kernel
def label_pair(v, part, other, num_blocks, label):
    """label[v] = number of the pair of v's blocks."""
    label[v] = kl.int64(part[v]) * num_blocks + other[v]
