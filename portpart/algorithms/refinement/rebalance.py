"""Jetrw and Jetrs: weak and strong rebalancing (Jet, section 4.2, algorithm 4.3).

Vertices of blocks that are too heavy are rated by what a move would lose; the cheapest leave
(`buckets.py`).  Weak: every vertex goes to its best connected block among those with room; what
label propagation has cached tells most of them.  Strong: the leaving vertices, in the order of
their ids, fill the room of the blocks one after the other (the cookie cutter).
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.buckets import (
    ALL,
    REST,
    chance,
    empty_slot,
    enter_bucket,
    is_far,
    scope_of,
)
from portpart.algorithms.refinement.destinations import (
    CAPACITY,
    candidate_block,
    candidate_weight,
    count_neighbours,
    degree_of,
    failed,
    num_candidates,
)
from portpart.algorithms.refinement.lists import FEW, IS_EAGER, eager_vertex, listed_vertex
from portpart.backends.language import (
    Kernel,
    Word,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_last,
    team_max,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NONE = -1
LOWEST = -(2**63)


@device
def list_destinations(block_weight, open_below, destinations, room, state):
    """List the blocks with room in their order, and where the room of each one starts.

    All lanes of one team together; returns the number of blocks listed.
    """
    listed = int64(0)
    total = int64(0)
    base = int64(0)
    blocks = state[at.BLOCKS]
    while base < blocks:
        b = base + lane()
        free = int64(0)
        if b < blocks:
            free = max(int64(0), open_below[b] + state[at.SLACK] - block_weight[b])
        opens = int64(0)
        if free > 0:
            opens = int64(1)
        place = team_scan(opens)
        until = team_scan(free)
        if free > 0:
            destinations[listed + place - 1] = int32(b)
            room[listed + place - 1] = total + until - free
        listed += team_last(place)
        total += team_last(until)
        base += team_size()
    if lane() == 0:
        room[listed] = total
        state[at.DESTINATIONS] = listed
    return listed


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
def list_leaver(
    v, offsets, vertex_weights, fixed, part, cached, gain, block_weight, limits, means, open_below,
    destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, leave_list, unrated_list,
    unrated_hubs, state,
):
    """List v if its block is slightly too heavy; rate it, too, if the cache tells what it loses.

    Strong rebalancing has no slightly heavy blocks, so the loss is what the cache says.
    """
    if may_leave(v, True, vertex_weights, fixed, part, block_weight, limits, means, state):
        leave_list[atomic_next(state, at.LEAVERS)] = v
        block = cached_block(v, cached, block_weight, open_below, destinations, state)
        if block == NONE:
            list_unrated(v, offsets, unrated_list, unrated_hubs, state)
        else:
            wish[v] = block
            enter_bucket(v, -gain[v], value_or(vertex_weights, v, 1), part, slot_of,
                         bucket_weight, slot_weight, sub_buckets, state)
    return v


@kernel
def list_eager_leavers(
    i, eager_list, offsets, vertex_weights, fixed, part, cached, gain, block_weight, limits, means,
    open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, leave_list,
    unrated_list, unrated_hubs, state,
):
    """List an eager vertex if its block is slightly too heavy: all that lose nothing are eager."""
    list_leaver(eager_vertex(i, eager_list, state), offsets, vertex_weights, fixed, part, cached,
                gain, block_weight, limits, means, open_below, destinations, wish, slot_of,
                bucket_weight, slot_weight, sub_buckets, leave_list, unrated_list, unrated_hubs,
                state)


@kernel
def list_other_leavers(
    i, boundary, offsets, vertex_weights, fixed, part, cached, gain, listed, block_weight, limits,
    means, open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, scope,
    leave_list, unrated_list, unrated_hubs, state,
):
    """List any other vertex on a boundary if its block is slightly too heavy and needs it.

    Such a block need not look at its inner vertices: those lose most, and on a mesh they are many.
    """
    if state[at.WIDE] != 0 or state[at.SHORT] != 0 or state[at.LISTED] <= FEW:
        v = listed_vertex(i, boundary, state)
        wanted = REST if state[at.SHORT] != 0 else ALL
        if scope_of(part[v], scope, state) == wanted and listed[v] & IS_EAGER == 0:
            list_leaver(v, offsets, vertex_weights, fixed, part, cached, gain, block_weight, limits,
                        means, open_below, destinations, wish, slot_of, bucket_weight, slot_weight,
                        sub_buckets, leave_list, unrated_list, unrated_hubs, state)


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


@device
def compared_with(best, total, touched, state):
    """The connectivity that a loss is measured against."""
    result = best
    if state[at.STRONG] != 0 and touched > 0:
        result = total // touched
    return result


@device
def rate(
    v, offsets, targets, weights, vertex_weights, part, block_weight, open_below, heads,
    counts, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
):
    """Find destination and loss of a vertex that may leave, and its bucket.

    Weak: the loss is measured against the best destination (equation 4.9), strong: against the
    mean of the destinations that v touches (equation 4.10).  A vertex that touches none goes to
    one chosen by a hash.  All lanes of a team together.
    """
    own = int64(0)
    best = int64(0)
    best_hash = int64(LOWEST)
    best_block = int32(NONE)
    touched = int64(0)
    total = int64(0)
    first = int64(0)
    while first < state[at.BLOCKS]:
        end = count_neighbours(v, first, offsets, targets, weights, part, heads, counts,
                               state)
        for j in range(lane(), num_candidates(v, first, end, offsets, state), team_size()):
            block = candidate_block(j, v, first, end, offsets, targets, part, heads, state)
            weight = candidate_weight(j, v, block, first, end, offsets, heads, counts, state)
            if block == part[v]:
                own += weight
            elif weight > 0 and block_weight[block] < open_below[block] + state[at.SLACK]:
                touched += 1
                total += weight
                hashed = pair_hash(v, block, state[at.SEED])
                if weight > best or (weight == best and hashed > best_hash):
                    best = weight
                    best_hash = hashed
                    best_block = block
        team_sync()
        first = end
    own = team_sum(own)
    touched = team_sum(touched)
    total = team_sum(total)
    top = team_max(best)
    best_block = team_winner(best, best_hash, best_block)
    if lane() == 0:
        if best_block == NONE:
            best_block = destinations[chance(v, state) % state[at.DESTINATIONS]]
        wish[v] = best_block
        loss = own - compared_with(top, total, touched, state)
        enter_bucket(v, loss, value_or(vertex_weights, v, 1), part, slot_of, bucket_weight,
                     slot_weight, sub_buckets, state)
    return top


@cache
def rate_leaving(counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`."""
    capacity = max(1, most)

    @kernel
    def rate_leaving(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
    ):
        """Rate a vertex with few neighbours."""
        heads = team_array(int32, capacity)
        counts = team_array(counter, capacity)
        v = unrated_list[i]
        if degree_of(v, offsets) <= state[at.PAIRWISE]:
            rate(v, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
                 heads, counts, destinations, wish, slot_of, bucket_weight, slot_weight,
                 sub_buckets, state)

    return rate_leaving


@cache
def rate_leaving_of_many(counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours; weights are added up as `counter`."""

    @kernel
    def rate_leaving_of_many(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
    ):
        """Rate a vertex, unless it is a hub."""
        heads = team_array(int32, 1)  # nothing is compared
        counts = team_array(counter, CAPACITY)
        v = unrated_list[i]
        degree = degree_of(v, offsets)
        if degree > state[at.PAIRWISE] and degree <= state[at.HUB_DEGREE]:
            rate(v, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
                 heads, counts, destinations, wish, slot_of, bucket_weight, slot_weight,
                 sub_buckets, state)

    return rate_leaving_of_many


@cache
def rate_leaving_of_hub(counter: Word) -> Kernel:
    """The kernel for hubs; weights are added up as numbers of `counter`."""

    @kernel
    def rate_leaving_of_hub(
        i, unrated_hubs, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
    ):
        """Rate a hub."""
        heads = team_array(int32, 1)  # nothing is compared
        counts = team_array(counter, CAPACITY)
        rate(unrated_hubs[i], offsets, targets, weights, vertex_weights, part, block_weight,
             open_below, heads, counts, destinations, wish, slot_of, bucket_weight, slot_weight,
             sub_buckets, state)

    return rate_leaving_of_hub


@kernel
def leave_weakly(
    i, leave_list, part, slot_of, threshold, bucket_weight, slot_weight, sub_buckets, moved_in,
    move_list, state,
):
    """Weak rebalancing: a vertex up to the threshold moves to its own best destination.

    The buckets are emptied.
    """
    v = leave_list[i]
    slot = empty_slot(part[v], int64(slot_of[v]), bucket_weight, slot_weight, sub_buckets)
    if slot <= threshold[part[v]]:
        moved_in[v] = int32(state[at.ITERATION])
        move_list[atomic_next(state, at.MOVES)] = v


@kernel
def weigh_leaving(
    i, leave_list, vertex_weights, part, slot_of, threshold, bucket_weight, slot_weight,
    sub_buckets, leaving,
):
    """Strong rebalancing: leaving[v] = weight of a vertex up to the threshold.

    The buckets are emptied.
    """
    v = leave_list[i]
    slot = empty_slot(part[v], int64(slot_of[v]), bucket_weight, slot_weight, sub_buckets)
    if slot <= threshold[part[v]]:
        leaving[v] = value_or(vertex_weights, v, 1)


@kernel
def leave_strongly(
    i, leave_list, leaving, position, destinations, room, wish, moved_in, move_list, state
):
    """A leaving vertex goes to the block whose room covers its position among the leaving."""
    v = leave_list[i]
    low = int64(0)
    high = state[at.DESTINATIONS]
    if leaving[v] == 0 or position[v] >= room[high]:
        return
    while high - low > 1:
        middle = (low + high) >> 1
        if room[middle] <= position[v]:
            low = middle
        else:
            high = middle
    wish[v] = destinations[low]
    moved_in[v] = int32(state[at.ITERATION])
    move_list[atomic_next(state, at.MOVES)] = v
