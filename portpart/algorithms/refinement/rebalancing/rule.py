"""The rule and the plan of rebalancing, and the buckets that it sorts vertices into.

The vertices that may leave a block that is too heavy are sorted into buckets by what a move would
lose (Jet, section 4.2), and within a bucket into sub-buckets by a hash.  A block gives up its first
sub-buckets, up to the one that brings it below the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.algorithms.refinement import BUCKETS, Figures, RefinementOptions, gains
from portpart.algorithms.refinement.blocks import CLOSING, OPEN, Blocks, TargetCapacity
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl
from portpart.graphs import Csr, global_id
from portpart.primitives import hash_of

# How blocks that are too heavy are relieved: the values that weak and strong rebalancing share
#
# `BY_LOSS` is what Jet's paper prints (section 4.2), `AS_RELEASED` what its released code does;
# `BY_WEIGHT` is in between, and fast.


BUCKET_BASE = 1.5

ANY_EXCESS = 2**62
"""No limit has this many parts: every excess is above one."""


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


@kl.device
def ask_for_strong(rebalancing: Rebalancing):
    """Strong rebalancing is next, however many weak ones there have been."""
    rebalancing.rebalancings = rebalancing.weak_limit


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


@kl.device
def plan_gathering(cache: gains.GainCache, active: gains.ActiveSets, rebalancing: Rebalancing):
    """Set the work sizes of the two ways to go through the first list for a rebalancing.

    Until then each vertex that is marked as dirty may be put on the list.
    """
    listed = active.on_boundary + cache.marked
    gathers = listed > rebalancing.many_on_boundary
    rebalancing.single = 0 if gathers else listed
    rebalancing.batches = (listed + BATCH - 1) // BATCH if gathers else 0


@kl.device
def plan_leaving(heavily, unrated: gains.UnratedList, rebalancing: Rebalancing, figures: Figures):
    """Whether rebalancing would be the strong one; no vertex is listed to leave yet."""
    rebalancing.strong = kl.int64(
        figures.balanced == 0 and rebalancing.rebalancings >= rebalancing.weak_limit)
    rebalancing.candidates = 0
    rebalancing.rated = 0
    gains.empty_unrated(unrated)
    rebalancing.swept = max(heavily, rebalancing.strong) * figures.vertices


@kl.kernel
def swap_boundary(_, cache: gains.GainCache, active: gains.ActiveSets, rebalancing: Rebalancing,
                  figures: Figures):
    """The first list that has been kept takes the place of the other."""
    gains.turn_on_boundary(active, figures)
    plan_gathering(cache, active, rebalancing)


NOT_NEGATIVE = 2**63 - 1

LAST_WITHOUT_LOSS = 1
"""Buckets up to this one hold vertices that lose nothing."""

ONLY_MOVABLE, ALL, REST = 0, 1, 2
"""Which vertices of a slightly heavy block are rated: the movable ones; all on its boundary; or the
ones not rated so far.
"""


@kl.device
def random_bits(vertex_id, figures: Figures):
    """A number drawn for a vertex, by its global id, in this iteration."""
    return hash_of(vertex_id, figures.seed + figures.iteration) & NOT_NEGATIVE


@kl.device
def slot_for(vertex_id, loss, weight, rebalancing: Rebalancing, figures: Figures,
             rule: RebalancingRule):
    """Slot of a vertex: its bucket and, by chance, a sub-bucket of it."""
    bucket = rule.bucket_of(loss, weight, rebalancing)
    sub_bucket = (random_bits(vertex_id, figures) >> 20) & (rebalancing.sub_buckets - 1)
    return bucket * rebalancing.sub_buckets + sub_bucket


@kl.device
def enter_bucket(v, loss, graph: Csr, moves: Moves, rebalancing: Rebalancing, figures: Figures,
                 rule: RebalancingRule):
    """Put v into its bucket and its slot; atomic, independent of order."""
    weight = kl.value_or(graph.vertex_weights, v, 1)
    slot = slot_for(global_id(v, graph), loss, weight, rebalancing, figures, rule)
    rebalancing.slot_of[v] = kl.int32(slot)
    first = kl.int64(moves.part[v]) * BUCKETS
    kl.atomic_add(rebalancing.bucket_weight, first + slot // rebalancing.sub_buckets, weight)
    kl.atomic_add(rebalancing.slot_weight, first * rebalancing.sub_buckets + slot, weight)


@kl.device
def empty_slot(block, slot, rebalancing: Rebalancing):
    """Set to zero what `enter_bucket` added to."""
    first = kl.int64(block) * BUCKETS
    rebalancing.bucket_weight[first + slot // rebalancing.sub_buckets] = 0
    rebalancing.slot_weight[first * rebalancing.sub_buckets + slot] = 0
    return slot


@kl.device
def first_reaching(values, begin, count, target):
    """Least j such that values[begin] + ... + values[begin + j] >= target, else count - 1."""
    found = count - 1
    running = kl.int64(0)
    base = kl.int64(0)
    while base < count:
        j = base + kl.lane()
        value = kl.int64(0)
        if j < count:
            value = values[begin + j]
        until = running + kl.team_scan(value)
        if until - value < target and until >= target:
            found = j
        running = kl.team_last(until)
        base += kl.team_size()
    return kl.team_min(found)


@kl.device
def scope_of(b, active: gains.ActiveSets, rebalancing: Rebalancing):
    """Which vertices of block b are rated: where all are few, to choose takes longer."""
    return kl.int32(ALL) if gains.are_few(active) else rebalancing.scope[b]


@kl.device
def scope_after(b, bucket, active: gains.ActiveSets, rebalancing: Rebalancing):
    """Which other vertices of block b have to be rated, now or the next time."""
    result = kl.int32(ONLY_MOVABLE)
    if bucket > LAST_WITHOUT_LOSS:
        result = kl.int32(ALL)
        if scope_of(b, active, rebalancing) == ONLY_MOVABLE:
            result = kl.int32(REST)
            rebalancing.short = 1
    return result


@kl.device
def bucket_for(b, bucket_weight, blocks: Blocks, figures: Figures):
    """The bucket up to which block b gives vertices up; 0 if it is not too heavy.

    All lanes of a team together.
    """
    overload = blocks.weight[b] - blocks.limits[b] - figures.slack
    bucket = kl.int64(0)
    if overload > 0:
        bucket = first_reaching(bucket_weight, b * BUCKETS, kl.int64(BUCKETS), overload)
    return bucket


@kl.kernel
def set_threshold(b, active: gains.ActiveSets, blocks: Blocks, unrated: gains.UnratedList,
                  rebalancing: Rebalancing, figures: Figures, rule: RebalancingRule):
    """threshold[b] = last slot that leaves block b: the one that brings it below the limit.

    If that takes vertices that lose something, all have to be in their buckets, and probably so the
    next time.
    """
    overload = blocks.weight[b] - blocks.limits[b] - figures.slack
    slot = kl.int64(-1)
    if overload > 0:
        bucket = first_reaching(rebalancing.bucket_weight, b * BUCKETS, kl.int64(BUCKETS), overload)
        before = kl.int64(0)
        for j in range(kl.lane(), bucket, kl.team_size()):
            before += rebalancing.bucket_weight[b * BUCKETS + j]
        before = kl.team_sum(before)
        first = (b * BUCKETS + bucket) * rebalancing.sub_buckets
        within = first_reaching(rebalancing.slot_weight, first, rebalancing.sub_buckets,
                                overload - before)
        slot = bucket * rebalancing.sub_buckets + within
        if kl.lane() == 0 and not evicts_all(b, blocks, rebalancing, rule):
            rebalancing.scope[b] = scope_after(b, bucket, active, rebalancing)
    if kl.lane() == 0:
        rebalancing.threshold[b] = slot
        if rebalancing.scope[b] != ONLY_MOVABLE:
            rebalancing.next_wide = 1
        if b == 0:
            rebalancing.rated = rebalancing.candidates
            gains.empty_unrated(unrated)
