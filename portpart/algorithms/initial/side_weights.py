"""What the sides of a bisection should weigh, and what they may weigh."""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as word
from portpart.backends.language import device, float64, int64

NO_LIMIT = 4.0e18


@device
def goal_of(total, first, middle, last, goal_sum):
    """What side 0, the blocks first ... middle - 1 of first ... last - 1, should weigh."""
    share = (goal_sum[middle] - goal_sum[first]) / (goal_sum[last] - goal_sum[first])
    return int64(float64(total) * share + 0.5)


@device
def cap_of(first, last, limit_sum):
    """What the blocks first ... last - 1 may weigh together."""
    return int64(min(limit_sum[last] - limit_sum[first], NO_LIMIT))


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
def least_vertices(blocks, state):
    """How many vertices a side of `blocks` blocks needs."""
    return int64(blocks) if state[word.FINEST] != 0 else int64(1)
