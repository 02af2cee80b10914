"""Jet's label propagation on nets: the afterburner asks each net what the wanted moves do to it.

The moves of a net's pins are thought of as made one by one.  Each pin gets what the net costs less
by its move; a vertex moves if all its nets together do not cost more.  That is what Jet asks of an
edge.  The order is that of ids: all nets agree on it, and none has to be sorted.  Or it is that of
gains, the largest first, and of ids where gains are equal.
"""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import (
    MAX_SMALL,
    NetRows,
    size_of_net,
)
from portpart.algorithms.refinement.gains.state import GainCache
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.nets.large_afterburner import (
    step_of,
    tell_gain,
)
from portpart.algorithms.refinement.nets.lists import unlist
from portpart.algorithms.refinement.nets.move_order import MoveOrder
from portpart.algorithms.refinement.nets.state import NetAfterburner, NetLists
from portpart.backends import language as kl
from portpart.backends.language import StaticValue


@kl.device
def step_in_net(j, size, before, after):
    """How many blocks more a net touches by the move of pin j, after those of earlier pins."""
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
                          cache: GainCache, price: StaticValue, move_order: MoveOrder):
    """Add the gain of net i by each proposed move of its pins to these."""
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
        if move_order.wants(v, moves, cache):
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
            tell_gain(v, net, connectivity + until - step, step, graph, afterburner, price)
        connectivity += kl.team_last(until)
    if kl.lane() == 0:
        unlist(net, lists)
