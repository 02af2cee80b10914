"""What the next rebalancing is: weak or strong, how far it looks, and its work sizes."""

from __future__ import annotations

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.active_sets import turn_on_boundary
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache, UnratedList
from portpart.algorithms.refinement.gains.unrated_list import empty_unrated
from portpart.algorithms.refinement.rebalancing.rule import RebalancingRule
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl

BATCH = 256
"""Vertices that a team gathers from before it adds to the number of eviction candidates."""


@kl.device
def forget_rebalancings(rebalancing: Rebalancing):
    """Label propagation was last: no weak rebalancing has been since."""
    rebalancing.rebalancings = 0
    return rebalancing.rebalancings


@kl.device
def ask_for_strong(rebalancing: Rebalancing):
    """Strong rebalancing is next, however many weak ones there have been."""
    rebalancing.rebalancings = rebalancing.weak_limit
    return rebalancing.rebalancings


@kl.device
def end_rebalancing(rebalancing: Rebalancing, rule: RebalancingRule):
    """Vertices have left blocks that were too heavy."""
    rebalancing.rebalancings += 1
    if rule.weak_again:
        if rebalancing.strong != 0:
            rebalancing.rebalancings = 0
    rebalancing.short = 0
    rebalancing.wide = rebalancing.next_wide
    rebalancing.next_wide = 0
    return rebalancing.wide


@kl.device
def plan_strength(balanced, rebalancing: Rebalancing):
    """Say whether the next rebalancing, unless all is balanced, is the strong one."""
    rebalancing.strong = kl.int64(
        not balanced and rebalancing.rebalancings >= rebalancing.weak_limit)
    return rebalancing.strong


@kl.device
def plan_gathering(cache: GainCache, active: ActiveSets, rebalancing: Rebalancing):
    """Set the work sizes of the two ways to go through the first list for a rebalancing.

    Until then each vertex that is marked as dirty may be put on the list.
    """
    listed = active.on_boundary + cache.marked
    gathers = listed > rebalancing.many_on_boundary
    rebalancing.single = 0 if gathers else listed
    rebalancing.batches = (listed + BATCH - 1) // BATCH if gathers else 0
    return listed


@kl.device
def plan_leaving(heavily, unrated: UnratedList, rebalancing: Rebalancing, figures: Figures):
    """No vertex is listed to leave yet."""
    rebalancing.candidates = 0
    rebalancing.rated = 0
    empty_unrated(unrated)
    rebalancing.swept = max(heavily, rebalancing.strong) * figures.vertices
    return rebalancing.swept


@kl.kernel
def swap_boundary(_, cache: GainCache, active: ActiveSets, rebalancing: Rebalancing,
                  figures: Figures):
    """The first list that has been kept takes the place of the other."""
    turn_on_boundary(active, figures)
    plan_gathering(cache, active, rebalancing)
