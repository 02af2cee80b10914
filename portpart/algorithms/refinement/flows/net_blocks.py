"""Data of nets for flow refinement: the blocks of their pins, their cuts, and corridors.

The blocks of a net are hashed into the places of its pins, so there is always a free place.  They
are counted again for nets with moved pins, after each matching.  Large nets extend no corridor,
since all vertices would be near each other.

The cost of a net whose pins are in both blocks of a pair depends on the blocks of its other pins:
`km1` counts each block, while for `cut` a net that also has pins in a third block costs no less.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows.corridor import claim, release
from portpart.algorithms.refinement.flows.pairs import list_vertex
from portpart.algorithms.refinement.flows.state import (
    Corridors,
    FlowLevel,
    FlowNets,
    Flows,
    NetCounts,
    Pair,
    QuotientGraph,
)
from portpart.backends import language as kl
from portpart.graphs import Csr

MAX_SPREAD = 1000
"""Maximum number of pins of a net that makes its pins neighbours."""

EMPTY = -1
"""No block, and no mark."""

FIRST_STAMP = -2
"""The mark of the first matching; later matchings have lower marks."""


@kl.device
def size_of(net, graph: FlowNets):
    """Return the number of pins of a net."""
    return kl.int64(graph.nets.end[net]) - kl.int64(graph.nets.begin[net])


@kl.device
def place_after(place, net, graph: FlowNets):
    """Return the next place of a row, which is a ring."""
    after = place + 1
    if after == kl.int64(graph.nets.end[net]):
        after = kl.int64(graph.nets.begin[net])
    return after


@kl.device
def place_of(block, net, graph: FlowNets):
    """Return the place of a block in the row of a net, or -1."""
    left = size_of(net, graph)
    place = kl.int64(graph.nets.begin[net])
    result = kl.int64(-1)
    if left > 0:
        place += kl.int64(block) % left
    while left > 0:
        found = graph.blocks.block[place]
        left -= 1
        if found == block:
            result = place
        if found == block or found == EMPTY:
            left = kl.int64(0)
        place = place_after(place, net, graph)
    return result


@kl.device
def count_at(place, counts):
    """Return the count of the block at a place; 0 if there is none."""
    count = kl.int64(0)
    if place >= 0:
        count = kl.int64(counts[place])
    return count


@kl.device
def weight_between(one, other, net, graph: FlowNets, net_cost: kl.StaticValue):
    """Return the decrease of a net's cost if its pins in two blocks move to one of them."""
    pins = count_at(one, graph.blocks.count) + count_at(other, graph.blocks.count)
    alone = pins == size_of(net, graph)
    factor = net_cost(kl.int64(2)) - net_cost(kl.int64(1))
    if not alone:
        factor = net_cost(kl.int64(3)) - net_cost(kl.int64(2))
    return factor * kl.value_or(graph.nets.weights, net, 1)


# Counting --------------------------------------------------------------------------------------


@kl.kernel
def count_net(i, listed, graph: FlowNets, corridors: Corridors, level: FlowLevel):
    """Count the pins of net i, or of listed[i], in each block.

    List the pins if they are in several blocks.
    """
    net = kl.value_or(listed, i, i)
    if kl.lane() == 0:
        graph.blocks.is_changed[net] = kl.int32(0)
    begin = kl.int64(graph.nets.begin[net])
    end = kl.int64(graph.nets.end[net])
    for place in range(begin + kl.lane(), end, kl.team_size()):
        graph.blocks.block[place] = kl.int32(EMPTY)
        graph.blocks.count[place] = kl.int32(0)
        graph.blocks.inside[place] = kl.int32(0)
        graph.blocks.mark[place] = kl.int32(EMPTY)
    kl.team_sync()
    for place in range(begin + kl.lane(), end, kl.team_size()):
        count_pin(corridors.part[graph.nets.pins[place]], net, graph)
    kl.team_sync()
    if end - begin <= MAX_SPREAD and end > begin:
        block = corridors.part[graph.nets.pins[begin]]
        if count_at(place_of(block, net, graph), graph.blocks.count) < end - begin:
            for place in range(begin + kl.lane(), end, kl.team_size()):
                list_vertex(kl.int64(graph.nets.pins[place]), corridors, level)


@kl.device
def count_pin(block, net, graph: FlowNets):
    """Count a pin of a net in a block."""
    place = kl.int64(graph.nets.begin[net]) + kl.int64(block) % size_of(net, graph)
    found = kl.int32(EMPTY)
    while found != block:
        found = kl.atomic_load(graph.blocks.block, place)
        if found == EMPTY:
            found = kl.team_atomic_cas(graph.blocks.block, place, kl.int32(EMPTY), kl.int32(block))
            if found == EMPTY:
                found = kl.int32(block)
        if found != block:
            place = place_after(place, net, graph)
    kl.team_atomic_add(graph.blocks.count, place, kl.int32(1))


@kl.kernel
def add_net_cuts(net, graph: FlowNets, quotient: QuotientGraph, level: FlowLevel,
                 net_cost: kl.StaticValue):
    """Add a net to the cuts of all pairs of its blocks.  Atomic, independent of order."""
    begin = kl.int64(graph.nets.begin[net])
    end = kl.int64(graph.nets.end[net])
    if end - begin <= MAX_SPREAD:
        for place in range(begin + kl.lane(), end, kl.team_size()):
            a = kl.int64(graph.blocks.block[place])
            if a >= 0 and kl.int64(graph.blocks.count[place]) < end - begin:
                for other in range(begin, end):
                    b = kl.int64(graph.blocks.block[other])
                    if a < b:
                        kl.atomic_add(quotient.cut, a * level.blocks + b,
                                      weight_between(place, other, net, graph, net_cost))


@kl.device
def add_no_cuts(v, graph: Csr, quotient: QuotientGraph, corridors: Corridors, level: FlowLevel):
    """Return False: nets add themselves to cuts, and their pins to the list."""
    return False


@kl.device
def list_changed_nets(v, graph: FlowNets, flows: Flows):
    """Put the nets of v, which has moved, on the list of changed nets."""
    for place in range(graph.begin[v], graph.end[v]):
        net = graph.targets[place]
        if kl.atomic_load(graph.blocks.is_changed, net) == 0:
            before = kl.atomic_cas(graph.blocks.is_changed, net, kl.int32(0), kl.int32(1))
            if before == 0:
                number = kl.atomic_next(graph.counts, NetCounts.changed)
                graph.blocks.changed[number] = kl.int32(net)


# Corridors -------------------------------------------------------------------------------------


@kl.device
def is_beside_by_nets(v, a, b, graph: FlowNets, corridors: Corridors, net_cost: kl.StaticValue):
    """Whether v, in block a, has a net that costs less if its pins in a and b share a block."""
    found = False
    for place in range(graph.begin[v], graph.end[v]):
        net = kl.int64(graph.targets[place])
        if size_of(net, graph) <= MAX_SPREAD:
            other = place_of(b, net, graph)
            if other >= 0:
                here = place_of(a, net, graph)
                if weight_between(here, other, net, graph, net_cost) > 0:
                    found = True
    return found


@kl.device
def claim_pins(v, begin, pair: Pair, counts, graph: FlowNets, flows: Flows,
               net_cost: kl.StaticValue):
    """Claim the pins of v's nets in its block for the layer that begins at `begin`.

    Only nets over which no vertex has extended the corridor in this matching count.
    """
    block = flows.corridors.part[v]
    across = kl.int64(pair.sink if block == pair.source else pair.source)
    stamp = kl.int32(FIRST_STAMP - graph.counts.matching)
    for place in range(graph.begin[v], graph.end[v]):
        net = kl.int64(graph.targets[place])
        if size_of(net, graph) <= MAX_SPREAD:
            here = place_of(block, net, graph)
            mark = kl.atomic_load(graph.blocks.mark, here)
            other = place_of(across, net, graph)
            if mark != stamp and weight_between(here, other, net, graph, net_cost) > 0:
                before = kl.team_atomic_cas(graph.blocks.mark, here, mark, stamp)
                if before == mark:
                    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
                        claim(kl.int64(graph.nets.pins[pin]), block, begin, pair, counts, graph,
                              flows)


@kl.device
def release_pins(v, graph: FlowNets, flows: Flows):
    """Release the claimed pins of v's nets."""
    block = flows.corridors.part[v]
    for place in range(graph.begin[v], graph.end[v]):
        net = kl.int64(graph.targets[place])
        if size_of(net, graph) <= MAX_SPREAD:
            for pin in range(graph.nets.begin[net], graph.nets.end[net]):
                release(graph.nets.pins[pin], block, flows.corridors)
