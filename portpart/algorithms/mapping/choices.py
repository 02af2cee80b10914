"""What vertices want: to gain, where blocks are balanced, and to leave blocks that are too heavy.

Kernels for a range of degrees, with arcs gone through or counted (`destinations.py`).
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.mapping.destinations import (
    BLOCK,
    COST,
    HERE,
    NONE,
    OWN,
    TOTAL,
    WORDS,
    failed,
    look_along_arcs,
    look_by_counts,
)
from portpart.algorithms.mapping.distances import DISTANCE
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.buckets import chance, enter_bucket, is_far
from portpart.algorithms.refinement.destinations import degree_of, is_on_boundary
from portpart.algorithms.refinement.lists import (
    ON_BOUNDARY,
    is_eager,
    list_eager,
    list_vertex,
)
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    Word,
    atomic_next,
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    value_or,
)

DESTINATIONS = at.DESTINATIONS
LEAVERS = at.LEAVERS
SLACK = at.SLACK
STRONG = at.STRONG


@cache
def keep_choice(kind: str) -> DeviceFunction:
    """Device function for a kind of distance."""
    distance = DISTANCE[kind]

    @device
    def keep_choice(v, found, part, dirty, cached, gain, listed, boundary, eager_list, codes,
                    shifts, lengths, longest, filter_ratio, state):
        """Cache v's best destination, its gain, and whether it passes the filter.  One lane.

        With a filter ratio c of 0 no move may lose, as in the paper.  Else a loss is compared with
        what v's arcs inside its block gain in distance: where all distances are 1 that is Jet's
        filter.
        """
        block = int32(found[BLOCK])
        cost = longest * found[TOTAL]
        kept = int64(0)
        if block != NONE:
            cost = found[COST]
            kept = found[OWN] * distance(part[v], block, codes, shifts, lengths)
        saved = found[HERE] - cost
        passes = saved >= 0 or -saved < int64(filter_ratio * float64(kept))
        cached[v] = block if passes else failed(block)
        gain[v] = saved
        dirty[v] = int32(0)
        list_vertex(v, listed, boundary, state)
        if is_eager(v, cached, gain):
            list_eager(v, listed, eager_list, state)
        return saved

    return keep_choice


@cache
def choose_along_arcs(kind: str, counter: Word, capacity: int) -> Kernel:
    """The kernel for few arcs."""
    look, keep, room = look_along_arcs(kind, capacity), keep_choice(kind), max(1, capacity)

    @kernel
    def choose_along_arcs(
        i, least, most, dirty_list, offsets, targets, weights, part, block_weight, open_below,
        dirty, cached, gain, listed, boundary, eager_list, codes, shifts, lengths, longest,
        filter_ratio, state,
    ):
        """Bring the destination of a vertex of degree least ... most up to date."""
        heads = team_array(int32, room)
        counts = team_array(counter, room)
        found = team_array(int64, WORDS)
        v = dirty_list[i]
        degree = degree_of(v, offsets)
        if degree >= least and degree <= most:
            crosses = listed[v] & ON_BOUNDARY != 0
            if not crosses:
                crosses = is_on_boundary(v, offsets, targets, weights, part)
            if crosses:
                look(v, 0, offsets, targets, weights, part, block_weight, open_below, heads, counts,
                     codes, shifts, lengths, state, found)
                if lane() == 0:
                    keep(v, found, part, dirty, cached, gain, listed, boundary, eager_list, codes,
                         shifts, lengths, longest, filter_ratio, state)
            elif lane() == 0:
                cached[v] = int32(NONE)
                gain[v] = 0
                dirty[v] = int32(0)

    return choose_along_arcs


@cache
def choose_by_counts(kind: str, counter: Word, capacity: int) -> Kernel:
    """The kernel for many arcs, and no more than `capacity` blocks."""
    look, keep, room = look_by_counts(kind), keep_choice(kind), capacity + 1

    @kernel
    def choose_by_counts(
        i, least, most, dirty_list, offsets, targets, weights, part, block_weight, open_below,
        dirty, cached, gain, listed, boundary, eager_list, codes, shifts, lengths, sizes, longest,
        filter_ratio, state,
    ):
        """Bring the destination of a vertex of degree least ... most up to date."""
        sums = team_array(counter, room)
        found = team_array(int64, WORDS)
        v = dirty_list[i]
        degree = degree_of(v, offsets)
        if degree >= least and degree <= most:
            crosses = listed[v] & ON_BOUNDARY != 0
            if not crosses:
                crosses = is_on_boundary(v, offsets, targets, weights, part)
            if crosses:
                look(v, 0, offsets, targets, weights, part, block_weight, open_below, sums, lengths,
                     sizes, state, found)
                if lane() == 0:
                    keep(v, found, part, dirty, cached, gain, listed, boundary, eager_list, codes,
                         shifts, lengths, longest, filter_ratio, state)
            elif lane() == 0:
                cached[v] = int32(NONE)
                gain[v] = 0
                dirty[v] = int32(0)

    return choose_by_counts


@device
def may_leave(v, vertex_weights, part, listed, block_weight, limits, means, state):
    """Whether v's block is too heavy, and v not too heavy to leave it.

    A block that is slightly too heavy need not look at its inner vertices: those lose most.
    """
    block = part[v]
    result = block_weight[block] > limits[block] + state[SLACK] and state[DESTINATIONS] > 0
    if result:
        excess = block_weight[block] - means[block]
        far = is_far(block, block_weight, limits, means, state)
        weight = value_or(vertex_weights, v, 1)
        heaviest = excess + excess // 2 if state[STRONG] == 0 else 2 * excess
        result = (far or listed[v] & ON_BOUNDARY != 0) and weight > 0 and weight <= heaviest
    return result


@kernel
def list_leavers(
    v, vertex_weights, part, listed, block_weight, limits, means, leaving, leave_list, state
):
    """List v if it may leave its block.  In any order."""
    leaving[v] = 0
    if may_leave(v, vertex_weights, part, listed, block_weight, limits, means, state):
        leave_list[atomic_next(state, LEAVERS)] = int32(v)


@device
def keep_leaver(v, found, vertex_weights, part, destinations, wish, slot_of, bucket_weight,
                slot_weight, sub_buckets, longest, state):
    """Note where v would go and put it into the bucket of its loss.  One lane.

    Whoever touches no block with room goes to one by chance, as everyone does in strong
    rebalancing, and counts as far from all of its neighbours there.
    """
    block = int32(found[BLOCK])
    cost = found[COST]
    if block == NONE or state[STRONG] != 0:
        cost = longest * found[TOTAL]
    if block == NONE:
        block = destinations[chance(v, state) % state[DESTINATIONS]]
    wish[v] = block
    return enter_bucket(v, cost - found[HERE], value_or(vertex_weights, v, 1), part, slot_of,
                        bucket_weight, slot_weight, sub_buckets, state)


@cache
def rate_along_arcs(kind: str, counter: Word, capacity: int) -> Kernel:
    """The kernel for few arcs."""
    look, room = look_along_arcs(kind, capacity), max(1, capacity)

    @kernel
    def rate_along_arcs(
        i, least, most, leave_list, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, codes,
        shifts, lengths, longest, state,
    ):
        """Rate a vertex of degree least ... most that may leave."""
        heads = team_array(int32, room)
        counts = team_array(counter, room)
        found = team_array(int64, WORDS)
        v = leave_list[i]
        degree = degree_of(v, offsets)
        if degree >= least and degree <= most:
            look(v, 1, offsets, targets, weights, part, block_weight, open_below, heads, counts,
                 codes, shifts, lengths, state, found)
            if lane() == 0:
                keep_leaver(v, found, vertex_weights, part, destinations, wish, slot_of,
                            bucket_weight, slot_weight, sub_buckets, longest, state)

    return rate_along_arcs


@cache
def rate_by_counts(kind: str, counter: Word, capacity: int) -> Kernel:
    """The kernel for many arcs, and no more than `capacity` blocks."""
    look, room = look_by_counts(kind), capacity + 1

    @kernel
    def rate_by_counts(
        i, least, most, leave_list, offsets, targets, weights, vertex_weights, part, block_weight,
        open_below, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, lengths,
        sizes, longest, state,
    ):
        """Rate a vertex of degree least ... most that may leave."""
        sums = team_array(counter, room)
        found = team_array(int64, WORDS)
        v = leave_list[i]
        degree = degree_of(v, offsets)
        if degree >= least and degree <= most:
            look(v, 1, offsets, targets, weights, part, block_weight, open_below, sums, lengths,
                 sizes, state, found)
            if lane() == 0:
                keep_leaver(v, found, vertex_weights, part, destinations, wish, slot_of,
                            bucket_weight, slot_weight, sub_buckets, longest, state)

    return rate_by_counts
