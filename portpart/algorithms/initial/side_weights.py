"""Target weights, limits and weights of the sides of a bisection."""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates, Recursion, Splits
from portpart.algorithms.initial.fm_gains import (
    AttemptScratch,
    Bisection,
    BisectionTotals,
    store_totals,
)
from portpart.backends import language as kl
from portpart.graphs import Csr

NO_LIMIT = 4.0e18


class SideLimits(kl.Record):
    """Limits of a bisection.

    Attributes
    ----------
    total : int
        Weight of both sides.
    goal : int
        Target weight of side 0.
    max_weight0, max_weight1 : int
        Limits of the sides.
    min_count0, min_count1 : int
        Minimum numbers of vertices.
    """

    total: int
    goal: int
    max_weight0: int
    max_weight1: int
    min_count0: int
    min_count1: int


@kl.device
def target_side_weight(total, split, splits: Splits):
    """Return the target weight of side 0 of a bisection."""
    before = splits.goal_sum[splits.first[split]]
    inside = splits.goal_sum[splits.last[split]] - before
    share = (splits.goal_sum[splits.middle[split]] - before) / inside
    return kl.int64(kl.float64(total) * share + 0.5)


@kl.device
def max_side_weight(first, last, splits: Splits):
    """Return the sum of the limits of the blocks first ... last - 1."""
    return kl.int64(min(splits.limit_sum[last] - splits.limit_sum[first], NO_LIMIT))


@kl.device
def limit_of(goal, cap, levels):
    """Return the limit of a side: its goal plus a share, 1 / `levels`, of the rest up to `cap`."""
    return goal + max(kl.int64(0), cap - goal) // levels


@kl.device
def levels_for(blocks):
    """Return the number of levels of bisection that make this many blocks."""
    return 64 - kl.clz(kl.uint64(blocks - 1))


@kl.device
def min_vertices(blocks, recursion: Recursion):
    """Return the minimum number of vertices of a side of `blocks` blocks."""
    return kl.int64(blocks) if recursion.finest != 0 else kl.int64(1)


@kl.device
def excess(weight, count, size, limits: SideLimits):
    """Return the weight above the limits of the sides, of which the first weighs `weight`.

    It is more than the total if a side has too few vertices.
    """
    above0 = max(kl.int64(0), weight - limits.max_weight0)
    above1 = max(kl.int64(0), limits.total - weight - limits.max_weight1)
    result = above0 + above1
    missing0 = max(kl.int64(0), limits.min_count0 - count)
    missing = missing0 + max(kl.int64(0), limits.min_count1 - (size - count))
    if missing > 0:
        result = limits.total + missing
    return result


@kl.device
def weight_at(p, base, vertex_weights, order):
    """Return the weight of the vertex at position p."""
    return kl.value_or(vertex_weights, order[base + p], 1)


@kl.device
def weigh(bisection: Bisection, graph: Csr, candidates: Candidates, attempts: AttemptScratch):
    """Store the weight of side 0 in the totals; return the weight of both sides."""
    total = kl.int64(0)
    weight = kl.int64(0)
    count = kl.int64(0)
    for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
        heavy = weight_at(p, bisection.base, graph.vertex_weights, candidates.order)
        total += heavy
        if (attempts.side[bisection.own + p] & 1) == 0:
            weight += heavy
            count += 1
    weight = kl.team_sum(weight)
    count = kl.team_sum(count)
    store_totals(attempts.totals, bisection.totals, weight, count,
                 attempts.totals[bisection.totals + BisectionTotals.cut])
    return kl.team_sum(total)
