"""Two-way refinement of a bisection: passes of single moves, of which the best prefix is kept.

C. M. Fiduccia, R. M. Mattheyses, DAC 1982. A pass moves every vertex at most once, always the one
of largest gain that the limits of the sides allow. It ends when an improvement is unlikely.
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Attempting, Candidates, Passes, Splits
from portpart.algorithms.initial.fm_gains import (
    LOWEST,
    NUM_TOTALS,
    AttemptScratch,
    Bisection,
    BisectionTotals,
    GainRule,
    best_of_side,
    find_best_of_groups,
    move,
    position_in,
    store_totals,
)
from portpart.algorithms.initial.side_weights import (
    SideLimits,
    excess,
    levels_for,
    limit_of,
    max_side_weight,
    min_vertices,
    target_side_weight,
    weigh,
    weight_at,
)
from portpart.backends import language as kl
from portpart.graphs import Csr

MIN_STALL = 8
"""A pass has at least this many moves, unless no vertex may move."""

DRIFT = 3.0
"""The squared drift of a random walk, per variance, that ends a pass."""


@kl.device
def position_or(other, key, mask, bits):
    """Return the position in a key, or `other` if the key is LOWEST."""
    return position_in(key, mask, bits) if key != LOWEST else kl.int64(other)


@kl.device
def side_to_leave(top0, top1, heavy0, heavy1, weight, count, limits: SideLimits,
                  bisection: Bisection):
    """Return the side (0 or 1) whose best vertex moves next, or -1.

    Each side's best vertex is given by key and weight. The larger gain decides if both moves keep
    the limits. If neither does, the side above its goal is left.
    """
    size = bisection.upper - bisection.lower
    may0 = top0 != LOWEST and count > limits.min_count0
    may1 = top1 != LOWEST and size - count > limits.min_count1
    fits0 = may0 and limits.total - weight + heavy0 <= limits.max_weight1
    fits1 = may1 and weight + heavy1 <= limits.max_weight0
    result = kl.int64(-1)
    if fits0 and fits1:
        gain0 = top0 >> bisection.bits
        gain1 = top1 >> bisection.bits
        result = kl.int64(gain0 < gain1 or (gain0 == gain1 and weight <= limits.goal))
    elif fits0 or fits1:
        result = kl.int64(fits1)
    elif may0 or may1:
        result = kl.int64(may1 and (weight <= limits.goal or not may0))
    return result


@kl.device
def next_move(weight, count, limits: SideLimits, bisection: Bisection, graph: Csr,
              candidates: Candidates, attempts: AttemptScratch):
    """Return twice the key of the vertex that moves next, plus 1 if it leaves side 1; or LOWEST.

    A key has a spare bit. The lane that moves the vertex must not read its key again, because
    another lane may have changed it.
    """
    top0 = kl.int64(LOWEST)
    top1 = kl.int64(LOWEST)
    if kl.team_size() == 1:
        top0 = best_of_side(0, bisection, attempts)
        top1 = best_of_side(1, bisection, attempts)
    else:
        for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
            found = attempts.key[bisection.own + p]
            there = attempts.side[bisection.own + p]
            # without branches, several positions are loaded together
            top0 = max(top0, found if there == 0 else kl.int64(LOWEST))
            top1 = max(top1, found if there == 1 else kl.int64(LOWEST))
        top0 = kl.team_max(top0)
        top1 = kl.team_max(top1)
    # both weights are loaded together: each takes two dependent accesses
    p0 = position_or(bisection.lower, top0, bisection.mask, bisection.bits)
    p1 = position_or(bisection.lower, top1, bisection.mask, bisection.bits)
    heavy0 = weight_at(p0, bisection.base, graph.vertex_weights, candidates.order)
    heavy1 = weight_at(p1, bisection.base, graph.vertex_weights, candidates.order)
    here = side_to_leave(top0, top1, heavy0, heavy1, weight, count, limits, bisection)
    result = kl.int64(LOWEST)
    if here >= 0:
        result = 2 * (top0 if here == 0 else top1) + here
    return result


@kl.device
def may_improve(moves, stall_limit, gain_sum, square_sum):
    """Whether a new best prefix is likely after this many moves without one, by their gains.

    The gains are treated as a random walk. If it drifts down by much more than its deviation, it
    does not return (V. Osipov, P. Sanders, ESA 2010).
    """
    hopeless = False
    if moves >= MIN_STALL and gain_sum < 0.0:
        squared = gain_sum * gain_sum
        count = kl.float64(moves)
        hopeless = count * squared > DRIFT * (count * square_sum - squared)
    return moves < stall_limit and not hopeless


@kl.device
def is_better(excess_now, cut, distance, best_excess, best_cut, best_distance):
    """Whether a bisection is better than another: by excess, by cut, by distance from its goal."""
    better = excess_now < best_excess
    if excess_now == best_excess:
        better = cut < best_cut or (cut == best_cut and distance < best_distance)
    return better


@kl.device
def make_move(number, p, here, bisection: Bisection, graph: Csr, candidates: Candidates,
              attempts: AttemptScratch, rule: GainRule):
    """Move the vertex at position p from side `here`, and note the position under the number."""
    move(p, here, -1, bisection, graph, candidates, attempts, rule)
    attempts.moves[bisection.own + bisection.lower + number] = kl.int32(p)
    return p


@kl.device
def one_pass(limits: SideLimits, bisection: Bisection, graph: Csr, candidates: Candidates,
             attempts: AttemptScratch, passes: Passes, rule: GainRule):
    """Move vertices one by one; return the number of moves, and of the moves to keep."""
    size = bisection.upper - bisection.lower
    end = min(size, passes.max_moves)
    weight = attempts.totals[bisection.totals + BisectionTotals.weight]
    count = attempts.totals[bisection.totals + BisectionTotals.count]
    cut = attempts.totals[bisection.totals + BisectionTotals.cut]
    best_excess = excess(weight, count, size, limits)
    best_cut = cut
    best_distance = passes.balances * abs(weight - limits.goal)
    made = kl.int64(0)
    kept = kl.int64(0)
    gain_sum = kl.float64(0)
    square_sum = kl.float64(0)
    kl.team_sync()
    while made < end and may_improve(made - kept, passes.stall_limit, gain_sum, square_sum):
        chosen = next_move(weight, count, limits, bisection, graph, candidates, attempts)
        if chosen == LOWEST:
            break
        here = chosen & 1
        p = position_in(chosen >> 1, bisection.mask, bisection.bits)
        heavy = weight_at(p, bisection.base, graph.vertex_weights, candidates.order)
        weight += (2 * here - 1) * heavy
        count += 2 * here - 1
        gain = (chosen >> 1) >> bisection.bits
        cut -= gain
        gain_sum += kl.float64(gain)
        square_sum += kl.float64(gain) * kl.float64(gain)
        make_move(made, p, here, bisection, graph, candidates, attempts, rule)
        made += 1
        now = excess(weight, count, size, limits)
        distance = passes.balances * abs(weight - limits.goal)
        if is_better(now, cut, distance, best_excess, best_cut, best_distance):
            best_excess = now
            best_cut = cut
            best_distance = distance
            kept = made
            gain_sum = kl.float64(0)
            square_sum = kl.float64(0)
            store_totals(attempts.totals, bisection.totals, weight, count, cut)
    kl.team_sync()
    return (made << 32) | kept


@kl.device
def refine(most, limits: SideLimits, bisection: Bisection, graph: Csr, candidates: Candidates,
           attempts: AttemptScratch, passes: Passes, rule: GainRule):
    """Do at most `most` passes, until one does not improve the bisection."""
    own = bisection.own
    for turn in range(most):
        for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
            attempts.side[own + p] = kl.int8(attempts.side[own + p] & 1)
        kl.team_sync()
        find_best_of_groups(bisection, attempts)
        result = one_pass(limits, bisection, graph, candidates, attempts, passes, rule)
        made = result >> 32
        kept = result & 0xFFFFFFFF
        again = kept > 0 and turn + 1 < most
        rule.undo(made, kept, again, bisection, graph, candidates, attempts)
        if not again:
            break
    return 0


@kl.device
def passes_for(attempt, first, totals, state: Attempting):
    """Return the number of passes of an attempt: 0 if enough other attempts cut less."""
    k = state.sizes.blocks
    begin = attempt // state.recursion.trials * state.recursion.trials
    mine = totals[NUM_TOTALS * (attempt * k + first) + BisectionTotals.grown_cut]
    better = kl.int64(0)
    for other in range(begin, begin + state.recursion.trials):
        cut = totals[NUM_TOTALS * (other * k + first) + BisectionTotals.grown_cut]
        better += kl.int64(cut < mine or (cut == mine and other < attempt))
    return state.passes.max_passes if better < state.passes.refined_trials else kl.int64(0)


@kl.device
def refine_attempt(bisection: Bisection, splits: Splits, graph: Csr, candidates: Candidates,
                   attempts: AttemptScratch, state: Attempting, rule: GainRule):
    """Refine a bisection, and store the weights of its sides in the totals."""
    first = kl.int64(splits.first[bisection.split])
    middle = splits.middle[bisection.split]
    last = splits.last[bisection.split]
    total = weigh(bisection, graph, candidates, attempts)
    goal = target_side_weight(total, bisection.split, splits)
    cap0 = max_side_weight(first, middle, splits)
    cap1 = max_side_weight(middle, last, splits)
    limit0 = limit_of(goal, cap0, levels_for(last - first))
    limit1 = limit_of(total - goal, cap1, levels_for(last - first))
    min0 = min_vertices(middle - first, state.recursion)
    min1 = min_vertices(last - middle, state.recursion)
    limits = SideLimits(total, goal, limit0, limit1, min0, min1)
    most = passes_for(bisection.attempt, first, attempts.totals, state)
    refine(most, limits, bisection, graph, candidates, attempts, state.passes, rule)
    size = bisection.upper - bisection.lower
    weight = attempts.totals[bisection.totals + BisectionTotals.weight]
    count = attempts.totals[bisection.totals + BisectionTotals.count]
    attempts.totals[bisection.totals + BisectionTotals.excess] = excess(weight, count, size, limits)
    zero = kl.int64(0)
    caps = SideLimits(total, goal, cap0, cap1, zero, zero)
    attempts.totals[bisection.totals + BisectionTotals.overload] = excess(weight, count, size, caps)
    return 0
