"""Refinement in two alternating directions (GP-metis, section III.C), a program for each level.

The legal moves are those of independent-set refinement; neighbours may move together here, as they
move in one direction.  All but the moves of balanced partitions is shared with Jet: the cache of
best targets, the accounts of weights and cut, the best partition so far, and rebalancing.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.options import TwoDirectionOptions
from portpart.algorithms.refinement.piece import Recording
from portpart.algorithms.refinement.prefix.independent_refinement import (
    IndependentSets,
    record_legal_moves,
    refiner_by,
)
from portpart.algorithms.refinement.prefix.requests import protect_light_source, record_requests
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class TwoDirections(IndependentSets):
    """Requests in two alternating directions.

    Attributes
    ----------
    spares : bool
        Whether blocks that weigh little keep their vertices.
    """

    spares: bool = False

    def move(self, this: Recording) -> None:
        """Legal moves, requests for those in the direction of the round, and what is granted."""
        record_legal_moves(this)
        if self.spares:
            this.program.launch(this.run.level.next_movable, protect_light_source)
        record_requests(this)


def two_direction_refiner(space: ExecutionSpace, finest: Graph, balance: Balance,
                          options: TwoDirectionOptions, seed: int,
                          objective: Objective = CUT) -> Refiner:
    """GP-metis's refinement of a hierarchy; see `Refiner`."""
    rounds = options.of_rounds()
    rule = TwoDirections(rounds.zero_gain, rounds.apply_later_moves, options.spare_sources)
    return refiner_by(rule, space, finest, balance, rounds, seed, objective)
