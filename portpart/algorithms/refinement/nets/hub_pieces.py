"""Hubs of a hypergraph in pieces, which many teams work on at the same time."""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import Ties
from portpart.algorithms.objectives.hub_ties import PieceSums, add_to_sums, first_sum
from portpart.algorithms.objectives.pin_state import (
    HUB_PIECE,
    NetRows,
    NetWords,
    end_of_piece,
)
from portpart.algorithms.refinement.active_sets import ON_BOUNDARY
from portpart.algorithms.refinement.dirty_list import mark_dirty
from portpart.algorithms.refinement.state import ActiveSets, GainCache, Moves
from portpart.backends.language import (
    atomic_add,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
)
from portpart.graphs.rows import degree_of


@kernel
def take_to_pieces(i, graph: NetRows, cache: GainCache, active: ActiveSets):
    """List the pieces of hub i; all it is tied to is to be summed up.  In any order."""
    v = active.hub_list[i]
    count = (degree_of(v, graph) + HUB_PIECE - 1) // HUB_PIECE
    first = atomic_add(graph.state.words, NetWords.pieces, count)
    for j in range(count):
        graph.state.piece_vertex[first + j] = v
        graph.state.piece_begin[first + j] = graph.begin[v] + j * HUB_PIECE
    if graph.state.words.width == 1:
        graph.state.hub_row[v] = int32(i)
    mark_dirty(v, cache)


@kernel
def clear_sums(i, graph: NetRows, cache: GainCache, active: ActiveSets):
    """The sums of hub i are made anew if what ties it to blocks has changed."""
    v = active.hub_list[i]
    if cache.is_dirty[v] != 0:
        first = first_sum(v, graph.state)
        for j in range(lane(), 2 * graph.state.words.blocks + 2, team_size()):
            graph.state.hub_sums[first + j] = 0


@kernel
def sum_piece(p, graph: NetRows, moves: Moves, cache: GainCache, active: ActiveSets,
              sums: PieceSums):
    """Add piece p to the sums of its hub, if these are made anew."""
    ties = Ties(blocks=team_array(int32, 1), weights=team_array(sums.counter, sums.words),
                order=team_array(int8, 1))
    v = graph.state.piece_vertex[p]
    if cache.is_dirty[v] != 0:
        crosses = active.flags[v] & ON_BOUNDARY != 0
        add_to_sums(v, graph.state.piece_begin[p], end_of_piece(p, graph), int64(moves.part[v]),
                    crosses, graph, ties, sums)
