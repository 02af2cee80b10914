"""What flow refinement of graphs and of hypergraphs differs in: static values of its kernels."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.backends.language import DeviceFunction, Static


@dataclass(frozen=True)
class ArcRules(Static):
    """Arcs of a network.  Those of node u have numbers; arguments are ``u, arc, pair, networks``.

    Attributes
    ----------
    first, last : DeviceFunction
        ``first(u, pair, networks)``: the first number, and the end of them.
    head : DeviceFunction
        The node that an arc leads to.
    forward, backward : DeviceFunction
        Residual capacity of the arc, and of its reverse.
    send : DeviceFunction
        Pushes an amount, the argument after `arc`.
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
        ``add_cuts(v, graph, quotient, corridors, level)``: adds v's edges to the cuts of pairs;
        whether it is on a boundary.
    is_beside : DeviceFunction
        ``is_beside(v, a, b, graph, corridors)``: whether v, of block a, has neighbours in b.
    claim_around : DeviceFunction
        ``claim_around(v, begin, pair, counts, graph, flows)``: claims v's neighbours for the layer
        that begins there.
    let_go_around : DeviceFunction
        ``let_go_around(v, graph, flows)``: lets go of them.
    build : DeviceFunction
        ``build(pair, counts, graph, flows)``: builds the network, stores the weight across, and
        returns the end of the nodes.
    close : DeviceFunction
        ``close(is_source, pair, networks)``: lets nets join a terminal that vertices have joined.
    note_move : DeviceFunction
        ``note_move(v, graph, flows)``: v has changed its block.
    has_nets : bool
    """

    arcs: ArcRules
    add_cuts: DeviceFunction
    is_beside: DeviceFunction
    claim_around: DeviceFunction
    let_go_around: DeviceFunction
    build: DeviceFunction
    close: DeviceFunction
    note_move: DeviceFunction
    has_nets: bool
