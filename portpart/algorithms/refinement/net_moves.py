"""Carrying out moves of an iteration on a hypergraph: weights of blocks, then nets and their costs.

The nets of vertices that move are listed once each; of those, the sets of blocks are made anew, and
if they change, the gains of the pins are out of date.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.net_sets import store_large, store_small
from portpart.algorithms.objectives.pin_state import (
    ALONE_CHANGED,
    MAX_SMALL,
    PRESENT_CHANGED,
    NetRows,
    NetWords,
    PinState,
    size_of_net,
)
from portpart.algorithms.refinement.active_sets import is_for
from portpart.algorithms.refinement.moves import mark_dirty, weigh_vertex
from portpart.algorithms.refinement.state import Level, Moves, Run
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    atomic_add,
    atomic_cas,
    atomic_load,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sync,
    value_or,
)
from portpart.graphs.rows import degree_of
from portpart.primitives.reduce import STRIPES


@device
def list_net(net, small, large, state: PinState):
    """Put a net on the list of its kind, once; `small` and `large` are the words that count them.

    In any order.
    """
    if atomic_load(state.is_listed, net) == 0:
        if atomic_cas(state.is_listed, net, int32(0), int32(1)) == 0:
            if state.row[net] < 0:
                state.small_list[atomic_next(state.words, small)] = net
            else:
                state.large_list[atomic_next(state.words, large)] = net
    return net


@device
def touch_nets(v, graph: NetRows, run: Run):
    """Account for the move of v to its target, and list its nets.  Atomic, order-free."""
    here = run.moves.part[v]
    there = run.moves.target[v]
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        net = graph.targets[place]
        list_net(net, NetWords.small_touched, NetWords.large_touched, graph.state)
        if graph.state.row[net] >= 0:
            first = int64(graph.state.row[net]) * graph.state.words.blocks
            atomic_add(graph.state.counts, first + here, -1)
            atomic_add(graph.state.counts, first + there, 1)
    if lane() == 0:
        weigh_vertex(v, graph, run)
    return v


@kernel
def touch_nets_of_moves(i, graph: NetRows, run: Run, one_lane):
    """Account for a move, unless a hub makes it."""
    v = run.moves.listed[i]
    is_hub = degree_of(v, graph) > run.level.hub_degree
    if is_for(one_lane, run.level.moves, run.level) and not is_hub:
        touch_nets(v, graph, run)


@kernel
def touch_nets_of_hubs(i, graph: NetRows, run: Run):
    """Account for the move of a hub, if it moves."""
    v = run.active.hubs[i]
    if int64(run.moves.moved_in[v]) == run.level.iteration:
        touch_nets(v, graph, run)


@device
def block_after(v, moves: Moves, level: Level):
    """The block of v when the moves are carried out."""
    block = moves.part[v]
    if int64(moves.moved_in[v]) == level.iteration:
        block = moves.target[v]
    return block


@device
def needs_refresh(v, net, changed, state: PinState, run: Run):
    """Whether what ties v to blocks may change with the sets of a net.

    If only the blocks with one pin change, the pins there and those that were there are concerned.
    """
    result = changed == PRESENT_CHANGED or state.row[net] < 0
    if not result:
        block = block_after(v, run.moves, run.level)
        result = state.counts[int64(state.row[net]) * state.words.blocks + block] <= 2
    return result


@device
def needs_refresh_near(v, net, changed, state: PinState, run: Run):
    """The same where few vertices are to be looked at: of a net of many pins only those in blocks
    that it may come to or leave by a move.
    """
    return needs_refresh(v, net, ALONE_CHANGED, state, run)


@cache
def ties_pins(price: DeviceFunction) -> DeviceFunction:
    """Device function for a price."""

    @device
    def ties_pins(spread):
        """Whether a net that touches so many blocks ties a pin to any of them."""
        below = max(int64(0), spread - 1)
        return price(spread + 1) != price(spread) or price(spread) != price(below)

    return ties_pins


@cache
def settle_net(price: DeviceFunction, concerns: DeviceFunction) -> DeviceFunction:
    """Device function for a price, and for whom a net concerns that changes."""
    ties = ties_pins(price)

    @device
    def settle_net(net, spread_before, changed, graph: NetRows, run: Run):
        """Account for what a net costs more, and mark its pins if their gains are out of date.

        All lanes of a team together.
        """
        team_sync()
        spread = int64(graph.state.spread[net])
        if lane() == 0:
            graph.state.is_listed[net] = int32(0)
            change = price(spread) - price(spread_before)
            if change != 0:
                change *= 2 * value_or(graph.nets.weights, net, 1)
                atomic_add(run.moves.cost_sums, int64(net) % STRIPES, change)
        if changed != 0 and (ties(spread_before) or ties(spread)):
            for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
                u = graph.nets.pins[place]
                if concerns(u, net, changed, graph.state, run):
                    mark_dirty(u, run.cache, run.level)
        return changed

    return settle_net


@cache
def settling(price: DeviceFunction,
             concerns: DeviceFunction = needs_refresh) -> tuple[Kernel, Kernel]:
    """The kernels for a price: for nets without counters, and for those with them."""
    settle = settle_net(price, concerns)

    @kernel
    def settle_small_net(i, graph: NetRows, run: Run):
        """Make the sets of net i of the list anew, from the blocks of its pins."""
        blocks = team_array(int32, MAX_SMALL)
        net = graph.state.small_list[i]
        size = size_of_net(net, graph.nets)
        begin = int64(graph.nets.begin[net])
        for j in range(lane(), size, team_size()):
            blocks[j] = block_after(graph.nets.pins[begin + j], run.moves, run.level)
        spread = int64(graph.state.spread[net])
        team_sync()
        changed = store_small(net, size, blocks, graph)
        settle(net, spread, changed, graph, run)

    @kernel
    def settle_large_net(i, graph: NetRows, run: Run):
        """Make the sets of net i of the list anew, from its counters."""
        net = graph.state.large_list[i]
        spread = int64(graph.state.spread[net])
        team_sync()
        changed = store_large(net, graph.state)
        settle(net, spread, changed, graph, run)

    return settle_small_net, settle_large_net


@kernel
def empty_lists(_, graph: NetRows):
    """Nets are to be listed anew."""
    graph.state.words.small_listed = 0
    graph.state.words.large_listed = 0
    graph.state.words.small_touched = 0
    graph.state.words.large_touched = 0
