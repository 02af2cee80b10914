"""iG-kway's way to follow edits: by a pseudo block (DAC 2025; dissertation, section 3.5).

Vertices around edits go to a pseudo block (`pseudo_leaving.py`), and from there to the blocks that
they are tied to most (`pseudo_rounds.py`).  Blocks that are too heavy in the end, as limits sink
where vertices are deleted, are rebalanced as in Jet, which the paper does not have.  Nothing moves
else.
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
"""Lanes that go through the blocks."""


class Joining(kl.Scope):
    """What changes when vertices that were in no block join one."""

    moves: Moves
    cache: GainCache
    incumbent: Incumbent
    blocks: Blocks
    figures: refinement.Figures


class PseudoBlock(refinement.Piece):
    """A pseudo block for vertices around edits; later, while blocks are balanced, none moves."""

    list_first: ClassVar[kl.Kernel] = list_first

    def records(self, space: ExecutionSpace, sizes: refinement.RefinementSizes,
                run: refinement.Run) -> dict[str, kl.Record]:
        """The pseudo block."""
        return {"sequence": pseudo_rounds.pseudo_for(space, sizes, run)}

    def activate(self, this: refinement.Recording) -> None:
        """Vertices leave their blocks and come back in rounds."""
        program, words = this.program, prefix.sequence_of(this).words
        self.leave(this)
        program.launch(1, pseudo_rounds.begin_rounds, team=BLOCKS_TEAM)
        program.launch(words.members, pseudo_rounds.list_pending)
        with program.while_loop(words.running):
            self._record_round(this)
        program.launch(1, plan_iterations, team=BLOCKS_TEAM)
        self.settle(this)

    def leave(self, this: refinement.Recording) -> None:
        """Record which vertices leave their blocks."""
        program, words, team = this.program, prefix.sequence_of(this).words, this.widths.team
        program.launch(1, pseudo_leaving.begin_pseudo, team=BLOCKS_TEAM)
        program.launch(words.asked, pseudo_leaving.list_new)
        program.launch(words.members, pseudo_leaving.leave_block)
        program.launch(1, pseudo_leaving.begin_passes)
        with program.while_loop(words.passes):
            program.launch(words.asked, pseudo_leaving.ask_vertex, team=team)
            program.launch(1, pseudo_leaving.end_asking)
            program.launch(words.leaving, pseudo_leaving.leave_block)
            program.launch(words.telling, pseudo_leaving.tell_neighbours, team=team)
            program.launch(1, pseudo_leaving.end_pass)

    def rate(self, this: refinement.Recording) -> None:
        """Record what moves are sorted by, if that is not what they gain."""

    def enter(self, this: refinement.Recording) -> None:
        """Record how vertices enter the blocks that they have chosen."""
        this.program.launch(this.run.level.moves, pseudo_rounds.enter_block)

    def settle(self, this: refinement.Recording) -> None:
        """Record the accounts of all that have moved, and which vertices are examined next."""
        members = prefix.sequence_of(this).words.members
        this.program.launch(members, account_member, team=this.widths.team)

    def _record_round(self, this: refinement.Recording) -> None:
        program, level, sequence = this.program, this.run.level, prefix.sequence_of(this)
        program.launch(sequence.words.waiting, self.list_first, team=this.widths.team)
        launch_by_degree(this, level.unrated, level.unrated_hubs,
                         refinement.ByDegree(pseudo_rounds.strongest_tie, refinement.UNRATED,
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
"""Refinement around edits of graphs by a pseudo block."""


@kl.kernel
def plan_iterations(_, blocks: Blocks, figures: refinement.Figures, sequence: pseudo_rounds.Pseudo):
    """Whether a block is too heavy, without which no iteration is to come.  Called by one team."""
    overloaded = find_overloaded(blocks, figures)
    if kl.lane() == 0:
        sequence.words.overloaded = overloaded
        if overloaded == 0:
            refinement.allow_no_iteration(figures)


@kl.kernel
def account_member(i, graph: Csr, state: Joining, tables: Tables, sequence: pseudo_rounds.Pseudo,
                   rules: Rules):
    """Account for the move of a vertex that has been in the pseudo block, and list it.

    It and its neighbours are examined next where a block is too heavy.  An arc to a vertex
    that has moved too is seen from both ends and counts half.  Atomic, independent of order.
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
