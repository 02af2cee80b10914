"""The rule and the plan of rebalancing, and its buckets of vertices.

Eviction candidates are sorted into buckets by the loss of a move (Jet, section 4.2), and within a
bucket into sub-buckets by a hash.  The vertices of a block's first sub-buckets leave, up to the
sub-bucket that brings the block below its limit.
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

# Rules of rebalancing: values that weak and strong rebalancing share
#
# `BY_LOSS` is the rule of Jet's paper (section 4.2), `AS_RELEASED` that of its released code;
# `BY_WEIGHT` is in between, and fast.


BUCKET_BASE = 1.5

ANY_EXCESS = 2**62
"""No limit has this many parts, so every excess is larger than one part."""


@dataclass(frozen=True)
class RebalancingRule(kl.Static):
    """How rebalancing selects vertices and targets.

    Attributes
    ----------
    bucket_of : DeviceFunction
        ``bucket_of(loss, weight, rebalancing)``: the bucket of a vertex; the lowest buckets leave
        first.
    slight_share : int
        An excess of at most 1 / slight_share of the limit is slight; only boundary vertices of such
        a block are rated.
    doubled : bool
        Whether a vertex may weigh twice the excess of its block in strong rebalancing, not 1.5
        times as in weak.
    fine : bool
        Whether coarse levels have as many sub-buckets as the finest one, so that little more weight
        than necessary leaves; else a number for their own size.
    nearest : bool
        Whether strong rebalancing fills blocks as close to their limits as vertices allow; else the
        beginning of a vertex's place in the row determines its block.
    waits : bool
        Whether in strong rebalancing a vertex goes last if more than half of it would exceed the
        capacity of its block; else blocks may exceed their capacity slightly.
    weak_again : bool
        Whether weak rebalancings follow a strong one; else strong ones do, until a propagation.
    until_balanced : bool
        Whether overloaded blocks stay closed until no block is overloaded; iterations until then do
        not count as without progress.
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
        """Which blocks accept vertices."""
        return CLOSING if self.until_balanced else OPEN

    @property
    def rates_boundary(self) -> bool:
        """Whether an excess can be slight."""
        return self.slight_share < ANY_EXCESS


@kl.device
def bucket_by_weight(loss, weight, rebalancing: Rebalancing):
    """Return the bucket of a loss relative to the vertex's weight.

    0 gain, 1 even, then log base 1.5.  The logarithm is a product of exact IEEE multiplications,
    the same on every device.
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
    """Return the bucket of a loss, whatever the vertex weighs (equation 4.5).

    0 gain, 1 even, then 2 + log2.  The last bucket holds all losses of 2^47 and more.
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
RULES = {"weight": BY_WEIGHT, "loss": BY_LOSS, "code": AS_RELEASED}


def rebalancing_rule(options: RefinementOptions) -> RebalancingRule:
    """Return the rule that the options select."""
    return replace(RULES[options.leave_by], weak_again=options.weak_again,
                   until_balanced=options.until_balanced)


@kl.device
def evicts_all(b, blocks: Blocks, rebalancing: Rebalancing, rule: RebalancingRule):
    """Whether all vertices of overloaded block b are candidates, since b is heavily overloaded.

    In strong rebalancing all are.
    """
    excess = blocks.weight[b] - blocks.means[b]
    return rebalancing.strong != 0 or excess > blocks.limits[b] // rule.slight_share


# The plan of the next rebalancing: weak or strong, which vertices, and its work sizes ----------


BATCH = 256
"""Number of vertices of a list that a team examines."""

SHORT_BATCH, MANY_VERTICES = 32, 1 << 22
"""A vertex for each lane of a team, for graphs of at most MANY_VERTICES."""


@kl.device
def batch_of_all(figures: Figures):
    """Return the number of vertices that a team examines if all are examined."""
    batch = kl.int64(SHORT_BATCH)
    if figures.vertices > MANY_VERTICES:
        batch = kl.int64(BATCH)
    return batch


@kl.device
def forget_rebalancings(rebalancing: Rebalancing):
    """Reset the number of weak rebalancings, after label propagation."""
    rebalancing.rebalancings = 0


@kl.device
def request_strong(rebalancing: Rebalancing):
    """Make the next rebalancing a strong one, however many weak ones there were."""
    rebalancing.rebalancings = rebalancing.weak_limit


@kl.device
def end_rebalancing(rebalancing: Rebalancing, rule: RebalancingRule):
    """Count a rebalancing, and plan which vertices the next one rates."""
    rebalancing.rebalancings += 1
    if rule.weak_again:
        if rebalancing.strong != 0:
            rebalancing.rebalancings = 0
    rebalancing.short = 0
    rebalancing.wide = rebalancing.next_wide
    rebalancing.next_wide = 0


@kl.device
def plan_gathering(cache: gains.GainCache, active: gains.ActiveSets, rebalancing: Rebalancing):
    """Set the work sizes of the two ways to scan the boundary list for a rebalancing.

    Until then each vertex marked as stale may be added to the list.
    """
    listed = active.on_boundary + cache.marked
    gathers = listed > rebalancing.many_on_boundary
    rebalancing.single = 0 if gathers else listed
    rebalancing.batches = (listed + BATCH - 1) // BATCH if gathers else 0


@kl.device
def plan_leaving(heavily, unrated: gains.UnratedList, rebalancing: Rebalancing, figures: Figures):
    """Decide whether the next rebalancing is strong, and empty its lists."""
    rebalancing.strong = kl.int64(
        figures.balanced == 0 and rebalancing.rebalancings >= rebalancing.weak_limit)
    rebalancing.candidates = 0
    rebalancing.rated = 0
    gains.empty_unrated(unrated)
    batch = batch_of_all(figures)
    all_batches = (figures.vertices + batch - 1) // batch
    rebalancing.swept = max(heavily, rebalancing.strong) * all_batches


@kl.kernel
def swap_boundary(_, cache: gains.GainCache, active: gains.ActiveSets, rebalancing: Rebalancing,
                  figures: Figures):
    """Replace the boundary list by the compacted one."""
    gains.turn_on_boundary(active, figures)
    plan_gathering(cache, active, rebalancing)


NOT_NEGATIVE = 2**63 - 1

LAST_WITHOUT_LOSS = 1
"""Buckets up to this one hold vertices that lose nothing."""

ONLY_MOVABLE, ALL, REST = 0, 1, 2
"""Which vertices of a slightly overloaded block are rated: movable ones, all on its boundary, or
boundary vertices that are not rated yet.
"""


@kl.device
def random_bits(vertex_id, figures: Figures):
    """Return pseudo-random bits for a vertex, from its global id and the iteration."""
    return hash_of(vertex_id, figures.seed + figures.iteration) & NOT_NEGATIVE


@kl.device
def slot_for(vertex_id, loss, weight, rebalancing: Rebalancing, figures: Figures,
             rule: RebalancingRule):
    """Return the slot of a vertex: its bucket and a random sub-bucket."""
    bucket = rule.bucket_of(loss, weight, rebalancing)
    sub_bucket = (random_bits(vertex_id, figures) >> 20) & (rebalancing.sub_buckets - 1)
    return bucket * rebalancing.sub_buckets + sub_bucket


@kl.device
def enter_bucket(v, loss, graph: Csr, moves: Moves, rebalancing: Rebalancing, figures: Figures,
                 rule: RebalancingRule):
    """Add the weight of v to its bucket and its slot.  Atomic, independent of order.

    All inner vertices of a large block may have the same bucket.  So vertices of weight 1 are
    counted: then threads of a warp share an atomic.
    """
    weight = kl.value_or(graph.vertex_weights, v, 1)
    slot = slot_for(global_id(v, graph), loss, weight, rebalancing, figures, rule)
    rebalancing.slot_of[v] = kl.int32(slot)
    first = kl.int64(moves.part[v]) * BUCKETS
    if weight == 1:
        kl.atomic_next(rebalancing.bucket_weight, first + slot // rebalancing.sub_buckets)
    else:
        kl.atomic_add(rebalancing.bucket_weight, first + slot // rebalancing.sub_buckets, weight)
    kl.atomic_add(rebalancing.slot_weight, first * rebalancing.sub_buckets + slot, weight)


@kl.device
def empty_slot(block, slot, rebalancing: Rebalancing):
    """Reset the sums that `enter_bucket` added to, and return the slot.

    Many vertices have the same bucket, so a sum that is zero already is left alone.
    """
    first = kl.int64(block) * BUCKETS
    bucket = first + slot // rebalancing.sub_buckets
    if rebalancing.bucket_weight[bucket] != 0:
        rebalancing.bucket_weight[bucket] = 0
    rebalancing.slot_weight[first * rebalancing.sub_buckets + slot] = 0
    return slot


@kl.device
def first_reaching(values, begin, count, target):
    """Return the least j with values[begin] + ... + values[begin + j] >= target, else count - 1.

    Called by all lanes of a team.
    """
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
    """Return which vertices of block b are rated; all, if selecting would take longer."""
    return kl.int32(ALL) if gains.are_few(active) else rebalancing.scope[b]


@kl.device
def scope_after(b, bucket, active: gains.ActiveSets, rebalancing: Rebalancing):
    """Return which other vertices of block b must be rated, now or the next time."""
    result = kl.int32(ONLY_MOVABLE)
    if bucket > LAST_WITHOUT_LOSS:
        result = kl.int32(ALL)
        if scope_of(b, active, rebalancing) == ONLY_MOVABLE:
            result = kl.int32(REST)
            rebalancing.short = 1
    return result


@kl.device
def bucket_for(b, bucket_weight, blocks: Blocks, figures: Figures):
    """Return the last bucket with vertices that leave block b; 0 if b is not overloaded.

    Called by all lanes of a team.
    """
    overload = blocks.weight[b] - blocks.limits[b] - figures.slack
    bucket = kl.int64(0)
    if overload > 0:
        bucket = first_reaching(bucket_weight, b * BUCKETS, kl.int64(BUCKETS), overload)
    return bucket


@kl.kernel
def set_threshold(b, active: gains.ActiveSets, blocks: Blocks, unrated: gains.UnratedList,
                  rebalancing: Rebalancing, figures: Figures, rule: RebalancingRule):
    """threshold[b] = the last slot that leaves block b, which brings b below its limit.

    If vertices up to it lose something, all boundary vertices must be in their buckets, and
    probably also the next time.  Called by one team.
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
