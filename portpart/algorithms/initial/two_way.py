"""Two-way refinement of a bisection: passes of single moves, the best prefix of each is kept.

C. M. Fiduccia, R. M. Mattheyses, DAC 1982.  A pass moves every vertex at most once, always the one of
largest gain that the limits of the sides allow, and ends when moves do not pay any more.
"""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as at_word
from portpart.algorithms.initial.growing import least_vertices, store_tally
from portpart.algorithms.initial.sides import (
    LOWEST,
    best_of_side,
    change_keys,
    find_best_of_groups,
    group_words,
    move,
)
from portpart.backends.language import (
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    lane,
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
TRIALS = at_word.TRIALS
STALL_SHARE = at_word.STALL_SHARE
PASSES = at_word.PASSES
STALL_LIMIT = at_word.STALL_LIMIT


@device
def free_all(own, lower, upper, side):
    """Let every vertex move again."""
    for p in range(lower + lane(), upper, team_size()):
        side[own + p] = int8(side[own + p] & 1)
    team_sync()


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
def side_to_leave(
    top0, top1, weight, count, total, size, goal, limit0, limit1, least0, least1, mask, bits,
    base, vertex_weights, order,
):
    """The side (0 or 1) whose best vertex is to move next, or -1.

    The larger gain decides where both moves keep the limits; where none does, the side that is
    heavier than its goal gives.
    """
    ties = (int64(1) << bits) - 1
    may0 = top0 != LOWEST and count > least0
    may1 = top1 != LOWEST and size - count > least1
    fits0 = False
    fits1 = False
    if may0:
        heavy = value_or(vertex_weights, order[base + ((top0 & ties) ^ mask)], 1)
        fits0 = total - weight + heavy <= limit1
    if may1:
        heavy = value_or(vertex_weights, order[base + ((top1 & ties) ^ mask)], 1)
        fits1 = weight + heavy <= limit0
    result = int64(-1)
    if fits0 and fits1:
        gain0 = top0 >> bits
        gain1 = top1 >> bits
        first = gain0 > gain1 or (gain0 == gain1 and weight > goal)
        result = int64(0) if first else int64(1)
    elif fits0 or fits1:
        result = int64(0) if fits0 else int64(1)
    elif may0 and (weight > goal or not may1):
        result = int64(0)
    elif may1:
        result = int64(1)
    return result


@device
def one_pass(
    total, goal, limit0, limit1, least0, least1, stall_limit, base, own, lower, upper, at, mask, bits,
    shift, word, offsets, targets, weights, vertex_weights, order, place, side, key, best, moves,
    tally,
):
    """Move vertices one by one; returns how many of the moves to keep, and the number of moves."""
    ties = (int64(1) << bits) - 1
    weight = tally[word]
    count = tally[word + 1]
    cut = tally[word + 2]
    best_excess = excess(weight, total, limit0, limit1, count, upper - lower, least0,
                         least1)
    best_cut = cut
    done = int64(0)
    kept = int64(0)
    team_sync()
    while done - kept < stall_limit and done < upper - lower:
        top0 = best_of_side(0, lower, upper, at, best)
        top1 = best_of_side(1, lower, upper, at, best)
        here = side_to_leave(top0, top1, weight, count, total, upper - lower, goal, limit0,
                             limit1, least0, least1, mask, bits, base, vertex_weights, order)
        if here < 0:
            break
        top = top0 if here == 0 else top1
        p = (top & ties) ^ mask
        heavy = value_or(vertex_weights, order[base + p], 1)
        sign = 2 * here - 1
        weight += sign * heavy
        count += sign
        cut -= top >> bits
        move(p, here, -1, base, own, lower, upper, at, bits, shift, offsets, targets, weights, order,
             place, side, key, best)
        if lane() == 0:
            moves[own + lower + done] = int32(p)
        done += 1
        now = excess(weight, total, limit0, limit1, count, upper - lower, least0,
                         least1)
        if now < best_excess or (now == best_excess and cut < best_cut):
            best_excess = now
            best_cut = cut
            kept = done
            store_tally(tally, word, weight, count, cut)
    team_sync()
    return (done << 32) | kept


@device
def take_back(
    done, kept, base, own, lower, upper, at, bits, shift, offsets, targets, weights, order, place,
    side, key, best, moves,
):
    """Undo all moves but the first `kept`."""
    for m in range(done - 1, kept - 1, -1):
        p = int64(moves[own + lower + m])
        here = int64(side[own + p] & 1)
        team_sync()
        change_keys(p, here, -1, False, base, own, lower, upper, at, bits, shift, offsets, targets,
                    weights, order, place, side, key, best)
    return 0


@device
def refine(
    passes, stall_limit, total, goal, limit0, limit1, least0, least1, base, own, lower, upper, at,
    mask, bits, shift, word, offsets, targets, weights, vertex_weights, order, place, side, key,
    best, moves, tally,
):
    """Passes until one brings nothing."""
    for _ in range(passes):
        free_all(own, lower, upper, side)
        find_best_of_groups(lower, upper, at, own, side, key, best)
        result = one_pass(total, goal, limit0, limit1, least0, least1, stall_limit, base, own, lower,
                          upper, at, mask, bits, shift, word, offsets, targets,
                          weights, vertex_weights, order, place, side, key, best, moves, tally)
        kept = result & 0xFFFFFFFF
        take_back(result >> 32, kept, base, own, lower, upper, at, bits, shift, offsets, targets,
                  weights, order, place, side, key, best, moves)
        if kept == 0:
            break
    return 0


@device
def side_limit(goal, cap, splits):
    """Limit of a side: of the room over its goal, what is due for one of `splits` levels."""
    return goal + max(int64(0), (cap - goal) // splits)


@device
def halvings(count):
    """Smallest h with 2**h >= count."""
    result = int64(0)
    while (int64(1) << result) < count:
        result += 1
    return result


@kernel
def refine_sides(
    i, split_first, split_middle, split_last, goal_sum, limit_sum, segment, offsets, targets,
    weights, vertex_weights, order, place, side, key, best, moves, tally, state,
):
    """Refine bisection i."""
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
    mask = hash_of(trial, state[SEED]) & ((int64(1) << bits) - 1)
    total = int64(0)
    for p in range(lower + lane(), upper, team_size()):
        total += value_or(vertex_weights, order[base + p], 1)
    total = team_sum(total)
    share = (goal_sum[middle] - goal_sum[first]) / (goal_sum[last] - goal_sum[first])
    goal = int64(float64(total) * share + 0.5)
    levels = halvings(last - first)
    limit0 = side_limit(goal, int64(limit_sum[middle] - limit_sum[first]), levels)
    limit1 = side_limit(total - goal, int64(limit_sum[last] - limit_sum[middle]), levels)
    word = 4 * (trial * k + split)
    least0 = least_vertices(middle - first, state)
    least1 = least_vertices(last - middle, state)
    refine(state[PASSES], min(state[STALL_LIMIT], 8 + (upper - lower) // state[STALL_SHARE]), total, goal, limit0, limit1, least0, least1, base,
           own, lower, upper, at, mask, bits, state[WEIGHT_SHIFT], word, offsets, targets, weights,
           vertex_weights, order, place, side, key, best, moves, tally)
    over = excess(tally[word], total, limit0, limit1, tally[word + 1], upper - lower, least0, least1)
    team_sync()
    if lane() == 0:
        tally[word + 3] = over
