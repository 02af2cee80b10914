"""Search with several partitions: walks from scratch, combinations of two, cycles on the best.

A walk goes from the finest graph to the coarsest and back.  If it coarsens inside the blocks of a
partition, that is a partition of the coarsest graph too, from which refinement starts: a cycle
(Walshaw 2004).  If it coarsens where two partitions agree, refinement can take over whole regions
of the worse one wherever those are better: a combination (Sanders, Schulz 2012).  The better of
what there was and what a walk has found is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from portpart.algorithms.multilevel.options import SearchOptions
from portpart.algorithms.multilevel.problem import Problem
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

MAX_COMBINED_BLOCKS = 46340
"""Pairs of blocks of more than this many have no int32 number."""

RUN_SEEDS, COMBINATION_SEEDS, CYCLE_SEEDS = 10**9, 10**6, 10**3
"""Distances between the seeds of walks of a kind; levels of a walk take the next seeds."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition that a walk has ended with.

    Attributes
    ----------
    part : array of int32, shape (n,)
    balanced : int
        1 if it keeps the limits, else 0.
    value : int
        What was to become small: the cut, or the communication cost.
    """

    part: Array
    balanced: int
    value: int

    @property
    def rank(self) -> tuple[int, int]:
        """Smaller is better."""
        return -self.balanced, self.value


class Walk(Protocol):
    """One walk: from scratch, or from a partition without dividing the vertices of a label."""

    def __call__(self, seed: int, part: Array | None = None,
                 label: Array | None = None) -> Partition:
        """Walk."""


def search(problem: Problem, walks: Sequence[Walk], options: SearchOptions,
           found_one: Callable[[Partition], None] = lambda found: None) -> Array:
    """The best partition of some walks from scratch, their combinations, and cycles after those.

    From an initial partition there is one walk, and cycles after it.  Before each further walk it
    is asked whether there is time.  In a dry run the second of walks that are alike is the last
    one, and there is a partition for each of the others.

    Parameters
    ----------
    walks : sequence of callable
        Those from scratch, in turn; the first one combines and goes in cycles.
    found_one : callable
        Called with the best partition after each walk.
    """
    seed, wanted, walk = problem.seed, problem.constraints, walks[0]
    found = [walk(seed, wanted.initial, wanted.initial)]
    found_one(found[0])
    for run in range(1, options.runs if wanted.initial is None else 1):
        if wanted.out_of_time():
            break
        if run > len(walks) and problem.space.is_dry_run:
            found.append(replace(found[1], part=problem.space.copy(found[1].part)))
            continue
        found.append(walks[run % len(walks)](seed + RUN_SEEDS * run))
        found_one(min(found, key=_rank))
    best, *others = sorted(found, key=_rank)
    for index, other in enumerate(others, 1):
        if wanted.out_of_time() or (index > 2 and problem.space.is_dry_run):
            break
        label = overlay(problem.space, best.part, other.part, problem.num_blocks)
        best = min(best, walk(seed + COMBINATION_SEEDS * index, best.part, label), key=_rank)
        found_one(best)
    for cycle in range(1, options.cycles + 1):
        if wanted.out_of_time() or (cycle > 2 and problem.space.is_dry_run):
            break
        best = min(best, walk(seed + CYCLE_SEEDS * cycle, best.part, best.part), key=_rank)
        found_one(best)
    return best.part


def _rank(found: Partition) -> tuple[int, int]:
    return found.rank


def overlay(space: ExecutionSpace, part: Array, other: Array, num_blocks: int) -> Array:
    """A label for each pair of blocks: equal where both partitions agree to keep together.

    With too many blocks for that, the first partition alone.
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
