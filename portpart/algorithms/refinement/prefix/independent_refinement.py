"""Independent-set refinement of a hierarchy (G-kway, section 3.2), one program for each level.

All but the moves of balanced partitions is shared with Jet: the cache of best targets, the
accounts of weights and cut, the best partition so far, and the rebalancing of blocks that are too
heavy, which the paper does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.objectives.cut import CUT, HUB_TEAM
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.gains.by_degree import UNRATED
from portpart.algorithms.refinement.level import Run
from portpart.algorithms.refinement.options import IndependentOptions, RefinementOptions
from portpart.algorithms.refinement.prefix.best_prefix import record_prefix
from portpart.algorithms.refinement.prefix.held_limits import (
    record_held,
    record_lifted,
    with_own_limits,
)
from portpart.algorithms.refinement.prefix.independent import (
    begin_sequence,
    choose_legal,
    keep_independent,
    keep_independent_hubs,
    legal,
)
from portpart.algorithms.refinement.prefix.trial import Trial, trial_for
from portpart.algorithms.refinement.program import MoveRule, Recording, launch_by_degree
from portpart.algorithms.refinement.refiner import Refiner
from portpart.algorithms.refinement.sizes import Sizes
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class IndependentSets(MoveRule):
    """Independent sets of legal moves as a move rule."""

    options: IndependentOptions

    loses = False

    @property
    def name(self) -> str:
        return f"independent sets, {self.options.rebalance}"

    def work_on(self, space: ExecutionSpace, run: Run) -> Run:
        return run if self.options.rebalance else with_own_limits(space, run)

    def record_begin(self, this: Recording) -> None:
        if not self.options.rebalance:
            record_lifted(this)

    def more(self, space: ExecutionSpace, sizes: Sizes, run: Run) -> Trial:
        return trial_for(space, sizes, run, self.options.zero_gain, self.options.fill_rooms)

    def record(self, this: Recording, more: Any) -> None:
        """Record a round: legal moves, an independent set of them, and its balanced prefix."""
        self.record_legal(this, more)
        with this.program.side_by_side():
            this.program.launch(this.run.level.next_movable, keep_independent,
                                team=this.widths.team)
            if this.widths.hubs:
                this.program.launch(this.run.level.hubs, keep_independent_hubs, team=HUB_TEAM)
        record_prefix(this, more)

    def record_legal(self, this: Recording, more: Any) -> None:
        """Record how vertices choose their legal moves, by the limits of the round."""
        if not self.options.rebalance:
            record_held(this)
        record_legal_moves(this, more)


def independent_set_refiner(space: ExecutionSpace, finest: Graph, balance: Balance,
                            options: IndependentOptions, seed: int,
                            objective: Objective = CUT) -> Refiner:
    """G-kway's refinement of a hierarchy; see `Refiner`."""
    return Refiner(space, finest, balance, shared(options), seed, objective=objective,
                   rule=IndependentSets(options))


def shared(options: IndependentOptions) -> RefinementOptions:
    """What all refinement has, whatever moves vertices."""
    return RefinementOptions(tolerance=options.tolerance, stall_limit=options.stall_limit,
                             iteration_limit=options.round_limit, slack=options.slack)


def record_legal_moves(this: Recording, trial: Trial) -> None:
    """Record how all movable vertices choose their legal moves."""
    program, level = this.program, this.run.level
    with program.side_by_side():
        program.launch(1, begin_sequence)
        program.launch(level.movable, choose_legal)
    with program.side_by_side():
        launch_by_degree(this, level.unrated, level.unrated_hubs,
                         this.by_degree(legal, UNRATED), trial)
