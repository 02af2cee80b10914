"""Moves of an iteration on a hypergraph: weights of blocks follow, and nets are listed once each.

What becomes of the nets is in `settling.py`.
"""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import (
    NetRows,
    NetWords,
    PinState,
    end_of_piece,
)
from portpart.algorithms.objectives.word_ties import AT_ONCE, AtOnce, net_at
from portpart.algorithms.refinement.active_sets import is_for
from portpart.algorithms.refinement.moves import weigh_vertex
from portpart.algorithms.refinement.scopes import Accounting
from portpart.backends.language import (
    atomic_add,
    atomic_cas,
    atomic_load,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    static_range,
    team_last,
    team_scan,
    team_size,
)
from portpart.graphs.rows import degree_of


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
def claim_net(net, listed, asks, state: PinState):
    """1 if who asks has to put a net on its list, which was not `listed` a moment ago; else 0."""
    claimed = int64(0)
    if asks != 0 and listed == 0:
        claimed = int64(atomic_cas(state.is_listed, net, int32(0), int32(1)) == 0)
    return claimed


@device
def places_on_list(count, small, state: PinState):
    """The first of so many places for each lane on the list of small nets.

    All lanes of a team together.
    """
    until = team_scan(count)
    total = team_last(until)
    first = int64(0)
    if total > 0:
        if lane() == team_size() - 1:
            first = atomic_add(state.words, small, total)
        first = team_last(first)
    return first + until - count


@device
def list_claimed(net, claimed, place, large, state: PinState):
    """Put a net that has been claimed on its list, a small one at a place; returns the next one."""
    after = int64(place)
    if claimed != 0:
        if state.row[net] < 0:
            state.small_list[place] = int32(net)
            after += 1
        else:
            state.large_list[atomic_next(state.words, large)] = int32(net)
    return after


@device
def list_nets(nets: AtOnce, asked, small, large, state: PinState):
    """Put those nets of a lane whose bits are `asked` on the lists of their kinds, once.

    Each access is made for all of them before anything waits for it.  All lanes of a team together;
    in any order.
    """
    listed = AtOnce()
    claimed = AtOnce()
    for j in static_range(AT_ONCE):
        listed[j] = atomic_load(state.is_listed, nets[j])
    for j in static_range(AT_ONCE):
        claimed[j] = claim_net(nets[j], listed[j], asked & (1 << j), state)
    count = int64(0)
    for j in static_range(AT_ONCE):
        count += claimed[j] * int64(state.row[nets[j]] < 0)
    place = places_on_list(count, small, state)
    for j in static_range(AT_ONCE):
        place = list_claimed(nets[j], claimed[j], place, large, state)
    return place


@device
def count_move(net, moves, here, there, state: PinState):
    """Count a pin in block `there` that was in `here`, if it moves and the net has counters."""
    if moves != 0 and state.row[net] >= 0:
        first = int64(state.row[net]) * state.words.blocks
        atomic_add(state.counts, first + here, -1)
        atomic_add(state.counts, first + there, 1)
    return moves


@device
def nets_within(place, end):
    """A bit for each of the places of a lane from `place` on that is before the end."""
    within = int64(0)
    for j in static_range(AT_ONCE):
        within += int64(place + j * team_size() < end) << j
    return within


@device
def touch_nets(v, begin, end, graph: NetRows, state: Accounting):
    """List the nets of v at places begin ... end-1, as it goes to its target.

    The team that has the first of its nets accounts for its weight.  Atomic, order-free.
    """
    here = state.moves.part[v]
    there = state.moves.target[v]
    width = team_size()
    nets = AtOnce()
    for base in range(begin, end, AT_ONCE * width):
        place = base + lane()
        for j in static_range(AT_ONCE):
            nets[j] = net_at(place + j * width, end, graph)
        within = nets_within(place, end)
        list_nets(nets, within, NetWords.small_touched, NetWords.large_touched, graph.state)
        for j in static_range(AT_ONCE):
            count_move(nets[j], within & (1 << j), here, there, graph.state)
    if lane() == 0 and begin == graph.begin[v]:
        weigh_vertex(v, graph, state.moves, state.cache, state.active, state.incumbent,
                     state.blocks, state.figures)
    return v


@kernel
def touch_nets_of_moves(i, graph: NetRows, state: Accounting, one_lane):
    """Account for a move, unless a hub makes it."""
    v = state.moves.listed[i]
    is_hub = degree_of(v, graph) > state.figures.hub_degree
    if is_for(one_lane, state.moves.moves, state.figures) and not is_hub:
        touch_nets(v, int64(graph.begin[v]), int64(graph.end[v]), graph, state)


@kernel
def touch_nets_of_pieces(p, graph: NetRows, state: Accounting):
    """Account for the move of a hub, if it moves, in a piece of it."""
    v = graph.state.piece_vertex[p]
    if int64(state.moves.moved_in[v]) == state.figures.iteration:
        touch_nets(v, graph.state.piece_begin[p], end_of_piece(p, graph), graph, state)


@kernel
def empty_lists(_, graph: NetRows):
    """Nets are to be listed anew."""
    graph.state.words.small_listed = 0
    graph.state.words.large_listed = 0
    graph.state.words.small_touched = 0
    graph.state.words.large_touched = 0
