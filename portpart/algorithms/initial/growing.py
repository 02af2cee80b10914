"""Greedy graph growing: one side of a bisection grows from a vertex drawn at random.

The side takes the vertex next to it that adds least to the cut, until it weighs what it should
(G. Karypis, V. Kumar, SIAM J. Sci. Comput. 20 (1998) 359-392, section 4.1.2).  Where nothing is
next to it, as in graphs of several components, it goes on from another vertex.
"""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as at_word
from portpart.algorithms.initial.sides import (
    BARRED,
    LOWEST,
    begin_key,
    best_of_side,
    find_best_of_groups,
    move,
    group_words,
)
from portpart.backends.language import (
    device,
    float64,
    int8,
    int64,
    kernel,
    lane,
    team_min,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.primitives.hashing import hash_of

BLOCKS = at_word.BLOCKS
VERTICES = at_word.VERTICES
WIDTH = at_word.WIDTH
FIRST_SPLIT = at_word.FIRST_SPLIT
KEY_BITS = at_word.KEY_BITS
WEIGHT_SHIFT = at_word.WEIGHT_SHIFT
SEED = at_word.SEED
FINEST = at_word.FINEST
TRIALS = at_word.TRIALS
UNTOUCHED = 1 + BARRED
REFUSED = 5 + BARRED
MOST_REFUSALS = 16


@device
def prepare(
    base, own, lower, upper, mask, bits, shift, offsets, targets, weights, vertex_weights, order,
    place, side, key,
):
    """Put all vertices on side 1; returns their weight."""
    total = int64(0)
    for p in range(lower + lane(), upper, team_size()):
        side[own + p] = int8(UNTOUCHED)
        total += value_or(vertex_weights, order[base + p], 1)
    team_sync()
    for p in range(lower + lane(), upper, team_size()):
        begin_key(p, base, own, lower, upper, mask, bits, shift, offsets, targets, weights, order,
                  place, side, key)
    team_sync()
    return team_sum(total)


@device
def next_untouched(turn, start, lower, upper, own, side):
    """First turn from `turn` on, going round from `start`, at an untouched position; else -1."""
    size = upper - lower
    found = int64(size)
    for i in range(turn, size, team_size()):
        mine = i + lane()
        if mine < size:
            if side[own + lower + (start - lower + mine) % size] == UNTOUCHED:
                found = mine
        found = team_min(found)
        if found < size:
            break
    result = found
    if found == size:
        result = int64(-1)
    return result


@device
def store_tally(tally, word, weight, count, cut):
    """Keep what is known of a bisection: weight and vertices of side 0, and its cut."""
    if lane() == 0:
        tally[word] = weight
        tally[word + 1] = count
        tally[word + 2] = cut
    team_sync()
    return 0


@device
def least_vertices(blocks, state):
    """How many vertices a side of `blocks` blocks needs."""
    return int64(blocks) if state[FINEST] != 0 else int64(1)


@device
def grow(
    goal, least, most, seed, base, own, lower, upper, at, mask, bits, shift, word, offsets, targets,
    weights, vertex_weights, order, place, side, key, best, tally,
):
    """Let side 0 take vertices until it weighs `goal`; it gets `least` to `most` of them."""
    ties = (int64(1) << bits) - 1
    start = lower + (seed & 0x7FFFFFFF) % (upper - lower)
    turn = int64(0)
    weight = int64(0)
    count = int64(0)
    cut = int64(0)
    refusals = int64(0)
    while count < most and refusals < MOST_REFUSALS and (weight < goal or count < least):
        p = int64(-1)
        top = best_of_side(1, lower, upper, at, best)
        if top != LOWEST:
            p = (top & ties) ^ mask
        else:
            turn = next_untouched(turn, start, lower, upper, own, side)
            if turn >= 0:
                p = lower + (start - lower + turn) % (upper - lower)
        if p < 0:
            break
        heavy = value_or(vertex_weights, order[base + p], 1)
        if 2 * (goal - weight) < heavy and count >= least:
            refusals = int64(MOST_REFUSALS)
        else:
            cut -= key[own + p] >> bits
            weight += heavy
            count += 1
            team_sync()
            move(p, 1, UNTOUCHED, base, own, lower, upper, at, bits, shift, offsets, targets, weights,
                 order, place, side, key, best)
    store_tally(tally, word, weight, count, cut)
    return 0


@kernel
def grow_side(
    i, split_first, split_middle, split_last, goal_sum, segment, offsets, targets, weights,
    vertex_weights, order, place, side, key, best, tally, state,
):
    """Grow side 0 of bisection i from a random vertex."""
    n = state[VERTICES]
    k = state[BLOCKS]
    bits = state[KEY_BITS]
    trial = i // state[WIDTH]
    c = trial // state[TRIALS]
    split = state[FIRST_SPLIT] + i % state[WIDTH]
    first = split_first[split]
    middle = split_middle[split]
    last = split_last[split]
    base = c * n
    own = trial * n
    lower = segment[c * (k + 1) + first]
    upper = segment[c * (k + 1) + last]
    at = trial * group_words(n, k) + lower // 16 + 2 * first
    seed = hash_of(split * 65536 + trial, state[SEED])
    mask = hash_of(trial, state[SEED]) & ((int64(1) << bits) - 1)
    total = prepare(base, own, lower, upper, mask, bits, state[WEIGHT_SHIFT], offsets, targets, weights,
                    vertex_weights, order, place, side, key)
    find_best_of_groups(lower, upper, at, own, side, key, best)
    share = (goal_sum[middle] - goal_sum[first]) / (goal_sum[last] - goal_sum[first])
    least0 = least_vertices(middle - first, state)
    most0 = upper - lower - least_vertices(last - middle, state)
    grow(int64(float64(total) * share + 0.5), least0, most0, seed, base, own, lower, upper, at, mask,
         bits, state[WEIGHT_SHIFT], 4 * (trial * k + split), offsets, targets, weights,
         vertex_weights, order, place, side, key, best, tally)
