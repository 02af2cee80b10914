"""Selects the vertices that enter the pseudo block (iG-kway, dissertation 3.5, algorithm 12).

New vertices enter first.  An end of an edit enters if the arcs that leave its block weigh more than
the arcs inside it; neighbours in the pseudo block count as outside.  All vertices of a pass are
examined before any of them leaves.  Then the neighbours of the pseudo block are examined in the
same way, once.
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
    """Start with an empty pseudo block and examine all active vertices.  Called by one team."""
    weigh_blocks(moves, blocks, figures)
    if kl.lane() == 0:
        count_activated(cache, journal)
        sequence.words.members = 0
        sequence.words.settled = 0
        sequence.words.passes = PASSES
        sequence.words.examined = cache.marked
        sequence.words.overloaded = 0
        empty_marked(cache)


@kl.kernel
def list_new(i, cache: GainCache, journal: Journal, sequence: Pseudo):
    """List active vertex i if it is new; in any order."""
    v = cache.dirty_list[i]
    if journal.previous[v] == NONE:
        sequence.members[kl.atomic_next(sequence.words, PseudoWords.members)] = v


@kl.device
def is_evicted(v, graph: Csr, part):
    """Whether the arcs of v that leave its block weigh more than the arcs inside it.

    Called by all lanes of a team.
    """
    here = part[v]
    excess = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        weight = kl.value_or(graph.weights, arc, 1)
        excess += -weight if part[graph.targets[arc]] == here else weight
    return kl.team_sum(excess) > 0


@kl.kernel
def examine_vertex(i, graph: Csr, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
                   sequence: Pseudo):
    """List active vertex i if it must leave its block; in any order."""
    v = cache.dirty_list[i]
    leaves = is_evicted(v, graph, moves.part) and kl.value_or(blocks.fixed, v, NONE) < 0
    if kl.lane() == 0:
        unmark(v, cache)
        if leaves and moves.part[v] != figures.blocks:
            sequence.members[kl.atomic_next(sequence.words, PseudoWords.members)] = v


@kl.kernel
def begin_passes(_, sequence: Pseudo):
    """Count the new vertices as settled before the first pass."""
    sequence.words.settled = sequence.words.members


@kl.kernel
def end_examining(_, sequence: Pseudo):
    """Count the vertices that leave now, and those whose neighbours the next pass examines."""
    sequence.words.leaving = sequence.words.members - sequence.words.settled
    sequence.words.passes -= 1
    sequence.words.expanding = sequence.words.members if sequence.words.passes > 0 else 0


@kl.kernel
def leave_block(i, graph: Csr, moves: Moves, blocks: Blocks, figures: Figures, sequence: Pseudo):
    """Move a vertex from its block to the pseudo block; atomic, independent of order."""
    v = sequence.members[sequence.words.settled + i]
    add_block_weight(moves.part[v], -kl.value_or(graph.vertex_weights, v, 1), blocks)
    join_block(v, figures.blocks, moves)


@kl.kernel
def mark_neighbours(i, graph: Csr, moves: Moves, cache: GainCache, figures: Figures,
                    sequence: Pseudo):
    """Mark the neighbours of a vertex in the pseudo block for the next pass."""
    v = sequence.members[i]
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if moves.part[u] != figures.blocks:
            mark_dirty(u, cache)


@kl.kernel
def end_pass(_, cache: GainCache, sequence: Pseudo):
    """Examine the marked vertices in the next pass; if there are none, end the passes."""
    sequence.words.settled = sequence.words.members
    sequence.words.examined = cache.marked
    if cache.marked == 0:
        sequence.words.passes = 0
    empty_marked(cache)
