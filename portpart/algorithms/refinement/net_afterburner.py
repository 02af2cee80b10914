"""Jet's label propagation on nets: the afterburner asks each net what the wanted moves do to it.

The moves of a net's pins are thought of as made one after the other.  Each pin is told what the
net costs less by its move; a vertex moves if all its nets together do not cost more.  That is what
Jet asks of an edge.  The order is that of ids: all nets agree on it, and none has to be sorted.  Or
it is that of gains, the largest first, and of ids where gains are equal.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.pin_state import (
    LARGE_TEAM,
    MAX_SMALL,
    NetRows,
    size_of_net,
)
from portpart.algorithms.refinement.net_turns import Turns
from portpart.algorithms.refinement.state import Run
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    atomic_add,
    device,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_last,
    team_scan,
    team_size,
    team_sync,
    value_or,
)


@cache
def tell_gain(price: DeviceFunction) -> DeviceFunction:
    """Device function for a price."""

    @device
    def tell_gain(v, net, spread, step, graph: NetRows):
        """Tell v that by its move the net, of this spread, touches so many blocks more."""
        gain = price(spread) - price(spread + step)
        if gain != 0:
            gain *= value_or(graph.nets.weights, net, 1)
            atomic_add(graph.state.after, v, gain)
        return gain

    return tell_gain


@device
def step_of(there_now, here_now):
    """How many blocks more a net touches by a move between blocks with so many of its pins."""
    return int64(there_now == 0) - int64(here_now == 1)


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


@device
def step_in_group(j, movers, first, graph: NetRows, run: Run):
    """The same for mover j of a group of pins, from the counters before any of these moves."""
    here = run.moves.part[movers[j]]
    there = run.cache.best_target[movers[j]]
    here_now = int64(graph.state.counts[first + here])
    there_now = int64(graph.state.counts[first + there])
    for other in range(j):
        left = run.moves.part[movers[other]]
        reached = run.cache.best_target[movers[other]]
        here_now += int64(reached == here) - int64(left == here)
        there_now += int64(reached == there) - int64(left == there)
    return step_of(there_now, here_now)


@device
def shift_counters(v, first, by, graph: NetRows, run: Run):
    """Count a pin where it wants to be (by 1), or where it is again (by -1)."""
    team_atomic_add(graph.state.counts, first + run.moves.part[v], -by)
    team_atomic_add(graph.state.counts, first + run.cache.best_target[v], by)
    return v


@cache
def gather_movers(wants: DeviceFunction, in_line: DeviceFunction) -> DeviceFunction:
    """Device function for those who want to move, and where they stand."""

    @device
    def gather_movers(base, end, movers, graph: NetRows, run: Run):
        """Put those that want to move, of the next ones in line from place `base`, into a list.

        All lanes of a team together.  Returns how many they are.
        """
        place = base + lane()
        joins = int64(0)
        v = int32(-1)
        if place < end:
            v = in_line(place, graph)
            joins = int64(wants(v, run.moves, run.cache, run.level))
        until = team_scan(joins)
        if joins != 0:
            movers[until - 1] = v
        team_sync()
        return team_last(until)

    return gather_movers


def burning(price: DeviceFunction, wants: DeviceFunction, turns: Turns) -> tuple[Kernel, Kernel]:
    """The kernels for nets without counters, and for those with them.

    For a price, those who want to move, and in what order.
    """
    return burn_small_nets(price, wants, turns), burn_large_nets(price, wants, turns)


@cache
def burn_small_nets(price: DeviceFunction, wants: DeviceFunction, turns: Turns) -> Kernel:
    """The kernel for nets without counters."""
    tell, turn_of = tell_gain(price), turns.turn_of

    @kernel
    def burn_small_net(i, graph: NetRows, run: Run):
        """Tell the pins of net i that want to move what it gains by each."""
        before = team_array(int32, MAX_SMALL)
        after = team_array(int32, MAX_SMALL)
        number = team_array(int8, MAX_SMALL)
        net = graph.state.small_list[i]
        begin = int64(graph.nets.begin[net])
        size = size_of_net(net, graph.nets)
        for j in range(lane(), size, team_size()):
            turn = turn_of(j, begin, size, graph, run)
            v = graph.nets.pins[begin + j]
            number[turn] = int8(j)
            before[turn] = run.moves.part[v]
            after[turn] = before[turn]
            if wants(v, run.moves, run.cache, run.level):
                after[turn] = run.cache.best_target[v]
        team_sync()
        spread = int64(graph.state.spread[net])
        for base in range(0, size, team_size()):
            j = base + lane()
            step = int64(0)
            moves = False
            if j < size:
                moves = before[j] != after[j]
            if moves:
                step = step_in_net(j, size, before, after)
            until = team_scan(step)
            if moves:
                v = graph.nets.pins[begin + int64(number[j])]
                tell(v, net, spread + until - step, step, graph)
            spread += team_last(until)
        if lane() == 0:
            graph.state.is_listed[net] = int32(0)

    return burn_small_net


@cache
def burn_large_nets(price: DeviceFunction, wants: DeviceFunction, turns: Turns) -> Kernel:
    """The kernel for nets with counters."""
    tell, line_up = tell_gain(price), turns.line_up
    gather = gather_movers(wants, turns.in_line)

    @kernel
    def burn_large_net(i, graph: NetRows, run: Run):
        """Tell the pins of net i the same; its counters go along and come back."""
        movers = team_array(int32, LARGE_TEAM)
        net = graph.state.large_list[i]
        first = int64(graph.state.row[net]) * graph.state.words.blocks
        spread = int64(graph.state.spread[net])
        end = line_up(net, graph, run)
        for base in range(int64(graph.nets.begin[net]), end, team_size()):
            count = gather(base, end, movers, graph, run)
            step = int64(0)
            if lane() < count:
                step = step_in_group(lane(), movers, first, graph, run)
            until = team_scan(step)
            if lane() < count:
                tell(movers[lane()], net, spread + until - step, step, graph)
                shift_counters(movers[lane()], first, 1, graph, run)
            spread += team_last(until)
            team_sync()
        for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
            v = graph.nets.pins[place]
            if wants(v, run.moves, run.cache, run.level):
                shift_counters(v, first, -1, graph, run)
        if lane() == 0:
            graph.state.is_listed[net] = int32(0)

    return burn_large_net
