"""Connectivity of vertices to blocks: one small hash row per vertex (Jet, section 4.3).

Row v maps a block to the weight of the arcs from v into it.  Only vertices on a boundary have a
row.  A row has min(degree, k) slots, which always suffice: weights of old blocks are subtracted,
and their slots freed, before weights of new blocks are added.  If more than a tenth of the vertices
move, rows beside a move are dropped instead and counted anew.

Each vertex caches its best destination; the cache holds until a neighbour moves.
"""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.state import STRIPES
from portpart.backends.language import (
    atomic_add,
    atomic_cas,
    atomic_load,
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_max,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.primitives.hash_rows import EMPTY, FREED, claim_slot, claim_slot_in_team, find_slot
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NONE = -1
LOWEST = -(2**63)
REBUILD_SHARE = 10
"""Rows are rebuilt instead of updated if more than 1 / REBUILD_SHARE of the vertices move."""

BLOCKS = at.BLOCKS
DIRTY = at.DIRTY
ITERATION = at.ITERATION
MOVES = at.MOVES
VERTICES = at.VERTICES
SEED = at.SEED
WEIGHT_STRIPES = at.WEIGHT_STRIPES


@kernel
def begin_vertex(
    v, offsets, cached, row_valid, moved_in, locked_in, dirty, dirty_list, wish, capacity, state
):
    """Nothing is known of v, nothing is locked, everything is to be computed."""
    cached[v] = int32(NONE)
    wish[v] = int32(NONE)
    row_valid[v] = int8(0)
    moved_in[v] = int32(-1)
    locked_in[v] = int32(-2)
    dirty[v] = int32(1)
    dirty_list[v] = int32(v)
    capacity[v] = min(int64(offsets[v + 1]) - int64(offsets[v]), state[BLOCKS])


@device
def mark_dirty(v, dirty, dirty_list, state):
    """Put v on the list of vertices to refresh, once."""
    if atomic_load(dirty, v) == 0:
        if atomic_cas(dirty, v, int32(0), int32(1)) == 0:
            dirty_list[atomic_add(state, DIRTY, 1)] = int32(v)


@kernel
def count_row(i, dirty_list, offsets, targets, weights, part, row_begin, keys, sums, row_valid):
    """Count the row of v if it has none and v is on a boundary."""
    v = dirty_list[i]
    missing = row_valid[v] == 0
    outside = int64(0)
    if missing:
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            if part[targets[arc]] != part[v]:
                outside += value_or(weights, arc, 1)
    outside = team_sum(outside)
    if missing and outside > 0:
        begin = int64(row_begin[v])
        end = int64(row_begin[v + 1])
        for slot in range(begin + lane(), end, team_size()):
            keys[slot] = int32(EMPTY)
            sums[slot] = 0
        team_sync()
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            weight = value_or(weights, arc, 1)
            if weight > 0:
                slot = claim_slot_in_team(keys, begin, end, part[targets[arc]])
                team_atomic_add(sums, slot if slot >= 0 else -1 - slot, weight)
        if lane() == 0:
            row_valid[v] = int8(1)


@kernel
def choose_destination(
    i, dirty_list, part, row_begin, keys, sums, row_valid, dirty, cached, gain, state, filter_ratio
):
    """Cache the best destination of v and its gain, if it passes Jet's first filter (4.3).

    Equal connectivity: a hash of vertex and block decides.
    """
    v = dirty_list[i]
    own = int64(0)
    best = int64(0)
    best_hash = int64(LOWEST)
    best_block = int32(NONE)
    if row_valid[v] != 0:
        for slot in range(int64(row_begin[v]) + lane(), row_begin[v + 1], team_size()):
            block = keys[slot]
            weight = int64(sums[slot])
            if block == part[v]:
                own = weight
            elif block >= 0 and weight >= best and weight > 0:
                hashed = pair_hash(v, block, state[SEED])
                if weight > best or hashed > best_hash:
                    best = weight
                    best_hash = hashed
                    best_block = block
    own = team_sum(own)
    top = team_max(best)
    best_block = team_winner(best, best_hash, best_block)
    if lane() == 0:
        passes = top >= own or own - top < int64(filter_ratio * float64(own))
        cached[v] = best_block if passes else int32(NONE)
        gain[v] = top - own
        dirty[v] = int32(0)


@kernel
def leave_block(
    i, move_list, offsets, targets, weights, part, moved_in, row_begin, keys, sums, row_valid,
    dirty, dirty_list, state, cut_twice,
):
    """Before the moves: take v's arcs out of its neighbours' rows.

    Adds to cut_twice the arcs inside blocks that may stop being so; arcs between two moving
    vertices are seen from both ends and count half.  Atomic, order-free.
    """
    v = move_list[i]
    block = part[v]
    rebuild = state[MOVES] * REBUILD_SHARE > state[VERTICES]
    iteration = int32(state[ITERATION])
    inside = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        weight = value_or(weights, arc, 1)
        if part[u] == block:
            inside += weight if moved_in[u] == iteration else 2 * weight
        if rebuild:
            row_valid[u] = int8(0)
        elif row_valid[u] != 0 and weight > 0:
            slot = find_slot(keys, int64(row_begin[u]), int64(row_begin[u + 1]), block)
            if int64(atomic_add(sums, slot, -weight)) == weight:
                keys[slot] = int32(FREED)
        mark_dirty(u, dirty, dirty_list, state)
    inside = team_sum(inside)
    if lane() == 0:
        mark_dirty(v, dirty, dirty_list, state)
        if inside > 0:
            atomic_add(cut_twice, int64(v) % STRIPES, inside)


@kernel
def enter_block(
    i, move_list, offsets, targets, weights, vertex_weights, part, wish, moved_in, row_begin, keys,
    sums, row_valid, weight_sums, state, cut_twice,
):
    """Move v to its wish and add its arcs to its neighbours' rows; undoes `leave_block`.

    The block of a neighbour that moves too is its wish: nobody reads `part` of such a vertex.
    """
    v = move_list[i]
    block = wish[v]
    iteration = int32(state[ITERATION])
    inside = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        weight = value_or(weights, arc, 1)
        if moved_in[u] == iteration:
            inside += weight if wish[u] == block else 0
        else:
            inside += 2 * weight if part[u] == block else 0
        if row_valid[u] != 0 and weight > 0:
            slot = claim_slot(keys, int64(row_begin[u]), int64(row_begin[u + 1]), block)
            atomic_add(sums, slot, weight)
    inside = team_sum(inside)
    if lane() == 0:
        weight = value_or(vertex_weights, v, 1)
        row = (v % state[WEIGHT_STRIPES]) * state[BLOCKS]
        atomic_add(weight_sums, row + part[v], -weight)
        atomic_add(weight_sums, row + block, weight)
        part[v] = block
        if inside > 0:
            atomic_add(cut_twice, int64(v) % STRIPES, -inside)
