"""What ties a vertex to the blocks of the other pins of its nets, where a word has all blocks."""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.connectivity import Ties
from portpart.algorithms.objectives.pin_state import BITS, NetRows, bit_of
from portpart.backends.language import (
    DeviceFunction,
    ctz,
    device,
    int64,
    lane,
    popcount,
    team_atomic_add,
    team_max,
    team_size,
    team_sum,
    team_sync,
    uint64,
    value_or,
)

AT_ONCE = 4
"""Nets or pins that a lane of several asks for at once, as each access takes very long."""

FEW_BLOCKS = 8
"""A lane of a small team adds the tie of a net to so many blocks alone; to more, all together."""

MOST_TOGETHER = 8
"""Lanes of a small team."""

STAYING, BOTH_KINDS = BITS, 2 * BITS
"""Where the ties of nets that stay begin, if they are added up apart, and where they end."""


@device
def net_at(place, end, graph: NetRows):
    """The net at a place of a row that ends at `end`; behind it the last one, for no branch."""
    return int64(graph.targets[min(place, end - 1)])


@device
def weight_at(place, end, net, graph: NetRows):
    """The weight of this net; 0 behind the end."""
    return int64(place < end) * value_or(graph.nets.weights, net, 1)


@cache
def tie_to_others(price: DeviceFunction) -> DeviceFunction:
    """Device function for a price."""

    @device
    def tie_to_others(blocks, weight):
        """What a net of this weight ties to each of the blocks where its other pins are."""
        others = popcount(blocks)
        return (price(others + 1) - price(others)) * weight

    return tie_to_others


@device
def add_to_blocks(blocks, tie, place, ties: Ties):
    """Add a tie to each of these blocks, of which the first is at a place."""
    left = uint64(blocks)
    while left != 0:
        team_atomic_add(ties.weights, place + ctz(left), tie)
        left &= left - uint64(1)
    return tie


@device
def add_if_few(blocks, tie, place, ties: Ties):
    """The same if a lane does not take long for it, or is alone; else the blocks are left."""
    left = uint64(blocks)
    if tie == 0:
        left = uint64(0)
    elif team_size() > MOST_TOGETHER or popcount(left) <= FEW_BLOCKS:
        add_to_blocks(left, tie, place, ties)
        left = uint64(0)
    return left


@device
def add_together(blocks, tie, place, ties: Ties):
    """Add what lanes have left, one after the other: every lane to blocks of its own."""
    turns = team_sum(int64(blocks != 0) << lane())
    while turns != 0:
        mine = int64(ctz(uint64(turns)) == lane())
        given = uint64(team_sum(int64(blocks) * mine))
        added = team_sum(tie * mine)
        first = team_sum(place * mine)
        for block in range(lane(), BITS, team_size()):
            if (given >> uint64(block)) & uint64(1) != 0:
                ties.weights[first + block] += added
        turns &= turns - 1
    return blocks


@cache
def place_of(apart: bool) -> DeviceFunction:
    """Device function that knows whether ties of nets that stay are added apart."""

    @device
    def place_of(alone, first):
        """Where the ties of a net begin; it stays if no pin is alone in its block."""
        place = int64(first)
        if apart:
            place += STAYING * int64(alone == 0)
        return place

    return place_of


@cache
def add_ties_of_lane(price: DeviceFunction, apart: bool) -> DeviceFunction:
    """`add_ties_of_one_word` for teams of one lane."""
    tie_of_blocks, begin_of = tie_to_others(price), place_of(apart)

    @device
    def add_ties_of_lane(begin, end, here, first, graph: NetRows, ties: Ties):
        """Add up the ties of a vertex net by net."""
        bit = bit_of(here)
        staying = int64(0)
        for place in range(begin, end):
            net = int64(graph.targets[place])
            weight = value_or(graph.nets.weights, net, 1)
            alone = graph.state.sets[2 * net + 1] & bit
            blocks = uint64(graph.state.sets[2 * net] & ~alone)
            tie = tie_of_blocks(blocks, weight)
            if tie != 0:
                add_to_blocks(blocks, tie, begin_of(alone, first), ties)
            staying += tie * int64(alone == 0)
        return staying

    return add_ties_of_lane


@cache
def add_ties_of_lanes(price: DeviceFunction, apart: bool) -> DeviceFunction:
    """`add_ties_of_one_word` for teams of several lanes."""
    tie_of_blocks, begin_of = tie_to_others(price), place_of(apart)

    @device
    def add_ties_of_lanes(begin, end, here, first, graph: NetRows, ties: Ties):
        """Add up the ties of a vertex, AT_ONCE nets of a lane at a time.

        A lane asks for what it has to know of all of them before it adds any: atomics wait for all
        that was asked before them, so nothing else would overlap.
        """
        bit = bit_of(here)
        width = team_size()
        staying = int64(0)
        for tile in range(begin, end, AT_ONCE * width):
            place = tile + lane()
            net_0 = net_at(place, end, graph)
            net_1 = net_at(place + width, end, graph)
            net_2 = net_at(place + 2 * width, end, graph)
            net_3 = net_at(place + 3 * width, end, graph)
            blocks_0 = graph.state.sets[2 * net_0]
            blocks_1 = graph.state.sets[2 * net_1]
            blocks_2 = graph.state.sets[2 * net_2]
            blocks_3 = graph.state.sets[2 * net_3]
            alone_0 = graph.state.sets[2 * net_0 + 1] & bit
            alone_1 = graph.state.sets[2 * net_1 + 1] & bit
            alone_2 = graph.state.sets[2 * net_2 + 1] & bit
            alone_3 = graph.state.sets[2 * net_3 + 1] & bit
            blocks_0 &= ~alone_0
            blocks_1 &= ~alone_1
            blocks_2 &= ~alone_2
            blocks_3 &= ~alone_3
            tie_0 = tie_of_blocks(blocks_0, weight_at(place, end, net_0, graph))
            tie_1 = tie_of_blocks(blocks_1, weight_at(place + width, end, net_1, graph))
            tie_2 = tie_of_blocks(blocks_2, weight_at(place + 2 * width, end, net_2, graph))
            tie_3 = tie_of_blocks(blocks_3, weight_at(place + 3 * width, end, net_3, graph))
            staying += tie_0 * int64(alone_0 == 0) + tie_1 * int64(alone_1 == 0)
            staying += tie_2 * int64(alone_2 == 0) + tie_3 * int64(alone_3 == 0)
            left_0 = add_if_few(blocks_0, tie_0, begin_of(alone_0, first), ties)
            left_1 = add_if_few(blocks_1, tie_1, begin_of(alone_1, first), ties)
            left_2 = add_if_few(blocks_2, tie_2, begin_of(alone_2, first), ties)
            left_3 = add_if_few(blocks_3, tie_3, begin_of(alone_3, first), ties)
            if width <= MOST_TOGETHER:
                if team_max(int64(left_0 | left_1 | left_2 | left_3 != 0)) != 0:
                    team_sync()
                    add_together(left_0, tie_0, begin_of(alone_0, first), ties)
                    add_together(left_1, tie_1, begin_of(alone_1, first), ties)
                    add_together(left_2, tie_2, begin_of(alone_2, first), ties)
                    add_together(left_3, tie_3, begin_of(alone_3, first), ties)
                    team_sync()
        return staying

    return add_ties_of_lanes


@cache
def add_ties_of_one_word(price: DeviceFunction, apart: bool) -> DeviceFunction:
    """Device function for a price, and whether ties of nets that stay are added apart."""
    of_lane, of_lanes = add_ties_of_lane(price, apart), add_ties_of_lanes(price, apart)

    @device
    def add_ties_of_one_word(begin, end, here, first, graph: NetRows, ties: Ties):
        """Add up what ties a vertex in block `here` to all blocks, where a word has them.

        By its nets in the places begin ... end-1; block b is at first + b.  Returns the lane's ties
        of nets that stay.
        """
        staying = int64(0)
        if team_size() == 1:
            staying = of_lane(begin, end, here, first, graph, ties)
        else:
            staying = of_lanes(begin, end, here, first, graph, ties)
        return staying

    return add_ties_of_one_word
