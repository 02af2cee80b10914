"""Constrained propagation on nets: moves that keep the limits of all blocks.

Unconstrained propagation overloads blocks, and rebalancing moves other vertices out of them.  If
blocks have few vertices, this costs more than it gains.  Here a vertex moves to its best block with
capacity, and a block admits the moves with the largest gains, as many as it has capacity for
(`rebalancing/admission.py`).  Weight that leaves a block in the same iteration does not count, and
no move may lose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portpart.algorithms import objectives
from portpart.algorithms.refinement import (
    UNRATED,
    ByDegree,
    Deciding,
    Figures,
    Piece,
    Recording,
    gains,
    is_proposed,
)
from portpart.algorithms.refinement.moves import Moves, propose_move
from portpart.algorithms.refinement.nets.steps import NetPropagation, moving_on_nets
from portpart.algorithms.refinement.prefix import admits_legal
from portpart.algorithms.refinement.rebalancing import (
    THRESHOLD_TEAM,
    admit_move,
    rank_move,
    set_last_admitted,
)
from portpart.backends import language as kl
from portpart.graphs import Csr

NONE = -1


@kl.kernel
def list_without_capacity(i, graph: Csr, state: Deciding):
    """List movable vertex i if its move is proposed and the target has no capacity for it."""
    v = gains.movable_vertex(i, state.active)
    if is_proposed(v, state.moves, state.cache):
        if not admits_legal(v, state.cache.best_target[v], graph, state.blocks, state.figures):
            gains.list_unrated(v, graph, state.unrated, state.figures)


@kl.device
def propose_other(v, graph: Csr, state: Deciding, connections: objectives.ConnectivityTable,
                  tables: objectives.Tables, found: objectives.BestTarget, more: kl.Record,
                  search: gains.BlockSearch):
    """Propose the move of v to its best block with capacity if that loses nothing, else no move.

    The capacities change, so v is stale in the next iteration.  Called by all lanes of a team.
    """
    gains.best_candidate(v, graph, state, connections, tables, found, search)
    if kl.lane() == 0:
        block = kl.int32(found.block)
        gain = found.value - found.here
        if block == NONE or gain < 0:
            block = gains.failed(state.cache.best_target[v])
        gains.propose_once(v, block, gain, state.cache)


def other_targets(rules: objectives.Rules, valuation: objectives.BlockScore) -> kl.DeviceFunction:
    """Return `propose_other` for an objective and a block score."""
    return propose_other.bound(search=gains.BlockSearch(rules, valuation, admits_legal))


@kl.device
def request_move(v, there, moves: Moves, figures: Figures):
    """List the move of v, which its block may admit."""
    propose_move(v, there, moves)


@dataclass(frozen=True)
class ConstrainedPropagation(NetPropagation):
    """Propagation of moves that keep the limits of all blocks."""

    loses = False
    commits: ClassVar[kl.DeviceFunction] = request_move

    def move(self, this: Recording) -> None:
        """Propose moves to blocks with capacity, and make those that nets and blocks accept."""
        program, level = this.program, this.run.level
        program.launch(level.movable, list_without_capacity)
        gains.launch_by_degree(this, level.unrated, level.unrated_hubs,
                               ByDegree(other_targets, UNRATED, this.rules))
        super().move(this)
        program.launch(level.moves, rank_move)
        program.launch(level.blocks, set_last_admitted, team=THRESHOLD_TEAM)
        program.launch(level.candidates, admit_move)


def constrained_on_nets(order: str = "id") -> tuple[Piece, ...]:
    """Return the pieces of constrained refinement of nets."""
    return moving_on_nets(ConstrainedPropagation(order))
