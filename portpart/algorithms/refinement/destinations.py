"""Best destinations of vertices, counted from the blocks of their neighbours (Jet, section 4.1).

Each vertex caches its best destination, below zero where it fails Jet's filter, and the gain of
going there; the cache holds until a neighbour moves.  The paper keeps a row of connectivity for
every vertex up to date; counting the neighbours of the few vertices beside a move afresh takes no
memory and fewer dependent accesses.

The candidates of a vertex are the heads of its arcs, compared with each other in the team's scratch
memory, where these are few.  Else the weights into all blocks are added up there, `CAPACITY` blocks
at a time, and the candidates are these blocks or the heads of the arcs, whichever are fewer.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.lists import (
    ON_BOUNDARY,
    has_low_degree,
    is_eager,
    is_for,
    list_eager,
    list_vertex,
)
from portpart.backends.language import (
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
    team_atomic_add,
    team_atomic_cas,
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

CAPACITY = 512
"""Blocks whose weights are counted at a time."""

MOST_PAIRWISE = 24
"""Most neighbours that the lanes of a team compare with each other."""

PAIRWISE_BYTES = 14 * 1024
"""What the blocks and weights of neighbours take at most of a block's scratch memory, beside
counters of 32 bits; a quarter of it beside those of 64 bits."""

LONE_PAIRWISE = 8
"""Most neighbours that one lane compares with each other rather than count in two rounds."""

COUNTING_TEAM = 32
"""Lanes that count the neighbours of a vertex in scratch memory."""

HUB_TEAM = 256
"""Lanes for a hub, a vertex with too many arcs for the lanes that others get."""


def most_pairwise(team: int, widest_team: int, num_blocks: int, counter: Word) -> int:
    """Most neighbours that are compared with each other rather than counted.

    A lone lane always counts, unless that takes several rounds: -1, even where there are none.
    """
    room = PAIRWISE_BYTES if counter is int32 else PAIRWISE_BYTES // 4
    entry = 4 + (4 if counter is int32 else 8)
    most = min(MOST_PAIRWISE, room // (HUB_TEAM // team * entry))
    if widest_team > 1:
        return most
    return min(LONE_PAIRWISE, most) if num_blocks > CAPACITY else -1


def most_arcs(team: int) -> int:
    """Most arcs of a vertex that is not a hub, where `team` lanes work on others."""
    return max(256, 32 * team)


@device
def degree_of(v, offsets):
    """Number of v's arcs."""
    return int64(offsets[v + 1]) - int64(offsets[v])


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
def are_blocks(v, first, end, offsets, state):
    """Whether the candidates among the blocks first ... end-1 are these blocks, not v's arcs."""
    degree = degree_of(v, offsets)
    return degree > state[at.PAIRWISE] and 2 * degree >= end - first


@device
def count_neighbours(v, first, offsets, targets, weights, part, heads, counts, state):
    """Bring what is needed of v's neighbours to scratch memory.

    If they are few, the block of each and the weight of its arc; else the weights of the arcs into
    CAPACITY blocks from `first`.  Returns the block up to which `candidate_weight` tells all.
    """
    end = state[at.BLOCKS]
    if degree_of(v, offsets) <= state[at.PAIRWISE]:
        for j in range(lane(), degree_of(v, offsets), team_size()):
            heads[j] = part[targets[offsets[v] + j]]
            counts[j] = value_or(weights, offsets[v] + j, 1)
    else:
        end = min(end, first + CAPACITY)
        for place in range(lane(), end - first, team_size()):
            counts[place] = 0
        team_sync()
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            place = part[targets[arc]] - first
            if place >= 0 and place < end - first:
                team_atomic_add(counts, place, value_or(weights, arc, 1))
    team_sync()
    return end


@device
def num_candidates(v, first, end, offsets, state):
    """Candidates among the blocks first ... end-1."""
    return end - first if are_blocks(v, first, end, offsets, state) else degree_of(v, offsets)


@device
def candidate_block(j, v, first, end, offsets, targets, part, heads, state):
    """Block of candidate j."""
    block = int32(first + j)
    if degree_of(v, offsets) <= state[at.PAIRWISE]:
        block = heads[j]
    elif not are_blocks(v, first, end, offsets, state):
        block = part[targets[offsets[v] + j]]
    return block


@device
def pairwise_weight(j, block, degree, heads, counts):
    """Weight of the arcs into `block`, the block of head j; 0 if an earlier head is there."""
    total = int64(0)
    for other in range(degree):
        if heads[other] == block:
            if other < j:
                break
            total += counts[other]
    return total


@device
def candidate_weight(j, v, block, first, end, offsets, heads, counts, state):
    """Weight of v's arcs into the block of candidate j, told for one candidate of that block."""
    total = int64(0)
    degree = degree_of(v, offsets)
    if degree <= state[at.PAIRWISE]:
        total = pairwise_weight(j, block, degree, heads, counts)
    elif block >= first and block < end:
        total = counts[block - first]
        if total != 0 and not are_blocks(v, first, end, offsets, state):
            if team_atomic_cas(counts, block - first, total, 0) != total:
                total = int64(0)
    return total


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


@device
def cache_destination(
    v, offsets, targets, weights, part, heads, counts, dirty, cached, gain, listed, boundary,
    eager_list, fixed, state, filter_ratio,
):
    """Cache the best destination of v and its gain, and whether it passes Jet's filter (4.3).

    Equal connectivity: a hash of vertex and block decides.  Fixed vertices fail.  Of a vertex in
    the interior, which is not on the list, nothing is known.  All lanes of a team together.
    """
    known = listed[v] & ON_BOUNDARY != 0
    crosses = known
    if not known:
        crosses = is_on_boundary(v, offsets, targets, weights, part)
    here = part[v]
    own = int64(0)
    best = int64(0)
    best_hash = int64(LOWEST)
    best_block = int32(NONE)
    first = int64(0)
    while crosses and first < state[at.BLOCKS]:
        end = count_neighbours(v, first, offsets, targets, weights, part, heads, counts,
                               state)
        for j in range(lane(), num_candidates(v, first, end, offsets, state), team_size()):
            block = candidate_block(j, v, first, end, offsets, targets, part, heads, state)
            weight = candidate_weight(j, v, block, first, end, offsets, heads, counts, state)
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


@cache
def choose_destination(counter: Word, most: int) -> Kernel:
    """The kernel for vertices with `most` neighbours at most; weights are numbers of `counter`.

    A GPU adds 32-bit numbers in scratch memory much faster than 64-bit ones.
    """
    capacity = max(1, most)

    @kernel
    def choose_destination(
        i, dirty_list, offsets, targets, weights, part, dirty, cached, gain, listed, boundary,
        eager_list, fixed, state, filter_ratio, lone,
    ):
        """Bring the destination of a vertex with few neighbours up to date."""
        heads = team_array(int32, capacity)
        counts = team_array(counter, capacity)
        v = dirty_list[i]
        if is_for(lone, state[at.DIRTY], state) and degree_of(v, offsets) <= state[at.PAIRWISE]:
            cache_destination(v, offsets, targets, weights, part, heads, counts, dirty, cached,
                              gain, listed, boundary, eager_list, fixed, state, filter_ratio)

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
        if degree > state[at.PAIRWISE] and degree <= state[at.HUB_DEGREE]:
            chosen = int64(1) << lane()
    return team_sum(chosen)


@cache
def choose_destination_of_many(counter: Word) -> Kernel:
    """The kernel for vertices with many neighbours; weights are added up as `counter`."""

    @kernel
    def choose_destination_of_many(
        i, dirty_list, offsets, targets, weights, part, dirty, cached, gain, listed, boundary,
        eager_list, fixed, state, filter_ratio,
    ):
        """Bring those of group i that have many neighbours up to date, unless they are hubs."""
        heads = team_array(int32, 1)  # nothing is compared
        counts = team_array(counter, CAPACITY)
        chosen = chosen_of_group(i, dirty_list, offsets, state)
        while chosen != 0:
            v = dirty_list[i * state[at.GROUP] + ctz(uint64(chosen))]
            cache_destination(v, offsets, targets, weights, part, heads, counts, dirty, cached,
                              gain, listed, boundary, eager_list, fixed, state, filter_ratio)
            chosen &= chosen - 1

    return choose_destination_of_many


@cache
def choose_destination_of_hub(counter: Word) -> Kernel:
    """The kernel for hubs; weights are added up as numbers of `counter`."""

    @kernel
    def choose_destination_of_hub(
        i, hubs, offsets, targets, weights, part, dirty, cached, gain, listed, boundary,
        eager_list, fixed, state, filter_ratio,
    ):
        """Bring the destination of a hub up to date."""
        heads = team_array(int32, 1)  # nothing is compared
        counts = team_array(counter, CAPACITY)
        v = hubs[i]
        if dirty[v] != 0:
            cache_destination(v, offsets, targets, weights, part, heads, counts, dirty, cached,
                              gain, listed, boundary, eager_list, fixed, state, filter_ratio)

    return choose_destination_of_hub
