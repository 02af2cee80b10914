"""What vertices want: to gain, where blocks are balanced, and to leave blocks that are too heavy.

Each kernel is for vertices with few neighbours, whose arcs are gone through for each candidate, for
those with many, or for hubs (`gain_cache.py`).
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
    look_at_few,
    look_at_many,
)
from portpart.algorithms.objectives.distances import DISTANCE_BY_ARRAYS as DISTANCE
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import (
    ON_BOUNDARY,
    is_eager,
    is_for,
    list_eager,
    list_vertex,
)
from portpart.algorithms.refinement.connectivity import degree_of
from portpart.algorithms.refinement.gain_cache import chosen_of_group, failed, is_on_boundary
from portpart.algorithms.refinement.loss_buckets import chance, enter_bucket
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    Word,
    ctz,
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    uint64,
    value_or,
)


@cache
def keep_choice(kind: str) -> DeviceFunction:
    """Device function for a kind of distance."""
    distance = DISTANCE[kind]

    @device
    def keep_choice(v, found, part, dirty, cached, gain, listed, boundary, eager_list, codes,
                    shifts, lengths, longest, filter_ratio, fixed, state):
        """Cache v's best destination, its gain, and whether it passes the filter.  One lane.

        With a filter ratio c of 0 no move may lose, as in the paper.  Else a loss is compared with
        what v's arcs inside its block gain in distance: where all distances are 1 that is Jet's
        filter.  Fixed vertices fail.
        """
        block = int32(found[BLOCK])
        cost = longest * found[TOTAL]
        kept = int64(0)
        if block != NONE:
            cost = found[COST]
            kept = found[OWN] * distance(part[v], block, codes, shifts, lengths)
        saved = found[HERE] - cost
        passes = saved >= 0 or -saved < int64(filter_ratio * float64(kept))
        passes = passes and value_or(fixed, v, NONE) == NONE
        cached[v] = block if passes else failed(block)
        gain[v] = saved
        dirty[v] = int32(0)
        list_vertex(v, listed, boundary, state)
        if is_eager(v, cached, gain):
            list_eager(v, listed, eager_list, state)
        return saved

    return keep_choice


@cache
def cache_destination(kind: str, look: DeviceFunction) -> DeviceFunction:
    """Device function for a kind of distance and a way to look at arcs."""
    keep = keep_choice(kind)

    @device
    def cache_destination(
        v, offsets, targets, weights, part, block_weight, open_below, heads, counts, order, found,
        dirty, cached, gain, listed, boundary, eager_list, codes, shifts, lengths, bounds, longest,
        filter_ratio, fixed, state,
    ):
        """Bring the destination of v up to date.  All lanes of a team together.

        Of a vertex in the interior, which is not on the list, nothing is known.
        """
        crosses = listed[v] & ON_BOUNDARY != 0
        if not crosses:
            crosses = is_on_boundary(v, offsets, targets, weights, part)
        if crosses:
            look(v, 0, offsets, targets, weights, part, block_weight, open_below, heads, counts,
                 order, codes, shifts, lengths, bounds, state, found)
            if lane() == 0:
                keep(v, found, part, dirty, cached, gain, listed, boundary, eager_list, codes,
                     shifts, lengths, longest, filter_ratio, fixed, state)
        elif lane() == 0:
            cached[v] = int32(NONE)
            gain[v] = 0
            dirty[v] = int32(0)
        return crosses

    return cache_destination


@cache
def choose_destination(kind: str, counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`."""
    look, (num_heads, num_counts, num_order) = look_at_few(kind, most)
    refresh = cache_destination(kind, look)

    @kernel
    def choose_destination(
        i, dirty_list, offsets, targets, weights, part, block_weight, open_below, dirty, cached,
        gain, listed, boundary, eager_list, codes, shifts, lengths, bounds, longest, filter_ratio,
        fixed, state, lone,
    ):
        """Bring the destination of a vertex with few neighbours up to date."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        found = team_array(int64, WORDS)
        v = dirty_list[i]
        if is_for(lone, state[at.DIRTY], state) and degree_of(v, offsets) <= state[at.FEW_ARCS]:
            refresh(v, offsets, targets, weights, part, block_weight, open_below, heads, counts,
                    order, found, dirty, cached, gain, listed, boundary, eager_list, codes, shifts,
                    lengths, bounds, longest, filter_ratio, fixed, state)

    return choose_destination


@cache
def choose_destination_of_many(kind: str, counters: int, counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours, and `counters` elements at most."""
    look, room = look_at_many(kind, counters)
    refresh = cache_destination(kind, look)

    @kernel
    def choose_destination_of_many(
        i, dirty_list, offsets, targets, weights, part, block_weight, open_below, dirty, cached,
        gain, listed, boundary, eager_list, codes, shifts, lengths, bounds, longest, filter_ratio,
        fixed, state,
    ):
        """Bring those of group i that have many neighbours up to date, unless they are hubs."""
        heads = team_array(int32, 1)  # arcs are counted, or too many to bring
        counts = team_array(counter, room)
        order = team_array(int8, 1)
        found = team_array(int64, WORDS)
        chosen = chosen_of_group(i, dirty_list, offsets, state)
        while chosen != 0:
            v = dirty_list[i * state[at.GROUP] + ctz(uint64(chosen))]
            refresh(v, offsets, targets, weights, part, block_weight, open_below, heads, counts,
                    order, found, dirty, cached, gain, listed, boundary, eager_list, codes, shifts,
                    lengths, bounds, longest, filter_ratio, fixed, state)
            chosen &= chosen - 1

    return choose_destination_of_many


@cache
def choose_destination_of_hub(kind: str, counters: int, counter: Word) -> Kernel:
    """The kernel for hubs, and `counters` elements at most."""
    look, room = look_at_many(kind, counters)
    refresh = cache_destination(kind, look)

    @kernel
    def choose_destination_of_hub(
        i, hubs, offsets, targets, weights, part, block_weight, open_below, dirty, cached, gain,
        listed, boundary, eager_list, codes, shifts, lengths, bounds, longest, filter_ratio, fixed,
        state,
    ):
        """Bring the destination of a hub up to date."""
        heads = team_array(int32, 1)
        counts = team_array(counter, room)
        order = team_array(int8, 1)
        found = team_array(int64, WORDS)
        v = hubs[i]
        if dirty[v] != 0:
            refresh(v, offsets, targets, weights, part, block_weight, open_below, heads, counts,
                    order, found, dirty, cached, gain, listed, boundary, eager_list, codes, shifts,
                    lengths, bounds, longest, filter_ratio, fixed, state)

    return choose_destination_of_hub


@cache
def rate(look: DeviceFunction) -> DeviceFunction:
    """Device function for a way to look at arcs."""

    @device
    def rate(
        v, offsets, targets, weights, vertex_weights, part, block_weight, open_below, heads, counts,
        order, found, destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, codes,
        shifts, lengths, bounds, longest, state,
    ):
        """Find destination and loss of a vertex that may leave, and its bucket.

        Whoever touches no block with room goes to one by chance, as everyone does in strong
        rebalancing, and counts as far from all of its neighbours there.  All lanes of a team
        together.
        """
        look(v, 1, offsets, targets, weights, part, block_weight, open_below, heads, counts, order,
             codes, shifts, lengths, bounds, state, found)
        if lane() == 0:
            block = int32(found[BLOCK])
            cost = found[COST]
            if block == NONE or state[at.STRONG] != 0:
                cost = longest * found[TOTAL]
            if block == NONE:
                block = destinations[chance(v, state) % state[at.DESTINATIONS]]
            wish[v] = block
            enter_bucket(v, cost - found[HERE], value_or(vertex_weights, v, 1), part, slot_of,
                         bucket_weight, slot_weight, sub_buckets, state)
        return v

    return rate


@cache
def rate_leaving(kind: str, counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`."""
    look, (num_heads, num_counts, num_order) = look_at_few(kind, most)
    find = rate(look)

    @kernel
    def rate_leaving(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
        destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, codes, shifts,
        lengths, bounds, longest, state,
    ):
        """Rate a vertex with few neighbours."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        found = team_array(int64, WORDS)
        v = unrated_list[i]
        if degree_of(v, offsets) <= state[at.FEW_ARCS]:
            find(v, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
                 heads, counts, order, found, destinations, wish, slot_of, bucket_weight,
                 slot_weight, sub_buckets, codes, shifts, lengths, bounds, longest, state)

    return rate_leaving


@cache
def rate_leaving_of_many(kind: str, counters: int, counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours, and `counters` elements at most."""
    look, room = look_at_many(kind, counters)
    find = rate(look)

    @kernel
    def rate_leaving_of_many(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
        destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, codes, shifts,
        lengths, bounds, longest, state,
    ):
        """Rate a vertex, unless it is a hub."""
        heads = team_array(int32, 1)
        counts = team_array(counter, room)
        order = team_array(int8, 1)
        found = team_array(int64, WORDS)
        v = unrated_list[i]
        degree = degree_of(v, offsets)
        if degree > state[at.FEW_ARCS] and degree <= state[at.HUB_DEGREE]:
            find(v, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
                 heads, counts, order, found, destinations, wish, slot_of, bucket_weight,
                 slot_weight, sub_buckets, codes, shifts, lengths, bounds, longest, state)

    return rate_leaving_of_many


@cache
def rate_leaving_of_hub(kind: str, counters: int, counter: Word) -> Kernel:
    """The kernel for hubs, and `counters` elements at most."""
    look, room = look_at_many(kind, counters)
    find = rate(look)

    @kernel
    def rate_leaving_of_hub(
        i, unrated_hubs, offsets, targets, weights, vertex_weights, part, block_weight, open_below,
        destinations, wish, slot_of, bucket_weight, slot_weight, sub_buckets, codes, shifts,
        lengths, bounds, longest, state,
    ):
        """Rate a hub."""
        heads = team_array(int32, 1)
        counts = team_array(counter, room)
        order = team_array(int8, 1)
        found = team_array(int64, WORDS)
        find(unrated_hubs[i], offsets, targets, weights, vertex_weights, part, block_weight,
             open_below, heads, counts, order, found, destinations, wish, slot_of, bucket_weight,
             slot_weight, sub_buckets, codes, shifts, lengths, bounds, longest, state)

    return rate_leaving_of_hub
