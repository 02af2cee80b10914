"""What the moves of an iteration change: weights, cost, and whose gains are stale."""

from __future__ import annotations

from portpart.algorithms.objectives import Rules, Tables
from portpart.algorithms.refinement import gains
from portpart.algorithms.refinement.blocks import Blocks, migration_gain
from portpart.algorithms.refinement.incumbent import Incumbent, list_unsaved
from portpart.algorithms.refinement.moves import Moves, add_cost, move_vertex, shift_weight
from portpart.algorithms.refinement.options import Figures
from portpart.algorithms.refinement.piece import Piece, Recording, launch_with_hubs
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of


class Accounting(kl.Scope):
    """What changes when vertices move."""

    moves: Moves
    cache: gains.GainCache
    active: gains.ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    figures: Figures


@kl.device
def weigh_vertex(v, graph: Csr, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets,
                 incumbent: Incumbent, blocks: Blocks, figures: Figures):
    """Account for the weight and the migration cost of v as it moves to its target; list it.

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
    return weight


@kl.device
def weigh_move(v, graph: Csr, state: Accounting, tables: Tables, rules: Rules):
    """Account for the move of v to its target; the gains of its neighbours are stale.

    An arc to a vertex that moves too is seen from both ends and counts half.  Atomic,
    independent of order.
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
    return change


@kl.kernel
def weigh_moves(i, graph: Csr, state: Accounting, tables: Tables, one_lane, rules: Rules):
    """Account for a move, unless a hub makes it."""
    v = state.moves.listed[i]
    is_hub = degree_of(v, graph) > state.figures.hub_degree
    if gains.uses_lanes(one_lane, state.moves.moves, state.figures) and not is_hub:
        weigh_move(v, graph, state, tables, rules)


@kl.kernel
def weigh_moves_of_hubs(i, graph: Csr, state: Accounting, tables: Tables, rules: Rules):
    """Account for the move of a hub, if it moves."""
    v = state.active.hub_list[i]
    if kl.int64(state.moves.moved_in[v]) == state.figures.iteration:
        weigh_move(v, graph, state, tables, rules)


class AccountingSteps(Piece):
    """The sums of weights and cost, which follow the moves of vertices of graphs."""

    def account(self, this: Recording) -> None:
        """Weights and cost change with the moves, and gains of neighbours are stale."""
        launch_with_hubs(this, this.run.level.moves, (weigh_moves, weigh_moves_of_hubs),
                         this.widths.team)

    def end(self, this: Recording) -> None:
        """Vertices move."""
        this.program.launch(this.run.level.moves, move_vertex)
