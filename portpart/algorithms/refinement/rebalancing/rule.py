"""The rule and the plan of rebalancing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.algorithms.refinement import BUCKETS, Figures, RefinementOptions
from portpart.algorithms.refinement.blocks import CLOSING, OPEN, Blocks, TargetCapacity
from portpart.algorithms.refinement.gains import (
    ActiveSets,
    GainCache,
    UnratedList,
    empty_unrated,
    turn_on_boundary,
)
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl

# How blocks that are too heavy are relieved: the values that weak and strong rebalancing share
#
# `BY_LOSS` is what Jet's paper prints (section 4.2), `AS_RELEASED` what its released code does;
# `BY_WEIGHT` is in between, and fast.


BUCKET_BASE = 1.5

ANY_EXCESS = 2**62
"""No limit has this many parts: every excess is above one."""


class Evicting(kl.Scope):
    """What rates vertices that leave blocks which are too heavy, and says where they go."""

    moves: Moves
    blocks: Blocks
    rebalancing: Rebalancing
    figures: Figures


@dataclass(frozen=True)
class RebalancingRule(kl.Static):
    """What rebalancing goes by.

    Attributes
    ----------
    bucket_of : DeviceFunction
        ``bucket_of(loss, weight, rebalancing)``: which vertices leave first.
    slight_share : int
        An excess of at most 1 / slight_share of the limit is slight: of such a block only the
        boundary is rated.
    doubled : bool
        Whether a vertex may weigh twice the excess of its block in strong rebalancing, not 1.5
        times as in weak.
    fine : bool
        Whether coarse levels have as many sub-buckets as the finest one, so that barely more leaves
        than has to; else as many as suit them.
    nearest : bool
        Whether strong rebalancing fills blocks as near to their limits as vertices allow; else a
        vertex goes where its place in the row begins.
    waits : bool
        Whether in strong rebalancing a vertex of which more than half would lie beyond the room in
        turn goes last, and so on; else blocks get a little more than they have room for.
    weak_again : bool
        Whether weak rebalancings follow a strong one; else strong ones do, until a propagation.
    until_balanced : bool
        Whether blocks that were too heavy stay closed until none is, and iterations on the way
        there do not count as without progress.
    """

    bucket_of: kl.DeviceFunction
    slight_share: int
    doubled: bool
    fine: bool
    nearest: bool
    waits: bool = False
    weak_again: bool = False
    until_balanced: bool = False

    @property
    def target_capacity(self) -> TargetCapacity:
        """Which blocks take vertices."""
        return CLOSING if self.until_balanced else OPEN

    @property
    def rates_boundary(self) -> bool:
        """Whether an excess can be slight."""
        return self.slight_share < ANY_EXCESS


@kl.device
def bucket_by_weight(loss, weight, rebalancing: Rebalancing):
    """Bucket of a loss relative to the vertex's weight: 0 gains, 1 even, then log base 1.5.

    The logarithm is a product of exact IEEE multiplications, the same on every device.
    """
    bucket = kl.int64(0)
    if loss == 0:
        bucket = kl.int64(1)
    if loss > 0:
        bucket = kl.int64(2)
        scaled = kl.float64(loss) * kl.float64(rebalancing.mean_vertex_weight)
        relative = scaled / kl.float64(weight)
        ratio = relative / kl.float64(rebalancing.loss_unit)
        bound = kl.float64(1.0)
        while bound <= ratio and bucket < BUCKETS - 1:
            bound *= BUCKET_BASE
            bucket += 1
    return bucket


@kl.device
def bucket_by_loss(loss, weight, rebalancing: Rebalancing):
    """Bucket of a loss, whatever the vertex weighs (equation 4.5): 0 gains, 1 even, 2 + log2.

    The last bucket holds all losses of 2^47 and more.
    """
    bucket = kl.int64(0)
    if loss == 0:
        bucket = kl.int64(1)
    if loss > 0:
        bucket = kl.int64(2)
        half = kl.int64(loss) >> 1
        while half > 0 and bucket < BUCKETS - 1:
            half = half >> 1
            bucket += 1
    return bucket


BY_WEIGHT: RebalancingRule = RebalancingRule(
    bucket_by_weight, slight_share=8, doubled=True, fine=False,
                            nearest=False)
BY_LOSS = RebalancingRule(bucket_by_loss, slight_share=ANY_EXCESS, doubled=False, fine=True,
                          nearest=True)


AS_RELEASED = RebalancingRule(bucket_by_weight, slight_share=ANY_EXCESS, doubled=True, fine=True,
                              nearest=False, waits=True)
RELIEFS = {"weight": BY_WEIGHT, "loss": BY_LOSS, "code": AS_RELEASED}


def rebalancing_rule(options: RefinementOptions) -> RebalancingRule:
    """What the options ask for."""
    return replace(RELIEFS[options.leave_by], weak_again=options.weak_again,
                   until_balanced=options.until_balanced)


@kl.device
def evicts_all(b, blocks: Blocks, rebalancing: Rebalancing, rule: RebalancingRule):
    """Whether all vertices of b, which is too heavy, may leave: it is heavily overloaded."""
    excess = blocks.weight[b] - blocks.means[b]
    return rebalancing.strong != 0 or excess > blocks.limits[b] // rule.slight_share


# What the next rebalancing is: weak or strong, how far it looks, and its work sizes ------------


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
