"""Recursive bisection of all candidates of a graph at once, as one recorded program.

One team works on each bisection of a level of recursion, of each candidate. Bisections of the first
levels may be projected from a coarser graph, and are only refined. Later ones are grown in several
attempts, of which the best is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from portpart.algorithms.initial.bisection_state import (
    BisectionSizes,
    BisectionWords,
    Candidates,
    Keyed,
    ProjectedState,
    Recursion,
    Splits,
    Splitting,
)
from portpart.algorithms.initial.fm_gains import (
    NUM_TOTALS,
    Attempts,
    BisectionTotals,
    GainRule,
    Stage,
    work_on_attempt,
)
from portpart.algorithms.initial.growing import begin_growing, grow_attempt
from portpart.algorithms.initial.project_bisection import (
    choose_side,
    project_side,
    take_section_order,
)
from portpart.algorithms.initial.two_way import refine_attempt
from portpart.backends import language as kl
from portpart.backends.programs import FEW, Program, Records
from portpart.primitives import hash_of

MIN_WIDE = 512
"""A step that examines this many keys is work for a block; smaller steps are faster on a warp."""

LOOKS_PER_ARC = 8
"""Moving a vertex takes as long per arc as examining this many keys."""

BLOCKS_AT_A_TIME = 256
"""With more attempts, some wait for a block, where eight could run at once on a warp each."""

NET_TEAM, LARGE_NET_TEAM = 8, 32
"""Lanes for a net with few or with many pins."""

BISECTION_WORK = 8192
"""Approximate work of one bisection, in light items: a few are worth a second thread."""


def halved(first: int, last: int) -> tuple[int, int]:
    """Return the middle of a range of blocks, and a cost of 1 per cut arc weight."""
    return first + (last - first) // 2, 1


def splits_of(num_blocks: int, split: Callable[[int, int], tuple[int, int]] = halved,
              ) -> tuple[np.ndarray, np.ndarray]:
    """Return the bisections that make `num_blocks` blocks.

    Parameters
    ----------
    split : callable
        Returns where it divides a range, given by first block and end, and the cost of a cut arc
        per weight.

    Returns
    -------
    rows : numpy.ndarray of int64, shape (num_blocks - 1, 4)
        First block, first block of side 1, end of the blocks, and the cost of a cut arc per
        weight, level by level.
    level_begin : numpy.ndarray of int64
        Where levels begin in `rows`, and the end of the last one.
    """
    return bisections_into_halves(num_blocks) if split is halved else _splits(num_blocks, split)


@lru_cache(maxsize=64)
def bisections_into_halves(num_blocks: int, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return cached bisections into halves, also for several ranges of blocks.

    Making them is a loop over all blocks.
    """
    made = splits_side_by_side(_splits(num_blocks, halved), count, num_blocks)
    for array in made:
        array.flags.writeable = False
    return made


def _splits(num_blocks: int,
            split: Callable[[int, int], tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    rows: list[tuple[int, int, int, int]] = []
    begins = [0]
    level = [(0, num_blocks)]
    while level := [(first, last) for first, last in level if last - first > 1]:
        halves = []
        for first, last in level:
            middle, cost = split(first, last)
            rows.append((first, middle, last, cost))
            halves += [(first, middle), (middle, last)]
        begins.append(len(rows))
        level = halves
    return np.array(rows, np.int64).reshape(-1, 4), np.array(begins, np.int64)


def splits_side_by_side(splits: tuple[np.ndarray, np.ndarray], count: int,
                        num_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same bisections for each of several ranges of blocks, level by level."""
    if count == 1:
        return splits
    rows, level_begin = splits
    shifts = np.arange(count)[:, None, None] * np.array([num_blocks, num_blocks, num_blocks, 0])
    levels = [(shifts + rows[first:last]).reshape(-1, 4) for first, last in pairwise(level_begin)]
    return np.concatenate([np.empty((0, 4), np.int64), *levels]), level_begin * count


def record_bisection(records: Records, rule: GainRule, team: int, ordered: bool) -> Program:
    """Record the program for a graph and work arrays of these types.

    `team` lanes work on a vertex where vertices are independent. If vertices are not `ordered` by
    blocks to bisect, by a `SectionOrder`, all are in one block at first.
    """
    return record_recursion("recursive bisection", records, partial(_bisect, rule=rule, team=team),
                            ordered)


def record_recursion(name: str, records: Records, bisect: Callable[[Program, BisectionWords], None],
                     ordered: bool) -> Program:
    """Record all levels of bisections, of which `bisect` records one, and the choice of the best.

    The best attempt at a bisection becomes the candidate's.
    """
    program = Program(name, threads=FEW)
    run: BisectionWords = program.declare(records)["start"]
    program.launch(run.vertices_of_all, take_section_order if ordered else shuffle)
    program.launch(1, begin_level)
    with program.while_loop(run.running):
        bisect(program, run)
        with program.side_by_side():
            program.launch(run.vertices_of_all, take_order)
            program.launch(1, begin_level)
    program.launch(run.candidates, rate_candidate, team=32)
    program.launch(run.candidates, rank_candidate)
    program.launch(run.kept_vertices, keep_candidate)
    return program


def _bisect(program: Program, run: BisectionWords, rule: GainRule, team: int) -> None:
    """Record one level."""
    with program.if_nonzero(run.inherited):
        program.launch(run.attempts, project_side, team=256)
        program.launch(run.vertices_of_all, choose_side, team=team, rule=rule)
        _begin_keys(program, run, rule, team)
    with program.otherwise():
        program.launch(run.vertices_of_all, begin_growing, team=team, rule=rule)
        _go_step_by_step(program, run, grow_attempt, rule)
    _go_step_by_step(program, run, refine_attempt, rule)
    program.launch(run.splits_of_all, split_sides, team=256)


def _begin_keys(program: Program, run: BisectionWords, rule: GainRule, team: int) -> None:
    """Record the computation of the first keys, by vertices or by nets."""
    if rule.add_gains is None:
        program.launch(run.vertices_of_all, rule.begin_key, team=team)
    else:
        of_small, of_large = rule.add_gains
        program.launch(run.vertices_of_all, rule.begin_key)
        with program.side_by_side():
            program.launch(run.nets_of_all, of_small, team=NET_TEAM)
            program.launch(run.net_groups, of_large, team=LARGE_NET_TEAM)


def _go_step_by_step(program: Program, run: BisectionWords, work: kl.DeviceFunction,
                     rule: GainRule) -> None:
    """Record a stage of the attempts at all bisections, each on a block or on a warp."""
    def launch(team: int) -> None:
        stage = Stage(work, rule, team if rule.shares else 1)
        program.launch(run.attempts, work_on_attempt, stage=stage, team=team, work=BISECTION_WORK)

    with program.if_nonzero(run.wide):
        launch(256)
    with program.otherwise():
        launch(32)


@kl.device
def shuffled(v, n, seed):
    """Return the place of v in a permutation of 0 ... n-1 that is drawn by the seed.

    A permutation of the next power of two is repeated until it returns a number below n.
    """
    bits = max(kl.int64(1), 64 - kl.clz(kl.uint64(n - 1)))
    ones = (kl.int64(1) << bits) - 1
    x = kl.int64(v)
    again = True
    while again:
        for turn in range(3):
            drawn = hash_of(turn, seed)
            x = (x * ((drawn & 0xFFFF) * 2 + 1) + ((drawn >> 20) & ones)) & ones
            x = x ^ (x >> (bits // 2 + 1))
        again = x >= n
    return x


@kl.kernel
def shuffle(i, candidates: Candidates, state: Keyed):
    """Shuffle the vertices of each candidate separately; all are in block 0."""
    n = state.sizes.vertices
    c = i // n
    v = i % n
    p = shuffled(v, n, hash_of(c, state.keys.seed))
    candidates.order[c * n + p] = kl.int32(v)
    candidates.next_order[c * n + p] = kl.int32(v)
    candidates.place[i] = kl.int32(p)
    candidates.part[i] = kl.int32(0)
    if v == 0:
        candidates.segment[c * (state.sizes.blocks + 1)] = 0
        candidates.segment[(c + 1) * (state.sizes.blocks + 1) - 1] = n


@kl.kernel
def begin_level(_, splits: Splits, sizes: BisectionSizes, recursion: Recursion):
    """Set the work sizes of the next level."""
    level = recursion.level + 1
    recursion.level = level
    recursion.running = kl.int64(level < recursion.levels)
    recursion.inherited = kl.int64(level < recursion.inherited_levels)
    if level < recursion.levels:
        recursion.first_split = splits.level_begin[level]
        recursion.splits = splits.level_begin[level + 1] - splits.level_begin[level]
        recursion.trials = 1 if level < recursion.inherited_levels else recursion.grown_trials
        recursion.splits_of_all = recursion.splits * sizes.candidates
        recursion.attempts = recursion.splits_of_all * recursion.trials
        positions = sizes.vertices // recursion.splits
        looks = BLOCKS_AT_A_TIME * (positions + LOOKS_PER_ARC * sizes.degree)
        recursion.wide = kl.int64(looks >= MIN_WIDE * max(kl.int64(BLOCKS_AT_A_TIME),
                                                          recursion.attempts))


@kl.kernel
def take_order(i, candidates: Candidates):
    """Use the order of the next level."""
    candidates.order[i] = candidates.next_order[i]


@kl.device
def best_attempt(c, first, totals, state: Splitting):
    """Return the attempt at the bisection of `first` with the least excess, then the least cut."""
    trials = state.recursion.trials
    blocks = state.sizes.blocks
    result = kl.int64(c * trials)
    for other in range(c * trials + 1, c * trials + trials):
        best = NUM_TOTALS * (result * blocks + first)
        this = NUM_TOTALS * (other * blocks + first)
        lighter = totals[this + BisectionTotals.excess] < totals[best + BisectionTotals.excess]
        same = totals[this + BisectionTotals.excess] == totals[best + BisectionTotals.excess]
        if lighter or (same
                       and totals[this + BisectionTotals.cut] < totals[best + BisectionTotals.cut]):
            result = kl.int64(other)
    return result


@kl.kernel
def split_sides(i, splits: Splits, candidates: Candidates, attempts: Attempts, state: Splitting):
    """Move side 0 of the best attempt at bisection i before side 1; the order is kept."""
    n = state.sizes.vertices
    k = state.sizes.blocks
    c = i // state.recursion.splits
    split = state.recursion.first_split + i % state.recursion.splits
    first = kl.int64(splits.first[split])
    lower = candidates.segment[c * (k + 1) + first]
    upper = candidates.segment[c * (k + 1) + splits.last[split]]
    taken = best_attempt(c, first, attempts.totals, state)
    begin = NUM_TOTALS * (taken * k + first)
    middle = lower + attempts.totals[begin + BisectionTotals.count]
    before = kl.int64(0)
    for tile in range(lower, upper, kl.team_size()):
        p = tile + kl.lane()
        there = kl.int64(0)
        if p < upper:
            there = kl.int64(attempts.side[taken * n + p] & 1)
        ones = kl.team_scan(there)
        if p < upper:
            v = candidates.order[c * n + p]
            target = p - before - ones
            block = first
            if there == 1:
                target = middle + before + ones - 1
                block = splits.middle[split]
            candidates.next_order[c * n + target] = v
            candidates.place[c * n + v] = kl.int32(target)
            candidates.part[c * n + v] = kl.int32(block)
        before += kl.team_last(ones)
    if kl.lane() == 0:
        candidates.segment[c * (k + 1) + splits.middle[split]] = middle
        candidates.won[2 * (c * k + split)] = attempts.totals[begin + BisectionTotals.cut]
        candidates.won[2 * (c * k + split) + 1] = attempts.totals[begin + BisectionTotals.overload]


@kl.kernel
def rate_candidate(c, splits: Splits, candidates: Candidates, state: Splitting):
    """Add the costs of c's bisections; on the finest graph also count overloaded ones."""
    cut = kl.int64(0)
    overloaded = kl.int64(0)
    for split in range(kl.lane(), splits.level_begin[state.recursion.levels], kl.team_size()):
        won = 2 * (c * state.sizes.blocks + split)
        cut += splits.cost[split] * candidates.won[won]
        overloaded += kl.int64(candidates.won[won + 1] > 0)
    cut = kl.team_sum(cut)
    overloaded = kl.team_sum(overloaded)
    if kl.lane() == 0:
        candidates.cut[c] = cut
        candidates.overload[c] = overloaded if state.recursion.finest != 0 else 0


@kl.kernel
def rank_candidate(c, candidates: Candidates, sizes: BisectionSizes):
    """Store the number of c if it is among the best candidates by overload, cut and number."""
    rank = kl.int64(0)
    for other in range(sizes.candidates):
        lighter = candidates.overload[other] < candidates.overload[c]
        same = candidates.overload[other] == candidates.overload[c]
        less = candidates.cut[other] < candidates.cut[c]
        equal = candidates.cut[other] == candidates.cut[c]
        if lighter or (same and (less or (equal and other < c))):
            rank += 1
    if rank < sizes.kept:
        candidates.survivor[rank] = kl.int32(c)


@kl.kernel
def keep_candidate(i, candidates: Candidates, handover: ProjectedState, sizes: BisectionSizes):
    """Copy the partitions of the best candidates."""
    n = sizes.vertices
    handover.kept_part[i] = candidates.part[candidates.survivor[i // n] * n + i % n]
