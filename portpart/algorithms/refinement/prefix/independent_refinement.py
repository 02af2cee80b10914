"""Independent-set refinement of a hierarchy (G-kway, section 3.2), one program for each level.

All but the moves of balanced partitions is shared with Jet: the cache of best targets, the
accounts of weights and cut, the best partition so far, and the rebalancing of blocks that are too
heavy, which the paper does not have.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.objectives.cut import CUT, HUB_TEAM
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.accounting import AccountingSteps
from portpart.algorithms.refinement.gains.by_degree import UNRATED, ByDegree
from portpart.algorithms.refinement.gains.steps import launch_by_degree
from portpart.algorithms.refinement.level import Run
from portpart.algorithms.refinement.options import IndependentOptions, RefinementOptions
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.algorithms.refinement.prefix.best_prefix import record_prefix
from portpart.algorithms.refinement.prefix.independent import (
    begin_sequence,
    choose_legal,
    keep_independent,
    keep_independent_hubs,
    legal,
)
from portpart.algorithms.refinement.prefix.move_sequence import sequence_for, sequence_of
from portpart.algorithms.refinement.prefix.relaxed_limits import relaxed_limits
from portpart.algorithms.refinement.program import SHARED
from portpart.algorithms.refinement.refiner import Refiner
from portpart.algorithms.refinement.sizes import RefinementSizes
from portpart.backends.interface import ExecutionSpace
from portpart.backends.work import WorkRecord
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class IndependentSets(Piece):
    """Independent sets of legal moves.

    Attributes
    ----------
    zero_gain : bool
        Whether moves without gain are legal that even out the weights of two blocks.
    apply_later_moves : bool
        Whether moves behind the prefix are made where their blocks have room.
    """

    zero_gain: bool
    apply_later_moves: bool

    def records(self, space: ExecutionSpace, sizes: RefinementSizes,
                run: Run) -> dict[str, WorkRecord]:
        """The legal moves, and the sequence of them."""
        return {"sequence": sequence_for(space, sizes, run, self.zero_gain,
                                         self.apply_later_moves)}

    def move(self, this: Recording) -> None:
        """Legal moves, an independent set of them, and its balanced prefix."""
        record_legal_moves(this)
        with this.program.side_by_side():
            this.program.launch(this.run.level.next_movable, keep_independent,
                                team=this.widths.team)
            if this.widths.hubs:
                this.program.launch(this.run.level.hubs, keep_independent_hubs, team=HUB_TEAM)
        record_prefix(this)


def independent_set_refiner(space: ExecutionSpace, finest: Graph, balance: Balance,
                            options: IndependentOptions, seed: int,
                            objective: Objective = CUT) -> Refiner:
    """G-kway's refinement of a hierarchy; see `Refiner`."""
    rule = IndependentSets(options.zero_gain, options.apply_later_moves)
    return refiner_by(rule, space, finest, balance, options, seed, objective)


def refiner_by(rule: IndependentSets, space: ExecutionSpace, finest: Graph, balance: Balance,
               options: IndependentOptions, seed: int, objective: Objective) -> Refiner:
    """Refinement by legal moves of which a rule chooses some."""
    pieces = (*SHARED, *relaxed_limits(options.rebalance), rule, AccountingSteps())
    return Refiner(space, finest, balance, shared(options), seed, objective=objective,
                   pieces=pieces)


def shared(options: IndependentOptions) -> RefinementOptions:
    """What all refinement has, whatever moves vertices."""
    return RefinementOptions(tolerance=options.tolerance, stall_limit=options.stall_limit,
                             iteration_limit=options.round_limit, slack=options.slack)


def record_legal_moves(this: Recording) -> None:
    """Record how all movable vertices choose their legal moves."""
    program, level = this.program, this.run.level
    with program.side_by_side():
        program.launch(1, begin_sequence)
        program.launch(level.movable, choose_legal)
    launch_by_degree(this, level.unrated, level.unrated_hubs,
                     ByDegree(legal, UNRATED, this.rules), sequence_of(this))
