"""What ties a vertex to the blocks of the other pins of its nets.

The blocks of a word are counted at a time, and words of which no net of the vertex touches a block
are passed over.  A net that touches more blocks than a word has ties the vertex to nearly all of
them: it weighs where other nets lead, but makes no block a candidate, unless there are no others.
"""

from __future__ import annotations

from portpart.algorithms.objectives.bitset_connectivity import add_ties_of_one_word
from portpart.algorithms.objectives.connectivity import Connectivity, ConnectivityTable
from portpart.algorithms.objectives.pin_state import (
    BITS,
    WORD_SHIFT,
    NetRows,
    bit_of,
    connectivity_of,
    connectivity_without,
    has_words,
    is_alone,
    place_of_word,
)
from portpart.backends import language as kl
from portpart.graphs import Csr

CAPACITY = BITS
"""Blocks whose weights are counted at a time: those of a word."""

BASE, WIDEST, NOTES = 0, 1, 2
"""What `ConnectivityTable.blocks` notes: the first block that is counted, and how many blocks a net
may touch that makes them candidates; and how much that is."""


@kl.device
def net_connection(net, here, graph: NetRows, net_cost: kl.StaticValue):
    """What a pin in block `here` ties to each block of the net's other pins."""
    others = connectivity_without(net, here, graph)
    step = net_cost(others + 1) - net_cost(others)
    if step != 0:
        step *= kl.value_or(graph.nets.weights, net, 1)
    return step


@kl.device
def blocks_in_word(net, here, base, graph: NetRows):
    """The blocks from `base` on that a net with words has other pins in than one `here`."""
    blocks = graph.sets.bits[place_of_word(net, base, graph.sets)]
    if here >> WORD_SHIFT == base >> WORD_SHIFT and is_alone(net, here, graph):
        blocks ^= bit_of(here)
    return blocks


@kl.device
def add_tie(net, here, tie, first, end, graph: NetRows, connections: ConnectivityTable):
    """Add a tie to each of the blocks first ... end-1 that has other pins than one `here`."""
    if has_words(net, graph.sets):
        blocks = blocks_in_word(net, here, first, graph)
        while blocks != 0:
            kl.team_atomic_add(connections.weights, kl.ctz(blocks), tie)
            blocks &= blocks - kl.uint64(1)
    else:
        begin = kl.int64(graph.nets.begin[net])
        for place in range(begin, begin + graph.sets.connectivity[net]):
            entry = kl.int64(graph.sets.touched[place])
            block = entry >> 1
            if block >= first and block < end and entry != 2 * here + 1:
                kl.team_atomic_add(connections.weights, block - first, tie)


@kl.device
def add_wide_tie(net, here, tie, first, graph: NetRows, connections: ConnectivityTable):
    """The same for a net of many blocks: to blocks with other connections, and to `here`."""
    blocks = blocks_in_word(net, here, first, graph)
    while blocks != 0:
        place = kl.ctz(blocks)
        if connections.weights[place] != 0 or first + place == here:
            kl.team_atomic_add(connections.weights, place, tie)
        blocks &= blocks - kl.uint64(1)


@kl.device
def first_touched(net, first, end, graph: NetRows):
    """The first word of blocks first ... end-1 that a net touches, or `end`."""
    found = kl.int64(end)
    if has_words(net, graph.sets):
        for base in range(first, end, BITS):
            if graph.sets.bits[place_of_word(net, base, graph.sets)] != 0:
                found = kl.int64(base)
                break
    else:
        begin = kl.int64(graph.nets.begin[net])
        for place in range(begin, begin + graph.sets.connectivity[net]):
            block = kl.int64(graph.sets.touched[place]) >> 1
            if block >= first:
                found = min(found, (block >> WORD_SHIFT) << WORD_SHIFT)
    return found


@kl.device
def note_words(v, first, here, graph: NetRows, connections: ConnectivityTable, num_blocks,
               net_cost: kl.StaticValue):
    """Note the next word of blocks, from `first` on, and how many a net may touch.

    With a single word it is that one.  All lanes of a team together.
    """
    found = kl.int64(first)
    widest = kl.int64(BITS)
    if graph.sets.width != 1:
        if first == 0:
            narrowest = kl.int64(num_blocks)
            for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
                connectivity = connectivity_of(graph.targets[place], graph.sets)
                if connectivity < narrowest and net_connection(graph.targets[place], here, graph,
                                                               net_cost) != 0:
                    narrowest = connectivity
            widest = max(widest, kl.team_min(narrowest))
        else:
            widest = kl.int64(connections.blocks[WIDEST])
        found = kl.int64(num_blocks)
        for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            net = graph.targets[place]
            if connectivity_of(net, graph.sets) <= widest:
                found = first_touched(net, first, found, graph)
        found = kl.team_min(found)
    if kl.lane() == 0:
        connections.blocks[BASE] = kl.int32(found)
        if first == 0:
            connections.blocks[WIDEST] = kl.int32(widest)
    return found


@kl.device
def count_ties(v, first, graph: NetRows, part, connections: ConnectivityTable, num_blocks,
               net_cost: kl.StaticValue):
    """Add up what ties v to the next CAPACITY blocks that its nets touch, from `first` on."""
    here = kl.int64(part[v])
    base = note_words(v, first, here, graph, connections, num_blocks, net_cost)
    end = min(num_blocks, base + CAPACITY)
    for place in range(kl.lane(), end - base, kl.team_size()):
        connections.weights[place] = 0
    kl.team_sync()
    widest = kl.int64(connections.blocks[WIDEST])
    wide = kl.int64(0)
    if graph.sets.width == 1:
        add_ties_of_one_word(kl.int64(graph.begin[v]), kl.int64(graph.end[v]), here, 0, graph,
                             connections, net_cost, False)
    else:
        for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            net = graph.targets[place]
            if connectivity_of(net, graph.sets) > widest:
                wide += 1
            else:
                tie = net_connection(net, here, graph, net_cost)
                if tie != 0:
                    add_tie(net, here, tie, base, end, graph, connections)
    kl.team_sync()
    if wide != 0 and base < end:
        for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            net = graph.targets[place]
            if connectivity_of(net, graph.sets) > widest:
                add_wide_tie(net, here, net_connection(net, here, graph, net_cost), base, graph,
                             connections)
    kl.team_sync()
    return end


@kl.device
def count_blocks(v, first, end, graph: Csr, connections: ConnectivityTable):
    """One candidate a block."""
    return end - kl.int64(connections.blocks[BASE])


@kl.device
def block_counted(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Block number j of these."""
    return kl.int32(connections.blocks[BASE] + j)


@kl.device
def weight_counted(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """What ties v to it."""
    return kl.int64(connections.weights[j])


def counted_ties(net_cost: kl.DeviceFunction) -> Connectivity:
    """The blocks that a vertex is connected to, word by word, for a net cost."""
    return Connectivity(count_ties.bound(net_cost=net_cost), count_blocks, block_counted,
                        weight_counted, NOTES, CAPACITY)
