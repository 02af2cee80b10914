"""Vertices of hypergraphs that want to move: they tell their nets, and hear what these say.

Those that want to, and what they make of what their nets say, are device functions, so that label
propagation and sequences of moves share the rest.
"""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import (
    NetRows,
    NetWords,
    PinState,
    end_of_piece,
)
from portpart.algorithms.objectives.word_ties import AT_ONCE, AtOnce, net_at
from portpart.algorithms.refinement.active_sets import is_for, movable_vertex
from portpart.algorithms.refinement.homes import pull_of
from portpart.algorithms.refinement.label_propagation import commit_move
from portpart.algorithms.refinement.nets.moves import list_nets, nets_within
from portpart.algorithms.refinement.scopes import Announcing, Propagating
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    StaticValue,
    atomic_add,
    device,
    int32,
    int64,
    kernel,
    lane,
    static_range,
    team_size,
)
from portpart.graphs.rows import degree_of


@device
def must_be_asked(row, wants, here, there, state: PinState):
    """1 if a net of that row of counters, or none, is asked about a move; 0 if nobody wants one.

    A net with counters costs the same after any of these moves if none of its blocks may lose all
    its pins and none gets its first one: then it need not be asked.
    """
    asked = int64(wants != 0)
    if asked != 0 and row >= 0:
        first = int64(row) * state.words.blocks
        leaving = atomic_add(state.leaving, first + here, 1) + 1
        stays = leaving < state.counts[first + here] and state.counts[first + there] != 0
        asked = 1 - int64(stays)
    return asked


@device
def announce(v, begin, end, graph: NetRows, state: Announcing):
    """List the nets of v, which wants to move, at places begin ... end-1.  Order-free.

    All lanes of a team together.
    """
    here = state.moves.part[v]
    there = state.cache.best_target[v]
    if lane() == 0 and begin == graph.begin[v]:
        graph.state.after[v] = (pull_of(v, there, state.blocks) - pull_of(v, here, state.blocks))
    width = team_size()
    nets = AtOnce()
    rows = AtOnce()
    for base in range(begin, end, AT_ONCE * width):
        place = base + lane()
        for j in static_range(AT_ONCE):
            nets[j] = net_at(place + j * width, end, graph)
        for j in static_range(AT_ONCE):
            rows[j] = graph.state.row[nets[j]]
        within = nets_within(place, end)
        asked = int64(0)
        for j in static_range(AT_ONCE):
            asked += must_be_asked(rows[j], within & (1 << j), here, there, graph.state) << j
        list_nets(nets, asked, NetWords.small_listed, NetWords.large_listed, graph.state)
    return v


@device
def agree_to_all(v, graph: NetRows):
    """Every wanted move is kept, for others to choose from."""
    return True


@device
def lose_nothing(v, graph: NetRows):
    """Whether the nets of v together, and its tie to home, do not cost more by its move."""
    return graph.state.after[v] >= 0


@device
def forget_leaving(row, here, state: PinState):
    """Nobody wants to leave block `here` of a net any longer, if it has counters."""
    if row >= 0:
        state.leaving[int64(row) * state.words.blocks + here] = int32(0)
    return row


@device
def move_if_nets_agree(v, begin, end, graph: NetRows, state: Announcing, agree: StaticValue):
    """Move v if its nets agree; those at places begin ... end-1 forget what it wanted.

    All lanes of a team together.
    """
    here = state.moves.part[v]
    width = team_size()
    rows = AtOnce()
    for place in range(begin + lane(), end, AT_ONCE * width):
        for j in static_range(AT_ONCE):
            rows[j] = graph.state.row[net_at(place + j * width, end, graph)]
        for j in static_range(AT_ONCE):
            forget_leaving(rows[j], here, graph.state)
    if lane() == 0 and begin == graph.begin[v] and agree(v, graph):
        commit_move(v, state.cache.best_target[v], state.moves, state.figures)
    return v


@kernel
def act_for_movable(i, graph: NetRows, state: Propagating, one_lane, wants: StaticValue,
                    act: StaticValue):
    """Act for movable vertex i if it wants to move, unless it is a hub."""
    if is_for(one_lane, state.active.movable, state.figures):
        v = movable_vertex(i, state.active)
        is_hub = degree_of(v, graph) > state.figures.hub_degree
        if not is_hub and wants(v, state.moves, state.cache):
            act(v, int64(graph.begin[v]), int64(graph.end[v]), graph, state)


@kernel
def act_for_pieces(p, graph: NetRows, state: Announcing, wants: StaticValue, act: StaticValue):
    """Act for a piece of a hub that wants to move."""
    v = graph.state.piece_vertex[p]
    if wants(v, state.moves, state.cache):
        act(v, graph.state.piece_begin[p], end_of_piece(p, graph), graph, state)


def of_wanting(wants: DeviceFunction, act: DeviceFunction) -> tuple[Kernel, Kernel]:
    """The kernels that act for vertices that want to move: those that are no hubs, and hubs.

    What is done is `announce`, or `move_if_nets_agree` bound to something.
    """
    return act_for_movable.bound(wants=wants, act=act), act_for_pieces.bound(wants=wants, act=act)
