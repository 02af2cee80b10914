"""The flow network of a corridor in a graph; `net_network.py` has that of a hypergraph.

The rest of the smaller block is the source, the rest of the other block the sink.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.refinement.flows.state import (
    Flows,
    MatchingSizes,
    Networks,
    Pair,
)
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, Static
from portpart.graphs import Csr


@dataclass(frozen=True)
class ArcRules(Static):
    """The arcs of a network, as functions of ``u, arc, pair, networks``.

    The arcs of node u have numbers.

    Attributes
    ----------
    first, last : DeviceFunction
        ``first(u, pair, networks)``: the first number of u's arcs, and the end of the range.
    head : DeviceFunction
        The node that an arc leads to.
    forward, backward : DeviceFunction
        Residual capacity of the arc, and of its reverse.
    send : DeviceFunction
        Pushes an amount, which is the argument after `arc`.
    """

    first: DeviceFunction
    last: DeviceFunction
    head: DeviceFunction
    forward: DeviceFunction
    backward: DeviceFunction
    send: DeviceFunction


@dataclass(frozen=True)
class FlowRules(Static):
    """Neighbours of vertices, and networks of corridors.

    Attributes
    ----------
    arcs : ArcRules
    add_cuts : DeviceFunction
        ``add_cuts(v, graph, quotient, corridors, level)``: adds v's edges to the cuts of pairs, and
        returns whether v is on a boundary.
    is_beside : DeviceFunction
        ``is_beside(v, a, b, graph, corridors)``: whether v, of block a, has neighbours in b.
    claim_around : DeviceFunction
        ``claim_around(v, begin, pair, counts, graph, flows)``: claims v's neighbours for the layer
        that begins at `begin`.
    release_around : DeviceFunction
        ``release_around(v, graph, flows)``: releases them.
    build : DeviceFunction
        ``build(pair, counts, graph, flows)``: builds the network, or leaves that to several teams,
        and returns the end of the nodes.
    close : DeviceFunction
        ``close(is_source, pair, networks)``: adds nets to a terminal that vertices have joined.
    note_move : DeviceFunction
        ``note_move(v, graph, flows)``: called after v has changed its block.
    has_nets : bool
    """

    arcs: ArcRules
    add_cuts: DeviceFunction
    is_beside: DeviceFunction
    claim_around: DeviceFunction
    release_around: DeviceFunction
    build: DeviceFunction
    close: DeviceFunction
    note_move: DeviceFunction
    has_nets: bool


TEAMS = 16
"""Number of teams that build the network of a pair."""

SOURCE, SINK = 1, 2
"""Marks of nodes that belong to a terminal."""

NEAR_SOURCE, NEAR_SINK = 4, 8
"""Marks of neighbours of a terminal."""

FRESH, OTHERS = 16, 127 - 16
"""Mark of nodes that have just changed their terminal or their block, and all other marks."""


# Networks of all pairs, several teams for each -------------------------------------------------


@kl.device
def build_later(pair: Pair, counts, graph: Csr, flows: Flows):
    """Return the end of the nodes: there are no others than vertices, and rows are built later."""
    return pair.end


@kl.device
def source_at(i, flows: Flows):
    """Return the smaller block of the pair of which team i works on a part."""
    return kl.int64(flows.quotient.pair[i // TEAMS])


@kl.device
def first_of_lane(i, base):
    """Return the first vertex of a lane of team i, in a corridor that begins at `base`."""
    return base + (i % TEAMS) * kl.team_size() + kl.lane()


@kl.kernel
def count_rows(i, graph: Csr, flows: Flows):
    """Set the lengths of rows of a pair's network to the numbers of arcs inside the corridor."""
    source = source_at(i, flows)
    base = kl.int64(flows.quotient.begin[source])
    end = base + flows.quotient.size[source]
    for u in range(first_of_lane(i, base), end, TEAMS * kl.team_size()):
        flows.networks.end[u] = kl.int32(count_arcs(u, base, end, graph, flows))


@kl.kernel
def lay_out(i, flows: Flows):
    """Set the ranges of the rows of pair i's network."""
    source = kl.int64(flows.quotient.pair[i])
    lay_rows(kl.int64(flows.quotient.begin[source]), flows.quotient.size[source], 1, flows)
    if kl.lane() == 0:
        flows.quotient.across[source] = kl.int64(0)


@kl.kernel
def fill_rows(i, graph: Csr, flows: Flows):
    """Fill rows of a pair's network, and add up the weight of the edges between its two sides."""
    source = source_at(i, flows)
    base = kl.int64(flows.quotient.begin[source])
    end = base + flows.quotient.size[source]
    sink = kl.int64(flows.quotient.partner[source])
    pair = Pair(source, sink, base, end, end, base)
    across = kl.int64(0)
    for u in range(first_of_lane(i, base), end, TEAMS * kl.team_size()):
        across += fill_row(u, pair, graph, flows)
    across = kl.team_sum(across)
    if kl.lane() == 0:
        kl.atomic_add(flows.quotient.across, source, across)


@kl.kernel
def link_rows(i, flows: Flows):
    """Find the reverse arcs of rows of a pair's network."""
    source = source_at(i, flows)
    base = kl.int64(flows.quotient.begin[source])
    for u in range(first_of_lane(i, base), base + flows.quotient.size[source],
                   TEAMS * kl.team_size()):
        link_row(u, flows.networks)


@kl.device
def is_inside(v, base, end, flows: Flows):
    """Whether vertex v of the graph is in the corridor of this range."""
    return base <= flows.corridors.place[v] and flows.corridors.place[v] < end


@kl.device
def count_arcs(u, base, end, graph: Csr, flows: Flows):
    """Return the number of arcs from u to vertices of its corridor."""
    v = flows.corridors.vertex[u]
    degree = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        degree += kl.int64(is_inside(graph.targets[arc], base, end, flows))
    return degree


@kl.device
def lay_rows(base, count, step, flows: Flows):
    """Set the ranges of the rows of `count` nodes, from `base` on in steps of `step`.

    Before, `end` has the lengths of the rows.  Called by all lanes of a team.
    """
    kl.team_sync()
    total = kl.int64(0)
    for tile in range(0, count, kl.team_size()):
        i = tile + kl.lane()
        length = kl.int64(0)
        if i < count:
            length = kl.int64(flows.networks.end[base + i * step])
        end = total + kl.team_scan(length)
        if i < count:
            flows.networks.begin[base + i * step] = kl.int32(end - length)
            flows.networks.end[base + i * step] = kl.int32(end)
        total = kl.team_last(end)
    first = kl.int64(0)
    if kl.lane() == 0:
        first = kl.atomic_add(flows.matching, MatchingSizes.used_arcs, total)
    first = kl.team_sum(first)
    for i in range(kl.lane(), count, kl.team_size()):
        u = base + i * step
        flows.networks.begin[u] = kl.int32(flows.networks.begin[u] + first)
        flows.networks.end[u] = kl.int32(flows.networks.end[u] + first)
    kl.team_sync()


@kl.device
def fill_row(u, pair: Pair, graph: Csr, flows: Flows):
    """Fill the row of u, and sum up its edges to the terminals.

    Return the weight of its edges to the other side; edges inside the corridor count only for the
    source's side.
    """
    v = flows.corridors.vertex[u]
    here = flows.corridors.part[v]
    place = kl.int64(flows.networks.begin[u])
    from_source = kl.int64(0)
    to_sink = kl.int64(0)
    across = kl.int64(0)
    for arc in range(graph.begin[v], graph.end[v]):
        t = graph.targets[arc]
        there = flows.corridors.part[t]
        weight = kl.value_or(graph.weights, arc, 1)
        if is_inside(t, pair.base, pair.end, flows):
            flows.networks.target[place] = flows.corridors.place[t]
            flows.networks.capacity[place] = weight
            flows.networks.flow[place] = 0
            flows.networks.reverse[place] = kl.int32(-1)
            place += 1
            if here == pair.source and there == pair.sink:
                across += weight
        elif there == pair.source:
            from_source += weight
        elif there == pair.sink:
            to_sink += weight
    flows.networks.excess[u] = from_source
    flows.networks.to_sink[u] = to_sink
    near = (NEAR_SOURCE if from_source > 0 else 0) | (NEAR_SINK if to_sink > 0 else 0)
    flows.networks.state[u] = kl.int8(near)
    return across + (to_sink if here == pair.source else from_source)


@kl.device
def link_row(u, networks: Networks):
    """Find the reverses of u's arcs to vertices of lower degree, in the rows of these.

    Of equal degrees the smaller place counts as lower.  Each of several parallel arcs of equal
    weight has its own reverse; which one does not matter.
    """
    degree = networks.end[u] - networks.begin[u]
    for arc in range(networks.begin[u], networks.end[u]):
        t = networks.target[arc]
        other = networks.end[t] - networks.begin[t]
        if other < degree or (other == degree and t < u):
            back = kl.int64(networks.begin[t])
            while not is_reverse(u, arc, back, networks):
                back += 1
            networks.reverse[arc] = kl.int32(back)
            networks.reverse[back] = kl.int32(arc)


@kl.device
def is_reverse(u, arc, back, networks: Networks):
    """Whether the arc `back` leads to u and can become the reverse of an arc from u."""
    result = False
    if networks.target[back] == u:
        result = networks.capacity[back] == networks.capacity[arc] and networks.reverse[back] < 0
    return result


# Arcs ------------------------------------------------------------------------------------------


@kl.device
def first_arc(u, pair: Pair, networks: Networks):
    """Return the first arc of u."""
    return kl.int64(networks.begin[u])


@kl.device
def last_arc(u, pair: Pair, networks: Networks):
    """Return the end of u's arcs."""
    return kl.int64(networks.end[u])


@kl.device
def head(u, arc, pair: Pair, networks: Networks):
    """Return the node that an arc leads to."""
    return kl.int64(networks.target[arc])


@kl.device
def forward(u, arc, pair: Pair, networks: Networks):
    """Return the residual capacity of an arc."""
    return kl.int64(networks.capacity[arc]) - networks.flow[arc]


@kl.device
def backward(u, arc, pair: Pair, networks: Networks):
    """Return the residual capacity of the reverse arc."""
    return kl.int64(networks.capacity[arc]) + networks.flow[arc]


@kl.device
def send(u, arc, amount, pair: Pair, networks: Networks):
    """Increase the flow over an arc, and return the amount."""
    networks.flow[arc] += amount
    networks.flow[networks.reverse[arc]] -= amount
    return amount


@kl.device
def close(is_source, pair: Pair, networks: Networks):
    """Do nothing: a graph has no nets."""


ARCS = ArcRules(first_arc, last_arc, head, forward, backward, send)
"""The arcs of a graph's network."""
