"""The afterburner on nets: the effect of proposed moves on small and large nets."""

from __future__ import annotations

from typing import Any

from portpart.algorithms.objectives import (
    AT_ONCE,
    MAX_SMALL,
    AtOnce,
    NetRows,
    PinCounts,
    PinSets,
    bit_of,
    restore_counter,
    shift_pin,
    size_of_net,
)
from portpart.algorithms.refinement.gains import GainCache
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.nets.lists import unlist
from portpart.algorithms.refinement.nets.move_order import AfterburnerState, MoveOrder
from portpart.algorithms.refinement.nets.state import NetAfterburner, NetLists
from portpart.backends import language as kl

# The afterburner for nets of many pins, which have counters ------------------------------------
#
# A team applies their moves to the counters, group by group, and restores the counters at the end.
# Only moves from or to critical blocks matter, which may lose all pins or have none.


MAX_GROUP = 128
"""Number of moves of a large net that a team applies at once.

Each lane examines the moves before its own.
"""


@kl.device
def add_gain(v, net, connectivity, step, graph: NetRows, afterburner: NetAfterburner,
             net_cost: kl.StaticValue):
    """Add to v's gain the gain of a net of this connectivity that spans `step` more blocks."""
    gain = net_cost(connectivity) - net_cost(connectivity + step)
    if gain != 0:
        gain *= kl.value_or(graph.nets.weights, net, 1)
        kl.atomic_add(afterburner.after, v, gain)


@kl.device
def step_of(there_now, here_now):
    """Return the change of connectivity by a move between blocks with this many pins of the net."""
    return kl.int64(there_now == 0) - kl.int64(here_now == 1)


class MovingPins(kl.Record):
    """The source and target blocks of a group of a net's pins with proposed moves."""

    left: Any
    reached: Any


@kl.device
def group_size():
    """Return the maximum number of pins of a group."""
    return min(MAX_GROUP, kl.team_size())


@kl.device
def step_in_group(j, moving_pins: MovingPins, first, pin_counts: PinCounts):
    """Return the change of connectivity by move j of a group, after its earlier moves.

    The counters are those before the group.
    """
    here = moving_pins.left[j]
    there = moving_pins.reached[j]
    here_now = kl.int64(pin_counts.counts[first + here])
    there_now = kl.int64(pin_counts.counts[first + there])
    for other in range(j):
        left = moving_pins.left[other]
        reached = moving_pins.reached[other]
        here_now += kl.int64(reached == here) - kl.int64(left == here)
        there_now += kl.int64(reached == there) - kl.int64(left == there)
    return step_of(there_now, here_now)


@kl.device
def matters(v, critical, moves: Moves, cache: GainCache):
    """Whether the block of v, or its best target, is critical."""
    here = bit_of(moves.part[v])
    there = bit_of(max(0, kl.int64(cache.best_target[v])))
    return (here | there) & critical != 0


@kl.device
def joins_at(place, end, critical, graph: NetRows, state: AfterburnerState, move_order: MoveOrder):
    """Return 1 if the vertex at a place has a proposed move from or to a critical block, else 0."""
    v = move_order.in_line(min(place, end - 1), graph, state.afterburner)
    goes = move_order.proposes(v, state.moves, state.cache)
    return kl.int64(place < end and matters(v, critical, state.moves, state.cache)) * kl.int64(goes)


@kl.device
def in_group(place, end, critical, graph: NetRows, state: AfterburnerState, move_order: MoveOrder):
    """Return a bit for each of the next AT_ONCE vertices in line whose move matters.

    All are tested at once.
    """
    joins = AtOnce()
    for j in kl.static_range(AT_ONCE):
        joins[j] = joins_at(place + j, end, critical, graph, state, move_order)
    bits = kl.int64(0)
    for j in kl.static_range(AT_ONCE):
        bits += joins[j] << j
    return kl.uint64(bits)


@kl.device
def list_group(joins, number, place, listed, graph: NetRows, afterburner: NetAfterburner,
               move_order: MoveOrder):
    """List the joining vertices of a lane, of which the first one has this number in the group."""
    left = kl.uint64(joins)
    mine = kl.int64(number)
    while left != 0:
        if mine >= 0 and mine < group_size():
            listed[mine] = move_order.in_line(place + kl.ctz(left), graph, afterburner)
        mine += 1
        left &= left - kl.uint64(1)


@kl.device
def afterburner_group(count, net, connectivity, moving_pins: MovingPins, graph: NetRows,
                      state: AfterburnerState, net_cost: kl.StaticValue):
    """Add the gains of the moves in `moving_pins.left`, and count these pins at their targets.

    Return the change of the net's connectivity.  Called by all lanes of a team.
    """
    first = kl.int64(graph.sets.row[net]) * graph.sets.blocks
    kl.team_sync()
    v = kl.int64(0)
    joins = kl.lane() < min(count, group_size())
    if joins:
        v = kl.int64(moving_pins.left[kl.lane()])
        moving_pins.left[kl.lane()] = state.moves.part[v]
        moving_pins.reached[kl.lane()] = state.cache.best_target[v]
    kl.team_sync()
    step = kl.int64(0)
    if joins:
        step = step_in_group(kl.lane(), moving_pins, first, state.pin_counts)
    until = kl.team_scan(step)
    kl.team_sync()
    if joins:
        add_gain(v, net, connectivity + until - step, step, graph, state.afterburner, net_cost)
        shift_pin(first, moving_pins.left[kl.lane()], moving_pins.reached[kl.lane()],
                  state.pin_counts)
    kl.team_sync()
    return kl.team_last(until)


@kl.device
def critical_blocks(first, sets: PinSets, pin_counts: PinCounts, afterburner: NetAfterburner):
    """Return a bit for each block of a net that proposed moves may empty.

    The counters of the net begin at `first`.  A move between other blocks does not change the net's
    cost, and matters to no other move.  If there are more blocks than bits in a word, all are
    critical.  Called by all lanes of a team.
    """
    critical = kl.uint64(0)
    if sets.width == 1:
        for block in range(kl.lane(), sets.blocks, kl.team_size()):
            if pin_counts.counts[first + block] <= afterburner.leaving[first + block]:
                critical |= bit_of(block)
        critical = kl.uint64(kl.team_sum(kl.int64(critical)))
    else:
        critical = ~critical
    return critical


@kl.device
def afterburner_line(net, end, critical, moving_pins: MovingPins, graph: NetRows,
                     state: AfterburnerState, net_cost: kl.StaticValue, move_order: MoveOrder):
    """Add the gains of moves in line that matter, group by group.

    Called by all lanes of a team.
    """
    connectivity = kl.int64(graph.sets.connectivity[net])
    for base in range(kl.int64(graph.nets.begin[net]), end, AT_ONCE * kl.team_size()):
        place = base + AT_ONCE * kl.lane()
        joins = in_group(place, end, critical, graph, state, move_order)
        until = kl.team_scan(kl.popcount(joins))
        total = kl.team_last(until)
        number = until - kl.popcount(joins)
        for begin in range(0, total, group_size()):
            list_group(joins, number - begin, place, moving_pins.left, graph, state.afterburner,
                       move_order)
            connectivity += afterburner_group(total - begin, net, connectivity, moving_pins, graph,
                                              state, net_cost)


@kl.device
def restore_counters(net, first, own, critical, graph: NetRows, state: AfterburnerState,
                     move_order: MoveOrder):
    """Restore the counters of a net; `own` is the counter of the lane, if each lane has one.

    Called by all lanes of a team.
    """
    if graph.sets.blocks <= kl.team_size():
        if kl.lane() < graph.sets.blocks:
            restore_counter(first + kl.lane(), own, state.pin_counts)
    else:
        for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net], kl.team_size()):
            v = graph.nets.pins[place]
            if (move_order.proposes(v, state.moves, state.cache)
                    and matters(v, critical, state.moves, state.cache)):
                shift_pin(first, state.cache.best_target[v], state.moves.part[v], state.pin_counts)


@kl.kernel
def afterburner_large_net(i, graph: NetRows, lists: NetLists, state: AfterburnerState,
                          net_cost: kl.StaticValue, move_order: MoveOrder):
    """Add to the gains of proposed moves of its pins the decrease of the cost of net i.

    The counters of the net change with the moves and are restored.
    """
    moving_pins = MovingPins(left=kl.team_array(kl.int32, MAX_GROUP),
                             reached=kl.team_array(kl.int32, MAX_GROUP))
    net = lists.large_list[i]
    first = kl.int64(graph.sets.row[net]) * graph.sets.blocks
    own = kl.int32(0)
    if kl.lane() < graph.sets.blocks:
        own = state.pin_counts.counts[first + kl.lane()]
    critical = critical_blocks(first, graph.sets, state.pin_counts, state.afterburner)
    end = move_order.line_up(net, graph, state)
    kl.team_sync()
    afterburner_line(net, end, critical, moving_pins, graph, state, net_cost, move_order)
    restore_counters(net, first, own, critical, graph, state, move_order)
    if kl.lane() == 0:
        unlist(net, lists)


# Jet's label propagation on nets: the afterburner evaluates proposed moves net by net
#
# The moves of a net's pins are evaluated as if made one by one: the gain of a pin's move is the
# decrease of the net's cost.  A vertex moves if the cost of all its nets together does not
# increase, as in Jet for edges.  The order is that of ids, which is the same for all nets and needs
# no sorting, or that of decreasing gains, and of ids where gains are equal.


@kl.device
def step_in_net(j, size, before, after):
    """Return the change of connectivity by the move of pin j, after those of earlier pins."""
    here_now = kl.int64(0)
    there_now = kl.int64(0)
    for other in range(size):
        block = after[other] if other < j else before[other]
        here_now += kl.int64(block == before[j])
        there_now += kl.int64(block == after[j])
    return step_of(there_now, here_now)


@kl.kernel
def afterburner_small_net(i, graph: NetRows, lists: NetLists, afterburner: NetAfterburner,
                          moves: Moves,
                          cache: GainCache, net_cost: kl.StaticValue, move_order: MoveOrder):
    """Add to the gains of proposed moves of its pins the decrease of the cost of net i."""
    before = kl.team_array(kl.int32, MAX_SMALL)
    after = kl.team_array(kl.int32, MAX_SMALL)
    number = kl.team_array(kl.int8, MAX_SMALL)
    net = lists.small_list[i]
    begin = kl.int64(graph.nets.begin[net])
    size = size_of_net(net, graph.nets)
    for j in range(kl.lane(), size, kl.team_size()):
        turn = move_order.turn_of(j, begin, size, graph, moves, cache)
        v = graph.nets.pins[begin + j]
        number[turn] = kl.int8(j)
        before[turn] = moves.part[v]
        after[turn] = before[turn]
        if move_order.proposes(v, moves, cache):
            after[turn] = cache.best_target[v]
    kl.team_sync()
    connectivity = kl.int64(graph.sets.connectivity[net])
    for base in range(0, size, kl.team_size()):
        j = base + kl.lane()
        step = kl.int64(0)
        joins = False
        if j < size:
            joins = before[j] != after[j]
        if joins:
            step = step_in_net(j, size, before, after)
        until = kl.team_scan(step)
        if joins:
            v = graph.nets.pins[begin + kl.int64(number[j])]
            add_gain(v, net, connectivity + until - step, step, graph, afterburner, net_cost)
        connectivity += kl.team_last(until)
    if kl.lane() == 0:
        unlist(net, lists)
