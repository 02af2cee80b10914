"""Moves of an iteration on a hypergraph, and the nets that they change."""

from __future__ import annotations

from portpart.algorithms.objectives import (
    ALONE_CHANGED,
    AT_ONCE,
    MAX_SMALL,
    AtOnce,
    NetRows,
    PinCounts,
    move_pin,
    net_at,
    size_of_net,
    store_large,
    store_small,
)
from portpart.algorithms.refinement import Figures, weigh_vertex
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, mark_dirty, uses_lanes
from portpart.algorithms.refinement.incumbent import Incumbent
from portpart.algorithms.refinement.moves import Moves, add_cost
from portpart.algorithms.refinement.nets.lists import end_of_chunk, list_nets, nets_within, unlist
from portpart.algorithms.refinement.nets.state import HubChunks, NetLists
from portpart.backends import language as kl
from portpart.graphs import degree_of

# Moves of an iteration on a hypergraph: block weights change, and nets are listed once each
#
# The second half of this file updates the nets.


class Touching(kl.Scope):
    """Records that change when vertices move, before their nets are updated."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    lists: NetLists
    pin_counts: PinCounts
    figures: Figures


@kl.device
def touch_nets(v, begin, end, graph: NetRows, state: Touching):
    """List the nets of v at places begin ... end-1, as v moves to its target.

    The team that has the first of its nets accounts for its weight.  Atomic, independent of order.
    """
    here = state.moves.part[v]
    there = state.moves.target[v]
    width = kl.team_size()
    nets = AtOnce()
    for base in range(begin, end, AT_ONCE * width):
        place = base + kl.lane()
        for j in kl.static_range(AT_ONCE):
            nets[j] = net_at(place + j * width, end, graph)
        within = nets_within(place, end)
        list_nets(nets, within, NetLists.small_touched, NetLists.large_touched, graph.sets,
                  state.lists)
        for j in kl.static_range(AT_ONCE):
            if within & (1 << j) != 0:
                move_pin(graph.sets.row[nets[j]], here, there, graph.sets, state.pin_counts)
    if kl.lane() == 0 and begin == graph.begin[v]:
        weigh_vertex(v, graph, state.moves, state.cache, state.active, state.incumbent,
                     state.blocks, state.figures)


@kl.kernel
def touch_nets_of_moves(i, graph: NetRows, state: Touching, one_lane):
    """Account for move i, unless a hub makes it."""
    v = state.moves.listed[i]
    is_hub = degree_of(v, graph) > state.figures.hub_degree
    if uses_lanes(one_lane, state.moves.moves, state.figures) and not is_hub:
        touch_nets(v, kl.int64(graph.begin[v]), kl.int64(graph.end[v]), graph, state)


@kl.kernel
def touch_nets_of_chunks(p, graph: NetRows, state: Touching, hub_chunks: HubChunks):
    """Account for the move of a hub, if it moves, in chunk p."""
    v = hub_chunks.vertex[p]
    if kl.int64(state.moves.moved_in[v]) == state.figures.iteration:
        touch_nets(v, hub_chunks.begin[p], end_of_chunk(p, graph, hub_chunks), graph, state)


# Update nets whose pins have moved: sets of blocks, costs, and affected gains
#
# The sets of blocks of a net are rebuilt; if they change, the gains of its pins are stale.


class NetUpdate(kl.Scope):
    """Records that change for a net and its pins when some of these have moved."""

    moves: Moves
    cache: GainCache
    lists: NetLists
    pin_counts: PinCounts
    figures: Figures


@kl.device
def block_after(v, moves: Moves, figures: Figures):
    """Return the block of v after the moves; both loads are issued together."""
    stays = moves.part[v]
    goes = moves.target[v]
    return goes if kl.int64(moves.moved_in[v]) == figures.iteration else stays


@kl.device
def concerns_some(changed):
    """Whether the gains of only some pins change, for a net with counters.

    That is so if only the blocks with one pin change.
    """
    return changed == ALONE_CHANGED


@kl.device
def concerns_few(changed):
    """Return True: only pins in blocks that the net may reach or leave are examined.

    For runs that examine few vertices.
    """
    return True


@kl.device
def affects_gains(connectivity, net_cost: kl.StaticValue):
    """Whether a net that spans this many blocks contributes to the gain of a pin's move."""
    below = max(kl.int64(0), connectivity - 1)
    cost = net_cost(connectivity)
    return net_cost(connectivity + 1) != cost or cost != net_cost(below)


@kl.device
def selects_unmarked(place, end, first, graph: NetRows, state: NetUpdate):
    """Return 1 if there is a pin at a place that is not marked as stale, else 0."""
    v = pin_at(place, end, graph)
    return kl.int64(place < end) * kl.int64(kl.atomic_load(state.cache.is_dirty, v) == 0)


@kl.device
def selects_changed(place, end, first, graph: NetRows, state: NetUpdate):
    """Return 1 if an unmarked pin is in a block with at most two pins of the net, else 0.

    The counters of the net begin at `first`.  In such a block a pin is the single one, or one of
    two of which one was the single one.
    """
    v = pin_at(place, end, graph)
    count = state.pin_counts.counts[first + block_after(v, state.moves, state.figures)]
    return selects_unmarked(place, end, first, graph, state) * kl.int64(count <= 2)


@kl.device
def pin_at(place, end, graph: NetRows):
    """Return the pin at a place of a net, or the last pin behind it, which needs no branch."""
    return graph.nets.pins[min(place, end - 1)]


@kl.device
def mark_pins(net, first, graph: NetRows, state: NetUpdate, selects: kl.StaticValue):
    """Mark the pins of a net that `selects` selects as stale; the net's counters begin at `first`.

    A lane tests several pins at once.
    """
    end = kl.int64(graph.nets.end[net])
    width = kl.team_size()
    selected = AtOnce()
    for place in range(graph.nets.begin[net] + kl.lane(), end, AT_ONCE * width):
        for j in kl.static_range(AT_ONCE):
            selected[j] = selects(place + j * width, end, first, graph, state)
        for j in kl.static_range(AT_ONCE):
            if selected[j] != 0:
                mark_dirty(graph.nets.pins[place + j * width], state.cache)


@kl.device
def update_net(net, connectivity_before, changed, graph: NetRows, state: NetUpdate,
               net_cost: kl.StaticValue, concerns: kl.StaticValue):
    """Account for the change of a net's cost, and mark its pins if their gains are stale.

    Called by all lanes of a team.
    """
    kl.team_sync()
    connectivity = kl.int64(graph.sets.connectivity[net])
    if kl.lane() == 0:
        unlist(net, state.lists)
        change = net_cost(connectivity) - net_cost(connectivity_before)
        if change != 0:
            change *= 2 * kl.value_or(graph.nets.weights, net, 1)
            add_cost(net, change, state.moves)
    if changed != 0 and (affects_gains(connectivity_before, net_cost)
                         or affects_gains(connectivity, net_cost)):
        row = kl.int64(graph.sets.row[net])
        first = row * graph.sets.blocks
        if row < 0:  # a net with few pins
            for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net],
                               kl.team_size()):
                mark_dirty(graph.nets.pins[place], state.cache)
        elif concerns(changed):
            mark_pins(net, first, graph, state, selects_changed)
        else:
            mark_pins(net, first, graph, state, selects_unmarked)


@kl.kernel
def update_small_net(i, graph: NetRows, state: NetUpdate, net_cost: kl.StaticValue,
                     concerns: kl.StaticValue):
    """Rebuild the sets of listed net i from the blocks of its pins."""
    blocks = kl.team_array(kl.int32, MAX_SMALL)
    net = state.lists.small_list[i]
    size = size_of_net(net, graph.nets)
    begin = kl.int64(graph.nets.begin[net])
    connectivity = kl.int64(graph.sets.connectivity[net])
    for j in range(kl.lane(), size, kl.team_size()):
        blocks[j] = block_after(graph.nets.pins[begin + j], state.moves, state.figures)
    kl.team_sync()
    changed = store_small(net, size, blocks, graph)
    update_net(net, connectivity, changed, graph, state, net_cost, concerns)


@kl.kernel
def update_large_net(i, graph: NetRows, state: NetUpdate, net_cost: kl.StaticValue,
                     concerns: kl.StaticValue):
    """Rebuild the sets of listed net i from its counters."""
    net = state.lists.large_list[i]
    connectivity = kl.int64(graph.sets.connectivity[net])
    kl.team_sync()
    changed = store_large(net, graph.sets, state.pin_counts)
    update_net(net, connectivity, changed, graph, state, net_cost, concerns)
