"""The afterburner for nets of many pins, which have counters (`afterburner.py`).

A team makes their moves group by group, in the counters, which come back in the end.  Only moves
from or to blocks that may lose all pins, or have none, tell anything.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.objectives.pin_state import (
    NetRows,
    bit_of,
)
from portpart.algorithms.objectives.word_ties import AT_ONCE, AtOnce
from portpart.algorithms.refinement.nets.turns import Turns
from portpart.algorithms.refinement.scopes import Wanting
from portpart.algorithms.refinement.state import GainCache, Moves
from portpart.backends.language import (
    Record,
    StaticValue,
    atomic_add,
    ctz,
    device,
    int32,
    int64,
    kernel,
    lane,
    popcount,
    static_range,
    team_array,
    team_atomic_add,
    team_last,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    uint64,
    value_or,
)

MAX_GROUP = 128
"""Moves of a large net that a team makes at once: each lane looks at those before its own."""


@device
def tell_gain(v, net, spread, step, graph: NetRows, price: StaticValue):
    """Tell v that by its move the net, of this spread, touches so many blocks more."""
    gain = price(spread) - price(spread + step)
    if gain != 0:
        gain *= value_or(graph.nets.weights, net, 1)
        atomic_add(graph.state.after, v, gain)
    return gain


@device
def step_of(there_now, here_now):
    """How many blocks more a net touches by a move between blocks with so many of its pins."""
    return int64(there_now == 0) - int64(here_now == 1)


class Movers(Record):
    """A group of a net's pins that want to move: from where to where they do."""

    left: Any
    reached: Any


@device
def group_size():
    """Pins of a group, at most."""
    return min(MAX_GROUP, team_size())


@device
def step_in_group(j, movers: Movers, first, graph: NetRows):
    """The same for mover j of a group of pins, from the counters before any of these moves."""
    here = movers.left[j]
    there = movers.reached[j]
    here_now = int64(graph.state.counts[first + here])
    there_now = int64(graph.state.counts[first + there])
    for other in range(j):
        left = movers.left[other]
        reached = movers.reached[other]
        here_now += int64(reached == here) - int64(left == here)
        there_now += int64(reached == there) - int64(left == there)
    return step_of(there_now, here_now)


@device
def shift_counters(first, here, there, graph: NetRows):
    """Count a pin in block `there` that was counted in `here`."""
    team_atomic_add(graph.state.counts, first + here, -1)
    team_atomic_add(graph.state.counts, first + there, 1)
    return there


@device
def matters(v, critical, moves: Moves, cache: GainCache):
    """Whether v has its best target, or is, in a critical block."""
    here = bit_of(moves.part[v])
    there = bit_of(max(0, int64(cache.best_target[v])))
    return (here | there) & critical != 0


@device
def joins_at(place, end, critical, graph: NetRows, moves: Moves, cache: GainCache, turns: Turns):
    """1 if who stands there wants to move from or to a critical block, else 0."""
    v = turns.in_line(min(place, end - 1), graph)
    asks = turns.wants(v, moves, cache)
    return int64(place < end and matters(v, critical, moves, cache)) * int64(asks)


@device
def who_joins(place, end, critical, graph: NetRows, moves: Moves, cache: GainCache, turns: Turns):
    """A bit for each of the next AT_ONCE in line whose move matters; asked at once."""
    joins = AtOnce()
    for j in static_range(AT_ONCE):
        joins[j] = joins_at(place + j, end, critical, graph, moves, cache, turns)
    bits = int64(0)
    for j in static_range(AT_ONCE):
        bits += joins[j] << j
    return uint64(bits)


@device
def list_group(joins, number, place, listed, graph: NetRows, turns: Turns):
    """List those of a lane that join, the first of whom is that number of the group."""
    left = uint64(joins)
    mine = int64(number)
    while left != 0:
        if mine >= 0 and mine < group_size():
            listed[mine] = turns.in_line(place + ctz(left), graph)
        mine += 1
        left &= left - uint64(1)
    return mine


@device
def burn_group(count, net, spread, movers: Movers, graph: NetRows, moves: Moves, cache: GainCache,
               price: StaticValue):
    """Tell the movers that `movers.left` lists, and count them where they want to be.

    Returns how many blocks more the net touches then.  All lanes of a team together.
    """
    first = int64(graph.state.row[net]) * graph.state.words.blocks
    team_sync()
    v = int64(0)
    joins = lane() < min(count, group_size())
    if joins:
        v = int64(movers.left[lane()])
        movers.left[lane()] = moves.part[v]
        movers.reached[lane()] = cache.best_target[v]
    team_sync()
    step = int64(0)
    if joins:
        step = step_in_group(lane(), movers, first, graph)
    until = team_scan(step)
    team_sync()
    if joins:
        tell_gain(v, net, spread + until - step, step, graph, price)
        shift_counters(first, movers.left[lane()], movers.reached[lane()], graph)
    team_sync()
    return team_last(until)


@device
def critical_blocks(first, graph: NetRows):
    """A bit for each block of a net, whose counters are at `first`, that wanted moves may empty.

    A move between others costs the net nothing, and matters to no other move.  Of more blocks than
    a word has, all count as critical.  All lanes of a team together.
    """
    critical = uint64(0)
    if graph.state.words.width == 1:
        for block in range(lane(), graph.state.words.blocks, team_size()):
            if graph.state.counts[first + block] <= graph.state.leaving[first + block]:
                critical |= bit_of(block)
        critical = uint64(team_sum(int64(critical)))
    else:
        critical = ~critical
    return critical


@device
def burn_line(net, end, critical, movers: Movers, graph: NetRows, state: Wanting,
              price: StaticValue, turns: Turns):
    """Tell those in line whose moves matter, group by group.  All lanes of a team together."""
    spread = int64(graph.state.spread[net])
    for base in range(int64(graph.nets.begin[net]), end, AT_ONCE * team_size()):
        place = base + AT_ONCE * lane()
        joins = who_joins(place, end, critical, graph, state.moves, state.cache, turns)
        until = team_scan(popcount(joins))
        total = team_last(until)
        number = until - popcount(joins)
        for begin in range(0, total, group_size()):
            list_group(joins, number - begin, place, movers.left, graph, turns)
            spread += burn_group(total - begin, net, spread, movers, graph, state.moves,
                                 state.cache, price)
    return spread


@device
def count_back(net, first, own, critical, graph: NetRows, moves: Moves, cache: GainCache,
               turns: Turns):
    """Counters of a net are again what they were; `own` was that of the lane, if each has one.

    All lanes of a team together.
    """
    if graph.state.words.blocks <= team_size():
        if lane() < graph.state.words.blocks:
            graph.state.counts[first + lane()] = own
    else:
        for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
            v = graph.nets.pins[place]
            if turns.wants(v, moves, cache) and matters(v, critical, moves, cache):
                shift_counters(first, cache.best_target[v], moves.part[v], graph)
    return own


@kernel
def burn_large_net(i, graph: NetRows, state: Wanting, price: StaticValue, turns: Turns):
    """Tell the pins of net i the same; its counters go along and come back."""
    movers = Movers(left=team_array(int32, MAX_GROUP), reached=team_array(int32, MAX_GROUP))
    net = graph.state.large_list[i]
    first = int64(graph.state.row[net]) * graph.state.words.blocks
    own = int32(0)
    if lane() < graph.state.words.blocks:
        own = graph.state.counts[first + lane()]
    critical = critical_blocks(first, graph)
    end = turns.line_up(net, graph, state.moves, state.cache)
    team_sync()
    burn_line(net, end, critical, movers, graph, state, price, turns)
    count_back(net, first, own, critical, graph, state.moves, state.cache, turns)
    if lane() == 0:
        graph.state.is_listed[net] = int32(0)
