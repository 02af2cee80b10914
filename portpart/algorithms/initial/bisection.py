"""Recursive bisection of all candidates of a graph at once, as one recorded program.

Every bisection of a level of recursion, of every candidate, is the work of one team.  The first
levels may be inherited from a coarser graph and are refined only; those after them are grown, each
several times, and the best attempt is taken.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.initial import bisection_state as word
from portpart.algorithms.initial.growing import begin_growing, grow_side
from portpart.algorithms.initial.project_bisection import begin_key, choose_for_stray, inherit_side
from portpart.algorithms.initial.two_way import refine_sides
from portpart.backends.language import (
    Kernel,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_last,
    team_scan,
    team_size,
    team_sum,
)
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.primitives.hashing import hash_of

BLOCKS, VERTICES, CANDIDATES = word.BLOCKS, word.VERTICES, word.CANDIDATES
LEVEL, LEVELS, RUNNING = word.LEVEL, word.LEVELS, word.RUNNING
WIDE, DEGREE = word.WIDE, word.DEGREE
INHERITED, INHERITED_LEVELS = word.INHERITED, word.INHERITED_LEVELS
FIRST_SPLIT, SPLITS, SPLITS_OF_ALL = word.FIRST_SPLIT, word.SPLITS, word.SPLITS_OF_ALL
TRIALS, GROWN_TRIALS, ATTEMPTS = word.TRIALS, word.GROWN_TRIALS, word.ATTEMPTS
FINEST, KEPT, SEED = word.FINEST, word.KEPT, word.SEED
TALLY, COUNT, CUT = word.TALLY, word.COUNT, word.CUT
EXCESS, OVERLOAD = word.EXCESS, word.OVERLOAD

LEAST_WIDE = 512
"""A step that looks at so many keys is work for a block; less is done sooner by a warp."""

LOOKS_PER_ARC = 8
"""An arc of the vertex that moves takes as long as so many looks at keys."""

BISECTION_WORK = 8192
"""Rough work of one bisection, in light items: a few are worth a second thread."""


def splits_of(num_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """The bisections that make `num_blocks` blocks.

    Returns
    -------
    rows : numpy.ndarray of int64, shape (num_blocks - 1, 4)
        First block, first block of side 1, end of the blocks, and what a cut arc costs per weight,
        here 1, level by level.
    level_begin : numpy.ndarray of int64
        Where levels begin in `rows`, and their end.
    """
    rows: list[tuple[int, int, int, int]] = []
    begins = [0]
    level = [(0, num_blocks)]
    while level := [(first, last) for first, last in level if last - first > 1]:
        halves = []
        for first, last in level:
            middle = first + (last - first) // 2
            rows.append((first, middle, last, 1))
            halves += [(first, middle), (middle, last)]
        begins.append(len(rows))
        level = halves
    return np.array(rows, np.int64).reshape(-1, 4), np.array(begins, np.int64)


def record_bisection(graph: Graph, dtypes: dict[str, np.dtype], team: int,
                     ordered: bool = False) -> Program:
    """The program for graphs of the types of `graph` and work arrays of the types `dtypes`.

    `team` lanes work on a vertex where vertices do not depend on each other.  Unless vertices are
    `ordered` already, by blocks that they are to be bisected within, all begin in one block.
    """
    program = Program("recursive bisection")
    graph.declare(program)
    for name, dtype in dtypes.items():
        if name not in program.slots:
            program.array(name, dtype)
    state = program.slots["state"]
    if not ordered:
        program.launch(state[word.VERTICES_OF_ALL], shuffle)
    program.launch(1, begin_level)
    with program.while_loop(state[RUNNING]):
        _bisect(program, team)
        program.launch(state[word.VERTICES_OF_ALL], take_order)
        program.launch(1, begin_level)
    program.launch(state[CANDIDATES], rate_candidate, team=32)
    program.launch(state[CANDIDATES], rank_candidate)
    program.launch(state[word.KEPT_VERTICES], keep_candidate)
    return program


def _bisect(program: Program, team: int) -> None:
    """One level."""
    state = program.slots["state"]
    with program.if_nonzero(state[INHERITED]):
        program.launch(state[ATTEMPTS], inherit_side, team=256)
        program.launch(state[word.VERTICES_OF_ALL], choose_for_stray, team=team)
        program.launch(state[word.VERTICES_OF_ALL], begin_key, team=team)
    with program.otherwise():
        program.launch(state[word.VERTICES_OF_ALL], begin_growing, team=team)
        _go_step_by_step(program, grow_side)
    _go_step_by_step(program, refine_sides)
    program.launch(state[SPLITS_OF_ALL], split_sides, team=256)


def _go_step_by_step(program: Program, kernel: Kernel) -> None:
    """Attempts at all bisections, each by a block or by a warp."""
    state = program.slots["state"]
    with program.if_nonzero(state[WIDE]):
        program.launch(state[ATTEMPTS], kernel, team=256, work=BISECTION_WORK)
    with program.otherwise():
        program.launch(state[ATTEMPTS], kernel, team=32, work=BISECTION_WORK)


@device
def shuffled(v, n, seed):
    """Where a permutation of 0 ... n-1, drawn by the seed, puts v.

    A permutation of the next power of two is repeated until it gives a number below n.
    """
    bits = int64(1)
    while (int64(1) << bits) < n:
        bits += 1
    ones = (int64(1) << bits) - 1
    x = int64(v)
    again = True
    while again:
        for turn in range(3):
            drawn = hash_of(turn, seed)
            x = (x * ((drawn & 0xFFFF) * 2 + 1) + ((drawn >> 20) & ones)) & ones
            x = x ^ (x >> (bits // 2 + 1))
        again = x >= n
    return x


@kernel
def shuffle(i, order, next_order, place, part, segment, state):
    """Give the vertices of every candidate an order of its own; all are in block 0."""
    n = state[VERTICES]
    c = i // n
    v = i % n
    p = shuffled(v, n, hash_of(c, state[SEED]))
    order[c * n + p] = int32(v)
    next_order[c * n + p] = int32(v)
    place[i] = int32(p)
    part[i] = int32(0)
    if v == 0:
        segment[c * (state[BLOCKS] + 1)] = 0
        segment[(c + 1) * (state[BLOCKS] + 1) - 1] = n


@kernel
def begin_level(_, level_begin, state):
    """Set the work sizes of the next level."""
    level = state[LEVEL] + 1
    state[LEVEL] = level
    state[RUNNING] = int64(level < state[LEVELS])
    state[INHERITED] = int64(level < state[INHERITED_LEVELS])
    if level < state[LEVELS]:
        state[FIRST_SPLIT] = level_begin[level]
        state[SPLITS] = level_begin[level + 1] - level_begin[level]
        state[TRIALS] = 1 if level < state[INHERITED_LEVELS] else state[GROWN_TRIALS]
        state[SPLITS_OF_ALL] = state[SPLITS] * state[CANDIDATES]
        state[ATTEMPTS] = state[SPLITS_OF_ALL] * state[TRIALS]
        positions = state[VERTICES] // state[SPLITS]
        state[WIDE] = int64(positions + LOOKS_PER_ARC * state[DEGREE] >= LEAST_WIDE)


@kernel
def take_order(i, order, next_order):
    """The order of the next level."""
    order[i] = next_order[i]


@device
def best_attempt(c, first, trials, blocks, tally):
    """The attempt at the bisection of `first` and others with the least excess, then cut."""
    result = int64(c * trials)
    for other in range(c * trials + 1, c * trials + trials):
        best = TALLY * (result * blocks + first)
        this = TALLY * (other * blocks + first)
        lighter = tally[this + EXCESS] < tally[best + EXCESS]
        same = tally[this + EXCESS] == tally[best + EXCESS]
        if lighter or (same and tally[this + CUT] < tally[best + CUT]):
            result = int64(other)
    return result


@kernel
def split_sides(
    i, split_first, split_middle, split_last, segment, order, next_order, place, side, part,
    tally, won, state,
):
    """Put side 0 of the best attempt at bisection i before side 1; order is kept."""
    n = state[VERTICES]
    k = state[BLOCKS]
    c = i // state[SPLITS]
    split = state[FIRST_SPLIT] + i % state[SPLITS]
    first = int64(split_first[split])
    lower = segment[c * (k + 1) + first]
    upper = segment[c * (k + 1) + split_last[split]]
    taken = best_attempt(c, first, state[TRIALS], k, tally)
    begin = TALLY * (taken * k + first)
    middle = lower + tally[begin + COUNT]
    before = int64(0)
    for tile in range(lower, upper, team_size()):
        p = tile + lane()
        there = int64(0)
        if p < upper:
            there = int64(side[taken * n + p] & 1)
        ones = team_scan(there)
        if p < upper:
            v = order[c * n + p]
            target = p - before - ones
            block = first
            if there == 1:
                target = middle + before + ones - 1
                block = split_middle[split]
            next_order[c * n + target] = v
            place[c * n + v] = int32(target)
            part[c * n + v] = int32(block)
        before += team_last(ones)
    if lane() == 0:
        segment[c * (k + 1) + split_middle[split]] = middle
        won[2 * (c * k + split)] = tally[begin + CUT]
        won[2 * (c * k + split) + 1] = tally[begin + OVERLOAD]


@kernel
def rate_candidate(c, level_begin, split_price, won, cut, overload, state):
    """Sum up what c's bisections cut costs; on the finest graph overload counts as well."""
    cut_sum = int64(0)
    overloaded = int64(0)
    for split in range(lane(), level_begin[state[LEVELS]], team_size()):
        cut_sum += split_price[split] * won[2 * (c * state[BLOCKS] + split)]
        overloaded += int64(won[2 * (c * state[BLOCKS] + split) + 1] > 0)
    cut_sum = team_sum(cut_sum)
    overloaded = team_sum(overloaded)
    if lane() == 0:
        cut[c] = cut_sum
        overload[c] = overloaded if state[FINEST] != 0 else 0


@kernel
def rank_candidate(c, cut, overload, survivor, state):
    """The best candidates are kept, best first: least overload, cut, number."""
    rank = int64(0)
    for other in range(state[CANDIDATES]):
        lighter = overload[other] < overload[c]
        same = overload[other] == overload[c]
        if lighter or (same and (cut[other] < cut[c] or (cut[other] == cut[c] and other < c))):
            rank += 1
    if rank < state[KEPT]:
        survivor[rank] = int32(c)


@kernel
def keep_candidate(i, part, survivor, kept, state):
    """Copy the partitions that are kept."""
    n = state[VERTICES]
    kept[i] = part[survivor[i // n] * n + i % n]
