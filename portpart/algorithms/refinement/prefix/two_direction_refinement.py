"""Refinement in two alternating directions (GP-metis, section III.C), a program for each level.

The legal moves are those of independent-set refinement; neighbours may move together here, as they
move in one direction.  All but the moves of balanced partitions is shared with Jet: the cache of
best targets, the accounts of weights and cut, the best partition so far, and rebalancing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.options import TwoDirectionOptions
from portpart.algorithms.refinement.prefix.independent_refinement import (
    IndependentSets,
    shared,
)
from portpart.algorithms.refinement.prefix.requests import record_requests, spare_source
from portpart.algorithms.refinement.program import Recording
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class TwoDirections(IndependentSets):
    """Requests in two alternating directions as a move rule.

    Attributes
    ----------
    spares : bool
        Whether blocks that weigh little keep their vertices.
    """

    spares: bool = False

    @property
    def name(self) -> str:
        return f"two directions, {self.options.rebalance}, {self.spares}"

    def record(self, this: Recording, more: Any) -> None:
        """Record a round: legal moves, requests for those in its direction, and what is granted."""
        self.record_legal(this, more)
        if self.spares:
            this.program.launch(this.run.level.next_movable, spare_source)
        record_requests(this, more)


def two_direction_refiner(space: ExecutionSpace, finest: Graph, balance: Balance,
                          options: TwoDirectionOptions, seed: int,
                          objective: Objective = CUT) -> Refiner:
    """GP-metis's refinement of a hierarchy; see `Refiner`."""
    rounds = options.of_rounds()
    return Refiner(space, finest, balance, shared(rounds), seed, objective=objective,
                   rule=TwoDirections(rounds, options.spare_sources))
