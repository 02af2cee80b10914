"""Moves of an iteration on a hypergraph: weights of blocks follow, and nets are listed once each.

The nets are updated in `net_update.py`.
"""

from __future__ import annotations

from portpart.algorithms.objectives.bitset_connectivity import AT_ONCE, AtOnce, net_at
from portpart.algorithms.objectives.pin_counts import move_pin
from portpart.algorithms.objectives.pin_state import (
    NetRows,
    PinCounts,
)
from portpart.algorithms.refinement.accounting import weigh_vertex
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.active_sets import uses_lanes
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.nets.hub_chunks import end_of_chunk
from portpart.algorithms.refinement.nets.lists import list_nets, nets_within
from portpart.algorithms.refinement.nets.state import HubChunks, NetLists
from portpart.backends import language as kl
from portpart.backends.language import Scope
from portpart.graphs.rows import degree_of


class Touching(Scope):
    """What changes when vertices move, before their nets are settled."""

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
    """List the nets of v at places begin ... end-1, as it goes to its target.

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
    return v


@kl.kernel
def touch_nets_of_moves(i, graph: NetRows, state: Touching, one_lane):
    """Account for a move, unless a hub makes it."""
    v = state.moves.listed[i]
    is_hub = degree_of(v, graph) > state.figures.hub_degree
    if uses_lanes(one_lane, state.moves.moves, state.figures) and not is_hub:
        touch_nets(v, kl.int64(graph.begin[v]), kl.int64(graph.end[v]), graph, state)


@kl.kernel
def touch_nets_of_chunks(p, graph: NetRows, state: Touching, hub_chunks: HubChunks):
    """Account for the move of a hub, if it moves, in a piece of it."""
    v = hub_chunks.vertex[p]
    if kl.int64(state.moves.moved_in[v]) == state.figures.iteration:
        touch_nets(v, hub_chunks.begin[p], end_of_chunk(p, graph, hub_chunks), graph, state)
