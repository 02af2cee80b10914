"""Buckets of the vertices that may leave a block that is too heavy (Jet, section 4.2).

Vertices are sorted into buckets by what a move would lose (`rule.py`), and within a bucket into
sub-buckets by a hash.  A block gives up its first sub-buckets, up to the one that brings it below
the limit.
"""

from __future__ import annotations

from portpart.algorithms.refinement import BUCKETS, Figures
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import ActiveSets, UnratedList, are_few, empty_unrated
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.rebalancing.rule import RebalancingRule, evicts_all
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl
from portpart.graphs import Csr, global_id
from portpart.primitives import hash_of

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
    return slot


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
def scope_of(b, active: ActiveSets, rebalancing: Rebalancing):
    """Which vertices of block b are rated: where all are few, to choose takes longer."""
    return kl.int32(ALL) if are_few(active) else rebalancing.scope[b]


@kl.device
def scope_after(b, bucket, active: ActiveSets, rebalancing: Rebalancing):
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
def set_threshold(b, active: ActiveSets, blocks: Blocks, unrated: UnratedList,
                  rebalancing: Rebalancing, figures: Figures, rule: RebalancingRule):
    """threshold[b] = last slot that leaves block b: the one that brings it below the limit.

    If that takes vertices that lose something, all have to be in their buckets, and probably so the
    next time.
    """
    overload = blocks.weight[b] - blocks.limits[b] - figures.slack
    slot = kl.int64(-1)
    if overload > 0:
        bucket = first_reaching(rebalancing.bucket_weight, b * BUCKETS, kl.int64(BUCKETS),
                                overload)
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
            empty_unrated(unrated)
