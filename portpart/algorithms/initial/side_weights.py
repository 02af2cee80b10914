"""What the sides of a bisection should weigh, and what they may weigh."""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Run, Splits
from portpart.backends.language import Record, device, float64, int64

NO_LIMIT = 4.0e18


class SideLimits(Record):
    """Limits of a bisection.

    Attributes
    ----------
    total : int
        Weight of both sides.
    goal : int
        What side 0 should weigh.
    max_weight0, max_weight1 : int
        What the sides may weigh.
    min_count0, min_count1 : int
        How many vertices they need.
    """

    total: int
    goal: int
    max_weight0: int
    max_weight1: int
    min_count0: int
    min_count1: int


@device
def goal_of(total, split, splits: Splits):
    """What side 0 of a bisection should weigh."""
    before = splits.goal_sum[splits.first[split]]
    inside = splits.goal_sum[splits.last[split]] - before
    share = (splits.goal_sum[splits.middle[split]] - before) / inside
    return int64(float64(total) * share + 0.5)


@device
def cap_of(first, last, splits: Splits):
    """What the blocks first ... last - 1 may weigh together."""
    return int64(min(splits.limit_sum[last] - splits.limit_sum[first], NO_LIMIT))


@device
def limit_of(goal, cap, levels):
    """Limit of a side: of the room above its goal, what is due for one of `levels` bisections."""
    return goal + max(int64(0), cap - goal) // levels


@device
def levels_for(blocks):
    """Levels of bisection that make so many blocks."""
    result = int64(0)
    while (int64(1) << result) < blocks:
        result += 1
    return result


@device
def min_vertices(blocks, run: Run):
    """How many vertices a side of `blocks` blocks needs."""
    return int64(blocks) if run.finest != 0 else int64(1)
