"""The blocks that a vertex touches, and the weight of its arcs into each: three ways to count.

The candidates of a vertex are the blocks of its neighbours.  With few arcs their heads are compared
with each other, or put into a small hash table; with many, the weights into all blocks are added
up, `CAPACITY` blocks at a time, and the candidates are these blocks or the heads of the arcs,
whichever are fewer.  All that is in the team's scratch memory, and nothing depends on the way.

A way is used like this, by all lanes of a team together, `first` being 0, then what `bring` has
returned, until that is the number of blocks::

    end = bring(v, first, ...)
    for j in range(lane(), number(v, first, end, ...), team_size()):
        block = block_of(j, v, first, end, ...)
        weight = weight_of(j, v, block, first, end, ...)    # 0: none, or told for another candidate
    team_sync()
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from portpart.algorithms.refinement import state as at
from portpart.backends.language import (
    DeviceFunction,
    Word,
    device,
    int8,
    int32,
    int64,
    lane,
    team_atomic_add,
    team_atomic_cas,
    team_size,
    team_sync,
    value_or,
)

EMPTY = -1

CAPACITY = 512
"""Blocks whose weights are counted at a time."""

MOST_PAIRWISE = 24
"""Most neighbours that the lanes of a team compare with each other."""

PAIRWISE_BYTES = 14 * 1024
"""What the blocks and weights of neighbours take at most of a block's scratch memory, beside
counters of 32 bits; a quarter of it beside those of 64 bits."""

LONE_PAIRWISE = 8
"""Most neighbours that one lane compares with each other rather than count in two rounds."""

PAIRWISE_DEGREE = 8
"""Up to this mean degree neighbours are compared; the more there are, the more blocks they share,
and a hash table has each of these once."""

SLOTS, MOST_IN_TABLE = 64, 48
"""Slots of a hash table, a power of two, and most neighbours whose blocks are put there."""

HUB_TEAM = 256
"""Lanes for a hub, a vertex with too many arcs for the lanes that others get."""


def most_of_few(team: int, widest_team: int, num_blocks: int, counter: Word,
                mean_degree: float) -> int:
    """Most neighbours of a vertex that has few: for whom weights into all blocks are not counted.

    A lone lane always counts, unless that takes several rounds: -1, even where there are none.
    """
    room = PAIRWISE_BYTES if counter is int32 else PAIRWISE_BYTES // 4
    entry = 4 + (4 if counter is int32 else 8)
    most = min(MOST_PAIRWISE, room // (HUB_TEAM // team * entry))
    if widest_team == 1:
        return min(LONE_PAIRWISE, most) if num_blocks > CAPACITY else -1
    if team > 1 and counter is int32 and mean_degree > PAIRWISE_DEGREE:
        return MOST_IN_TABLE
    return most


@dataclass(frozen=True)
class Way:
    """Device functions as above, and the sizes of the arrays that they want in scratch memory.

    Attributes
    ----------
    bring, number, block_of, weight_of : DeviceFunction
    heads, counts, order : int
        Elements of an array of int32, of one of the type of sums of weights, and of one of int8.
    """

    bring: DeviceFunction
    number: DeviceFunction
    block_of: DeviceFunction
    weight_of: DeviceFunction
    heads: int = 1
    counts: int = 1
    order: int = 1

    @property
    def functions(self) -> tuple[DeviceFunction, DeviceFunction, DeviceFunction, DeviceFunction]:
        """What to do, in turn."""
        return self.bring, self.number, self.block_of, self.weight_of

    @property
    def scratch(self) -> tuple[int, int, int]:
        """Sizes of the three arrays."""
        return self.heads, self.counts, self.order


@device
def degree_of(v, offsets):
    """Number of v's arcs."""
    return int64(offsets[v + 1]) - int64(offsets[v])


@device
def bring_heads(v, first, offsets, targets, weights, part, heads, counts, order, state):
    """Bring block and weight of each arc to scratch memory."""
    for j in range(lane(), degree_of(v, offsets), team_size()):
        heads[j] = part[targets[offsets[v] + j]]
        counts[j] = value_or(weights, offsets[v] + j, 1)
    team_sync()
    return state[at.BLOCKS]


@device
def number_of_heads(v, first, end, offsets, counts):
    """One candidate an arc."""
    return degree_of(v, offsets)


@device
def block_of_head(j, v, first, end, offsets, targets, part, heads, order):
    """Block of arc j."""
    return heads[j]


@device
def weight_of_head(j, v, block, first, end, offsets, heads, counts, order):
    """Weight of the arcs into the block of head j; 0 if an earlier head is there."""
    total = int64(0)
    for other in range(degree_of(v, offsets)):
        if heads[other] == block:
            if other < j:
                break
            total += counts[other]
    return total


@cache
def pairwise(most: int) -> Way:
    """Heads are compared with each other, for at most so many."""
    return Way(bring_heads, number_of_heads, block_of_head, weight_of_head, most, most)


@cache
def bring_table(slots: int) -> DeviceFunction:
    """Device function for tables of so many slots; `counts` has one word more."""

    @device
    def bring_table(v, first, offsets, targets, weights, part, heads, counts, order, state):
        """Bring the blocks of v's neighbours to a table: heads[slot] and counts[slot].

        The slots that are taken, counts[slots] of them, are listed in `order`, in any order.
        """
        for slot in range(lane(), slots, team_size()):
            heads[slot] = int32(EMPTY)
            counts[slot] = 0
        if lane() == 0:
            counts[slots] = 0
        team_sync()
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            block = part[targets[arc]]
            slot = int64(block) & (slots - 1)
            found = team_atomic_cas(heads, slot, EMPTY, block)
            while found != EMPTY and found != block:
                slot = (slot + 1) & (slots - 1)
                found = team_atomic_cas(heads, slot, EMPTY, block)
            if found == EMPTY:
                order[int64(team_atomic_add(counts, int64(slots), 1))] = int8(slot)
            team_atomic_add(counts, slot, value_or(weights, arc, 1))
        team_sync()
        return state[at.BLOCKS]

    return bring_table


@cache
def number_in_table(slots: int) -> DeviceFunction:
    """Device function for tables of so many slots."""

    @device
    def number_in_table(v, first, end, offsets, counts):
        """One candidate a block."""
        return int64(counts[slots])

    return number_in_table


@device
def block_in_table(j, v, first, end, offsets, targets, part, heads, order):
    """Block of the slot that is listed at j."""
    return heads[int64(order[j])]


@device
def weight_in_table(j, v, block, first, end, offsets, heads, counts, order):
    """Weight of the arcs into that block."""
    return int64(counts[int64(order[j])])


@cache
def in_table(slots: int) -> Way:
    """Blocks are put into a hash table of so many slots."""
    return Way(bring_table(slots), number_in_table(slots), block_in_table, weight_in_table,
               slots, slots + 1, slots)


@device
def are_blocks(v, first, end, offsets):
    """Whether the candidates among the blocks first ... end-1 are these blocks, not v's arcs."""
    return 2 * degree_of(v, offsets) >= end - first


@device
def count_weights(v, first, offsets, targets, weights, part, heads, counts, order, state):
    """Add up the weights of the arcs into CAPACITY blocks from `first`."""
    end = min(state[at.BLOCKS], first + CAPACITY)
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
def number_counted(v, first, end, offsets, counts):
    """Candidates among the blocks first ... end-1."""
    return end - first if are_blocks(v, first, end, offsets) else degree_of(v, offsets)


@device
def block_counted(j, v, first, end, offsets, targets, part, heads, order):
    """Block number j of these, or the block of arc j."""
    block = int32(first + j)
    if not are_blocks(v, first, end, offsets):
        block = part[targets[offsets[v] + j]]
    return block


@device
def weight_counted(j, v, block, first, end, offsets, heads, counts, order):
    """Weight of v's arcs into the block of candidate j, told for one candidate of that block."""
    total = int64(0)
    if block >= first and block < end:
        total = counts[block - first]
        if total != 0 and not are_blocks(v, first, end, offsets):
            if team_atomic_cas(counts, block - first, total, 0) != total:
                total = int64(0)
    return total


COUNTED = Way(count_weights, number_counted, block_counted, weight_counted, counts=CAPACITY)
"""The weights into all blocks are counted."""


def way_for_few(most: int) -> Way:
    """For vertices with at most so many neighbours."""
    return in_table(SLOTS) if most > MOST_PAIRWISE else pairwise(max(1, most))
