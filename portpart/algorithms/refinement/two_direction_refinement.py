"""Refinement in two alternating directions (GP-metis, section III.C), a program for each level.

The legal moves are those of independent-set refinement; neighbours may move together here, as they
move in one direction.  All but the moves of balanced partitions is shared with Jet: the cache of
best destinations, the accounts of weights and cut, the best partition so far, and rebalancing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement.independent_refinement import (
    IndependentOptions,
    IndependentSetRefiner,
    record_legal_moves,
)
from portpart.algorithms.refinement.jet_program import Widths
from portpart.algorithms.refinement.requests import record_requests
from portpart.backends.interface import ExecutionSpace
from portpart.backends.program import Program
from portpart.errors import InputError
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class TwoDirectionOptions:
    """Parameters of refinement in two directions.

    Parameters
    ----------
    zero_gain : bool
        Whether moves without gain are legal that even out the weights of two blocks.
    tolerance : float
        A cut must fall below this share of the best to count as progress.
    stall_limit : int
        Rounds, each in one direction, without progress after which a level ends: those of a pass.
    pass_limit : int
        Passes, of two rounds each, after which a level ends in any case.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    zero_gain: bool = True
    tolerance: float = 0.9999
    stall_limit: int = 2
    pass_limit: int = 2**30

    def __post_init__(self) -> None:
        if not self.pass_limit >= 1:
            raise InputError(f"pass_limit is {self.pass_limit}; it must be at least 1")
        self.of_rounds()  # checks the others

    def of_rounds(self) -> IndependentOptions:
        """The same for rounds that are told apart by nothing."""
        return IndependentOptions(self.zero_gain, False, self.tolerance, self.stall_limit,
                                  2 * self.pass_limit)


class TwoDirectionRefiner(IndependentSetRefiner):
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine.

    Parameters
    ----------
    space : ExecutionSpace
    finest : Graph
        The largest graph that will be refined.
    balance : Balance
    options : TwoDirectionOptions
    seed : int
    """

    name = "two-direction refinement"

    def __init__(self, space: ExecutionSpace, finest: Graph, balance: Balance,
                 options: TwoDirectionOptions, seed: int) -> None:
        super().__init__(space, finest, balance, options.of_rounds(), seed)
        self.other_arrays["buffer_begin"] = space.empty(balance.num_blocks, np.int64)

    @staticmethod
    def record_moves(program: Program, widths: Widths) -> None:
        """Record a round: legal moves, requests for those in its direction, and what is granted."""
        record_legal_moves(program, widths)
        record_requests(program)
