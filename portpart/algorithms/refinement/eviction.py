"""Who may leave blocks that are too heavy (Jet, section 4.2).

What label propagation has cached tells where most vertices would go and what that loses; of the
others it is counted (`rebalance.py`).
"""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import (
    BATCH,
    FEW,
    IS_EAGER,
    eager_vertex,
    listed_vertex,
)
from portpart.algorithms.refinement.connectivity import degree_of
from portpart.algorithms.refinement.gain_cache import failed
from portpart.algorithms.refinement.loss_buckets import (
    ALL,
    REST,
    chance,
    enter_bucket,
    is_far,
    scope_of,
)
from portpart.backends.language import (
    atomic_add,
    atomic_next,
    ctz,
    device,
    int32,
    int64,
    kernel,
    lane,
    popcount,
    team_last,
    team_scan,
    team_size,
    team_sum,
    uint64,
    value_or,
)

NONE = -1

ROUNDS = 8
"""Vertices that a lane looks at before its team adds to a list."""


@device
def may_leave(v, slight, vertex_weights, fixed, part, block_weight, limits, means, state):
    """Whether v's block is too heavy, slightly or far as asked, and v not too heavy to leave it.

    Fixed vertices stay.
    """
    block = part[v]
    here = block_weight[block]
    result = here > limits[block] + state[at.SLACK] and value_or(fixed, v, NONE) == NONE
    if result:
        excess = here - means[block]
        far = is_far(block, block_weight, limits, means, state)
        weight = value_or(vertex_weights, v, 1)
        heaviest = excess + excess // 2 if state[at.STRONG] == 0 else 2 * excess
        result = far != slight and weight > 0 and weight <= heaviest and state[at.DESTINATIONS] > 0
    return result


@device
def list_unrated(v, offsets, unrated_list, unrated_hubs, state):
    """List a vertex whose loss has to be counted.  In any order."""
    unrated_list[atomic_next(state, at.UNRATED)] = int32(v)
    if degree_of(v, offsets) > state[at.HUB_DEGREE]:
        unrated_hubs[atomic_next(state, at.UNRATED_HUBS)] = int32(v)
    return v


@device
def cached_block(v, cached, block_weight, open_below, destinations, state):
    """Where v goes if its cache tells: its best block, or one by chance if it touches none.

    NONE if its best block has no room.
    """
    block = cached[v]
    if block < NONE:
        block = failed(block)
    if block == NONE:
        block = destinations[chance(v, state) % state[at.DESTINATIONS]]
    elif block_weight[block] >= open_below[block] + state[at.SLACK]:
        block = int32(NONE)
    return block


@device
def rate_by_cache(
    v, offsets, vertex_weights, part, cached, gain, block_weight, open_below, destinations, wish,
    slot_of, bucket_weight, slot_weight, sub_buckets, unrated_list, unrated_hubs, state,
):
    """Rate v if the cache tells what it loses, else list it.

    Strong rebalancing has no slightly heavy blocks, so the loss is what the cache says.
    """
    block = cached_block(v, cached, block_weight, open_below, destinations, state)
    if block == NONE:
        list_unrated(v, offsets, unrated_list, unrated_hubs, state)
    else:
        wish[v] = block
        enter_bucket(v, -gain[v], value_or(vertex_weights, v, 1), part, slot_of, bucket_weight,
                     slot_weight, sub_buckets, state)
    return v


@kernel
def list_eager_leavers(
    i, eager_list, offsets, vertex_weights, fixed, part, cached, gain, block_weight, limits, means,
    open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, leave_list,
    unrated_list, unrated_hubs, state,
):
    """List an eager vertex if its block is slightly too heavy: all that lose nothing are eager."""
    v = eager_vertex(i, eager_list, state)
    if may_leave(v, True, vertex_weights, fixed, part, block_weight, limits, means, state):
        leave_list[atomic_next(state, at.LEAVERS)] = v
        rate_by_cache(v, offsets, vertex_weights, part, cached, gain, block_weight, open_below,
                      destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets,
                      unrated_list, unrated_hubs, state)


@device
def is_leaver(
    v, vertex_weights, fixed, part, listed, block_weight, limits, means, scope, state
):
    """Whether v on a boundary, which is not eager, may leave a block that needs such vertices.

    Such a block need not look at its inner vertices: those lose most, and on a mesh they are many.
    """
    wanted = REST if state[at.SHORT] != 0 else ALL
    result = scope_of(part[v], scope, state) == wanted and listed[v] & IS_EAGER == 0
    if result:
        result = may_leave(v, True, vertex_weights, fixed, part, block_weight, limits, means, state)
    return result


@device
def looks_at_others(state):
    """Whether vertices that are not eager are looked at now."""
    return state[at.WIDE] != 0 or state[at.SHORT] != 0 or state[at.LISTED] <= FEW


@kernel
def list_other_leavers(
    i, boundary, offsets, vertex_weights, fixed, part, cached, gain, listed, block_weight, limits,
    means, open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, scope,
    leave_list, unrated_list, unrated_hubs, state,
):
    """List any other vertex on a boundary if its block is slightly too heavy and needs it."""
    if looks_at_others(state) and i < state[at.LISTED]:
        v = listed_vertex(i, boundary, state)
        if is_leaver(v, vertex_weights, fixed, part, listed, block_weight, limits, means, scope,
                     state):
            leave_list[atomic_next(state, at.LEAVERS)] = v
            rate_by_cache(v, offsets, vertex_weights, part, cached, gain, block_weight, open_below,
                          destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets,
                          unrated_list, unrated_hubs, state)


@device
def append_leavers(chosen, first, boundary, leave_list, state):
    """Append the listed vertices first + lane() + j * team_size() for each bit j of `chosen`.

    All lanes of a team together; returns how many they append.
    """
    until = team_scan(int64(popcount(uint64(chosen))))
    total = team_last(until)
    begin = int64(0)
    if lane() == 0 and total > 0:
        begin = atomic_add(state, at.LEAVERS, total)
    place = team_sum(begin) + until
    left = chosen
    while left != 0:
        place -= 1
        j = first + lane() + ctz(uint64(left)) * team_size()
        leave_list[place] = listed_vertex(j, boundary, state)
        left &= left - 1
    return total


@kernel
def gather_other_leavers(
    i, boundary, vertex_weights, fixed, part, listed, block_weight, limits, means, scope,
    leave_list, state,
):
    """List those of batch i that `list_other_leavers` would, to be rated afterwards."""
    first = int64(i) * BATCH
    end = min(first + BATCH, state[at.LISTED])
    while looks_at_others(state) and first < end:
        chosen = int64(0)
        for j in range(ROUNDS):
            place = first + lane() + j * team_size()
            if place < end:
                v = listed_vertex(place, boundary, state)
                if is_leaver(v, vertex_weights, fixed, part, listed, block_weight, limits, means,
                             scope, state):
                    chosen |= int64(1) << j
        append_leavers(chosen, first, boundary, leave_list, state)
        first += ROUNDS * team_size()


@kernel
def rate_gathered(
    i, leave_list, offsets, vertex_weights, part, cached, gain, listed, block_weight, limits, means,
    open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, unrated_list,
    unrated_hubs, state,
):
    """Rate vertex i of those that may leave, if it has only been listed so far."""
    v = leave_list[i]
    if i >= state[at.RATED] and listed[v] & IS_EAGER == 0:
        if not is_far(part[v], block_weight, limits, means, state):
            rate_by_cache(v, offsets, vertex_weights, part, cached, gain, block_weight, open_below,
                          destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets,
                          unrated_list, unrated_hubs, state)


@kernel
def list_far_leavers(
    v, offsets, vertex_weights, fixed, part, block_weight, limits, means, leaving, leave_list,
    unrated_list, unrated_hubs, state,
):
    """List v if its block is far too heavy, or in strong rebalancing too heavy."""
    leaving[v] = 0
    if may_leave(v, False, vertex_weights, fixed, part, block_weight, limits, means, state):
        leave_list[atomic_next(state, at.LEAVERS)] = int32(v)
        list_unrated(v, offsets, unrated_list, unrated_hubs, state)
