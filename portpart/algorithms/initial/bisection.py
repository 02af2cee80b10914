"""Recursive bisection of many candidates at once, on a hierarchy, in the memory of the space.

Every bisection of a level of recursion, of every candidate, is the work of one team.  On the
coarsest graph few bisections are made, by growing; on each finer graph those are taken over and
refined, and more are made, until there are as many blocks as wanted ("deep multilevel": L.
Gottesbueren, T. Heuer, P. Sanders, C. Schulz, D. Seemaier, ESA 2021).  Coarse graphs carry many
candidates, finer ones the best of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.initial import bisection_state as at
from portpart.algorithms.initial.growing import grow_side
from portpart.algorithms.initial.inheriting import inherit_side
from portpart.algorithms.initial.two_way import refine_sides
from portpart.backends.interface import Array
from portpart.backends.language import (
    float64,
    int32,
    int64,
    kernel,
    lane,
    device,
    team_last,
    team_scan,
    team_size,
    team_sync,
)
from portpart.backends.program import Program
from portpart.graph import Graph
from portpart.primitives.hashing import hash_of

BLOCKS, VERTICES, WIDTH, FIRST_SPLIT = at.BLOCKS, at.VERTICES, at.WIDTH, at.FIRST_SPLIT
SEED, LEVEL, LEVELS, RUNNING = at.SEED, at.LEVEL, at.LEVELS, at.RUNNING
WORK, CANDIDATES, INHERITED, INHERITED_LEVELS = at.WORK, at.CANDIDATES, at.INHERITED, at.INHERITED_LEVELS
SURVIVORS, TRIALS, GROWN_TRIALS, SPLIT_WORK = at.SURVIVORS, at.TRIALS, at.GROWN_TRIALS, at.SPLIT_WORK

KEY_BITS_IN_ALL = 62


@dataclass(frozen=True)
class BisectionOptions:
    """Parameters of recursive bisection.

    Parameters
    ----------
    passes, stall_limit : int
        Passes over a bisection, and moves without gain that end a pass.
    grown_vertices : int
        Blocks of at least so many vertices are bisected, on all but the finest graph.
    candidates : int
        Partitions of the finest graph.
    most_candidates : int
        Of coarser ones there are twice as many on each, up to this.
    """

    passes: int = 4
    stall_limit: int = 50
    grown_vertices: int = 64
    candidates: int = 4
    most_candidates: int = 64
    stall_share: int = 4
    growth: float = 2.0
    slack: float = 0.0
    trials: int = 4
    most_trials: int = 4


def splits_of(num_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """The bisections of all levels, rows (first, middle, last block), and where levels begin."""
    rows, begins, level = [], [0], [(0, num_blocks)]
    while level := [(a, b) for a, b in level if b - a > 1]:
        middles = [a + (b - a) // 2 for a, b in level]
        rows += [(a, m, b) for (a, b), m in zip(level, middles, strict=True)]
        begins.append(len(rows))
        level = [half for (a, b), m in zip(level, middles, strict=True) for half in ((a, m), (m, b))]
    return np.array(rows, np.int64).reshape(-1, 3), np.array(begins, np.int64)


def grown_partitions(graphs: list[Graph], clusters: list[Array], num_blocks: int,
                     max_block_weight: int, seed: int,
                     options: BisectionOptions = BisectionOptions()) -> Array:
    """Partitions of graphs[0], best first.

    Returns
    -------
    array of int32, shape (candidates * n,)
        One partition after the other.
    """
    space, k = graphs[0].space, num_blocks
    splits, begins = splits_of(k)
    limit = min(max_block_weight, graphs[0].total_vertex_weight) * (1 + options.slack)
    fixed = {
        "split_first": space.asarray(splits[:, 0]), "split_middle": space.asarray(splits[:, 1]),
        "split_last": space.asarray(splits[:, 2]), "level_begin": space.asarray(begins),
        "goal_sum": space.asarray(np.arange(k + 1, dtype=np.float64)),
        "limit_sum": space.asarray(np.arange(k + 1) * float(limit)),
    }
    counts = [min(max(options.most_candidates, options.candidates), round(options.candidates * options.growth**i)) for i in range(len(graphs))]
    part, survivor, inherited = None, None, 0
    for depth in range(len(graphs) - 1, -1, -1):
        graph, n, c = graphs[depth], graphs[depth].num_vertices, counts[depth]
        levels = len(begins) - 1
        if depth > 0:
            levels = min(levels, max(1, inherited, (n // options.grown_vertices).bit_length()))
        bits = max(1, (n - 1).bit_length())
        state = np.zeros(at.SIZE, np.int64)
        state[at.RUNNING], state[at.LEVEL], state[at.ALL] = 1, -1, c * n
        state[at.LEVELS], state[at.VERTICES], state[at.BLOCKS] = levels, n, k
        state[at.SEED], state[at.KEY_BITS], state[at.CANDIDATES] = seed, bits, c
        state[at.WEIGHT_SHIFT] = max(
            0, graph.total_arc_weight.bit_length() + bits + 1 - KEY_BITS_IN_ALL)
        state[at.PASSES], state[at.STALL_LIMIT] = options.passes, options.stall_limit
        state[at.STALL_SHARE] = options.stall_share
        state[at.GROWN_TRIALS] = t = min(max(options.trials, options.most_trials), options.trials * 2**depth)
        state[at.INHERITED_LEVELS], state[at.FINEST] = inherited, depth == 0
        state[at.SURVIVORS] = counts[max(0, depth - 1)]
        if part is not None:
            state[at.COARSE_VERTICES] = graphs[depth + 1].num_vertices
        segment = np.zeros((c, k + 1), np.int64)
        segment[:, k] = n
        fine = space.empty(c * n, np.int32)
        next_survivor = space.empty(c, np.int32)
        bindings = {
            **graph.arrays, **fixed,
            "segment": space.asarray(segment.reshape(-1)),
            "order": space.empty(c * n, np.int32), "next_order": space.empty(c * n, np.int32),
            "place": space.empty(c * n, np.int32), "side": space.empty(c * t * n, np.int8),
            "key": space.empty(c * t * n, np.int64), "moves": space.empty(c * t * n, np.int32),
            "best": space.empty(c * t * (n // 16 + 2 * k + 2), np.int64),
            "tally": space.empty(c * t * 4 * k, np.int64), "part": fine,
            "won": space.empty(c * 2 * k, np.int64), "score": space.empty(c, np.float64),
            "state": space.asarray(state),
            "coarse_part": fine if part is None else part,
            "cluster": fine if part is None else clusters[depth],
            "survivor": next_survivor if survivor is None else survivor,
            "next_survivor": next_survivor,
        }
        dtypes = {name: a.dtype for name, a in bindings.items() if a is not None}
        key = ("recursive bisection", graph.type_key)
        executable = space.cached_executable(key, lambda: _record(graph, dtypes))
        executable.run(bindings, c * n)
        part, survivor, inherited = fine, next_survivor, levels
    return part


def _record(graph: Graph, dtypes: dict[str, np.dtype]) -> Program:
    program = Program("recursive bisection")
    graph.declare(program)
    for name, dtype in dtypes.items():
        if name not in program.slots:
            program.array(name, dtype)
    state = program.slots["state"]
    program.launch(state[at.ALL], shuffle)
    program.launch(1, begin_level)
    with program.while_loop(state[at.RUNNING]):
        with program.if_nonzero(state[at.INHERITED]):
            program.launch(state[at.WORK], inherit_side, team=256)
        with program.otherwise():
            program.launch(state[at.WORK], grow_side, team=256)
        program.launch(state[at.WORK], refine_sides, team=256)
        program.launch(state[at.SPLIT_WORK], split_sides, team=256)
        program.launch(state[at.ALL], take_order)
        program.launch(1, begin_level)
    program.launch(state[at.CANDIDATES], rate_candidate, team=32)
    program.launch(state[at.CANDIDATES], rank_candidate)
    return program


@device
def shuffled(v, n, seed):
    """A permutation of 0 ... n-1, drawn by the seed: rounds on 2**b numbers until one is below n."""
    bits = int64(1)
    while (int64(1) << bits) < n:
        bits += 1
    ones = (int64(1) << bits) - 1
    x = int64(v)
    first = True
    while first or x >= n:
        first = False
        for turn in range(3):
            drawn = hash_of(turn, seed)
            x = (x * ((drawn & 0xFFFF) * 2 + 1) + ((drawn >> 20) & ones)) & ones
            x = x ^ (x >> (bits // 2 + 1))
    return x


@kernel
def shuffle(i, order, next_order, place, part, state):
    """Give the vertices of every candidate an order of its own."""
    n = state[VERTICES]
    c = i // n
    v = i % n
    p = shuffled(v, n, hash_of(c, state[SEED]))
    order[c * n + p] = int32(v)
    next_order[c * n + p] = int32(v)
    place[i] = int32(p)
    part[i] = 0


@kernel
def begin_level(_, level_begin, state):
    """Set the work sizes of the next level."""
    level = state[LEVEL] + 1
    state[LEVEL] = level
    state[RUNNING] = int64(level < state[LEVELS])
    state[INHERITED] = int64(level < state[INHERITED_LEVELS])
    if level < state[LEVELS]:
        state[FIRST_SPLIT] = level_begin[level]
        state[WIDTH] = level_begin[level + 1] - level_begin[level]
        state[TRIALS] = 1 if state[INHERITED] != 0 else state[GROWN_TRIALS]
        state[SPLIT_WORK] = state[WIDTH] * state[CANDIDATES]
        state[WORK] = state[SPLIT_WORK] * state[TRIALS]


@kernel
def take_order(i, order, next_order):
    """The order of the next level."""
    order[i] = next_order[i]


@device
def best_trial(c, split, trials, blocks, tally):
    """The trial of a bisection of candidate c with the least excess, then cut; its tally moves up."""
    result = c * trials
    for other in range(c * trials + 1, c * trials + trials):
        own = 4 * (result * blocks + split)
        its = 4 * (other * blocks + split)
        if tally[its + 3] < tally[own + 3] or (
            tally[its + 3] == tally[own + 3] and tally[its + 2] < tally[own + 2]
        ):
            result = int64(other)
    return result


@kernel
def split_sides(
    i, split_first, split_middle, split_last, segment, order, next_order, place, side, part,
    tally, won, state,
):
    """Put side 0 of bisection i before side 1; order is kept."""
    n = state[VERTICES]
    k = state[BLOCKS]
    c = i // state[WIDTH]
    split = state[FIRST_SPLIT] + i % state[WIDTH]
    lower = segment[c * (k + 1) + split_first[split]]
    upper = segment[c * (k + 1) + split_last[split]]
    taken = best_trial(c, split, state[TRIALS], k, tally)
    middle = lower + tally[4 * (taken * k + split) + 1]
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
            b = split_first[split]
            if there == 1:
                target = middle + before + ones - 1
                b = split_middle[split]
            next_order[c * n + target] = v
            place[c * n + v] = int32(target)
            part[c * n + v] = int32(b)
        before += team_last(ones)
    if lane() == 0:
        segment[c * (k + 1) + split_middle[split]] = middle
        won[2 * (c * k + split)] = tally[4 * (taken * k + split) + 2]
        won[2 * (c * k + split) + 1] = tally[4 * (taken * k + split) + 3]


@kernel
def rate_candidate(c, level_begin, won, score, state):
    """The cut of candidate c, with a penalty for blocks that are too heavy."""
    cut = int64(0)
    over = int64(0)
    for split in range(level_begin[state[LEVELS]]):
        cut += won[2 * (c * state[BLOCKS] + split)]
        over += won[2 * (c * state[BLOCKS] + split) + 1]
    score[c] = float64(cut)


@kernel
def rank_candidate(c, score, next_survivor, state):
    """The best candidates go on, best first."""
    rank = int64(0)
    for other in range(state[CANDIDATES]):
        if score[other] < score[c] or (score[other] == score[c] and other < c):
            rank += 1
    # those that go on twice, if more than there are, are taken in turn
    for place in range(rank, state[SURVIVORS], state[CANDIDATES]):
        next_survivor[place] = int32(c)
