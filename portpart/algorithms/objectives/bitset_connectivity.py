"""Connectivity of a vertex to the blocks of other pins of its nets, if a word has all blocks."""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import Connectivity, ConnectivityTable
from portpart.algorithms.objectives.objective import BestTarget
from portpart.algorithms.objectives.pin_state import BITS, NetRows, bit_of
from portpart.backends import language as kl

AT_ONCE = 4
"""Number of nets or pins that a lane of a team loads at once, since each access takes very long."""


class AtOnce(kl.StaticArray, size=AT_ONCE):
    """Values that a lane loads at once."""


FEW_BLOCKS = 8
"""A lane of a small team adds a net to at most this many blocks alone.

All lanes add a net of more blocks together.
"""

MOST_TOGETHER = 8
"""Maximum number of lanes of a small team."""

STAYING, BOTH_KINDS = BITS, 2 * BITS
"""Where the sums of nets that stay begin, if they are added up apart, and where they end."""


@kl.device
def net_at(place, end, graph: NetRows):
    """Return the net at a place of a row, or the last net behind it, which needs no branch."""
    return kl.int64(graph.targets[min(place, end - 1)])


@kl.device
def weight_at(place, end, net, graph: NetRows):
    """Return the weight of the net; 0 behind the end."""
    return kl.int64(place < end) * kl.value_or(graph.nets.weights, net, 1)


@kl.device
def connection_to_others(blocks, weight, net_cost: kl.StaticValue):
    """Return the weight that connects a pin to each of the blocks of the net's other pins."""
    others = kl.popcount(blocks)
    return (net_cost(others + 1) - net_cost(others)) * weight


@kl.device
def add_to_blocks(blocks, connection, place, connections: ConnectivityTable):
    """Add a weight to each of these blocks, the first of which is at `place`."""
    left = kl.uint64(blocks)
    while left != 0:
        kl.team_atomic_add(connections.weights, place + kl.ctz(left), connection)
        left &= left - kl.uint64(1)


@kl.device
def add_if_few(blocks, connection, place, connections: ConnectivityTable):
    """Add a weight to these blocks if that is quick for a lane, and return the remaining blocks.

    It is quick if the blocks are few or the team is large.
    """
    left = kl.uint64(blocks)
    if connection == 0:
        left = kl.uint64(0)
    elif kl.team_size() > MOST_TOGETHER or kl.popcount(left) <= FEW_BLOCKS:
        add_to_blocks(left, connection, place, connections)
        left = kl.uint64(0)
    return left


@kl.device
def add_together(blocks, connection, place, connections: ConnectivityTable):
    """Add to the remaining blocks of each lane in turn; each lane adds to separate blocks."""
    turns = kl.team_sum(kl.int64(blocks != 0) << kl.lane())
    while turns != 0:
        mine = kl.int64(kl.ctz(kl.uint64(turns)) == kl.lane())
        given = kl.uint64(kl.team_sum(kl.int64(blocks) * mine))
        added = kl.team_sum(connection * mine)
        first = kl.team_sum(place * mine)
        for block in range(kl.lane(), BITS, kl.team_size()):
            if (given >> kl.uint64(block)) & kl.uint64(1) != 0:
                connections.weights[first + block] += added
        turns &= turns - 1
    return blocks


@kl.device
def place_of(alone, first, apart: kl.StaticValue):
    """Return where the sums of a net begin; a net stays if its pin is not alone in its block."""
    place = kl.int64(first)
    if apart:
        place += STAYING * kl.int64(alone == 0)
    return place


@kl.device
def add_to_first(blocks, connection, place, connections: ConnectivityTable):
    """Add a weight to the first of these blocks, if there is one; return the others.

    There is no branch: most nets lead to one other block, or to none.
    """
    first = kl.ctz(blocks) & (BITS - 1)
    connections.weights[place + first] += connection * kl.int64(blocks != 0)
    return blocks & (blocks - kl.uint64(1))


@kl.device
def add_nets_of_lane(begin, end, here, first, graph: NetRows, connections: ConnectivityTable,
                     net_cost: kl.StaticValue, apart: kl.StaticValue):
    """Add up the connectivity of a vertex net by net; return the weight of nets that stay.

    All nets that stay lead to block `here`, and no others do.  So its sum is that weight.
    """
    bit = bit_of(here)
    staying = kl.int64(0)
    for place in range(begin, end):
        net = kl.int64(graph.targets[place])
        weight = kl.value_or(graph.nets.weights, net, 1)
        alone = graph.sets.bits[2 * net + 1] & bit
        blocks = kl.uint64(graph.sets.bits[2 * net] & ~alone)
        connection = connection_to_others(blocks, weight, net_cost)
        sums = place_of(alone, first, apart)
        others = kl.uint64(add_to_first(blocks & ~bit, connection, sums, connections))
        if connection != 0:
            add_to_blocks(others, connection, sums, connections)
        staying += connection * kl.int64(alone == 0)
    connections.weights[place_of(kl.uint64(0), first, apart) + here] += staying
    return staying


@kl.device
def add_nets_of_lanes(begin, end, here, first, graph: NetRows, connections: ConnectivityTable,
                      net_cost: kl.StaticValue, apart: kl.StaticValue):
    """Add up the connectivity of a vertex, AT_ONCE nets of a lane at a time.

    Return the weight of the lane's nets that stay.  A lane loads the data of all these nets before
    it adds any: atomics wait for all earlier loads, so nothing else would overlap.
    """
    bit = bit_of(here)
    width = kl.team_size()
    staying = kl.int64(0)
    nets = AtOnce()
    blocks = AtOnce()
    alone = AtOnce()
    added = AtOnce()
    left = AtOnce()
    for tile in range(begin, end, AT_ONCE * width):
        place = tile + kl.lane()
        for j in kl.static_range(AT_ONCE):
            nets[j] = net_at(place + j * width, end, graph)
        for j in kl.static_range(AT_ONCE):
            blocks[j] = graph.sets.bits[2 * nets[j]]
        for j in kl.static_range(AT_ONCE):
            alone[j] = graph.sets.bits[2 * nets[j] + 1] & bit
        for j in kl.static_range(AT_ONCE):
            blocks[j] &= ~alone[j]
            weight = weight_at(place + j * width, end, nets[j], graph)
            added[j] = connection_to_others(blocks[j], weight, net_cost)
            staying += added[j] * kl.int64(alone[j] == 0)
        for j in kl.static_range(AT_ONCE):
            left[j] = add_if_few(blocks[j], added[j], place_of(alone[j], first, apart), connections)
        if width <= MOST_TOGETHER:
            if kl.team_max(kl.int64(left[0] | left[1] | left[2] | left[3] != 0)) != 0:
                kl.team_sync()
                for j in kl.static_range(AT_ONCE):
                    add_together(left[j], added[j], place_of(alone[j], first, apart), connections)
                kl.team_sync()
    return staying


@kl.device
def add_nets_of_one_word(begin, end, here, first, graph: NetRows, connections: ConnectivityTable,
                         net_cost: kl.StaticValue, apart: kl.StaticValue):
    """Add up the connectivity of a vertex in block `here` to all blocks, if a word has them.

    Its nets are in the places begin ... end-1; block b is at first + b.  Return the weight of the
    lane's nets that stay.
    """
    staying = kl.int64(0)
    if kl.team_size() == 1:
        staying = add_nets_of_lane(begin, end, here, first, graph, connections, net_cost, apart)
    else:
        staying = add_nets_of_lanes(begin, end, here, first, graph, connections, net_cost, apart)
    return staying


# A single lane lists the blocks around a vertex, and need not clear and examine all blocks ------

LISTED = 1
"""Where the list of blocks begins in `ConnectivityTable.blocks`; its length is before it."""


@kl.device
def blocks_around(v, bit, graph: NetRows):
    """Return the blocks of other pins of v's nets; `bit` is that of v's block."""
    blocks = kl.uint64(0)
    for place in range(graph.begin[v], graph.end[v]):
        net = kl.int64(graph.targets[place])
        blocks |= graph.sets.bits[2 * net] & ~(graph.sets.bits[2 * net + 1] & bit)
    return blocks


@kl.device
def list_blocks(v, first, graph: NetRows, part, connections: ConnectivityTable, num_blocks,
                net_cost: kl.StaticValue):
    """List the blocks around v, and add up its connectivity to each, apart for nets that stay."""
    here = kl.int64(part[v])
    left = kl.uint64(blocks_around(v, bit_of(here), graph))
    count = kl.int64(0)
    while left != 0:
        block = kl.ctz(left)
        connections.blocks[LISTED + count] = kl.int32(block)
        connections.weights[block] = 0
        connections.weights[STAYING + block] = 0
        count += 1
        left &= left - kl.uint64(1)
    connections.blocks[0] = kl.int32(count)
    connections.weights[BOTH_KINDS] = add_nets_of_lane(
        kl.int64(graph.begin[v]), kl.int64(graph.end[v]), here, 0, graph, connections, net_cost,
        True)
    return num_blocks


@kl.device
def number_listed(v, first, end, graph: NetRows, connections: ConnectivityTable):
    """Return the number of candidates."""
    return kl.int64(connections.blocks[0])


@kl.device
def block_listed(j, v, first, end, graph: NetRows, part, connections: ConnectivityTable):
    """Return candidate j."""
    return connections.blocks[LISTED + j]


@kl.device
def weight_listed(j, count, v, block, first, end, graph: NetRows, connections: ConnectivityTable):
    """Return the connectivity of v to candidate j."""
    return kl.int64(connections.weights[block]) + kl.int64(connections.weights[STAYING + block])


@kl.device
def note_loss_of_listed(connections: ConnectivityTable, found: BestTarget):
    """found.own = the cost of nets that the vertex adds to its best block if it moves there.

    That is the weight of the nets that stay and do not lead to that block.
    """
    loss = kl.int64(0)
    if found.block >= 0:
        loss = kl.int64(connections.weights[BOTH_KINDS])
        for j in range(connections.blocks[0]):
            if connections.blocks[LISTED + j] == found.block:
                loss -= connections.weights[STAYING + found.block]
    found.own = loss
    return loss


def listed_connectivity(net_cost: kl.DeviceFunction) -> Connectivity:
    """Return the connectivity that a single lane lists, for a net cost."""
    return Connectivity(list_blocks.bound(net_cost=net_cost), number_listed, block_listed,
                        weight_listed, LISTED + BITS, BOTH_KINDS + 1)
