"""How gains follow when a vertex of a hypergraph changes sides.

A lane alone goes from net to net.  The lanes of a team take a net each, then share out the pins of
all these nets: else all would wait for the one with the largest.
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates
from portpart.algorithms.initial.fm_gains import Bisection, Working, keep_best
from portpart.algorithms.initial.net_prices import Incidence, price_of, size_of
from portpart.backends.language import (
    Record,
    device,
    int8,
    int32,
    int64,
    lane,
    team_atomic_add,
    team_last,
    team_scan,
    team_size,
    team_sync,
)

NOWHERE = -1


class Mover(Record):
    """A vertex that moves.

    Attributes
    ----------
    position : int
    here : int
        The side that it leaves.
    opening : int
        The state of those that may leave side 1 from now on.
    """

    position: int
    here: int
    opening: int


@device
def position_of(pin, mover: Mover, bisection: Bisection, graph: Incidence, candidates: Candidates):
    """Where a pin stands, if it is another one of the bisection; else NOWHERE."""
    q = int64(candidates.place[bisection.base + graph.nets.pins[pin]])
    inside = bisection.lower <= q and q < bisection.upper and q != mover.position
    return q if inside else int64(NOWHERE)


@device
def change_of_beside(beside, across, net, bisection: Bisection, graph: Incidence):
    """How keys of pins on the side that is left change, where so many others are on each.

    The price counts where a side had, or has now, one pin or none (Fiduccia, Mattheyses, 1982).
    """
    price = price_of(net, bisection.shift, graph)
    shares = 2 * (price // max(int64(1), size_of(net, graph) - 1))
    change = shares + price * (int64(across == 0) + int64(beside == 1))
    return change * (int64(1) << bisection.bits)


@device
def change_of_across(beside, across, net, bisection: Bisection, graph: Incidence):
    """The same of pins on the other side, which see sides exchanged, and gain what those lose."""
    price = price_of(net, bisection.shift, graph)
    shares = 2 * (price // max(int64(1), size_of(net, graph) - 1))
    change = shares + price * (int64(across == 1) + int64(beside == 0))
    return -change * (int64(1) << bisection.bits)


@device
def tell(q, change_beside, change_across, mover: Mover, bisection: Bisection, attempts: Working):
    """Let the key at q follow."""
    slot = bisection.own + q
    there = int64(attempts.side[slot])
    change = int64(change_beside)
    if there & 1 != mover.here:
        change = int64(change_across)
    team_atomic_add(attempts.key, slot, change)
    if there == mover.opening:
        attempts.side[slot] = int8(1)
    return there


@device
def follow_net(net, mover: Mover, bisection: Bisection, graph: Incidence, candidates: Candidates,
               attempts: Working):
    """Let gains of a net's pins follow a move; a lane alone."""
    beside = int64(0)
    across = int64(0)
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        q = position_of(pin, mover, bisection, graph, candidates)
        if q != NOWHERE:
            there = int64(attempts.side[bisection.own + q] & 1)
            across += there ^ mover.here
            beside += 1 - (there ^ mover.here)
    change_beside = change_of_beside(beside, across, net, bisection, graph)
    change_across = change_of_across(beside, across, net, bisection, graph)
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        q = position_of(pin, mover, bisection, graph, candidates)
        if q != NOWHERE:
            tell(q, change_beside, change_across, mover, bisection, attempts)
            keep_best(q, bisection, attempts)
    return net


@device
def turn_of(position, attempts: Working):
    """Which of the nets of a team the pin at a position is of."""
    low = int64(0)
    high = team_size() - 1
    while low < high:
        middle = (low + high) // 2
        if int64(attempts.stops[middle]) <= position:
            low = middle + 1
        else:
            high = middle
    return low


@device
def count_pins(pins, mover: Mover, bisection: Bisection, graph: Incidence, candidates: Candidates,
               attempts: Working):
    """Count the other pins of a team's nets on both sides."""
    for position in range(lane(), pins, team_size()):
        turn = turn_of(position, attempts)
        pin = position + attempts.shifts[turn]
        q = position_of(pin, mover, bisection, graph, candidates)
        if q != NOWHERE:
            if int64(attempts.side[bisection.own + q] & 1) == mover.here:
                team_atomic_add(attempts.beside, turn, 1)
            else:
                team_atomic_add(attempts.across, turn, 1)
    team_sync()


@device
def tell_all(pins, mover: Mover, bisection: Bisection, graph: Incidence, candidates: Candidates,
             attempts: Working):
    """Let the keys of the other pins of a team's nets follow."""
    for position in range(lane(), pins, team_size()):
        turn = turn_of(position, attempts)
        pin = position + attempts.shifts[turn]
        q = position_of(pin, mover, bisection, graph, candidates)
        if q != NOWHERE:
            tell(q, attempts.change_beside[turn], attempts.change_across[turn], mover, bisection,
                 attempts)
    team_sync()


@device
def follow_together(place, end, mover: Mover, bisection: Bisection, graph: Incidence,
                    candidates: Candidates, attempts: Working):
    """Let gains follow in the nets from a place on, as many as lanes; all lanes of a team."""
    net = int64(0)
    size = int64(0)
    begin = int64(0)
    mine = lane()
    if place + mine < end:
        net = int64(graph.targets[place + mine])
        size = size_of(net, graph)
        begin = int64(graph.nets.begin[net])
    stop = team_scan(size)
    pins = team_last(stop)
    attempts.stops[mine] = int32(stop)
    attempts.shifts[mine] = begin - (stop - size)
    attempts.beside[mine] = int32(0)
    attempts.across[mine] = int32(0)
    team_sync()
    count_pins(pins, mover, bisection, graph, candidates, attempts)
    beside = int64(attempts.beside[mine])
    across = int64(attempts.across[mine])
    attempts.change_beside[mine] = change_of_beside(beside, across, net, bisection, graph)
    attempts.change_across[mine] = change_of_across(beside, across, net, bisection, graph)
    team_sync()
    tell_all(pins, mover, bisection, graph, candidates, attempts)
    return pins


@device
def follow_nets(p, here, opening, bisection: Bisection, graph: Incidence, candidates: Candidates,
                attempts: Working):
    """Let gains follow when the vertex at p, which is returned, leaves side `here`."""
    v = candidates.order[bisection.base + p]
    mover = Mover(p, here, opening)
    begin = int64(graph.begin[v])
    end = int64(graph.end[v])
    if team_size() == 1:
        for place in range(begin, end):
            follow_net(graph.targets[place], mover, bisection, graph, candidates, attempts)
    else:
        for place in range(begin, end, team_size()):
            follow_together(place, end, mover, bisection, graph, candidates, attempts)
    return v
