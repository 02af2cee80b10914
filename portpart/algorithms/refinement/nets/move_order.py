"""The order in which the afterburner applies proposed moves of a net's pins.

The order is either that of ids, in which pins are stored, or by decreasing gain and, among equal
gains, by id.  The place of a pin of a net without counters is the number of pins before it; pins of
a net with counters are gathered and sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import NetRows, PinCounts
from portpart.algorithms.refinement.gains import GainCache
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.nets.state import NetAfterburner
from portpart.backends import language as kl


class AfterburnerState(kl.Scope):
    """Records that determine the gains of pins of large nets."""

    moves: Moves
    cache: GainCache
    pin_counts: PinCounts
    afterburner: NetAfterburner


@dataclass(frozen=True)
class MoveOrder(kl.Static):
    """An order of moves, as device functions.

    Attributes
    ----------
    turn_of : DeviceFunction
        ``turn_of(j, begin, size, graph, moves, cache)``: the place of pin j in the order of a net
        without counters.
    line_up : DeviceFunction
        ``line_up(net, graph, state)``: orders the pins of a net with counters, from the beginning
        of its pins on, and returns the end of the line.  Called by all lanes of a team.
    in_line : DeviceFunction
        ``in_line(place, graph, afterburner)``: the vertex at a place of the line.
    proposes : DeviceFunction
        ``proposes(v, moves, cache)``: whether v has a proposed move.
    sorts : bool
        Whether lines differ from the lists of pins.
    """

    turn_of: kl.DeviceFunction
    line_up: kl.DeviceFunction
    in_line: kl.DeviceFunction
    proposes: kl.DeviceFunction
    sorts: bool = False


ORDERS = ("id", "gain")
"""Their names in options."""


def order_by(order: str, proposes: kl.DeviceFunction) -> MoveOrder:
    """Return one of `ORDERS` for the moves that `proposes` selects."""
    if order == "id":
        return MoveOrder(turn_by_id, all_pins, pin_at, proposes)
    return MoveOrder(turn_by_gain.bound(proposes=proposes), sort_by_gain.bound(proposes=proposes),
                     moving_pin_at, proposes, sorts=True)


@kl.device
def turn_by_id(j, begin, size, graph: NetRows, moves: Moves, cache: GainCache):
    """Return j: pins are stored in this order."""
    return j


@kl.device
def all_pins(net, graph: NetRows, state: AfterburnerState):
    """Return the end of the net: all its pins are in line."""
    return kl.int64(graph.nets.end[net])


@kl.device
def pin_at(place, graph: NetRows, afterburner: NetAfterburner):
    """Return the pin at a place."""
    return graph.nets.pins[place]


@kl.device
def moving_pin_at(place, graph: NetRows, afterburner: NetAfterburner):
    """Return the vertex at a place of the sorted line."""
    return afterburner.line[place]


@kl.device
def goes_before(u, v, cache: GainCache):
    """Whether the move of u gains more than that of v, or as much with a smaller id."""
    first = u < v
    if cache.gain[u] != cache.gain[v]:
        first = cache.gain[u] > cache.gain[v]
    return first


@kl.device
def turn_by_gain(j, begin, size, graph: NetRows, moves: Moves, cache: GainCache,
                 proposes: kl.StaticValue):
    """Return how many pins precede pin j: pins with a proposed move precede the others."""
    v = graph.nets.pins[begin + j]
    v_proposes = proposes(v, moves, cache)
    turn = kl.int64(0)
    for other in range(size):
        u = graph.nets.pins[begin + other]
        u_proposes = proposes(u, moves, cache)
        first = u_proposes
        if u_proposes == v_proposes:
            first = other < j
            if v_proposes:
                first = goes_before(u, v, cache)
        turn += kl.int64(first)
    return turn


@kl.device
def sort_by_gain(net, graph: NetRows, state: AfterburnerState, proposes: kl.StaticValue):
    """Gather the pins of a net with a proposed move, sort them, and return the end of the line."""
    begin = kl.int64(graph.nets.begin[net])
    end = kl.int64(graph.nets.end[net])
    count = kl.int64(0)
    for base in range(begin, end, kl.team_size()):
        place = base + kl.lane()
        joins = kl.int64(0)
        v = kl.int32(-1)
        if place < end:
            v = graph.nets.pins[place]
            joins = kl.int64(proposes(v, state.moves, state.cache))
        until = kl.team_scan(joins)
        if joins != 0:
            state.afterburner.line[begin + count + until - 1] = v
        count += kl.team_last(until)
    kl.team_sync()
    sort_moving_pins(begin, count, state.afterburner.line, state.cache)
    return begin + count


@kl.device
def sort_moving_pins(begin, count, line, cache: GainCache):
    """Sort the vertices from a place on by their gains, by Batcher's odd-even merges.

    Called by all lanes of a team.
    """
    width = kl.int64(1)
    while width < count:
        stride = width
        while stride >= 1:
            start = stride % width
            for i in range(start + kl.lane(), count - stride, kl.team_size()):
                is_left = (i - start) // stride % 2 == 0
                if is_left and i // (2 * width) == (i + stride) // (2 * width):
                    u = line[begin + i]
                    v = line[begin + i + stride]
                    if goes_before(v, u, cache):
                        line[begin + i] = v
                        line[begin + i + stride] = u
            kl.team_sync()
            stride //= 2
        width *= 2
