"""Vertices of hypergraphs that want to move: they tell their nets, and hear what these say.

Those that want to, and what they make of what their nets say, are device functions, so that label
propagation and sequences of moves share the rest.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.pin_state import NetRows, NetWords
from portpart.algorithms.refinement.active_sets import is_for, movable_vertex
from portpart.algorithms.refinement.homes import pull_of
from portpart.algorithms.refinement.label_propagation import commit_move
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
    team_size,
)
from portpart.graphs.rows import degree_of


@device
def announce(v, graph: NetRows, run: Run):
    """List the nets of v, which wants to move.  All lanes of a team together; order-free.

    A net with counters costs the same after any of these moves if none of its blocks may lose all
    its pins and none gets its first one: then it need not be asked.
    """
    here = run.moves.part[v]
    there = run.cache.best_target[v]
    if lane() == 0:
        graph.state.after[v] = (pull_of(v, there, run.blocks) - pull_of(v, here, run.blocks))
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


@device
def agree_to_all(v, graph: NetRows):
    """Every wanted move is kept, for others to choose from."""
    return True


@device
def lose_nothing(v, graph: NetRows):
    """Whether the nets of v together, and its tie to home, do not cost more by its move."""
    return graph.state.after[v] >= 0


@cache
def move_if_nets_agree(agree: DeviceFunction) -> DeviceFunction:
    """Device function for what nets agree to."""

    @device
    def move_if_nets_agree(v, graph: NetRows, run: Run):
        """Move v if its nets agree.  All lanes of a team together."""
        here = run.moves.part[v]
        for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
            row = graph.state.row[graph.targets[place]]
            if row >= 0:
                graph.state.leaving[int64(row) * graph.state.words.blocks + here] = int32(0)
        if lane() == 0 and agree(v, graph):
            commit_move(v, run.cache.best_target[v], run.moves, run.level)
        return v

    return move_if_nets_agree


@cache
def of_wanting(wants: DeviceFunction, act: DeviceFunction) -> tuple[Kernel, Kernel]:
    """The kernels that act for those who want to move: for vertices that are no hubs, and for hubs.

    What is done is `announce`, or `move_if_nets_agree` to something.
    """

    @kernel
    def act_for_movable(i, graph: NetRows, run: Run, one_lane):
        """Act for movable vertex i if it wants to move, unless it is a hub."""
        if is_for(one_lane, run.level.movable, run.level):
            v = movable_vertex(i, run.active, run.level)
            is_hub = degree_of(v, graph) > run.level.hub_degree
            if not is_hub and wants(v, run.moves, run.cache, run.level):
                act(v, graph, run)

    @kernel
    def act_for_hubs(i, graph: NetRows, run: Run):
        """Act for a hub that wants to move."""
        v = run.active.hubs[i]
        if wants(v, run.moves, run.cache, run.level):
            act(v, graph, run)

    return act_for_movable, act_for_hubs
