"""The flow network of a corridor in a hypergraph, after Lawler (1973).

A net is two nodes, which an arc of the net's weight joins; arcs from its pins lead to the first
node, and arcs from the second node to its pins.  All other capacities are unlimited.  A net has one
row, the pins in the corridor, which its two nodes share.  Two flows are stored for a pin, each
where it leaves: the flow to the first node in the row of the vertex, the flow from the second node
in the row of the net.

If some pins stay in the block of the source, the first node belongs to the source; if some stay in
the other block, the second node belongs to the sink.  If both is the case, the net is always cut
and left out.  A net with a single pin in the corridor is an edge to a terminal.  A net with two
pins there and no others is an edge between them, of which `flow` has the residual capacities, and
has no nodes.
"""

from __future__ import annotations

from portpart.algorithms.refinement.flows import network
from portpart.algorithms.refinement.flows.net_blocks import (
    EMPTY,
    count_at,
    place_of,
    weight_between,
)
from portpart.algorithms.refinement.flows.network import NEAR_SINK, NEAR_SOURCE
from portpart.algorithms.refinement.flows.push_relabel import is_free
from portpart.algorithms.refinement.flows.state import FOUND, FlowNets, Flows, Networks, Pair
from portpart.backends import language as kl
from portpart.graphs import degree_of

PENDING = 2**30
"""The mark of a net that is about to get nodes."""

UNLIMITED = 2**61
"""More than any excess."""

EDGE, NET = -1, -2
"""Targets of entries that are not linked yet."""


@kl.device
def build_of_nets(pair: Pair, counts, graph: FlowNets, flows: Flows, net_cost: kl.StaticValue):
    """Build the network of a corridor, and store the weight of the nets between its two sides.

    Return the end of the nodes.  Called by all lanes of a team.
    """
    if kl.lane() == 0:
        counts[FOUND] = 0
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        flows.networks.end[u] = kl.int32(degree_of(flows.corridors.vertex[u], graph))
        count_inside(u, 1, graph, flows)
    network.lay_rows(pair.base, pair.end - pair.base, 1, flows)
    across = kl.int64(0)
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        across += list_nets(u, pair, counts, graph, flows, net_cost)
    across = kl.team_sum(across)
    kl.team_sync()
    nets = counts[FOUND] + 0
    network.lay_rows(pair.end, nets, 2, flows)
    for i in range(kl.lane(), nets, kl.team_size()):
        x = pair.end + 2 * i
        flows.networks.begin[x + 1] = flows.networks.begin[x]
        flows.networks.end[x + 1] = flows.networks.end[x]
        flows.networks.label[x] = flows.networks.begin[x]
    kl.team_sync()
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        link_pins(u, graph, flows.networks)
        count_inside(u, -1, graph, flows)
    kl.team_sync()
    for u in range(pair.base + kl.lane(), pair.end, kl.team_size()):
        link_edges(u, flows.networks)
    if kl.lane() == 0:
        flows.quotient.across[pair.source] = across
    return pair.end + 2 * nets


@kl.device
def count_inside(u, change, graph: FlowNets, flows: Flows):
    """Add to the number of pins in the corridor, for u's block and nets."""
    v = flows.corridors.vertex[u]
    for entry in range(graph.begin[v], graph.end[v]):
        place = place_of(flows.corridors.part[v], graph.targets[entry], graph)
        kl.team_atomic_add(graph.blocks.inside, place, kl.int32(change))


@kl.device
def list_nets(u, pair: Pair, counts, graph: FlowNets, flows: Flows, net_cost: kl.StaticValue):
    """Fill the row of u with places of nets, create nodes for nets, and sum up arcs to terminals.

    Return the weight between the two sides of the nets that this lane lists first.
    """
    v = flows.corridors.vertex[u]
    end = kl.int64(flows.networks.begin[u])
    from_source = kl.int64(0)
    to_sink = kl.int64(0)
    near = kl.int64(0)
    across = kl.int64(0)
    for entry in range(graph.begin[v], graph.end[v]):
        net = kl.int64(graph.targets[entry])
        one = place_of(pair.source, net, graph)
        other = place_of(pair.sink, net, graph)
        weight = weight_between(one, other, net, graph, net_cost)
        of_source = count_at(one, graph.blocks.count) > count_at(one, graph.blocks.inside)
        of_sink = count_at(other, graph.blocks.count) > count_at(other, graph.blocks.inside)
        if weight > 0 and not (of_source and of_sink):
            near |= (NEAR_SOURCE if of_source else 0) | (NEAR_SINK if of_sink else 0)
            inside = count_at(one, graph.blocks.inside) + count_at(other, graph.blocks.inside)
            is_first = True
            if inside == 1:
                from_source += weight if of_source else 0
                to_sink += weight if of_sink else 0
            else:
                place = one if one >= 0 else other
                is_edge = inside == 2 and not (of_source or of_sink)
                flows.networks.reverse[end] = kl.int32(place)
                flows.networks.target[end] = kl.int32(EDGE if is_edge else NET)
                flows.networks.flow[end] = weight if is_edge else 0
                end += 1
                is_first = claims_net(place, graph)
                if is_first and not is_edge:
                    x = pair.end + 2 * kl.team_atomic_add(counts, FOUND, 1)
                    kl.atomic_min(graph.blocks.mark, place, kl.int32(x))
                    flows.networks.end[x] = kl.int32(inside)
                    begin_net(x, weight, of_source, of_sink, flows.networks)
            if is_first and one >= 0 and other >= 0:
                across += weight
    flows.networks.end[u] = kl.int32(end)
    flows.networks.excess[u] = from_source
    flows.networks.to_sink[u] = to_sink
    flows.networks.state[u] = kl.int8(near)
    return across


@kl.device
def claims_net(place, graph: FlowNets):
    """Whether the net of a place gets its nodes from this lane, the first one to claim it."""
    result = False
    mark = kl.atomic_load(graph.blocks.mark, place)
    if mark < 0:
        result = kl.team_atomic_cas(graph.blocks.mark, place, mark, kl.int32(PENDING)) == mark
    return result


@kl.device
def begin_net(x, weight, of_source, of_sink, networks: Networks):
    """Start with no flow through the net of nodes x and x + 1."""
    networks.capacity[x] = weight
    networks.capacity[x + 1] = 0
    networks.state[x] = kl.int8(network.SOURCE if of_source else 0)
    networks.state[x + 1] = kl.int8(network.SINK if of_sink else 0)
    networks.excess[x] = 0
    networks.excess[x + 1] = weight if of_source else 0
    networks.to_sink[x] = weight if of_sink else 0
    networks.to_sink[x + 1] = 0


@kl.device
def link_pins(u, graph: FlowNets, networks: Networks):
    """Put u into the rows of its nets; the last pin of a net resets its mark.

    Of an edge, the first end stores its entry instead of the mark, and the other end reads it.
    """
    for entry in range(networks.begin[u], networks.end[u]):
        place = kl.int64(networks.reverse[entry])
        if networks.target[entry] == EDGE:
            back = kl.team_atomic_cas(graph.blocks.mark, place, kl.int32(PENDING), kl.int32(entry))
            is_last = back != PENDING
            networks.target[entry] = kl.int32(EDGE if is_last else u)
            networks.reverse[entry] = back
        else:
            x = kl.int64(kl.atomic_load(graph.blocks.mark, place))
            back = kl.team_atomic_add(networks.label, x, kl.int32(1))
            is_last = back + 1 == networks.end[x]
            networks.target[entry] = kl.int32(x)
            networks.reverse[entry] = back
            networks.target[back] = kl.int32(u)
            networks.reverse[back] = kl.int32(entry)
            networks.flow[back] = 0
        if is_last:
            kl.atomic_min(graph.blocks.mark, place, kl.int32(EMPTY))


@kl.device
def link_edges(u, networks: Networks):
    """Link the ends of edges for which u has read the entry of the other end."""
    for entry in range(networks.begin[u], networks.end[u]):
        if networks.target[entry] == EDGE:
            back = kl.int64(networks.reverse[entry])
            networks.target[entry] = networks.target[back]
            networks.target[back] = kl.int32(u)
            networks.reverse[back] = kl.int32(entry)


# Arcs ------------------------------------------------------------------------------------------

# A vertex has two arcs for each entry, of which the second one has no capacity if the entry is an
# edge; a node of a net has one arc for each pin, and one to the other node.


@kl.device
def is_edge_at(entry, pair: Pair, networks: Networks):
    """Whether an entry of a vertex leads to another vertex."""
    return networks.target[entry] < pair.end


@kl.device
def is_first_node(u, pair: Pair):
    """Whether u, a node of a net, is the one that pins lead to."""
    return ((u - pair.end) & 1) == 0


@kl.device
def first_arc(u, pair: Pair, networks: Networks):
    """Return the first arc of u."""
    begin = kl.int64(networks.begin[u])
    return 2 * begin if u < pair.end else begin


@kl.device
def last_arc(u, pair: Pair, networks: Networks):
    """Return the end of u's arcs."""
    end = kl.int64(networks.end[u])
    return 2 * end if u < pair.end else end + 1


@kl.device
def head(u, arc, pair: Pair, networks: Networks):
    """Return the node that an arc leads to."""
    result = kl.int64(0)
    if u < pair.end:
        result = kl.int64(networks.target[arc >> 1])
        if result >= pair.end:
            result += arc & 1
    elif arc < networks.end[u]:
        result = kl.int64(networks.target[arc])
    else:
        result = u + 1 if is_first_node(u, pair) else u - 1
    return result


@kl.device
def forward(u, arc, pair: Pair, networks: Networks):
    """Return the residual capacity of an arc."""
    result = kl.int64(UNLIMITED)
    if u < pair.end:
        if is_edge_at(arc >> 1, pair, networks):
            result = kl.int64(networks.flow[arc >> 1]) if arc & 1 == 0 else kl.int64(0)
        elif arc & 1 == 1:
            result = kl.int64(networks.flow[networks.reverse[arc >> 1]])
    elif arc < networks.end[u]:
        if is_first_node(u, pair):
            result = kl.int64(networks.flow[networks.reverse[arc]])
    elif is_first_node(u, pair):
        result = kl.int64(networks.capacity[u]) - networks.capacity[u + 1]
    else:
        result = kl.int64(networks.capacity[u])
    return result


@kl.device
def backward(u, arc, pair: Pair, networks: Networks):
    """Return the residual capacity of the reverse arc."""
    result = kl.int64(UNLIMITED)
    if u < pair.end:
        if is_edge_at(arc >> 1, pair, networks):
            back = networks.reverse[arc >> 1]
            result = kl.int64(networks.flow[back]) if arc & 1 == 0 else kl.int64(0)
        elif arc & 1 == 0:
            result = kl.int64(networks.flow[arc >> 1])
    elif arc < networks.end[u]:
        if not is_first_node(u, pair):
            result = kl.int64(networks.flow[arc])
    elif is_first_node(u, pair):
        result = kl.int64(networks.capacity[u + 1])
    else:
        result = kl.int64(networks.capacity[u - 1]) - networks.capacity[u]
    return result


@kl.device
def send(u, arc, amount, pair: Pair, networks: Networks):
    """Increase the flow over an arc, and return the amount."""
    if u < pair.end:
        if is_edge_at(arc >> 1, pair, networks):
            networks.flow[arc >> 1] -= amount
            networks.flow[networks.reverse[arc >> 1]] += amount
        elif arc & 1 == 0:
            networks.flow[arc >> 1] += amount
        else:
            networks.flow[networks.reverse[arc >> 1]] -= amount
    elif arc < networks.end[u]:
        if is_first_node(u, pair):
            networks.flow[networks.reverse[arc]] -= amount
        else:
            networks.flow[arc] += amount
    elif is_first_node(u, pair):
        networks.capacity[u + 1] += amount
    else:
        networks.capacity[u] -= amount
    return amount


@kl.device
def close(is_source, pair: Pair, networks: Networks):
    """Add nets to a terminal that a pin has just joined.  Called by all lanes of a team.

    A net joins the source by its first node, or the sink by its second one.
    """
    terminal = kl.int64(network.SOURCE if is_source else network.SINK)
    first = pair.end + kl.int64(0 if is_source else 1)
    for x in range(first + 2 * kl.lane(), pair.top, 2 * kl.team_size()):
        if is_free(x, networks):
            for entry in range(networks.begin[x], networks.end[x]):
                if (networks.state[networks.target[entry]] & network.FRESH) != 0:
                    networks.state[x] |= terminal | network.FRESH


ARCS = network.ArcRules(first_arc, last_arc, head, forward, backward, send)
"""The arcs of a hypergraph's network."""
