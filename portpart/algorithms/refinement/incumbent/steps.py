"""What refinement does about the best partition: start from it, and keep it."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.incumbent.unsaved_list import save_best
from portpart.algorithms.refinement.level import LevelWords
from portpart.algorithms.refinement.moves.list_moves import set_cost, set_weight
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.backends import language as kl
from portpart.backends.language import Kernel


@kl.kernel
def restore_block(b, moves: Moves, incumbent: Incumbent, figures: Figures):
    """Set the weight of block b to that of the best partition."""
    set_weight(b, incumbent.best_weight[b], moves, figures)


@kl.kernel
def restore_cost(stripe, moves: Moves, before: LevelWords):
    """Set the cost to that of the best partition of the run before."""
    set_cost(stripe, before.best_cost, moves)


@dataclass(frozen=True)
class IncumbentSteps(Piece):
    """The best partition.

    Attributes
    ----------
    save : Kernel
        Keeps what the best partition has elsewhere than the one before.
    """

    save: Kernel = save_best

    def begin(self, this: Recording) -> None:
        """Start from the weights and the cost of the best partition, if any."""
        level = this.run.level
        this.program.launch(level.restored_blocks, restore_block)
        this.program.launch(level.restored_stripes, restore_cost)

    def refresh(self, this: Recording) -> None:
        """Keep the last partition if it was the best."""
        this.program.launch(this.run.level.saves, self.save)

    finish = refresh
