"""Refinement in two alternating directions (GP-metis, section III.C), a program for each level.

The legal moves are those of independent-set refinement; neighbours may move together here, as they
move in one direction.  All but the moves of balanced partitions is shared with Jet: the cache of
best destinations, the accounts of weights and cut, the best partition so far, and rebalancing.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement.independent_refinement import (
    IndependentSetRefiner,
    record_legal_moves,
)
from portpart.algorithms.refinement.jet_program import Widths
from portpart.algorithms.refinement.options import TwoDirectionOptions
from portpart.algorithms.refinement.requests import record_requests
from portpart.backends.interface import ExecutionSpace
from portpart.backends.program import Program
from portpart.graphs.graph import Graph


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
