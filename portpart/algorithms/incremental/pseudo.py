"""iG-kway's update after edits, with a pseudo block (DAC 2025; dissertation, section 3.5).

Vertices around edits enter a pseudo block (`pseudo_leaving.py`), and move from there to their most
connected blocks (`pseudo_rounds.py`).  Blocks can be overloaded in the end, because deletions lower
the limits.  They are rebalanced as in Jet, which the paper does not do.  No other vertex moves.
"""

from __future__ import annotations

from typing import ClassVar

from portpart.algorithms import refinement
from portpart.algorithms.incremental import pseudo_leaving, pseudo_rounds
from portpart.algorithms.incremental.pseudo_rounds import list_first
from portpart.algorithms.objectives import Rules, Tables
from portpart.algorithms.refinement import prefix
from portpart.algorithms.refinement.blocks import Blocks, find_overloaded, migration_gain
from portpart.algorithms.refinement.gains import GainCache, launch_by_degree, mark_dirty
from portpart.algorithms.refinement.incumbent import Incumbent, list_unsaved
from portpart.algorithms.refinement.moves import Moves, add_cost, shift_weight
from portpart.backends import language as kl
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Csr

BLOCKS_TEAM = 32
"""Lanes that iterate over the blocks."""


class Joining(kl.Scope):
    """The records that change when vertices without a block join one."""

    moves: Moves
    cache: GainCache
    incumbent: Incumbent
    blocks: Blocks
    figures: refinement.Figures


class PseudoBlock(refinement.Piece):
    """A pseudo block for vertices around edits; afterwards only rebalancing moves vertices."""

    list_first: ClassVar[kl.Kernel] = list_first

    def records(self, space: ExecutionSpace, sizes: refinement.RefinementSizes,
                run: refinement.Run) -> dict[str, kl.Record]:
        """Return the record of the pseudo block."""
        return {"sequence": pseudo_rounds.pseudo_for(space, sizes, run)}

    def activate(self, this: refinement.Recording) -> None:
        """Record how vertices enter the pseudo block and leave it in rounds."""
        program, words = this.program, prefix.sequence_of(this).words
        self.leave(this)
        program.launch(1, pseudo_rounds.begin_rounds, team=BLOCKS_TEAM)
        program.launch(words.members, pseudo_rounds.list_pending)
        with program.while_loop(words.running):
            self._record_round(this)
        program.launch(1, plan_iterations, team=BLOCKS_TEAM)
        self.settle(this)

    def leave(self, this: refinement.Recording) -> None:
        """Record how vertices enter the pseudo block."""
        program, words, team = this.program, prefix.sequence_of(this).words, this.widths.team
        program.launch(1, pseudo_leaving.begin_pseudo, team=BLOCKS_TEAM)
        program.launch(words.examined, pseudo_leaving.list_new)
        program.launch(words.members, pseudo_leaving.leave_block)
        program.launch(1, pseudo_leaving.begin_passes)
        with program.while_loop(words.passes):
            program.launch(words.examined, pseudo_leaving.examine_vertex, team=team)
            program.launch(1, pseudo_leaving.end_examining)
            program.launch(words.leaving, pseudo_leaving.leave_block)
            program.launch(words.expanding, pseudo_leaving.mark_neighbours, team=team)
            program.launch(1, pseudo_leaving.end_pass)

    def rate(self, this: refinement.Recording) -> None:
        """Record the key by which moves are sorted, if it is not the gain."""

    def enter(self, this: refinement.Recording) -> None:
        """Record how vertices enter the blocks that they have chosen."""
        this.program.launch(this.run.level.moves, pseudo_rounds.enter_block)

    def settle(self, this: refinement.Recording) -> None:
        """Record the accounts of moved vertices, and which vertices are examined next."""
        members = prefix.sequence_of(this).words.members
        this.program.launch(members, account_member, team=this.widths.team)

    def _record_round(self, this: refinement.Recording) -> None:
        program, level, sequence = this.program, this.run.level, prefix.sequence_of(this)
        program.launch(sequence.words.waiting, self.list_first, team=this.widths.team)
        launch_by_degree(this, level.unrated, level.unrated_hubs,
                         refinement.ByDegree(pseudo_rounds.most_connected, refinement.UNRATED,
                                             this.rules), sequence)
        program.launch(1, prefix.apply_all, team=prefix.WIDEST)
        with program.if_nonzero(sequence.prefix.too_heavy):
            self.rate(this)
            prefix.record_order(this, prefix.fill_key, prefix.order_by_gain_next)
            program.launch(level.moves, pseudo_rounds.lay_out_entry)
            program.launch(1, pseudo_rounds.find_prefix, team=prefix.WIDEST)
            program.launch(level.moves, pseudo_rounds.drop_move)
            program.launch(1, pseudo_rounds.keep_prefix)
        self.enter(this)
        program.launch(1, pseudo_rounds.end_round, team=BLOCKS_TEAM)


PSEUDO_BLOCK: tuple[refinement.Piece, ...] = (*refinement.LOCAL, PseudoBlock(),
                                              refinement.AccountingSteps())
"""Refinement around edits of graphs with a pseudo block."""


@kl.kernel
def plan_iterations(_, blocks: Blocks, figures: refinement.Figures, sequence: pseudo_rounds.Pseudo):
    """Store whether a block is overloaded; if not, allow no iteration.  Called by one team."""
    overloaded = find_overloaded(blocks, figures)
    if kl.lane() == 0:
        sequence.words.overloaded = overloaded
        if overloaded == 0:
            refinement.allow_no_iteration(figures)


@kl.kernel
def account_member(i, graph: Csr, state: Joining, tables: Tables, sequence: pseudo_rounds.Pseudo,
                   rules: Rules):
    """Account for the move of a vertex that has been in the pseudo block, and list it.

    If a block is overloaded, the vertex and its neighbours are examined next.  An arc between two
    moved vertices is visited from both ends and counts half.  Atomic, independent of order.
    """
    v = sequence.members[i]
    old = state.incumbent.best[v]
    new = state.moves.part[v]
    change = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        before = state.incumbent.best[u]
        after = state.moves.part[u]
        weight = kl.value_or(graph.weights, arc, 1)
        weight *= 2 if before == after else 1
        change += weight * (rules.distance(new, after, tables)
                             - rules.distance(old, before, tables))
        if sequence.words.overloaded != 0:
            mark_dirty(u, state.cache)
    change = kl.team_sum(change if new != old else kl.int64(0))
    if kl.lane() == 0:
        if sequence.words.overloaded != 0:
            mark_dirty(v, state.cache)
        if new != old:
            weight = kl.value_or(graph.vertex_weights, v, 1)
            shift_weight(v, old, new, weight, state.moves, state.figures)
            change += 2 * (migration_gain(v, old, state.blocks)
                           - migration_gain(v, new, state.blocks))
            add_cost(v, change, state.moves)
            list_unsaved(v, state.incumbent)
