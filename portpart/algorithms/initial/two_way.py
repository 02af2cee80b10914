"""Two-way refinement of a bisection: passes of single moves, the best prefix of each is kept.

C. M. Fiduccia, R. M. Mattheyses, DAC 1982.  A pass moves every vertex at most once, always the one
of largest gain that the limits of the sides allow, and ends when moves do not pay any more.
"""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as word
from portpart.algorithms.initial.fm_gains import (
    LOWEST,
    best_of_side,
    find_best_of_groups,
    first_group,
    mask_of,
    move,
    position_in,
    store_tally,
)
from portpart.algorithms.initial.side_weights import (
    cap_of,
    goal_of,
    least_vertices,
    levels_for,
    limit_of,
)
from portpart.backends.language import (
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_max,
    team_size,
    team_sum,
    team_sync,
    value_or,
)

WEIGHT, COUNT, CUT = word.WEIGHT, word.COUNT, word.CUT
EXCESS, OVERLOAD = word.EXCESS, word.OVERLOAD

LEAST_STALL = 8
"""Moves that tell too little to end a pass."""

TAKEN_BACK = 4
"""Added to the side of a position whose move was undone."""

DRIFT = 3.0
"""How many spreads of a random walk, squared, its drift must be to end a pass."""


@device
def excess(weight, total, limit0, limit1, count, size, least0, least1):
    """By how much the sides, of which the first weighs `weight`, are too heavy.

    More than the total if one of them has too few vertices.
    """
    result = max(int64(0), weight - limit0) + max(int64(0), total - weight - limit1)
    missing = max(int64(0), least0 - count) + max(int64(0), least1 - (size - count))
    if missing > 0:
        result = total + missing
    return result


@device
def weight_at(p, base, vertex_weights, order):
    """Weight of the vertex at position p."""
    return value_or(vertex_weights, order[base + p], 1)


@device
def position_or(other, key, mask, bits):
    """The position that a key names, or `other` if it is the lowest of all."""
    return position_in(key, mask, bits) if key != LOWEST else int64(other)


@device
def weigh(base, own, lower, upper, begin, vertex_weights, order, side, tally):
    """Tell the tally what side 0 weighs; returns the weight of both sides."""
    total = int64(0)
    weight = int64(0)
    count = int64(0)
    for p in range(lower + lane(), upper, team_size()):
        heavy = weight_at(p, base, vertex_weights, order)
        total += heavy
        if (side[own + p] & 1) == 0:
            weight += heavy
            count += 1
    weight = team_sum(weight)
    count = team_sum(count)
    store_tally(tally, begin, weight, count, tally[begin + CUT])
    return team_sum(total)


@device
def side_to_leave(
    top0, top1, heavy0, heavy1, weight, count, total, size, goal, limit0, limit1, least0, least1,
    bits,
):
    """The side (0 or 1) whose best vertex, of such a key and weight, is to move next, or -1.

    The larger gain decides where both moves keep the limits; where none does, the side that is
    heavier than its goal gives.
    """
    may0 = top0 != LOWEST and count > least0
    may1 = top1 != LOWEST and size - count > least1
    fits0 = may0 and total - weight + heavy0 <= limit1
    fits1 = may1 and weight + heavy1 <= limit0
    result = int64(-1)
    if fits0 and fits1:
        gain0 = top0 >> bits
        gain1 = top1 >> bits
        result = int64(gain0 < gain1 or (gain0 == gain1 and weight <= goal))
    elif fits0 or fits1:
        result = int64(fits1)
    elif may0 or may1:
        result = int64(may1 and (weight <= goal or not may0))
    return result


@device
def next_move(
    weight, count, total, size, goal, limit0, limit1, least0, least1, base, own, lower, upper, at,
    mask, bits, vertex_weights, order, side, key, best,
):
    """Twice the key of the vertex that moves next, and one more if it leaves side 1; or LOWEST.

    A key has a bit to spare, and whoever moves the vertex must not read its key anew: another lane
    may have changed it by then.
    """
    top0 = int64(LOWEST)
    top1 = int64(LOWEST)
    if team_size() == 1:
        top0 = best_of_side(0, lower, upper, at, own, side, key, best)
        top1 = best_of_side(1, lower, upper, at, own, side, key, best)
    else:
        for p in range(lower + lane(), upper, team_size()):
            found = key[own + p]
            there = side[own + p]
            if there == 0:
                top0 = max(top0, found)
            elif there == 1:
                top1 = max(top1, found)
        top0 = team_max(top0)
        top1 = team_max(top1)
    # both weights are asked for at once: each is two accesses one after the other
    p0 = position_or(lower, top0, mask, bits)
    p1 = position_or(lower, top1, mask, bits)
    heavy0 = weight_at(p0, base, vertex_weights, order)
    heavy1 = weight_at(p1, base, vertex_weights, order)
    here = side_to_leave(top0, top1, heavy0, heavy1, weight, count, total, size, goal, limit0,
                         limit1, least0, least1, bits)
    result = int64(LOWEST)
    if here >= 0:
        result = 2 * (top0 if here == 0 else top1) + here
    return result


@device
def may_still_pay(moves, stall_limit, gain_sum, square_sum):
    """Whether a new best prefix is likely after so many moves without one, by their gains.

    These count as a random walk: one that drifts down by much more than it spreads does not come
    back (V. Osipov, P. Sanders, ESA 2010).
    """
    squared = gain_sum * gain_sum
    spread = square_sum - squared / max(float64(1), float64(moves))
    hopeless = moves >= LEAST_STALL and gain_sum < 0.0 and squared > DRIFT * spread
    return moves < stall_limit and not hopeless


@device
def one_pass(
    total, goal, limit0, limit1, least0, least1, stall_limit, base, own, lower, upper, at, mask,
    bits, shift, begin, offsets, targets, weights, vertex_weights, order, place, side, key, best,
    moves, tally,
):
    """Move vertices one by one; returns how many moves were made and how many of them to keep."""
    size = upper - lower
    weight = tally[begin + WEIGHT]
    count = tally[begin + COUNT]
    cut = tally[begin + CUT]
    best_excess = excess(weight, total, limit0, limit1, count, size, least0, least1)
    best_cut = cut
    made = int64(0)
    kept = int64(0)
    gain_sum = float64(0)
    square_sum = float64(0)
    team_sync()
    while made < size and may_still_pay(made - kept, stall_limit, gain_sum, square_sum):
        chosen = next_move(weight, count, total, size, goal, limit0, limit1, least0, least1, base,
                           own, lower, upper, at, mask, bits, vertex_weights, order, side, key,
                           best)
        if chosen == LOWEST:
            break
        here = chosen & 1
        p = position_in(chosen >> 1, mask, bits)
        weight += (2 * here - 1) * weight_at(p, base, vertex_weights, order)
        count += 2 * here - 1
        gain = (chosen >> 1) >> bits
        cut -= gain
        gain_sum += float64(gain)
        square_sum += float64(gain) * float64(gain)
        move(p, here, -1, base, own, lower, upper, at, bits, shift, offsets, targets, weights,
             order, place, side, key, best)
        moves[own + lower + made] = int32(p)
        made += 1
        now = excess(weight, total, limit0, limit1, count, size, least0, least1)
        if now < best_excess or (now == best_excess and cut < best_cut):
            best_excess = now
            best_cut = cut
            kept = made
            gain_sum = float64(0)
            square_sum = float64(0)
            store_tally(tally, begin, weight, count, cut)
    team_sync()
    return (made << 32) | kept


@device
def take_back(made, kept, own, lower, side, moves):
    """Undo all moves but the first `kept`, and mark their vertices; keys are left as they are."""
    for m in range(kept + lane(), made, team_size()):
        p = int64(moves[own + lower + m])
        side[own + p] = int8((side[own + p] ^ 1) | TAKEN_BACK)
    team_sync()


@device
def take_back_keys(
    made, kept, base, own, lower, upper, bits, shift, offsets, targets, weights, order, place,
    side, key, moves,
):
    """Let keys follow moves that were undone, all at once.

    An arc counts for both its ends with the other sign if one of them was taken back.
    """
    share = max(int64(1), team_size() // 32)
    for i in range(lane(), (made - kept) * share, team_size()):
        p = int64(moves[own + lower + kept + i // share])
        v = order[base + p]
        changes = int64(0)
        for arc in range(offsets[v] + i % share, offsets[v + 1], share):
            q = int64(place[base + targets[arc]])
            if lower <= q and q < upper and (side[own + q] & TAKEN_BACK) == 0:
                change = (value_or(weights, arc, 1) >> shift) << (bits + 1)
                if ((side[own + q] ^ side[own + p]) & 1) == 0:
                    change = -change
                team_atomic_add(key, own + q, change)
                changes += change
        team_atomic_add(key, own + p, changes)
    team_sync()


@device
def refine(
    passes, stall_limit, total, goal, limit0, limit1, least0, least1, base, own, lower, upper, at,
    mask, bits, shift, begin, offsets, targets, weights, vertex_weights, order, place, side, key,
    best, moves, tally,
):
    """Passes until one brings nothing."""
    for turn in range(passes):
        for p in range(lower + lane(), upper, team_size()):
            side[own + p] = int8(side[own + p] & 1)
        team_sync()
        find_best_of_groups(lower, upper, at, own, side, key, best)
        result = one_pass(total, goal, limit0, limit1, least0, least1, stall_limit, base, own,
                          lower, upper, at, mask, bits, shift, begin, offsets, targets, weights,
                          vertex_weights, order, place, side, key, best, moves, tally)
        made = result >> 32
        kept = result & 0xFFFFFFFF
        take_back(made, kept, own, lower, side, moves)
        if kept == 0 or turn + 1 == passes:
            break
        take_back_keys(made, kept, base, own, lower, upper, bits, shift, offsets, targets,
                       weights, order, place, side, key, moves)
    return 0


@device
def passes_for(attempt, first, tally, state):
    """How many passes an attempt gets: none if enough of the others at its bisection cut less."""
    k = state[word.BLOCKS]
    begin = attempt // state[word.TRIALS] * state[word.TRIALS]
    mine = tally[word.TALLY * (attempt * k + first) + word.GROWN_CUT]
    better = int64(0)
    for other in range(begin, begin + state[word.TRIALS]):
        cut = tally[word.TALLY * (other * k + first) + word.GROWN_CUT]
        better += int64(cut < mine or (cut == mine and other < attempt))
    return state[word.PASSES] if better < state[word.REFINED_TRIALS] else int64(0)


@kernel
def refine_sides(
    i, split_first, split_middle, split_last, goal_sum, limit_sum, segment, offsets, targets,
    weights, vertex_weights, order, place, side, key, best, moves, tally, state,
):
    """Refine bisection i."""
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
    begin = word.TALLY * (attempt * k + first)
    total = weigh(c * n, attempt * n, lower, upper, begin, vertex_weights, order, side, tally)
    goal = goal_of(total, first, middle, last, goal_sum)
    cap0 = cap_of(first, middle, limit_sum)
    cap1 = cap_of(middle, last, limit_sum)
    limit0 = limit_of(goal, cap0, levels_for(last - first))
    limit1 = limit_of(total - goal, cap1, levels_for(last - first))
    least0 = least_vertices(middle - first, state)
    least1 = least_vertices(last - middle, state)
    refine(passes_for(attempt, first, tally, state), state[word.STALL_LIMIT], total, goal, limit0,
           limit1, least0, least1, c * n, attempt * n, lower, upper,
           first_group(attempt, n, k, lower, first), mask_of(attempt, state), state[word.KEY_BITS],
           state[word.WEIGHT_SHIFT], begin, offsets, targets, weights, vertex_weights, order, place,
           side, key, best, moves, tally)
    weight = tally[begin + WEIGHT]
    count = tally[begin + COUNT]
    tally[begin + EXCESS] = excess(weight, total, limit0, limit1, count, upper - lower, least0,
                                   least1)
    tally[begin + OVERLOAD] = excess(weight, total, cap0, cap1, count, upper - lower, 0, 0)
