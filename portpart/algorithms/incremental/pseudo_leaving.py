"""Selects the vertices that enter the pseudo block (iG-kway, dissertation 3.5, algorithm 12).

New vertices do, first.  Of the ends of edits, those do that have more weight of arcs out of their
block than into it; neighbours in the pseudo block count as outside.  All of a pass decide before
any of them leaves.  Then neighbours of those in the pseudo block are asked in the same way, once.
"""

from __future__ import annotations

from portpart.algorithms.incremental.pseudo_rounds import PASSES, Pseudo, PseudoWords, weigh_blocks
from portpart.algorithms.refinement import Figures, Journal, count_activated
from portpart.algorithms.refinement.blocks import Blocks, add_block_weight
from portpart.algorithms.refinement.gains import GainCache, empty_marked, mark_dirty, unmark
from portpart.algorithms.refinement.moves import Moves, join_block
from portpart.backends import language as kl
from portpart.graphs import Csr

NONE = -1


@kl.kernel
def begin_pseudo(_, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
                 journal: Journal, sequence: Pseudo):
    """No vertex has left; all active ones are examined first.  Called by one team."""
    weigh_blocks(moves, blocks, figures)
    if kl.lane() == 0:
        count_activated(cache, journal)
        sequence.words.members = 0
        sequence.words.settled = 0
        sequence.words.passes = PASSES
        sequence.words.asked = cache.marked
        sequence.words.overloaded = 0
        empty_marked(cache)


@kl.kernel
def list_new(i, cache: GainCache, journal: Journal, sequence: Pseudo):
    """List a vertex that is new; the order of the list is free."""
    v = cache.dirty_list[i]
    if journal.previous[v] == NONE:
        sequence.members[kl.atomic_next(sequence.words, PseudoWords.members)] = v


@kl.device
def is_evicted(v, graph: Csr, part):
    """Whether v has more weight of arcs out of its block than into it.  All lanes of a team."""
    here = part[v]
    excess = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        weight = kl.value_or(graph.weights, arc, 1)
        excess += -weight if part[graph.targets[arc]] == here else weight
    return kl.team_sum(excess) > 0


@kl.kernel
def ask_vertex(i, graph: Csr, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
               sequence: Pseudo):
    """List a vertex that is to leave its block; the order of the list is free."""
    v = cache.dirty_list[i]
    leaves = is_evicted(v, graph, moves.part) and kl.value_or(blocks.fixed, v, NONE) < 0
    if kl.lane() == 0:
        unmark(v, cache)
        if leaves and moves.part[v] != figures.blocks:
            sequence.members[kl.atomic_next(sequence.words, PseudoWords.members)] = v


@kl.kernel
def begin_passes(_, sequence: Pseudo):
    """New vertices have left."""
    sequence.words.settled = sequence.words.members


@kl.kernel
def end_asking(_, sequence: Pseudo):
    """Listed vertices leave; their neighbours are examined if there is another pass."""
    sequence.words.leaving = sequence.words.members - sequence.words.settled
    sequence.words.passes -= 1
    sequence.words.telling = sequence.words.members if sequence.words.passes > 0 else 0


@kl.kernel
def leave_block(i, graph: Csr, moves: Moves, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """A vertex leaves its block; atomic, independent of order."""
    v = sequence.members[sequence.words.settled + i]
    add_block_weight(moves.part[v], -kl.value_or(graph.vertex_weights, v, 1), blocks)
    join_block(v, figures.blocks, moves)


@kl.kernel
def tell_neighbours(i, graph: Csr, moves: Moves, cache: GainCache, figures: Figures,
                    sequence: Pseudo):
    """Mark the neighbours of a vertex in the pseudo block for the next pass."""
    v = sequence.members[i]
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if moves.part[u] != figures.blocks:
            mark_dirty(u, cache)


@kl.kernel
def end_pass(_, cache: GainCache, sequence: Pseudo):
    """Marked vertices are examined next; without any there is no other pass."""
    sequence.words.settled = sequence.words.members
    sequence.words.asked = cache.marked
    if cache.marked == 0:
        sequence.words.passes = 0
    empty_marked(cache)
