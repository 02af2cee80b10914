"""An independent set of vertex moves that gain (G-kway, section 3.2.1 and algorithm 2).

A move is legal if it gains and its target block stays within its limit.  What a vertex gains most
with is cached (`gain_cache.py`); only where that block is full the legal blocks are examined.
Of adjacent vertices with legal moves the one with the smallest id moves, so that all gains add up.
Beyond the paper, moves that gain nothing are legal if they even out the weights of the two blocks;
they come after the others.
"""

from __future__ import annotations

from portpart.algorithms.objectives.connectivity import ConnectivityTable
from portpart.algorithms.objectives.objective import BlockScore, Found, Rules, Tables
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.active_sets import (
    IS_MOVABLE,
    keep_if_movable,
    movable_vertex,
)
from portpart.algorithms.refinement.gains.candidate import BlockSearch, Searching, best_candidate
from portpart.algorithms.refinement.gains.state import ActiveSets, GainCache, UnratedList
from portpart.algorithms.refinement.gains.unrated_list import list_unrated
from portpart.algorithms.refinement.moves.list_moves import add_move_to
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.moves.weight_copies import copy_for
from portpart.algorithms.refinement.prefix.move_sequence import (
    MoveSequence,
    PrefixWords,
    set_top_gain,
)
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction, Scope
from portpart.graphs.rows import Csr, degree_of

NONE = -1


class ChoosingLegal(Scope):
    """What says which moves keep the blocks balanced."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    unrated: UnratedList
    figures: Figures


@kl.device
def accepts(b, weight, blocks: Blocks, figures: Figures):
    """Whether block b stays within its limit with so much more."""
    return blocks.weight[b] + weight <= blocks.limits[b] + figures.slack


@kl.device
def improves_balance(here, there, weight, blocks: Blocks):
    """Whether a move leaves the heavier of two blocks lighter."""
    return blocks.weight[there] + weight < blocks.weight[here]


@kl.kernel
def begin_sequence(_, sequence: MoveSequence):
    """No move gains anything so far."""
    set_top_gain(0, sequence.prefix)


@kl.kernel
def choose_legal(i, graph: Csr, state: ChoosingLegal, sequence: MoveSequence):
    """legal[v] = where v gains most, or -1; if there is no room, list v to examine other blocks.

    Only movable vertices may gain.
    """
    v = movable_vertex(i, state.active)
    keep_if_movable(v, state.cache, state.active, state.figures)
    block = state.cache.best_target[v]
    weight = kl.value_or(graph.vertex_weights, v, 1)
    found = kl.int32(NONE)
    if block >= 0 and (state.cache.gain[v] > 0 or sequence.zero_gain != 0):
        if accepts(block, weight, state.blocks, state.figures):
            if state.cache.gain[v] > 0 or improves_balance(state.moves.part[v], block, weight,
                                                           state.blocks):
                found = block
                sequence.gain[v] = state.cache.gain[v]
        elif state.cache.gain[v] > 0 and state.figures.blocks > 2:
            list_unrated(v, graph, state.unrated, state.figures)
    sequence.legal[v] = found


@kl.device
def admits_legal(v, block, graph: Csr, blocks: Blocks, figures: Figures):
    """Whether a block has room for v."""
    return accepts(block, kl.value_or(graph.vertex_weights, v, 1), blocks, figures)


@kl.device
def find_legal(v, graph: Csr, state: Searching, connections: ConnectivityTable, tables: Tables,
               found: Found,
               sequence: MoveSequence, search: BlockSearch):
    """sequence.legal[v] = the best block with capacity for v, if there is one.

    All lanes of a team together.
    """
    best_candidate(v, graph, state, connections, tables, found, search)
    if kl.lane() == 0 and found.block != NONE:
        gain = found.value - found.here
        block = kl.int32(found.block)
        legal = gain > 0
        if gain == 0 and sequence.zero_gain != 0:
            size = kl.value_or(graph.vertex_weights, v, 1)
            legal = improves_balance(state.moves.part[v], block, size, state.blocks)
        if legal:
            sequence.legal[v] = block
            sequence.gain[v] = gain
    return v


def legal(rules: Rules, valuation: BlockScore) -> DeviceFunction:
    """`find_legal` for an objective and a way to value blocks."""
    return find_legal.bound(search=BlockSearch(rules, valuation, admits_legal))


@kl.device
def is_candidate(v, active: ActiveSets, sequence: MoveSequence):
    """Whether v has a legal move; of vertices that are not movable nothing is known."""
    found = active.flags[v] & IS_MOVABLE != 0
    if found:
        found = sequence.legal[v] >= 0
    return found


@kl.device
def goes_first(u, v, sequence: MoveSequence):
    """Whether the move of u goes before that of v: one that gains, then the smaller id."""
    first = u < v
    if (sequence.gain[u] > 0) != (sequence.gain[v] > 0):
        first = sequence.gain[u] > 0
    return first


@kl.device
def move_if_first(
    v, graph: Csr, moves: Moves, active: ActiveSets, figures: Figures, sequence: MoveSequence,
):
    """Enter the move of v into the buffer if the move of no neighbour goes first.

    Atomic; the order of the buffer is free.  All lanes of a team together.
    """
    beaten = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if u != v and is_candidate(u, active, sequence):
            beaten |= kl.int64(goes_first(u, v, sequence))
    beaten = kl.team_max(beaten)
    if kl.lane() == 0 and beaten == 0:
        add_move_to(v, sequence.legal[v], moves, figures)
        kl.atomic_max(sequence.prefix, PrefixWords.top_gain, sequence.gain[v])
        weight = kl.value_or(graph.vertex_weights, v, 1)
        copy = copy_for(v, moves, figures)
        kl.atomic_add(sequence.weight_sums, copy + moves.part[v], -weight)
        kl.atomic_add(sequence.weight_sums, copy + sequence.legal[v], weight)
    return beaten


@kl.kernel
def keep_independent(i, graph: Csr, moves: Moves, active: ActiveSets, figures: Figures,
                     sequence: MoveSequence):
    """Keep the move of vertex i if it is first among its neighbours, unless a hub makes it."""
    v = active.movable_list[figures.vertices - active.movable_begin + i]
    if sequence.legal[v] >= 0 and degree_of(v, graph) <= figures.hub_degree:
        move_if_first(v, graph, moves, active, figures, sequence)


@kl.kernel
def keep_independent_hubs(i, graph: Csr, moves: Moves, active: ActiveSets, figures: Figures,
                          sequence: MoveSequence):
    """Keep the move of a hub if it has one and is first among its neighbours."""
    v = active.hub_list[i]
    if is_candidate(v, active, sequence):
        move_if_first(v, graph, moves, active, figures, sequence)
