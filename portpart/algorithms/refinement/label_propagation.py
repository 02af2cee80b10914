"""Jetlp: unconstrained label propagation with the vertex afterburner (Jet, algorithm 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.algorithms.objectives import Rules, Tables
from portpart.algorithms.refinement import Deciding, gains
from portpart.algorithms.refinement.blocks import Blocks, migration_gain
from portpart.algorithms.refinement.moves import Moves, commit_move, lock
from portpart.algorithms.refinement.options import Figures, RefinementOptions
from portpart.algorithms.refinement.piece import Piece, Recording, launch_with_hubs
from portpart.algorithms.refinement.rebalancing import random_bits
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of, global_id

ONE_OF = 2
"""If all proposed moves are too many, one of this many is allowed in a propagation."""


@kl.device
def is_proposed(v, moves: Moves, cache: gains.GainCache):
    """Whether v has a target and did not move in the last propagation."""
    result = cache.best_target[v] >= 0
    if result:
        result = kl.int64(moves.locked_in[v]) != moves.last_propagation
    return result


@kl.kernel
def lock_random(i, graph: Csr, moves: Moves, active: gains.ActiveSets, figures: Figures):
    """Lock movable vertex i for this propagation, unless its hash selects it."""
    v = gains.movable_vertex(i, active)
    if random_bits(global_id(v, graph), figures) % ONE_OF != 0:
        lock(v, moves.last_propagation, moves)


@kl.device
def move_if_it_pays(v, graph: Csr, moves: Moves, cache: gains.GainCache, blocks: Blocks,
                    figures: Figures, tables: Tables, rules: Rules):
    """Move v if the move does not lose once better moves are made.

    The move of a neighbour counts as made if its gain is larger, or equal and its id smaller
    (equation 4.1).
    """
    here = moves.part[v]
    there = cache.best_target[v]
    own_gain = cache.gain[v]
    total = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        block = moves.part[u]
        other_gain = cache.gain[u]
        if other_gain > own_gain or (
                other_gain == own_gain and global_id(u, graph) < global_id(v, graph)):
            if is_proposed(u, moves, cache):
                block = cache.best_target[u]
        nearer = rules.distance(here, block, tables) - rules.distance(there, block, tables)
        if nearer != 0:
            total += kl.value_or(graph.weights, arc, 1) * nearer
    total = kl.team_sum(total)
    total += migration_gain(v, there, blocks) - migration_gain(v, here, blocks)
    if kl.lane() == 0 and total >= 0:
        commit_move(v, there, moves, figures)


@kl.kernel
def keep_paying_moves(i, graph: Csr, state: Deciding, tables: Tables, one_lane, rules: Rules):
    """Make the proposed move of vertex i of the list if it still pays, unless i is a hub."""
    if gains.uses_lanes(one_lane, state.active.movable, state.figures):
        v = gains.movable_vertex(i, state.active)
        is_hub = degree_of(v, graph) > state.figures.hub_degree
        if not is_hub and is_proposed(v, state.moves, state.cache):
            move_if_it_pays(v, graph, state.moves, state.cache, state.blocks, state.figures, tables,
                            rules)


@kl.kernel
def keep_paying_moves_of_hubs(i, graph: Csr, state: Deciding, tables: Tables, rules: Rules):
    """Make the proposed move of hub i if it still pays."""
    v = state.active.hub_list[i]
    if is_proposed(v, state.moves, state.cache):
        move_if_it_pays(v, graph, state.moves, state.cache, state.blocks, state.figures, tables,
                        rules)


class PropagationSteps(Piece):
    """Label propagation over arcs (Jet, section 4.1)."""

    loses = True

    def move(self, this: Recording) -> None:
        """Move movable vertices whose move still pays after better moves."""
        movable = this.run.level.movable
        with this.program.side_by_side():
            this.program.launch(movable, gains.keep_movable)
            launch_with_hubs(this, movable, (keep_paying_moves, keep_paying_moves_of_hubs),
                             this.widths.of_many)


@dataclass(frozen=True)
class ThinningSteps(Piece):
    """Fewer moves at a time, if all proposed moves are too many for the blocks.

    Attributes
    ----------
    until_balanced : bool
        Whether a share of the moves is left out, an option.
    """

    until_balanced: bool = False

    def with_options(self, options: RefinementOptions) -> ThinningSteps:
        """Return the piece with thinning if the options of a level request it."""
        return replace(self, until_balanced=options.until_balanced)

    def move(self, this: Recording) -> None:
        """Lock most movable vertices before moves are chosen."""
        if self.until_balanced:
            with this.program.if_nonzero(this.run.level.subsampled):
                this.program.launch(this.run.level.movable, lock_random)
