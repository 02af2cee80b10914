"""Jet's label propagation on nets: the afterburner asks each net what the wanted moves do to it.

The moves of a net's pins are thought of as made one after the other.  Each pin is told what the
net costs less by its move; a vertex moves if all its nets together do not cost more.  That is what
Jet asks of an edge.  The order is that of ids: all nets agree on it, and none has to be sorted.  Or
it is that of gains, the largest first, and of ids where gains are equal.
"""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import (
    MAX_SMALL,
    NetRows,
    size_of_net,
)
from portpart.algorithms.refinement.nets.large_afterburner import (
    step_of,
    tell_gain,
)
from portpart.algorithms.refinement.nets.lists import unlist
from portpart.algorithms.refinement.nets.state import NetAfterburner, NetLists
from portpart.algorithms.refinement.nets.turns import Turns
from portpart.algorithms.refinement.state import GainCache, Moves
from portpart.backends.language import (
    StaticValue,
    device,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_last,
    team_scan,
    team_size,
    team_sync,
)


@device
def step_in_net(j, size, before, after):
    """How many blocks more a net touches by the move of pin j, after those of earlier pins."""
    here_now = int64(0)
    there_now = int64(0)
    for other in range(size):
        block = after[other] if other < j else before[other]
        here_now += int64(block == before[j])
        there_now += int64(block == after[j])
    return step_of(there_now, here_now)


@kernel
def burn_small_net(i, graph: NetRows, lists: NetLists, afterburner: NetAfterburner, moves: Moves,
                   cache: GainCache, price: StaticValue, turns: Turns):
    """Tell the pins of net i that want to move what it gains by each."""
    before = team_array(int32, MAX_SMALL)
    after = team_array(int32, MAX_SMALL)
    number = team_array(int8, MAX_SMALL)
    net = lists.small_list[i]
    begin = int64(graph.nets.begin[net])
    size = size_of_net(net, graph.nets)
    for j in range(lane(), size, team_size()):
        turn = turns.turn_of(j, begin, size, graph, moves, cache)
        v = graph.nets.pins[begin + j]
        number[turn] = int8(j)
        before[turn] = moves.part[v]
        after[turn] = before[turn]
        if turns.wants(v, moves, cache):
            after[turn] = cache.best_target[v]
    team_sync()
    spread = int64(graph.sets.spread[net])
    for base in range(0, size, team_size()):
        j = base + lane()
        step = int64(0)
        joins = False
        if j < size:
            joins = before[j] != after[j]
        if joins:
            step = step_in_net(j, size, before, after)
        until = team_scan(step)
        if joins:
            v = graph.nets.pins[begin + int64(number[j])]
            tell_gain(v, net, spread + until - step, step, graph, afterburner, price)
        spread += team_last(until)
    if lane() == 0:
        unlist(net, lists)
