"""What refinement does about the best partition: start from it, and keep it."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.refinement.incumbent.restoring import restore_block, restore_cost
from portpart.algorithms.refinement.incumbent.unsaved_list import save_best
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.backends.language import Kernel


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
