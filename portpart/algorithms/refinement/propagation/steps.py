"""Jet's label propagation as a piece: a movable vertex moves if that still pays."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.algorithms.refinement.gains.active_sets import keep_movable
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.piece import Piece, Recording, launch_with_hubs
from portpart.algorithms.refinement.propagation.label_propagation import (
    keep_paying_moves,
    keep_paying_moves_of_hubs,
    rest_by_chance,
)


@dataclass(frozen=True)
class PropagationSteps(Piece):
    """Label propagation over arcs (Jet, section 4.1)."""

    loses = True

    def move(self, this: Recording) -> None:
        """A movable vertex moves if that still pays after better moves."""
        movable = this.run.level.movable
        with this.program.side_by_side():
            this.program.launch(movable, keep_movable)
            launch_with_hubs(this, movable, (keep_paying_moves, keep_paying_moves_of_hubs),
                             this.widths.of_many)


@dataclass(frozen=True)
class ThinningSteps(Piece):
    """Fewer moves at a time, where all that vertices want are too many for the blocks.

    Attributes
    ----------
    until_balanced : bool
        Whether it does so, which is an option.
    """

    until_balanced: bool = False

    def with_options(self, options: RefinementOptions) -> ThinningSteps:
        """Thinning if the options of a level ask for it."""
        return replace(self, until_balanced=options.until_balanced)

    def move(self, this: Recording) -> None:
        """Before moves are chosen, most of those that want to move are locked."""
        if self.until_balanced:
            with this.program.if_nonzero(this.run.level.thinned):
                this.program.launch(this.run.level.movable, rest_by_chance)
