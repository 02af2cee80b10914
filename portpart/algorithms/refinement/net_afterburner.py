"""Jet's label propagation on nets: the afterburner asks each net what the wanted moves do to it.

The moves of a net's pins are thought of as made one after the other, in the order of their ids.
Each pin is told what the net costs less by its move; a vertex moves if all its nets together do not
cost more.  That is what Jet asks of an edge, with ids in place of gains: all nets agree on the
order, and none has to be sorted.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.pin_state import (
    LARGE_TEAM,
    MAX_SMALL,
    NetRows,
    NetWords,
    size_of_net,
)
from portpart.algorithms.refinement.active_sets import is_for, movable_vertex
from portpart.algorithms.refinement.label_propagation import commit_move, wants_to_move
from portpart.algorithms.refinement.net_moves import list_net
from portpart.algorithms.refinement.state import Run
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    atomic_add,
    device,
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
from portpart.graphs.rows import degree_of

# the nets that wanted moves may change --------------------------------------------------------


@device
def announce(v, graph: NetRows, run: Run):
    """List the nets of v, which wants to move.  All lanes of a team together; order-free.

    A net with counters costs the same after any of these moves if none of its blocks may lose all
    its pins and none gets its first one: then it need not be asked.
    """
    here = run.moves.part[v]
    there = run.cache.best_target[v]
    if lane() == 0:
        graph.state.after[v] = 0
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        net = graph.targets[place]
        asked = graph.state.row[net] < 0
        if not asked:
            first = int64(graph.state.row[net]) * graph.state.words.blocks
            leaving = atomic_add(graph.state.leaving, first + here, 1) + 1
            asked = leaving >= graph.state.counts[first + here]
            if graph.state.counts[first + there] == 0:
                asked = True
        if asked:
            list_net(net, NetWords.small_listed, NetWords.large_listed, graph.state)
    return v


@kernel
def announce_moves(i, graph: NetRows, run: Run, one_lane):
    """List the nets of movable vertex i if it wants to move, unless it is a hub."""
    if is_for(one_lane, run.level.movable, run.level):
        v = movable_vertex(i, run.active, run.level)
        is_hub = degree_of(v, graph) > run.level.hub_degree
        if not is_hub and wants_to_move(v, run.moves, run.cache, run.level):
            announce(v, graph, run)


@kernel
def announce_moves_of_hubs(i, graph: NetRows, run: Run):
    """List the nets of a hub that wants to move."""
    v = run.active.hubs[i]
    if wants_to_move(v, run.moves, run.cache, run.level):
        announce(v, graph, run)


# what each net says ---------------------------------------------------------------------------


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


@device
def gather_movers(base, net, movers, graph: NetRows, run: Run):
    """Put the pins that want to move, of the next pins from place `base`, into a list.

    In the order of their ids; all lanes of a team together.  Returns how many they are.
    """
    place = base + lane()
    wants = int64(0)
    v = int32(-1)
    if place < graph.nets.end[net]:
        v = graph.nets.pins[place]
        wants = int64(wants_to_move(v, run.moves, run.cache, run.level))
    until = team_scan(wants)
    if wants != 0:
        movers[until - 1] = v
    team_sync()
    return team_last(until)


@cache
def burning(price: DeviceFunction) -> tuple[Kernel, Kernel]:
    """The kernels for a price: for nets without counters, and for those with them."""
    tell = tell_gain(price)

    @kernel
    def burn_small_net(i, graph: NetRows, run: Run):
        """Tell the pins of net i that want to move what it gains by each."""
        before = team_array(int32, MAX_SMALL)
        after = team_array(int32, MAX_SMALL)
        net = graph.state.small_list[i]
        begin = int64(graph.nets.begin[net])
        size = size_of_net(net, graph.nets)
        for j in range(lane(), size, team_size()):
            v = graph.nets.pins[begin + j]
            before[j] = run.moves.part[v]
            after[j] = before[j]
            if wants_to_move(v, run.moves, run.cache, run.level):
                after[j] = run.cache.best_target[v]
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
                tell(graph.nets.pins[begin + j], net, spread + until - step, step, graph)
            spread += team_last(until)
        if lane() == 0:
            graph.state.is_listed[net] = int32(0)

    @kernel
    def burn_large_net(i, graph: NetRows, run: Run):
        """The same for a net with counters, which go along and come back."""
        movers = team_array(int32, LARGE_TEAM)
        net = graph.state.large_list[i]
        first = int64(graph.state.row[net]) * graph.state.words.blocks
        spread = int64(graph.state.spread[net])
        for base in range(graph.nets.begin[net], graph.nets.end[net], team_size()):
            count = gather_movers(base, net, movers, graph, run)
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
            if wants_to_move(v, run.moves, run.cache, run.level):
                shift_counters(v, first, -1, graph, run)
        if lane() == 0:
            graph.state.is_listed[net] = int32(0)

    return burn_small_net, burn_large_net


# who moves ------------------------------------------------------------------------------------


@device
def move_if_nets_agree(v, graph: NetRows, run: Run):
    """Move v if its nets do not cost more by that.  All lanes of a team together."""
    here = run.moves.part[v]
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        row = graph.state.row[graph.targets[place]]
        if row >= 0:
            graph.state.leaving[int64(row) * graph.state.words.blocks + here] = int32(0)
    if lane() == 0 and graph.state.after[v] >= 0:
        commit_move(v, run.cache.best_target[v], run.moves, run.level)
    return v


@kernel
def keep_agreed_moves(i, graph: NetRows, run: Run, one_lane):
    """Move vertex i of the list if it wants to and its nets agree, unless it is a hub."""
    if is_for(one_lane, run.level.movable, run.level):
        v = movable_vertex(i, run.active, run.level)
        is_hub = degree_of(v, graph) > run.level.hub_degree
        if not is_hub and wants_to_move(v, run.moves, run.cache, run.level):
            move_if_nets_agree(v, graph, run)


@kernel
def keep_agreed_moves_of_hubs(i, graph: NetRows, run: Run):
    """Move a hub that wants to and whose nets agree."""
    v = run.active.hubs[i]
    if wants_to_move(v, run.moves, run.cache, run.level):
        move_if_nets_agree(v, graph, run)
