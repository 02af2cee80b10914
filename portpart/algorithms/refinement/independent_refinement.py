"""Independent-set refinement of a hierarchy (G-kway, section 3.2), one program for each level.

All but the moves of balanced partitions is shared with Jet: the cache of best destinations, the
accounts of weights and cut, the best partition so far, and the rebalancing of blocks that are too
heavy, which the paper does not have.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement import best_prefix
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.best_prefix import declare_prefix, record_prefix
from portpart.algorithms.refinement.connectivity import HUB_TEAM
from portpart.algorithms.refinement.independent import (
    begin_sequence,
    choose_legal,
    find_legal_of_few,
    find_legal_of_hub,
    find_legal_of_many,
    keep_independent,
    keep_independent_hubs,
)
from portpart.algorithms.refinement.jet_program import ByDegree, Widths, launch_by_degree
from portpart.algorithms.refinement.jet_refinement import JetRefiner
from portpart.algorithms.refinement.options import IndependentOptions, RefinementOptions
from portpart.algorithms.refinement.outcomes import Outcome
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.primitives.recorded_sort import sort_arrays


class IndependentSetRefiner(JetRefiner):
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine.

    Parameters
    ----------
    space : ExecutionSpace
    finest : Graph
        The largest graph that will be refined.
    balance : Balance
    options : IndependentOptions
    seed : int
    """

    name = "independent-set refinement"

    def __init__(self, space: ExecutionSpace, finest: Graph, balance: Balance,
                 options: IndependentOptions, seed: int) -> None:
        shared = RefinementOptions(tolerance=options.tolerance, stall_limit=options.stall_limit,
                                   iteration_limit=options.round_limit)
        super().__init__(space, finest, balance, shared, seed)
        n, k = finest.num_vertices, balance.num_blocks
        vertices = self.vertex_arrays
        self.vertex_arrays.update(legal=space.empty(n, np.int32))
        self.other_arrays.update(
            sort_arrays(space, n),
            other_keys=space.empty(n, np.int64),
            trial_sums=space.zeros(k * self.weight_stripes, np.int64),
            trial_weight=space.empty(k, np.int64),
            sequence=space.zeros(best_prefix.NUM_WORDS, np.int64),
            # what only rebalancing uses is free while moves are made
            move_keys=self.position, move_gain=vertices["leaving"],
            other_list=vertices["leave_list"],
        )
        self.scalars.update(zero_gain=options.zero_gain, fill_rooms=options.fill_rooms)

    @staticmethod
    def record_moves(program: Program, widths: Widths) -> None:
        """Record a round: legal moves, an independent set of them, and its balanced prefix."""
        declare_prefix(program)
        record_legal_moves(program, widths)
        state = program.slots["state"]
        with program.side_by_side():
            program.launch(state[at.NEXT_EAGER], keep_independent, team=widths.team)
            if widths.hubs:
                program.launch(state[at.HUBS], keep_independent_hubs, team=HUB_TEAM)
        record_prefix(program)

    def refine(self, graph: Graph, filter_ratio: float = 0.0,
               fixed: Array | None = None) -> Outcome:
        """Refine the current partition of `graph` in place until no move gains.

        Parameters
        ----------
        filter_ratio : float
            None but 0 has a meaning: moves never lose.
        fixed : array of int32, shape (n,), optional
            Vertices with an entry of 0 or more stay where they are.
        """
        return super().refine(graph, 0.0, fixed)


def record_legal_moves(program: Program, widths: Widths) -> None:
    """Record how all eager vertices choose their legal moves."""
    state = program.slots["state"]
    program.scalar("zero_gain", np.int64)
    with program.side_by_side():
        program.launch(1, begin_sequence)
        program.launch(state[at.EAGER], choose_legal)
    with program.side_by_side():
        launch_by_degree(program, widths, state[at.UNRATED], state[at.UNRATED_HUBS],
                         ByDegree(find_legal_of_few, find_legal_of_many, find_legal_of_hub))
