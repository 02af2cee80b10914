"""Jet refinement of a level, as one recorded program (Jet, algorithm 4.1).

Label propagation runs while the blocks are balanced, rebalancing while they are not; the best
balanced partition is kept.  Nothing returns to the host until the level is done.  Pieces determine
the launches of each phase: `JET` lists those of Jet, other algorithms have others.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.objectives import Rules, Tables
from portpart.algorithms.refinement import gains
from portpart.algorithms.refinement.blocks import Blocks, migration_gain
from portpart.algorithms.refinement.evaluation import evaluate
from portpart.algorithms.refinement.incumbent import Incumbent, IncumbentSteps, list_unsaved
from portpart.algorithms.refinement.label_propagation import PropagationSteps, ThinningSteps
from portpart.algorithms.refinement.moves import Moves, add_cost, move_vertex, shift_weight
from portpart.algorithms.refinement.options import Figures
from portpart.algorithms.refinement.piece import (
    Piece,
    Recording,
    launch_with_hubs,
    record_accounts,
    record_ends,
)
from portpart.algorithms.refinement.rebalancing import RebalancingSteps
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of

# What the moves of an iteration change: weights, cost, and stale gains --------------------------


class Accounting(kl.Scope):
    """Records that change when vertices move."""

    moves: Moves
    cache: gains.GainCache
    active: gains.ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    figures: Figures


@kl.device
def weigh_vertex(v, graph: Csr, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets,
                 incumbent: Incumbent, blocks: Blocks, figures: Figures):
    """Account for the weight and the migration cost of v as it moves to its target, and list v.

    Independent of order.
    """
    here = moves.part[v]
    there = moves.target[v]
    gains.mark_dirty(v, cache)
    gains.list_on_boundary(v, active)
    list_unsaved(v, incumbent)
    weight = kl.value_or(graph.vertex_weights, v, 1)
    shift_weight(v, here, there, weight, moves, figures)
    change = migration_gain(v, here, blocks) - migration_gain(v, there, blocks)
    if change != 0:
        add_cost(v, 2 * change, moves)


@kl.device
def weigh_move(v, graph: Csr, state: Accounting, tables: Tables, rules: Rules):
    """Account for the move of v to its target, and mark its neighbours as stale.

    An arc to a vertex that also moves is seen from both ends and counts half.  Atomic, independent
    of order.
    """
    here = state.moves.part[v]
    there = state.moves.target[v]
    iteration = kl.int32(state.figures.iteration)
    change = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        weight = kl.value_or(graph.weights, arc, 1)
        before = state.moves.part[u]
        after = before
        if state.moves.moved_in[u] == iteration:
            after = state.moves.target[u]
        else:
            weight *= 2
        farther = rules.distance(there, after, tables) - rules.distance(here, before, tables)
        change += weight * farther
        gains.mark_dirty(u, state.cache)
    change = kl.team_sum(change)
    if kl.lane() == 0:
        weigh_vertex(v, graph, state.moves, state.cache, state.active, state.incumbent,
                     state.blocks, state.figures)
        if change != 0:
            add_cost(v, change, state.moves)


@kl.kernel
def weigh_moves(i, graph: Csr, state: Accounting, tables: Tables, one_lane, rules: Rules):
    """Account for move i, unless a hub makes it."""
    v = state.moves.listed[i]
    is_hub = degree_of(v, graph) > state.figures.hub_degree
    if gains.uses_lanes(one_lane, state.moves.moves, state.figures) and not is_hub:
        weigh_move(v, graph, state, tables, rules)


@kl.kernel
def weigh_moves_of_hubs(i, graph: Csr, state: Accounting, tables: Tables, rules: Rules):
    """Account for the move of hub i, if it moves."""
    v = state.active.hub_list[i]
    if kl.int64(state.moves.moved_in[v]) == state.figures.iteration:
        weigh_move(v, graph, state, tables, rules)


class AccountingSteps(Piece):
    """The sums of weights and cost, which change with the moves of vertices of graphs."""

    def account(self, this: Recording) -> None:
        """Update weights and cost, and mark neighbours of moves as stale."""
        launch_with_hubs(this, this.run.level.moves, (weigh_moves, weigh_moves_of_hubs),
                         this.widths.team)

    def end(self, this: Recording) -> None:
        """Move the vertices."""
        this.program.launch(this.run.level.moves, move_vertex)


# The program -----------------------------------------------------------------------------------


SHARED: tuple[Piece, ...] = (
    IncumbentSteps(), gains.GainSteps(), RebalancingSteps(), ThinningSteps())
"""Pieces of all algorithms."""

JET: tuple[Piece, ...] = (*SHARED, PropagationSteps(), AccountingSteps())
"""Pieces of Jet."""


def record_refinement(this: Recording) -> None:
    """Record the refinement of a level."""
    for piece in this.pieces:
        piece.begin(this)
    record_iterations(this)


def record_iterations(this: Recording) -> None:
    """Record the iterations, for a partition whose state is known."""
    program, level, pieces = this.program, this.run.level, this.pieces
    _record_evaluation(this)
    with program.while_loop(level.running):
        with program.side_by_side():
            for piece in pieces:
                piece.refresh(this)
        for piece in pieces:
            piece.refresh_hubs(this)
        with program.if_nonzero(level.overloaded):
            for piece in pieces:
                piece.rebalance(this)
        with program.otherwise():
            for piece in pieces:
                piece.move(this)
        record_accounts(this)
        _record_evaluation(this)
    for piece in pieces:
        piece.finish(this)


def _record_evaluation(this: Recording) -> None:
    """Record the evaluation of the partition, side by side with the moves that are decided."""
    sums: dict[str, Any] = {
        name: record for piece in this.pieces for name, record in piece.add_up(this).items()}
    with this.program.side_by_side():
        this.program.launch(1, evaluate, team=256, **sums)
        record_ends(this)
