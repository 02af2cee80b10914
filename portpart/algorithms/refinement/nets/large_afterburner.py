"""The afterburner for nets of many pins, which have counters (`afterburner.py`).

A team makes their moves group by group, in the counters, which come back in the end.  Only moves
from or to blocks that may lose all pins, or have none, tell anything.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.objectives.pin_counts import restore_counter, shift_pin
from portpart.algorithms.objectives.pin_state import (
    NetRows,
    PinCounts,
    PinSets,
    bit_of,
)
from portpart.algorithms.objectives.word_ties import AT_ONCE, AtOnce
from portpart.algorithms.refinement.nets.lists import unlist
from portpart.algorithms.refinement.nets.scopes import Burning
from portpart.algorithms.refinement.nets.state import NetAfterburner, NetLists
from portpart.algorithms.refinement.nets.turns import Turns
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
def tell_gain(v, net, spread, step, graph: NetRows, afterburner: NetAfterburner,
              price: StaticValue):
    """Tell v that by its move the net, of this spread, touches so many blocks more."""
    gain = price(spread) - price(spread + step)
    if gain != 0:
        gain *= value_or(graph.nets.weights, net, 1)
        atomic_add(afterburner.after, v, gain)
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
def step_in_group(j, movers: Movers, first, pin_counts: PinCounts):
    """The same for mover j of a group of pins, from the counters before any of these moves."""
    here = movers.left[j]
    there = movers.reached[j]
    here_now = int64(pin_counts.counts[first + here])
    there_now = int64(pin_counts.counts[first + there])
    for other in range(j):
        left = movers.left[other]
        reached = movers.reached[other]
        here_now += int64(reached == here) - int64(left == here)
        there_now += int64(reached == there) - int64(left == there)
    return step_of(there_now, here_now)


@device
def matters(v, critical, moves: Moves, cache: GainCache):
    """Whether v has its best target, or is, in a critical block."""
    here = bit_of(moves.part[v])
    there = bit_of(max(0, int64(cache.best_target[v])))
    return (here | there) & critical != 0


@device
def joins_at(place, end, critical, graph: NetRows, state: Burning, turns: Turns):
    """1 if who stands there wants to move from or to a critical block, else 0."""
    v = turns.in_line(min(place, end - 1), graph, state.afterburner)
    asks = turns.wants(v, state.moves, state.cache)
    return int64(place < end and matters(v, critical, state.moves, state.cache)) * int64(asks)


@device
def who_joins(place, end, critical, graph: NetRows, state: Burning, turns: Turns):
    """A bit for each of the next AT_ONCE in line whose move matters; asked at once."""
    joins = AtOnce()
    for j in static_range(AT_ONCE):
        joins[j] = joins_at(place + j, end, critical, graph, state, turns)
    bits = int64(0)
    for j in static_range(AT_ONCE):
        bits += joins[j] << j
    return uint64(bits)


@device
def list_group(joins, number, place, listed, graph: NetRows, afterburner: NetAfterburner,
               turns: Turns):
    """List those of a lane that join, the first of whom is that number of the group."""
    left = uint64(joins)
    mine = int64(number)
    while left != 0:
        if mine >= 0 and mine < group_size():
            listed[mine] = turns.in_line(place + ctz(left), graph, afterburner)
        mine += 1
        left &= left - uint64(1)
    return mine


@device
def burn_group(count, net, spread, movers: Movers, graph: NetRows, state: Burning,
               price: StaticValue):
    """Tell the movers that `movers.left` lists, and count them where they want to be.

    Returns how many blocks more the net touches then.  All lanes of a team together.
    """
    first = int64(graph.sets.row[net]) * graph.sets.blocks
    team_sync()
    v = int64(0)
    joins = lane() < min(count, group_size())
    if joins:
        v = int64(movers.left[lane()])
        movers.left[lane()] = state.moves.part[v]
        movers.reached[lane()] = state.cache.best_target[v]
    team_sync()
    step = int64(0)
    if joins:
        step = step_in_group(lane(), movers, first, state.pin_counts)
    until = team_scan(step)
    team_sync()
    if joins:
        tell_gain(v, net, spread + until - step, step, graph, state.afterburner, price)
        shift_pin(first, movers.left[lane()], movers.reached[lane()], state.pin_counts)
    team_sync()
    return team_last(until)


@device
def critical_blocks(first, sets: PinSets, pin_counts: PinCounts, afterburner: NetAfterburner):
    """A bit for each block of a net, whose counters are at `first`, that wanted moves may empty.

    A move between others costs the net nothing, and matters to no other move.  Of more blocks than
    a word has, all count as critical.  All lanes of a team together.
    """
    critical = uint64(0)
    if sets.width == 1:
        for block in range(lane(), sets.blocks, team_size()):
            if pin_counts.counts[first + block] <= afterburner.leaving[first + block]:
                critical |= bit_of(block)
        critical = uint64(team_sum(int64(critical)))
    else:
        critical = ~critical
    return critical


@device
def burn_line(net, end, critical, movers: Movers, graph: NetRows, state: Burning,
              price: StaticValue, turns: Turns):
    """Tell those in line whose moves matter, group by group.  All lanes of a team together."""
    spread = int64(graph.sets.spread[net])
    for base in range(int64(graph.nets.begin[net]), end, AT_ONCE * team_size()):
        place = base + AT_ONCE * lane()
        joins = who_joins(place, end, critical, graph, state, turns)
        until = team_scan(popcount(joins))
        total = team_last(until)
        number = until - popcount(joins)
        for begin in range(0, total, group_size()):
            list_group(joins, number - begin, place, movers.left, graph, state.afterburner, turns)
            spread += burn_group(total - begin, net, spread, movers, graph, state, price)
    return spread


@device
def count_back(net, first, own, critical, graph: NetRows, state: Burning, turns: Turns):
    """Counters of a net are again what they were; `own` was that of the lane, if each has one.

    All lanes of a team together.
    """
    if graph.sets.blocks <= team_size():
        if lane() < graph.sets.blocks:
            restore_counter(first + lane(), own, state.pin_counts)
    else:
        for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
            v = graph.nets.pins[place]
            if turns.wants(v, state.moves, state.cache) and matters(v, critical, state.moves,
                                                                     state.cache):
                shift_pin(first, state.cache.best_target[v], state.moves.part[v],
                          state.pin_counts)
    return own


@kernel
def burn_large_net(i, graph: NetRows, lists: NetLists, state: Burning, price: StaticValue,
                   turns: Turns):
    """Tell the pins of net i the same; its counters go along and come back."""
    movers = Movers(left=team_array(int32, MAX_GROUP), reached=team_array(int32, MAX_GROUP))
    net = lists.large_list[i]
    first = int64(graph.sets.row[net]) * graph.sets.blocks
    own = int32(0)
    if lane() < graph.sets.blocks:
        own = state.pin_counts.counts[first + lane()]
    critical = critical_blocks(first, graph.sets, state.pin_counts, state.afterburner)
    end = turns.line_up(net, graph, state)
    team_sync()
    burn_line(net, end, critical, movers, graph, state, price, turns)
    count_back(net, first, own, critical, graph, state, turns)
    if lane() == 0:
        unlist(net, lists)
