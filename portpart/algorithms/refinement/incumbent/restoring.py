"""Where a level starts: from the weights and the cost of the best partition."""

from __future__ import annotations

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.level import Level
from portpart.algorithms.refinement.moves.list_moves import set_cost, set_weight
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl


@kl.kernel
def restore_block(b, moves: Moves, incumbent: Incumbent, figures: Figures):
    """Set the weight of block b to that of the best partition."""
    set_weight(b, incumbent.best_weight[b], moves, figures)


@kl.kernel
def restore_cost(stripe, moves: Moves, before: Level):
    """Set the cost to that of the best partition of the run before."""
    set_cost(stripe, before.best_cost, moves)
