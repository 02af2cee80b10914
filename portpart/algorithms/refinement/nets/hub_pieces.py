"""Hubs of a hypergraph in pieces, which many teams work on at the same time."""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import Ties
from portpart.algorithms.objectives.hub_ties import (
    PieceSums,
    add_to_sums,
    clear_sums_of,
    take_row_of_sums,
)
from portpart.algorithms.objectives.pin_state import HubSums, NetRows
from portpart.algorithms.refinement.gains.active_sets import ON_BOUNDARY
from portpart.algorithms.refinement.gains.dirty_list import mark_dirty
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.nets.state import HUB_PIECE, HubPieces
from portpart.backends import language as kl
from portpart.graphs.rows import degree_of


@kl.device
def end_of_piece(p, graph: NetRows, hub_pieces: HubPieces):
    """Where a piece of a hub ends."""
    v = hub_pieces.vertex[p]
    return min(kl.int64(graph.end[v]), hub_pieces.begin[p] + HUB_PIECE)


@kl.kernel
def take_to_pieces(i, graph: NetRows, hub_sums: HubSums, hub_pieces: HubPieces, cache: GainCache,
                   active: ActiveSets):
    """List the pieces of hub i; all it is tied to is to be summed up.  In any order."""
    v = active.hub_list[i]
    count = (degree_of(v, graph) + HUB_PIECE - 1) // HUB_PIECE
    first = kl.atomic_add(hub_pieces, HubPieces.pieces, count)
    for j in range(count):
        hub_pieces.vertex[first + j] = v
        hub_pieces.begin[first + j] = graph.begin[v] + j * HUB_PIECE
    if graph.sets.width == 1:
        take_row_of_sums(v, i, hub_sums)
    mark_dirty(v, cache)


@kl.kernel
def clear_sums(i, graph: NetRows, cache: GainCache, active: ActiveSets):
    """The sums of hub i are made anew if what ties it to blocks has changed."""
    v = active.hub_list[i]
    if cache.is_dirty[v] != 0:
        clear_sums_of(v, graph)


@kl.kernel
def sum_piece(p, graph: NetRows, hub_pieces: HubPieces, moves: Moves, cache: GainCache,
              active: ActiveSets, sums: PieceSums):
    """Add piece p to the sums of its hub, if these are made anew."""
    ties = Ties(blocks=kl.team_array(kl.int32, 1), weights=kl.team_array(sums.counter, sums.words),
                order=kl.team_array(kl.int8, 1))
    v = hub_pieces.vertex[p]
    if cache.is_dirty[v] != 0:
        crosses = active.flags[v] & ON_BOUNDARY != 0
        add_to_sums(v, hub_pieces.begin[p], end_of_piece(p, graph, hub_pieces),
                    kl.int64(moves.part[v]), crosses, graph, ties, sums)
