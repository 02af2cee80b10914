"""Jet refinement of a level, as one recorded program (Jet, algorithm 4.1).

Label propagation runs while the blocks are balanced, rebalancing while they are not; the best
balanced partition is kept.  Nothing returns to the host until the level is done.  What is launched
in each phase is up to the pieces; those of Jet are all here, other algorithms have others.
"""

from __future__ import annotations

from portpart.algorithms.refinement.accounting import AccountingSteps
from portpart.algorithms.refinement.evaluation import evaluate
from portpart.algorithms.refinement.gains import GainSteps
from portpart.algorithms.refinement.incumbent import IncumbentSteps
from portpart.algorithms.refinement.label_propagation import PropagationSteps, ThinningSteps
from portpart.algorithms.refinement.piece import (
    Piece,
    Recording,
    record_accounts,
    record_ends,
    record_sums,
)
from portpart.algorithms.refinement.rebalancing import RebalancingSteps

SHARED: tuple[Piece, ...] = (
    IncumbentSteps(), GainSteps(), RebalancingSteps(), ThinningSteps())
"""Pieces of all algorithms."""

JET: tuple[Piece, ...] = (*SHARED, PropagationSteps(), AccountingSteps())
"""Those of Jet."""


def record_refinement(this: Recording) -> None:
    """Record the refinement of a level."""
    for piece in this.pieces:
        piece.begin(this)
    record_iterations(this)


def record_iterations(this: Recording) -> None:
    """Record what follows where all is known of the partition to begin with."""
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
    """How a partition is evaluated, while what has been decided on moves."""
    sums = record_sums(this)
    with this.program.side_by_side():
        this.program.launch(1, evaluate, team=256, **sums)
        record_ends(this)
