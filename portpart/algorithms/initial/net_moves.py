"""Updates of gains when a vertex of a hypergraph changes sides.

A single lane updates net after net. The lanes of a team take a net each, and divide the pins of all
these nets among them: otherwise all would wait for the lane with the largest net.
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates
from portpart.algorithms.initial.fm_gains import AttemptScratch, Bisection, keep_best
from portpart.algorithms.initial.net_keys import VertexNets, scaled_cost, size_of
from portpart.backends import language as kl
from portpart.primitives import lower_bound

NOWHERE = -1


class MovedVertex(kl.Record):
    """A vertex that moves.

    Attributes
    ----------
    position : int
    here : int
        The side that it leaves.
    opening : int
        The state of vertices that may leave side 1 from now on.
    """

    position: int
    here: int
    opening: int


@kl.device
def position_of(pin, moved: MovedVertex, bisection: Bisection, graph: VertexNets,
                candidates: Candidates):
    """Return the position of a pin if it is another vertex of the bisection; else NOWHERE."""
    q = kl.int64(candidates.place[bisection.base + graph.nets.pins[pin]])
    inside = bisection.lower <= q and q < bisection.upper and q != moved.position
    return q if inside else kl.int64(NOWHERE)


@kl.device
def unit_of(net, bisection: Bisection, graph: VertexNets):
    """Return the cost of a cut net in units of keys, without the term of pairs."""
    return scaled_cost(net, bisection.shift, graph) * (kl.int64(1) << bisection.bits)


@kl.device
def shares_of(net, bisection: Bisection, graph: VertexNets):
    """Return twice the cost in keys of each pair of a net's pins on two sides."""
    share = scaled_cost(net, bisection.shift, graph) // max(kl.int64(1), size_of(net, graph) - 1)
    return 2 * share * (kl.int64(1) << bisection.bits)


@kl.device
def change_of_near(near, across, unit, shares):
    """Return the change of keys of pins on the side that is left; counts exclude the moved pin.

    The cost of the cut changes gains if a side had, or now has, at most one pin (Fiduccia,
    Mattheyses, 1982).
    """
    return shares + unit * (kl.int64(across == 0) + kl.int64(near == 1))


@kl.device
def change_of_across(near, across, unit, shares):
    """Return the change for the other side, with sides exchanged and the opposite sign."""
    return -shares - unit * (kl.int64(across == 1) + kl.int64(near == 0))


@kl.device
def add_change(q, change_near, change_across, moved: MovedVertex, bisection: Bisection,
               attempts: AttemptScratch):
    """Change the key at q; open the vertex if it has the state `opening`. Atomic."""
    slot = bisection.own + q
    there = kl.int64(attempts.side[slot])
    change = kl.int64(change_near)
    if there & 1 != moved.here:
        change = kl.int64(change_across)
    kl.team_atomic_add(attempts.key, slot, change)
    if there == moved.opening:
        attempts.side[slot] = kl.int8(1)
    return there


@kl.device
def update_net_keys(net, moved: MovedVertex, bisection: Bisection, graph: VertexNets,
                    candidates: Candidates, attempts: AttemptScratch):
    """Update the keys of a net's pins after a move. Called by a team of one lane."""
    near = kl.int64(0)
    across = kl.int64(0)
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        q = position_of(pin, moved, bisection, graph, candidates)
        if q != NOWHERE:
            there = kl.int64(attempts.side[bisection.own + q] & 1)
            across += there ^ moved.here
            near += 1 - (there ^ moved.here)
    unit = unit_of(net, bisection, graph)
    shares = shares_of(net, bisection, graph)
    change_near = change_of_near(near, across, unit, shares)
    change_across = change_of_across(near, across, unit, shares)
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        q = position_of(pin, moved, bisection, graph, candidates)
        if q != NOWHERE:
            add_change(q, change_near, change_across, moved, bisection, attempts)
            keep_best(q, bisection, attempts)
    return net


@kl.device
def turn_of(position, nets, attempts: AttemptScratch):
    """Return which of the `nets` nets of a team the pin at a position belongs to."""
    return lower_bound(attempts.stops, 0, nets - 1, position + 1)


@kl.device
def pin_at(position, nets, moved: MovedVertex, bisection: Bisection, graph: VertexNets,
           candidates: Candidates, attempts: AttemptScratch):
    """Return the index of a pin's net in the high bits and its position below; or NOWHERE."""
    result = kl.int64(NOWHERE)
    if position < attempts.stops[nets - 1]:
        turn = turn_of(position, nets, attempts)
        q = position_of(position + attempts.shifts[turn], moved, bisection, graph, candidates)
        if q != NOWHERE:
            result = (turn << 32) | q
    return result


@kl.device
def count_pin(pin, moved: MovedVertex, bisection: Bisection, attempts: AttemptScratch):
    """Count a pin of a team's nets on its side. Atomic."""
    if pin != NOWHERE:
        if kl.int64(attempts.side[bisection.own + (pin & 0xFFFFFFFF)] & 1) == moved.here:
            kl.team_atomic_add(attempts.near, pin >> 32, 1)
        else:
            kl.team_atomic_add(attempts.across, pin >> 32, 1)
    return pin


@kl.device
def store_changes(turn, unit, shares, attempts: AttemptScratch):
    """Store the changes of keys for the pins of a net, whose pins have been counted."""
    near = kl.int64(attempts.near[turn])
    across = kl.int64(attempts.across[turn])
    attempts.change_near[turn] = change_of_near(near, across, unit, shares)
    attempts.change_across[turn] = change_of_across(near, across, unit, shares)
    return turn


@kl.device
def update_pin(pin, moved: MovedVertex, bisection: Bisection, attempts: AttemptScratch):
    """Change the key of a pin of a team's nets."""
    if pin != NOWHERE:
        add_change(pin & 0xFFFFFFFF, attempts.change_near[pin >> 32],
                   attempts.change_across[pin >> 32], moved, bisection, attempts)
    return pin


@kl.device
def update_nets_together(place, end, moved: MovedVertex, bisection: Bisection, graph: VertexNets,
                    candidates: Candidates, attempts: AttemptScratch):
    """Update keys in the nets from a place on, one net per lane. Called by all lanes of a team."""
    size = kl.int32(0)
    begin = kl.int64(0)
    unit = kl.int64(0)
    shares = kl.int64(0)
    mine = kl.lane()
    nets = min(kl.int64(kl.team_size()), kl.int64(end) - place)
    if mine < nets:
        net = kl.int64(graph.targets[place + mine])
        size = kl.int32(size_of(net, graph))
        begin = kl.int64(graph.nets.begin[net])
        unit = unit_of(net, bisection, graph)
        shares = shares_of(net, bisection, graph)
    stop = kl.team_scan(size)
    attempts.stops[mine] = stop
    attempts.shifts[mine] = begin - (stop - size)
    attempts.near[mine] = kl.int32(0)
    attempts.across[mine] = kl.int32(0)
    pins = kl.int64(kl.team_last(stop))
    kl.team_sync()
    # each lane keeps its first two pins: in a block these are all pins of most vertices
    first = pin_at(mine, nets, moved, bisection, graph, candidates, attempts)
    second = pin_at(mine + kl.team_size(), nets, moved, bisection, graph, candidates, attempts)
    count_pin(first, moved, bisection, attempts)
    count_pin(second, moved, bisection, attempts)
    for position in range(mine + 2 * kl.team_size(), pins, kl.team_size()):
        count_pin(pin_at(position, nets, moved, bisection, graph, candidates, attempts), moved,
                  bisection, attempts)
    kl.team_sync()
    if mine < nets:
        store_changes(mine, unit, shares, attempts)
    kl.team_sync()
    update_pin(first, moved, bisection, attempts)
    update_pin(second, moved, bisection, attempts)
    for position in range(mine + 2 * kl.team_size(), pins, kl.team_size()):
        update_pin(pin_at(position, nets, moved, bisection, graph, candidates, attempts), moved,
                   bisection, attempts)
    kl.team_sync()
    return pins


@kl.device
def update_keys_of_nets(p, here, opening, bisection: Bisection, graph: VertexNets,
                        candidates: Candidates, attempts: AttemptScratch):
    """Update keys when the vertex at p leaves side `here`; return that vertex."""
    v = candidates.order[bisection.base + p]
    moved = MovedVertex(p, here, opening)
    begin = kl.int64(graph.begin[v])
    end = kl.int64(graph.end[v])
    if kl.team_size() == 1:
        for place in range(begin, end):
            update_net_keys(graph.targets[place], moved, bisection, graph, candidates, attempts)
    else:
        for place in range(begin, end, kl.team_size()):
            update_nets_together(place, end, moved, bisection, graph, candidates, attempts)
    return v
