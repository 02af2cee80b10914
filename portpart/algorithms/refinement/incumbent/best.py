"""Whether a partition is better than the best so far, and what is copied if it is."""

from __future__ import annotations

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.backends import language as kl

NOT_BETTER, BETTER, MUCH_BETTER = 0, 1, 2


@kl.device
def compare_with_best(cost, overload, tolerance, incumbent: Incumbent, figures: Figures):
    """How the partition compares with the best: NOT_BETTER, BETTER or MUCH_BETTER.

    Iteration -1 judges the partition that refinement starts from, which is the best so far.
    """
    result = kl.int64(NOT_BETTER)
    best_cost = incumbent.best_cost
    if figures.iteration < 0:
        result = kl.int64(MUCH_BETTER)
    elif incumbent.best_is_balanced == 0:
        if overload < incumbent.best_overload:
            result = kl.int64(MUCH_BETTER)
    elif overload <= 0 and cost < best_cost:
        result = kl.int64(BETTER)
        if kl.float64(cost) < tolerance * kl.float64(best_cost):
            result = kl.int64(MUCH_BETTER)
    return result


@kl.device
def keep_if_better(improvement, cost, overload, incumbent: Incumbent, figures: Figures):
    """Record the values of a new best partition, and what must be copied."""
    incumbent.saved_vertices = 0
    incumbent.saved_blocks = 0
    if improvement != NOT_BETTER:
        incumbent.best_cost = cost
        incumbent.best_overload = overload
        incumbent.best_is_balanced = kl.int64(overload <= 0)
        incumbent.saved_vertices = incumbent.unsaved
        incumbent.unsaved = 0
        incumbent.saved_blocks = figures.blocks
    return improvement


@kl.device
def plan_saving(incumbent: Incumbent):
    """Set how much of the best partition must be copied."""
    incumbent.saves = max(1, max(incumbent.saved_vertices, incumbent.saved_blocks))
    return incumbent.saves
