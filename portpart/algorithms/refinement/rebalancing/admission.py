"""Admission of moves to blocks: the moves that gain most, as many as a block has capacity for.

The moves to a block are sorted into the buckets of rebalancing by their gain, largest first, and
within a bucket into sub-buckets by a hash.  A block admits its first sub-buckets.
"""

from __future__ import annotations

from portpart.algorithms.refinement import BUCKETS, Figures, gains
from portpart.algorithms.refinement.blocks import Blocks, free_capacity
from portpart.algorithms.refinement.moves import Moves, commit_move, keep_moves
from portpart.algorithms.refinement.rebalancing.rule import (
    RebalancingRule,
    empty_slot,
    first_reaching,
    slot_for,
)
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl
from portpart.graphs import Csr, global_id


@kl.kernel
def rank_move(i, graph: Csr, moves: Moves, cache: gains.GainCache, rebalancing: Rebalancing,
              figures: Figures, rule: RebalancingRule):
    """Add the weight of move i to a bucket and a slot of its target block, and list the vertex.

    Atomic, independent of order.
    """
    v = moves.listed[i]
    weight = kl.value_or(graph.vertex_weights, v, 1)
    slot = slot_for(global_id(v, graph), cache.gain[v], weight, rebalancing, figures, rule)
    bucket = BUCKETS - 1 - slot // rebalancing.sub_buckets  # larger gains first
    slot = bucket * rebalancing.sub_buckets + slot % rebalancing.sub_buckets
    first = kl.int64(moves.target[v]) * BUCKETS
    rebalancing.slot_of[v] = kl.int32(slot)
    rebalancing.listed[i] = v
    kl.atomic_add(rebalancing.bucket_weight, first + bucket, weight)
    kl.atomic_add(rebalancing.slot_weight, first * rebalancing.sub_buckets + slot, weight)
    if i == 0:
        rebalancing.candidates = moves.moves


@kl.kernel
def set_last_admitted(b, moves: Moves, blocks: Blocks, rebalancing: Rebalancing,
                      figures: Figures):
    """threshold[b] = the last slot of moves that block b has capacity for.  Called by one team.

    The moves will be listed again.
    """
    beyond = free_capacity(b, blocks, figures) + 1
    bucket = first_reaching(rebalancing.bucket_weight, b * BUCKETS, kl.int64(BUCKETS), beyond)
    before = kl.int64(0)
    for j in range(kl.lane(), bucket, kl.team_size()):
        before += rebalancing.bucket_weight[b * BUCKETS + j]
    before = kl.team_sum(before)
    slot = kl.int64(BUCKETS) * rebalancing.sub_buckets
    if before + rebalancing.bucket_weight[b * BUCKETS + bucket] >= beyond:
        first = (b * BUCKETS + bucket) * rebalancing.sub_buckets
        slot = bucket * rebalancing.sub_buckets - 1 + first_reaching(
            rebalancing.slot_weight, first, rebalancing.sub_buckets, beyond - before)
    if kl.lane() == 0:
        rebalancing.threshold[b] = slot
        if b == 0:
            keep_moves(0, moves)


@kl.kernel
def admit_move(i, moves: Moves, rebalancing: Rebalancing, figures: Figures):
    """List the move of vertex i if its block admits it.  Also empties its buckets."""
    v = rebalancing.listed[i]
    block = moves.target[v]
    slot = empty_slot(block, kl.int64(rebalancing.slot_of[v]), rebalancing)
    if slot <= rebalancing.threshold[block]:
        commit_move(v, block, moves, figures)
