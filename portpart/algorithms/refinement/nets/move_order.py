"""The order in which the afterburner applies proposed moves of a net's pins.

Either by ids, as pins are stored, or by gains, the largest first, of equal ones the smaller id.
The place of a pin of a net without counters is the number of pins before it; pins of a net with
counters are gathered and sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import NetRows, PinCounts
from portpart.algorithms.refinement.gains import GainCache
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.nets.state import NetAfterburner
from portpart.backends import language as kl


class AfterburnerState(kl.Scope):
    """What computes gains of pins of large nets."""

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
        ``turn_of(j, begin, size, graph, moves, cache)``: the turn of pin j of a net without
        counters.
    line_up : DeviceFunction
        ``line_up(net, graph, state)``: makes the line of a net with counters, from where its pins
        begin, and says where it ends.  All lanes of a team together.
    in_line : DeviceFunction
        ``in_line(place, graph, afterburner)``: the vertex there.
    wants : DeviceFunction
        ``wants(v, moves, cache)``: whether v wants to move.
    sorts : bool
        Whether lines are others than the pins.
    """

    turn_of: kl.DeviceFunction
    line_up: kl.DeviceFunction
    in_line: kl.DeviceFunction
    wants: kl.DeviceFunction
    sorts: bool = False


ORDERS = ("id", "gain")
"""What they are called in options."""


def turns_by(order: str, wants: kl.DeviceFunction) -> MoveOrder:
    """One of `ORDERS`, of proposed moves."""
    if order == "id":
        return MoveOrder(turn_by_id, all_pins, pin_at, wants)
    return MoveOrder(turn_by_gain.bound(wants=wants), sort_by_gain.bound(wants=wants),
                     moving_pin_at, wants, sorts=True)


@kl.device
def turn_by_id(j, begin, size, graph: NetRows, moves: Moves, cache: GainCache):
    """Pins are stored in this order."""
    return j


@kl.device
def all_pins(net, graph: NetRows, state: AfterburnerState):
    """All pins of a net are in line."""
    return kl.int64(graph.nets.end[net])


@kl.device
def pin_at(place, graph: NetRows, afterburner: NetAfterburner):
    """The pin there."""
    return graph.nets.pins[place]


@kl.device
def moving_pin_at(place, graph: NetRows, afterburner: NetAfterburner):
    """The vertex put there."""
    return afterburner.line[place]


@kl.device
def goes_before(u, v, cache: GainCache):
    """Whether the move of u gains more than that of v, or as much and its id is smaller."""
    first = u < v
    if cache.gain[u] != cache.gain[v]:
        first = cache.gain[u] > cache.gain[v]
    return first


@kl.device
def turn_by_gain(j, begin, size, graph: NetRows, moves: Moves, cache: GainCache,
                 wants: kl.StaticValue):
    """How many pins go before pin j: pins with a proposed move go before the others."""
    v = graph.nets.pins[begin + j]
    v_wants = wants(v, moves, cache)
    turn = kl.int64(0)
    for other in range(size):
        u = graph.nets.pins[begin + other]
        u_wants = wants(u, moves, cache)
        first = u_wants
        if u_wants == v_wants:
            first = other < j
            if v_wants:
                first = goes_before(u, v, cache)
        turn += kl.int64(first)
    return turn


@kl.device
def sort_by_gain(net, graph: NetRows, state: AfterburnerState, wants: kl.StaticValue):
    """Gather the pins of a net that want to move, and sort them."""
    begin = kl.int64(graph.nets.begin[net])
    end = kl.int64(graph.nets.end[net])
    count = kl.int64(0)
    for base in range(begin, end, kl.team_size()):
        place = base + kl.lane()
        joins = kl.int64(0)
        v = kl.int32(-1)
        if place < end:
            v = graph.nets.pins[place]
            joins = kl.int64(wants(v, state.moves, state.cache))
        until = kl.team_scan(joins)
        if joins != 0:
            state.afterburner.line[begin + count + until - 1] = v
        count += kl.team_last(until)
    kl.team_sync()
    sort_moving_pins(begin, count, state.afterburner.line, state.cache)
    return begin + count


@kl.device
def sort_moving_pins(begin, count, line, cache: GainCache):
    """Sort the vertices from a place on by their gains: Batcher's merges of odd and even ones.

    All lanes of a team together.
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
