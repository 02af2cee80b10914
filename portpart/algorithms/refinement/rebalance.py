"""Jetrw and Jetrs: weak and strong rebalancing (Jet, section 4.2, algorithm 4.3).

Vertices of blocks that are too heavy are rated by what a move would lose; the cheapest leave
(`loss_buckets.py`).  Weak: every vertex goes to its best connected block among those with room;
what label propagation has cached tells most of them.  Strong: the leaving vertices, in the order of
their ids, fill the room of the blocks one after the other (the cookie cutter).
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.connectivity import COUNTED, Way, degree_of, way_for_few
from portpart.algorithms.refinement.loss_buckets import (
    chance,
    empty_slot,
    enter_bucket,
)
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    Word,
    atomic_next,
    device,
    int8,
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
def compared_with(best, total, touched, state):
    """The connectivity that a loss is measured against."""
    result = best
    if state[at.STRONG] != 0 and touched > 0:
        result = total // touched
    return result


@cache
def rate(way: Way) -> DeviceFunction:
    """Device function for a way to count neighbours."""
    bring, number, block_of, weight_of = way.functions

    @device
    def rate(
        v, offsets, targets, weights, vertex_weights, part, block_weight, open_below, heads,
        counts, order, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
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
            end = bring(v, first, offsets, targets, weights, part, heads, counts, order, state)
            for j in range(lane(), number(v, first, end, offsets, counts), team_size()):
                block = block_of(j, v, first, end, offsets, targets, part, heads, order)
                weight = weight_of(j, v, block, first, end, offsets, heads, counts, order)
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

    return rate


@cache
def rate_leaving(counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`."""
    way = way_for_few(most)
    find, num_heads, num_counts, num_order = rate(way), *way.scratch

    @kernel
    def rate_leaving(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
    ):
        """Rate a vertex with few neighbours."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        v = unrated_list[i]
        if degree_of(v, offsets) <= state[at.FEW_ARCS]:
            find(v, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
                 heads, counts, order, destinations, wish, slot_of, bucket_weight, slot_weight,
                 sub_buckets, state)

    return rate_leaving


@cache
def rate_leaving_of_many(counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours; weights are added up as `counter`."""
    find, num_heads, num_counts, num_order = rate(COUNTED), *COUNTED.scratch

    @kernel
    def rate_leaving_of_many(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
    ):
        """Rate a vertex, unless it is a hub."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        v = unrated_list[i]
        degree = degree_of(v, offsets)
        if degree > state[at.FEW_ARCS] and degree <= state[at.HUB_DEGREE]:
            find(v, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
                 heads, counts, order, destinations, wish, slot_of, bucket_weight, slot_weight,
                 sub_buckets, state)

    return rate_leaving_of_many


@cache
def rate_leaving_of_hub(counter: Word) -> Kernel:
    """The kernel for hubs; weights are added up as numbers of `counter`."""
    find, num_heads, num_counts, num_order = rate(COUNTED), *COUNTED.scratch

    @kernel
    def rate_leaving_of_hub(
        i, unrated_hubs, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, state,
    ):
        """Rate a hub."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        find(unrated_hubs[i], offsets, targets, weights, vertex_weights, part, block_weight,
             open_below, heads, counts, order, destinations, wish, slot_of, bucket_weight,
             slot_weight, sub_buckets, state)

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
