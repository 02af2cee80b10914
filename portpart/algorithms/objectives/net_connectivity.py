"""Connectivity of a vertex to the blocks of the other pins of its nets.

The blocks of a word are counted at a time; words with no block that a net of the vertex spans are
skipped.  A net that spans more blocks than a word has connects the vertex to nearly all of them:
its weight is added to blocks that other nets lead to, but it makes no block a candidate, unless
there are no other nets.
"""

from __future__ import annotations

from portpart.algorithms.objectives.bitset_connectivity import add_nets_of_one_word
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
"""Number of blocks whose weights are counted at a time: those of a word."""

BASE, WIDEST, NOTES = 0, 1, 2
"""Places in `ConnectivityTable.blocks`, and their number.

BASE has the first counted block, WIDEST the maximum connectivity of a net that makes blocks
candidates.
"""


@kl.device
def net_connection(net, here, graph: NetRows, net_cost: kl.StaticValue):
    """Return the weight that connects a pin in block `here` to each block of other pins."""
    others = connectivity_without(net, here, graph)
    step = net_cost(others + 1) - net_cost(others)
    if step != 0:
        step *= kl.value_or(graph.nets.weights, net, 1)
    return step


@kl.device
def blocks_in_word(net, here, base, graph: NetRows):
    """Return the blocks from `base` on with pins of a net with words, other than one in `here`."""
    blocks = graph.sets.bits[place_of_word(net, base, graph.sets)]
    if here >> WORD_SHIFT == base >> WORD_SHIFT and is_alone(net, here, graph):
        blocks ^= bit_of(here)
    return blocks


@kl.device
def add_net(net, here, added, first, end, graph: NetRows, connections: ConnectivityTable):
    """Add a weight to each of the blocks first ... end-1 with pins other than one in `here`."""
    if has_words(net, graph.sets):
        blocks = blocks_in_word(net, here, first, graph)
        while blocks != 0:
            kl.team_atomic_add(connections.weights, kl.ctz(blocks), added)
            blocks &= blocks - kl.uint64(1)
    else:
        begin = kl.int64(graph.nets.begin[net])
        for place in range(begin, begin + graph.sets.connectivity[net]):
            entry = kl.int64(graph.sets.touched[place])
            block = entry >> 1
            if block >= first and block < end and entry != 2 * here + 1:
                kl.team_atomic_add(connections.weights, block - first, added)


@kl.device
def add_wide_net(net, here, added, first, graph: NetRows, connections: ConnectivityTable):
    """Add the weight of a net of many blocks to blocks with other connections, and to `here`."""
    blocks = blocks_in_word(net, here, first, graph)
    while blocks != 0:
        place = kl.ctz(blocks)
        if connections.weights[place] != 0 or first + place == here:
            kl.team_atomic_add(connections.weights, place, added)
        blocks &= blocks - kl.uint64(1)


@kl.device
def first_touched(net, first, end, graph: NetRows):
    """Return the first word of blocks first ... end-1 that a net spans, or `end`."""
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
    """Store the next word of blocks, from `first` on, and the maximum connectivity of a net.

    If there is a single word, it is that one.  Called by all lanes of a team.
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
def count_connectivity(v, first, graph: NetRows, part, connections: ConnectivityTable, num_blocks,
                       net_cost: kl.StaticValue):
    """Add up the connectivity of v to the next CAPACITY blocks of its nets, from `first` on."""
    here = kl.int64(part[v])
    base = note_words(v, first, here, graph, connections, num_blocks, net_cost)
    end = min(num_blocks, base + CAPACITY)
    for place in range(kl.lane(), end - base, kl.team_size()):
        connections.weights[place] = 0
    kl.team_sync()
    widest = kl.int64(connections.blocks[WIDEST])
    wide = kl.int64(0)
    if graph.sets.width == 1:
        add_nets_of_one_word(kl.int64(graph.begin[v]), kl.int64(graph.end[v]), here, 0, graph,
                             connections, net_cost, False)
    else:
        for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            net = graph.targets[place]
            if connectivity_of(net, graph.sets) > widest:
                wide += 1
            else:
                added = net_connection(net, here, graph, net_cost)
                if added != 0:
                    add_net(net, here, added, base, end, graph, connections)
    kl.team_sync()
    if wide != 0 and base < end:
        for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            net = graph.targets[place]
            if connectivity_of(net, graph.sets) > widest:
                add_wide_net(net, here, net_connection(net, here, graph, net_cost), base, graph,
                             connections)
    kl.team_sync()
    return end


@kl.device
def count_blocks(v, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the number of candidates: one per block."""
    return end - kl.int64(connections.blocks[BASE])


@kl.device
def block_counted(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Return candidate j."""
    return kl.int32(connections.blocks[BASE] + j)


@kl.device
def weight_counted(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the connectivity of v to candidate j."""
    return kl.int64(connections.weights[j])


def counted_connectivity(net_cost: kl.DeviceFunction) -> Connectivity:
    """Return the connectivity that is counted word by word, for a net cost."""
    return Connectivity(count_connectivity.bound(net_cost=net_cost), count_blocks, block_counted,
                        weight_counted, NOTES, CAPACITY)
