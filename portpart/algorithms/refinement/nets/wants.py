"""Proposed moves in hypergraphs: vertices list their nets, and move if these accept.

Which moves are proposed, and when they are accepted, are device functions, so that label
propagation and sequences of moves share the rest.
"""

from __future__ import annotations

from portpart.algorithms.objectives import AT_ONCE, AtOnce, NetRows, PinCounts, PinSets, net_at
from portpart.algorithms.refinement import Figures
from portpart.algorithms.refinement.blocks import Blocks, migration_gain
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, movable_vertex, uses_lanes
from portpart.algorithms.refinement.moves import Moves, commit_move
from portpart.algorithms.refinement.nets.lists import end_of_chunk, list_nets, nets_within
from portpart.algorithms.refinement.nets.state import HubChunks, NetAfterburner, NetLists
from portpart.backends import language as kl
from portpart.graphs import degree_of


class Agreeing(kl.Scope):
    """Which moves nets accept, and the list of these."""

    moves: Moves
    cache: GainCache
    afterburner: NetAfterburner
    figures: Figures


class Announcing(kl.Scope):
    """Records for listing the nets of proposed moves."""

    moves: Moves
    cache: GainCache
    blocks: Blocks
    lists: NetLists
    pin_counts: PinCounts
    afterburner: NetAfterburner
    figures: Figures


class ActingOnNets(kl.Scope):
    """The same, and the active sets."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    lists: NetLists
    pin_counts: PinCounts
    afterburner: NetAfterburner
    figures: Figures


@kl.device
def needs_afterburner(row, wants, here, there, sets: PinSets, pin_counts: PinCounts,
                      afterburner: NetAfterburner):
    """1 if the afterburner examines a net of that row of counters, or none; 0 without a proposed
    move.

    A net with counters costs the same after any of these moves if none of its blocks may lose all
    its pins and none gets its first one: then it need not be examined.
    """
    asked = kl.int64(wants != 0)
    if asked != 0 and row >= 0:
        first = kl.int64(row) * sets.blocks
        leaving = kl.atomic_add(afterburner.leaving, first + here, 1) + 1
        stays = leaving < pin_counts.counts[first + here] and pin_counts.counts[first + there] != 0
        asked = 1 - kl.int64(stays)
    return asked


@kl.device
def list_nets_of(v, begin, end, graph: NetRows, state: Announcing):
    """List the nets of v, whose move is proposed, at places begin ... end-1.  Independent of order.

    All lanes of a team together.
    """
    here = state.moves.part[v]
    there = state.cache.best_target[v]
    if kl.lane() == 0 and begin == graph.begin[v]:
        state.afterburner.after[v] = (migration_gain(v, there, state.blocks)
                                      - migration_gain(v, here, state.blocks))
    width = kl.team_size()
    nets = AtOnce()
    rows = AtOnce()
    for base in range(begin, end, AT_ONCE * width):
        place = base + kl.lane()
        for j in kl.static_range(AT_ONCE):
            nets[j] = net_at(place + j * width, end, graph)
        for j in kl.static_range(AT_ONCE):
            rows[j] = graph.sets.row[nets[j]]
        within = nets_within(place, end)
        asked = kl.int64(0)
        for j in kl.static_range(AT_ONCE):
            asked += needs_afterburner(rows[j], within & (1 << j), here, there, graph.sets,
                                       state.pin_counts, state.afterburner) << j
        list_nets(nets, asked, NetLists.small_listed, NetLists.large_listed, graph.sets,
                  state.lists)
    return v


@kl.device
def accept_all(v, afterburner: NetAfterburner):
    """Every proposed move is kept, to choose from later."""
    return True


@kl.device
def accept_non_losing(v, afterburner: NetAfterburner):
    """Whether moving v does not increase the cost of its nets plus its migration cost."""
    return afterburner.after[v] >= 0


@kl.device
def forget_leaving(row, here, sets: PinSets, afterburner: NetAfterburner):
    """Clear the number of proposed moves from block `here` of a net, if it has counters."""
    if row >= 0:
        afterburner.leaving[kl.int64(row) * sets.blocks + here] = kl.int32(0)
    return row


@kl.device
def move_if_nets_agree(v, begin, end, graph: NetRows, state: Agreeing, agree: kl.StaticValue):
    """Move v if its nets accept; counts of proposals are cleared at places begin ... end-1.

    All lanes of a team together.
    """
    here = state.moves.part[v]
    width = kl.team_size()
    rows = AtOnce()
    for place in range(begin + kl.lane(), end, AT_ONCE * width):
        for j in kl.static_range(AT_ONCE):
            rows[j] = graph.sets.row[net_at(place + j * width, end, graph)]
        for j in kl.static_range(AT_ONCE):
            forget_leaving(rows[j], here, graph.sets, state.afterburner)
    if kl.lane() == 0 and begin == graph.begin[v] and agree(v, state.afterburner):
        commit_move(v, state.cache.best_target[v], state.moves, state.figures)
    return v


@kl.kernel
def act_for_movable(i, graph: NetRows, state: ActingOnNets, one_lane, wants: kl.StaticValue,
                    act: kl.StaticValue):
    """Act for movable vertex i if its move is proposed, unless it is a hub."""
    if uses_lanes(one_lane, state.active.movable, state.figures):
        v = movable_vertex(i, state.active)
        is_hub = degree_of(v, graph) > state.figures.hub_degree
        if not is_hub and wants(v, state.moves, state.cache):
            act(v, kl.int64(graph.begin[v]), kl.int64(graph.end[v]), graph, state)


@kl.kernel
def act_for_pieces(p, graph: NetRows, state: Announcing, hub_chunks: HubChunks,
                   wants: kl.StaticValue, act: kl.StaticValue):
    """Act for a chunk of a hub whose move is proposed."""
    v = hub_chunks.vertex[p]
    if wants(v, state.moves, state.cache):
        act(v, hub_chunks.begin[p], end_of_chunk(p, graph, hub_chunks), graph, state)


def of_proposed(wants: kl.DeviceFunction, act: kl.DeviceFunction) -> tuple[kl.Kernel, kl.Kernel]:
    """The kernels that act for proposed moves: of other vertices, and of hubs.

    What is done is `list_nets_of`, or `move_if_nets_agree` bound to something.
    """
    return act_for_movable.bound(wants=wants, act=act), act_for_pieces.bound(wants=wants, act=act)
