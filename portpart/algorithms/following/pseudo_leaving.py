"""Who goes to the pseudo block (iG-kway, dissertation 3.5, algorithm 12).

New vertices do, first.  Of the ends of edits, those do that have more weight of arcs out of their
block than into it; neighbours in the pseudo block count as outside.  All of a pass decide before
any of them leaves.  Then neighbours of those in the pseudo block are asked in the same way, once.
"""

from __future__ import annotations

from portpart.algorithms.following.pseudo_state import PASSES, Pseudo, PseudoWords, weigh_blocks
from portpart.algorithms.refinement.blocks.block_weights import add_block_weight
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.dirty_list import empty_marked, mark_dirty, unmark
from portpart.algorithms.refinement.gains.state import GainCache
from portpart.algorithms.refinement.local.around import Journal, note_woken
from portpart.algorithms.refinement.moves.list_moves import join_block
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl
from portpart.graphs.rows import Csr

NONE = -1


@kl.kernel
def begin_pseudo(_, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
                 journal: Journal, trial: Pseudo):
    """Nobody has left; all that are woken are asked first.  One team."""
    weigh_blocks(moves, blocks, figures)
    if kl.lane() == 0:
        note_woken(cache, journal)
        trial.words.members = 0
        trial.words.settled = 0
        trial.words.passes = PASSES
        trial.words.asked = cache.marked
        trial.words.overloaded = 0
        empty_marked(cache)


@kl.kernel
def list_new(i, cache: GainCache, journal: Journal, trial: Pseudo):
    """List a vertex that is new; the order of the list is free."""
    v = cache.dirty_list[i]
    if journal.home[v] == NONE:
        trial.members[kl.atomic_next(trial.words, PseudoWords.members)] = v


@kl.device
def is_pulled_out(v, graph: Csr, part):
    """Whether v has more weight of arcs out of its block than into it.  All lanes of a team."""
    here = part[v]
    excess = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        weight = kl.value_or(graph.weights, arc, 1)
        excess += -weight if part[graph.targets[arc]] == here else weight
    return kl.team_sum(excess) > 0


@kl.kernel
def ask_vertex(i, graph: Csr, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
               trial: Pseudo):
    """List a vertex that is to leave its block; the order of the list is free."""
    v = cache.dirty_list[i]
    leaves = is_pulled_out(v, graph, moves.part) and kl.value_or(blocks.fixed, v, NONE) < 0
    if kl.lane() == 0:
        unmark(v, cache)
        if leaves and moves.part[v] != figures.blocks:
            trial.members[kl.atomic_next(trial.words, PseudoWords.members)] = v


@kl.kernel
def begin_passes(_, trial: Pseudo):
    """Those that are new have left."""
    trial.words.settled = trial.words.members


@kl.kernel
def end_asking(_, trial: Pseudo):
    """Those that were listed leave; their neighbours are asked if there is another pass."""
    trial.words.leaving = trial.words.members - trial.words.settled
    trial.words.passes -= 1
    trial.words.telling = trial.words.members if trial.words.passes > 0 else 0


@kl.kernel
def leave_block(i, graph: Csr, moves: Moves, blocks: Blocks, figures: Figures, trial: Pseudo):
    """A vertex leaves its block; atomic, order-free."""
    v = trial.members[trial.words.settled + i]
    add_block_weight(moves.part[v], -kl.value_or(graph.vertex_weights, v, 1), blocks)
    join_block(v, figures.blocks, moves)


@kl.kernel
def tell_neighbours(i, graph: Csr, moves: Moves, cache: GainCache, figures: Figures, trial: Pseudo):
    """The neighbours of a vertex in the pseudo block are to be asked."""
    v = trial.members[i]
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        if moves.part[u] != figures.blocks:
            mark_dirty(u, cache)


@kl.kernel
def end_pass(_, cache: GainCache, trial: Pseudo):
    """Those that have been told are asked next; without any there is no other pass."""
    trial.words.settled = trial.words.members
    trial.words.asked = cache.marked
    if cache.marked == 0:
        trial.words.passes = 0
    empty_marked(cache)
