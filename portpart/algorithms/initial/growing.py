"""Greedy graph growing: one side of a bisection grows from a vertex drawn at random.

The side takes the vertex next to it that adds least to the cut, until it weighs what it should
(G. Karypis, V. Kumar, SIAM J. Sci. Comput. 20 (1998) 359-392, section 4.1).  Every second attempt
takes the one with the heaviest arcs to the side, which is the maximum adjacency order (M. Stoer,
F. Wagner, J. ACM 44 (1997) 585-591): where degrees or weights differ much, what adds least are
light vertices, wherever growing begins, and all attempts of the first kind end alike.  Where
nothing is next to the side, as in graphs of several components, it goes on from another vertex.
"""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as word
from portpart.algorithms.initial.fm_gains import (
    BARRED,
    LOWEST,
    best_of_side,
    find_best_of_groups,
    first_group,
    key_of,
    mask_of,
    move,
    position_in,
    store_tally,
)
from portpart.algorithms.initial.side_weights import goal_of, least_vertices
from portpart.backends.language import (
    device,
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

UNTOUCHED = 1 + BARRED
"""On side 1 and next to nothing of side 0."""


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
    return found if found < size else int64(-1)


@device
def goes_by_connection(attempt, state):
    """Whether an attempt grows by the weight of arcs to the side, not by what is added to the cut.

    Keys hold twice that weight then, which is the gain but for what a vertex has `inside`.
    """
    return attempt % state[word.TRIALS] % 2 == 1


@device
def turn_to_gains(base, own, lower, upper, bits, side, key, inside):
    """Let keys of an attempt that went by connection hold gains."""
    for p in range(lower + lane(), upper, team_size()):
        known = inside[base + p] * (int64(1) << bits)
        if (side[own + p] & 1) == 0:
            known = -known
        key[own + p] -= known
    team_sync()


@device
def grow(
    goal, least, most, start, by_connection, base, own, lower, upper, at, mask, bits, shift, begin,
    offsets, targets, weights, vertex_weights, order, place, side, key, inside, best, tally,
):
    """Let side 0 take vertices until it weighs `goal`; it gets `least` to `most` of them."""
    turn = int64(0)
    weight = int64(0)
    count = int64(0)
    cut = int64(0)
    while count < most and (weight < goal or count < least):
        top = best_of_side(1, lower, upper, at, own, side, key, best)
        p = position_in(top, mask, bits)
        if top == LOWEST:
            turn = next_untouched(turn, start, lower, upper, own, side)
            if turn < 0:
                break
            p = lower + (start - lower + turn) % (upper - lower)
        heavy = value_or(vertex_weights, order[base + p], 1)
        if count >= least and goal - weight < (heavy + 1) // 2:
            break
        cut -= key[own + p] >> bits
        if by_connection:
            cut += inside[base + p]
        weight += heavy
        count += 1
        team_sync()
        move(p, 1, UNTOUCHED, base, own, lower, upper, at, bits, shift, offsets, targets, weights,
             order, place, side, key, best)
    if by_connection:
        turn_to_gains(base, own, lower, upper, bits, side, key, inside)
    store_tally(tally, begin, weight, count, cut)
    if lane() == 0:
        tally[begin + word.GROWN_CUT] = cut
    return 0


@kernel
def begin_growing(i, part, offsets, targets, weights, place, side, key, inside, state):
    """Put vertex i on side 1 of its bisection, in all attempts; inside: the weight of its arcs."""
    n = state[word.VERTICES]
    c = i // n
    v = i % n
    p = int64(place[i])
    total = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        if part[c * n + targets[arc]] == part[i]:
            total += value_or(weights, arc, 1) >> state[word.WEIGHT_SHIFT]
    total = team_sum(total)
    if lane() == 0:
        inside[c * n + p] = total
    trials = state[word.TRIALS]
    for attempt in range(c * trials + lane(), (c + 1) * trials, team_size()):
        known = int64(0) if goes_by_connection(attempt, state) else -total
        side[attempt * n + p] = int8(UNTOUCHED)
        key[attempt * n + p] = key_of(p, known, mask_of(attempt, state), state[word.KEY_BITS])


@kernel
def grow_side(
    i, split_first, split_middle, split_last, goal_sum, segment, offsets, targets, weights,
    vertex_weights, order, place, side, key, inside, best, tally, state,
):
    """Grow side 0 of bisection i from a random vertex."""
    n = state[word.VERTICES]
    k = state[word.BLOCKS]
    attempt = i // state[word.SPLITS]
    c = attempt // state[word.TRIALS]
    split = state[word.FIRST_SPLIT] + i % state[word.SPLITS]
    first = int64(split_first[split])
    middle = split_middle[split]
    last = split_last[split]
    lower = segment[c * (k + 1) + first]
    upper = segment[c * (k + 1) + last]
    at = first_group(attempt, n, k, lower, first)
    total = int64(0)
    for p in range(lower + lane(), upper, team_size()):
        total += value_or(vertex_weights, order[c * n + p], 1)
    total = team_sum(total)
    find_best_of_groups(lower, upper, at, attempt * n, side, key, best)
    drawn = hash_of((attempt << 32) + split, state[word.SEED]) & 0x7FFFFFFF
    start = lower + drawn % max(int64(1), upper - lower)
    most = upper - lower - least_vertices(last - middle, state)
    grow(goal_of(total, first, middle, last, goal_sum), least_vertices(middle - first, state),
         most, start, goes_by_connection(attempt, state), c * n, attempt * n, lower, upper, at,
         mask_of(attempt, state), state[word.KEY_BITS], state[word.WEIGHT_SHIFT],
         word.TALLY * (attempt * k + first), offsets, targets, weights, vertex_weights, order,
         place, side, key, inside, best, tally)
