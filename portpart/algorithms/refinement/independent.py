"""An independent set of vertex moves that gain (G-kway, section 3.2.1 and algorithm 2).

A move is legal if it gains and its destination stays within its limit.  What a vertex gains most
with is cached (`gain_cache.py`); only where that block is full the legal blocks are looked at.
Of adjacent vertices with legal moves the one with the smallest id moves, so that all gains add up.
Beyond the paper, moves that gain nothing are legal if they even out the weights of the two blocks;
they come after those that gain.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.refinement import best_prefix
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import IS_EAGER, eager_vertex, keep_if_eager
from portpart.algorithms.refinement.connectivity import COUNTED, Way, degree_of, way_for_few
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    Word,
    atomic_add,
    atomic_max,
    atomic_next,
    device,
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
    value_or,
)
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NONE = -1
LOWEST = -(2**63)


@device
def has_room(b, weight, block_weight, limits, state):
    """Whether block b stays within its limit with so much more."""
    return block_weight[b] + weight <= limits[b] + state[at.SLACK]


@device
def evens_out(here, there, weight, block_weight):
    """Whether a move leaves the heavier of two blocks lighter."""
    return block_weight[there] + weight < block_weight[here]


@kernel
def begin_sequence(_, sequence):
    """No move gains anything so far."""
    sequence[best_prefix.TOP_GAIN] = 0


@kernel
def choose_legal(
    i, eager_list, offsets, vertex_weights, part, cached, gain, listed, block_weight, limits, legal,
    move_gain, unrated_list, unrated_hubs, zero_gain, state,
):
    """legal[v] = where v gains most, or -1; if there is no room, list v to look at other blocks.

    Only eager vertices may gain.
    """
    v = eager_vertex(i, eager_list, state)
    keep_if_eager(v, cached, gain, listed, eager_list, state)
    block = cached[v]
    weight = value_or(vertex_weights, v, 1)
    found = int32(NONE)
    if block >= 0 and (gain[v] > 0 or zero_gain != 0):
        if has_room(block, weight, block_weight, limits, state):
            if gain[v] > 0 or evens_out(part[v], block, weight, block_weight):
                found = block
                move_gain[v] = gain[v]
        elif gain[v] > 0 and state[at.BLOCKS] > 2:
            unrated_list[atomic_next(state, at.UNRATED)] = v
            if degree_of(v, offsets) > state[at.HUB_DEGREE]:
                unrated_hubs[atomic_next(state, at.UNRATED_HUBS)] = v
    legal[v] = found


@cache
def find_legal(way: Way) -> DeviceFunction:
    """Device function for a way to count neighbours."""
    bring, number, block_of, weight_of = way.functions

    @device
    def find_legal(
        v, offsets, targets, weights, vertex_weights, part, heads, counts, order, block_weight,
        limits, legal, move_gain, zero_gain, state,
    ):
        """legal[v] = the block with room where v gains most, if there is one; a hash breaks ties.

        All lanes of a team together.
        """
        here = part[v]
        size = value_or(vertex_weights, v, 1)
        own = int64(0)
        best = int64(0)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        first = int64(0)
        while first < state[at.BLOCKS]:
            end = bring(v, first, offsets, targets, weights, part, heads, counts, order, state)
            for j in range(lane(), number(v, first, end, offsets, counts), team_size()):
                block = block_of(j, v, first, end, offsets, targets, part, heads, order)
                weight = weight_of(j, v, block, first, end, offsets, heads, counts, order)
                if block == here:
                    own += weight
                elif weight >= best and weight > 0:
                    if has_room(block, size, block_weight, limits, state):
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
        if lane() == 0 and best_block != NONE:
            even = top == own and zero_gain != 0
            if top > own or (even and evens_out(here, best_block, size, block_weight)):
                legal[v] = best_block
                move_gain[v] = top - own
        return top

    return find_legal


@cache
def find_legal_of_few(counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`."""
    way = way_for_few(most)
    find, num_heads, num_counts, num_order = find_legal(way), *way.scratch

    @kernel
    def find_legal_of_few(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight, limits,
        legal, move_gain, zero_gain, state,
    ):
        """Look for a legal destination of a vertex with few neighbours."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        v = unrated_list[i]
        if degree_of(v, offsets) <= state[at.FEW_ARCS]:
            find(v, offsets, targets, weights, vertex_weights, part, heads, counts, order,
                 block_weight, limits, legal, move_gain, zero_gain, state)

    return find_legal_of_few


@cache
def find_legal_of_many(counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours; weights are added up as `counter`."""
    find, num_heads, num_counts, num_order = find_legal(COUNTED), *COUNTED.scratch

    @kernel
    def find_legal_of_many(
        i, unrated_list, offsets, targets, weights, vertex_weights, part, block_weight, limits,
        legal, move_gain, zero_gain, state,
    ):
        """Look for a legal destination of a vertex, unless it is a hub."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        v = unrated_list[i]
        degree = degree_of(v, offsets)
        if degree > state[at.FEW_ARCS] and degree <= state[at.HUB_DEGREE]:
            find(v, offsets, targets, weights, vertex_weights, part, heads, counts, order,
                 block_weight, limits, legal, move_gain, zero_gain, state)

    return find_legal_of_many


@cache
def find_legal_of_hub(counter: Word) -> Kernel:
    """The kernel for hubs; weights are added up as numbers of `counter`."""
    find, num_heads, num_counts, num_order = find_legal(COUNTED), *COUNTED.scratch

    @kernel
    def find_legal_of_hub(
        i, unrated_hubs, offsets, targets, weights, vertex_weights, part, block_weight, limits,
        legal, move_gain, zero_gain, state,
    ):
        """Look for a legal destination of a hub."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        find(unrated_hubs[i], offsets, targets, weights, vertex_weights, part, heads, counts,
             order, block_weight, limits, legal, move_gain, zero_gain, state)

    return find_legal_of_hub


@device
def is_candidate(v, listed, legal):
    """Whether v has a legal move; of vertices that are not eager nothing is known."""
    found = listed[v] & IS_EAGER != 0
    if found:
        found = legal[v] >= 0
    return found


@device
def goes_first(u, v, move_gain):
    """Whether the move of u goes before that of v: one that gains, then the smaller id."""
    first = u < v
    if (move_gain[u] > 0) != (move_gain[v] > 0):
        first = move_gain[u] > 0
    return first


@device
def move_if_first(
    v, offsets, targets, vertex_weights, part, listed, legal, move_gain, moved_in, wish, move_list,
    trial_sums, state, sequence,
):
    """Enter the move of v into the buffer if the move of no neighbour goes first.

    Atomic; the order of the buffer is free.  All lanes of a team together.
    """
    beaten = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        if u != v and is_candidate(u, listed, legal):
            beaten |= int64(goes_first(u, v, move_gain))
    beaten = team_max(beaten)
    if lane() == 0 and beaten == 0:
        moved_in[v] = int32(state[at.ITERATION])
        wish[v] = legal[v]
        move_list[atomic_next(state, at.MOVES)] = int32(v)
        atomic_max(sequence, best_prefix.TOP_GAIN, move_gain[v])
        weight = value_or(vertex_weights, v, 1)
        stripe = int64(v) % state[at.WEIGHT_STRIPES] * state[at.BLOCKS]
        atomic_add(trial_sums, stripe + part[v], -weight)
        atomic_add(trial_sums, stripe + legal[v], weight)
    return beaten


@kernel
def keep_independent(
    i, eager_list, offsets, targets, vertex_weights, part, listed, legal, move_gain, moved_in, wish,
    move_list, trial_sums, state, sequence,
):
    """Keep the move of vertex i if it is first among its neighbours, unless a hub makes it."""
    v = eager_list[state[at.VERTICES] - state[at.EAGER_BEGIN] + i]
    if legal[v] >= 0 and degree_of(v, offsets) <= state[at.HUB_DEGREE]:
        move_if_first(v, offsets, targets, vertex_weights, part, listed, legal, move_gain, moved_in,
                      wish, move_list, trial_sums, state, sequence)


@kernel
def keep_independent_hubs(
    i, hubs, offsets, targets, vertex_weights, part, listed, legal, move_gain, moved_in, wish,
    move_list, trial_sums, state, sequence,
):
    """Keep the move of a hub if it has one and is first among its neighbours."""
    v = hubs[i]
    if is_candidate(v, listed, legal):
        move_if_first(v, offsets, targets, vertex_weights, part, listed, legal, move_gain, moved_in,
                      wish, move_list, trial_sums, state, sequence)
