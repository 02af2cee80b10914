"""Best destinations of vertices, counted from the blocks of their neighbours (Jet, section 4.1).

Each vertex caches its best destination, below zero where it fails Jet's filter, and the gain of
going there; the cache holds until a neighbour moves.  The paper keeps a row of connectivity for
every vertex up to date; counting the neighbours of the few vertices beside a move afresh takes no
memory and fewer dependent accesses.

Each kernel is for vertices with few neighbours, for those with many, or for hubs; they differ in
the way in which these are counted (`connectivity.py`).
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import (
    ON_BOUNDARY,
    has_low_degree,
    is_eager,
    is_for,
    list_eager,
    list_vertex,
)
from portpart.algorithms.refinement.connectivity import COUNTED, Way, degree_of, way_for_few
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    Word,
    atomic_next,
    ctz,
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_max,
    team_size,
    team_sum,
    team_sync,
    uint64,
    value_or,
)
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NONE = -1
NEVER = -2
LOWEST = -(2**63)

COUNTING_TEAM = 32
"""Lanes that count the neighbours of a vertex in scratch memory."""


def most_arcs(team: int) -> int:
    """Most arcs of a vertex that is not a hub, where `team` lanes work on others."""
    return max(256, 32 * team)


@kernel
def begin_vertex(
    v, offsets, part, best, cached, gain, moved_in, locked_in, touched, dirty, dirty_list, listed,
    boundary, unsaved, hubs, state,
):
    """Nothing is locked; destinations are to be found, but not inside blocks."""
    best[v] = part[v]
    cached[v] = int32(NONE)
    gain[v] = 0
    moved_in[v] = int32(NEVER)
    locked_in[v] = int32(NEVER)
    dirty[v] = int32(0)
    listed[v] = int8(0)
    unsaved[v] = int8(0)
    leaves_for_little = has_low_degree(v, offsets, state)
    if leaves_for_little:
        list_vertex(v, listed, boundary, state)
    if leaves_for_little or touched[v] != 0:
        dirty[v] = int32(1)
        dirty_list[atomic_next(state, at.MARKED)] = int32(v)
    if degree_of(v, offsets) > state[at.HUB_DEGREE]:
        hubs[atomic_next(state, at.HUBS)] = int32(v)


@device
def is_on_boundary(v, offsets, targets, weights, part):
    """Whether an arc of positive weight leaves v's block; all lanes of a team together."""
    here = part[v]
    outside = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        if part[targets[arc]] != here:
            outside += value_or(weights, arc, 1)
    return team_sum(outside) > 0


@device
def failed(block):
    """What the cache holds of a best destination that fails the filter; and that from this."""
    return int32(-2 - block)


@cache
def cache_destination(way: Way) -> DeviceFunction:
    """Device function for a way to count neighbours."""
    bring, number, block_of, weight_of = way.functions

    @device
    def cache_destination(
        v, offsets, targets, weights, part, heads, counts, order, dirty, cached, gain, listed,
        boundary, eager_list, fixed, state, filter_ratio,
    ):
        """Cache the best destination of v and its gain, and whether it passes Jet's filter (4.3).

        Equal connectivity: a hash of vertex and block decides.  Fixed vertices fail.  Of a vertex
        in the interior, which is not on the list, nothing is known.  All lanes of a team together.
        """
        crosses = listed[v] & ON_BOUNDARY != 0
        if not crosses:
            crosses = is_on_boundary(v, offsets, targets, weights, part)
        here = part[v]
        own = int64(0)
        best = int64(0)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        first = int64(0)
        while crosses and first < state[at.BLOCKS]:
            end = bring(v, first, offsets, targets, weights, part, heads, counts, order, state)
            for j in range(lane(), number(v, first, end, offsets, counts), team_size()):
                block = block_of(j, v, first, end, offsets, targets, part, heads, order)
                weight = weight_of(j, v, block, first, end, offsets, heads, counts, order)
                if block == here:
                    own += weight
                elif weight >= best and weight > 0:
                    hashed = pair_hash(v, block, state[at.SEED])
                    if weight > best or hashed > best_hash:
                        best = weight
                        best_hash = hashed
                        best_block = block
            team_sync()
            first = end
        own = team_sum(own)
        top = team_max(best)
        best_block = team_winner(best, best_hash, best_block)
        if lane() == 0:
            passes = top >= own or own - top < int64(filter_ratio * float64(own))
            passes = passes and value_or(fixed, v, NONE) == NONE
            cached[v] = best_block if passes else failed(best_block)
            gain[v] = top - own
            dirty[v] = int32(0)
            if crosses:
                list_vertex(v, listed, boundary, state)
                if is_eager(v, cached, gain):
                    list_eager(v, listed, eager_list, state)
        return top

    return cache_destination


@cache
def choose_destination(counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`.

    A GPU adds 32-bit numbers in scratch memory much faster than 64-bit ones.
    """
    way = way_for_few(most)
    refresh, num_heads, num_counts, num_order = cache_destination(way), *way.scratch

    @kernel
    def choose_destination(
        i, dirty_list, offsets, targets, weights, part, dirty, cached, gain, listed, boundary,
        eager_list, fixed, state, filter_ratio, lone,
    ):
        """Bring the destination of a vertex with few neighbours up to date."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        v = dirty_list[i]
        if is_for(lone, state[at.DIRTY], state) and degree_of(v, offsets) <= state[at.FEW_ARCS]:
            refresh(v, offsets, targets, weights, part, heads, counts, order, dirty, cached, gain,
                    listed, boundary, eager_list, fixed, state, filter_ratio)

    return choose_destination


@device
def chosen_of_group(i, dirty_list, offsets, state):
    """A bit for each dirty vertex of group i that has many neighbours, unless it is a hub.

    Seldom many have: a team looks at several at once and works on those.  All lanes together.
    """
    first = i * state[at.GROUP]
    chosen = int64(0)
    if lane() < state[at.GROUP] and first + lane() < state[at.DIRTY]:
        degree = degree_of(dirty_list[first + lane()], offsets)
        if degree > state[at.FEW_ARCS] and degree <= state[at.HUB_DEGREE]:
            chosen = int64(1) << lane()
    return team_sum(chosen)


@cache
def choose_destination_of_many(counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours; weights are added up as `counter`."""
    refresh, num_heads, num_counts, num_order = cache_destination(COUNTED), *COUNTED.scratch

    @kernel
    def choose_destination_of_many(
        i, dirty_list, offsets, targets, weights, part, dirty, cached, gain, listed, boundary,
        eager_list, fixed, state, filter_ratio,
    ):
        """Bring those of group i that have many neighbours up to date, unless they are hubs."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        chosen = chosen_of_group(i, dirty_list, offsets, state)
        while chosen != 0:
            v = dirty_list[i * state[at.GROUP] + ctz(uint64(chosen))]
            refresh(v, offsets, targets, weights, part, heads, counts, order, dirty, cached, gain,
                    listed, boundary, eager_list, fixed, state, filter_ratio)
            chosen &= chosen - 1

    return choose_destination_of_many


@cache
def choose_destination_of_hub(counter: Word) -> Kernel:
    """The kernel for hubs; weights are added up as numbers of `counter`."""
    refresh, num_heads, num_counts, num_order = cache_destination(COUNTED), *COUNTED.scratch

    @kernel
    def choose_destination_of_hub(
        i, hubs, offsets, targets, weights, part, dirty, cached, gain, listed, boundary,
        eager_list, fixed, state, filter_ratio,
    ):
        """Bring the destination of a hub up to date."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        v = hubs[i]
        if dirty[v] != 0:
            refresh(v, offsets, targets, weights, part, heads, counts, order, dirty, cached, gain,
                    listed, boundary, eager_list, fixed, state, filter_ratio)

    return choose_destination_of_hub
