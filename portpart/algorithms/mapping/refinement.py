"""Refinement of a mapping on the communication cost: Jet's scheme with gains in J (algorithm 6).

State, work arrays, judging and the thresholds of rebalancing are those of Jet's refinement of the
cut (`algorithms/refinement/`); what depends on the objective stands here and in the files beside.
Rebalancing measures losses in J too, since the gains are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.mapping.choices import (
    choose_along_arcs,
    choose_by_counts,
    list_leavers,
    rate_along_arcs,
    rate_by_counts,
)
from portpart.algorithms.mapping.costs import costs_of
from portpart.algorithms.mapping.destinations import FEW_COUNTERS, MOST_COUNTERS
from portpart.algorithms.mapping.distances import Distances
from portpart.algorithms.mapping.propagation import (
    keep_paying_moves,
    keep_paying_moves_of_hubs,
    weigh_moves,
)
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.balance import Balance
from portpart.algorithms.refinement.buckets import set_threshold
from portpart.algorithms.refinement.destinations import (
    COUNTING_TEAM,
    HUB_TEAM,
    most_arcs,
)
from portpart.algorithms.refinement.jet_program import (
    Widths,
    record_begin,
    record_judge,
    record_leaving,
)
from portpart.algorithms.refinement.jet_refinement import (
    LARGE_ARC_WEIGHT,
    JetRefiner,
    RefinementOptions,
)
from portpart.algorithms.refinement.moves import save_best
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.program import Element, Program
from portpart.graph import Graph

LONE_FEW = 12
"""Most arcs that one lane goes through for each candidate rather than count the elements."""

ANY_DEGREE = 2**62


class MappingRefiner(JetRefiner):
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine, on J.

    Parameters are those of `JetRefiner`, and the distances.  What it calls ``cut`` is J.
    """

    def __init__(self, space: ExecutionSpace, finest: Graph, balance: Balance,
                 distances: Distances, options: RefinementOptions, seed: int,
                 finest_options: RefinementOptions | None = None) -> None:
        super().__init__(space, finest, balance, options, seed, finest_options)
        self.distances = distances
        self.name = f"mapping refinement, {distances.kind}, {self._counters}"
        self.scalars["longest"] = distances.longest
        self.other_arrays.update(distances.arrays)
        mean = finest.total_arc_weight * distances.longest // max(1, finest.num_arcs)
        self.loss_unit = max(1, mean // LARGE_ARC_WEIGHT)

    @property
    def _counters(self) -> int:
        """Elements whose weights are counted in scratch memory; 0 if they are too many."""
        k = self.balance.num_blocks
        return next((most for most in (FEW_COUNTERS, MOST_COUNTERS) if k <= most), 0)

    def start(self, graph: Graph, part: Array) -> None:
        """Begin with a mapping of `graph`, which counts as the best so far."""
        super().start(graph, part)
        self.other_arrays["cut_twice"] = costs_of(graph, part, self.distances)

    def record(self, graph: Graph, dtypes: dict[str, np.dtype], widths: Widths) -> Program:
        """The program for graphs and work arrays of these types."""
        return _Recording(graph, dtypes, widths, self.distances.kind, self._counters).program

    def _set_limits(self, graph: Graph) -> None:
        super()._set_limits(graph)
        if self.space.widest_team == 1:
            self.words[at.PAIRWISE] = LONE_FEW


class _Recording:
    """The program of a level in the making."""

    def __init__(self, graph: Graph, dtypes: dict[str, np.dtype], widths: Widths, kind: str,
                 counters: int) -> None:
        self.widths, self.kind, self.counters = widths, kind, counters
        self.hub_degree = most_arcs(widths.team)
        self.program = program = Program("mapping refinement")
        graph.declare(program)
        for name, dtype in dtypes.items():
            if name not in program.slots:
                program.array(name, dtype)
        for name, number in (("filter_ratio", np.float64), ("tolerance", np.float64),
                             ("sub_buckets", np.int64), ("longest", np.int64)):
            program.scalar(name, number)
        self.state = program.slots["state"]
        self.record()

    def record(self) -> None:
        """The whole program."""
        program, state = self.program, self.state
        record_begin(program)
        record_judge(program)
        with program.while_loop(state[at.RUNNING]):
            with program.side_by_side():
                program.launch(state[at.SAVES], save_best)
                self.by_degree(state[at.DIRTY], choose_along_arcs, choose_by_counts)
            with program.if_nonzero(state[at.OVERLOADED]):
                self.rebalance()
            with program.otherwise():
                self.propagate()
            self.weigh()
            record_judge(program)
        program.launch(state[at.SAVES], save_best)

    def propagate(self) -> None:
        """A round of label propagation."""
        program, state, widths = self.program, self.state, self.widths
        with program.side_by_side():
            program.launch(state[at.EAGER], keep_paying_moves(self.kind), team=widths.of_many)
            if widths.hubs:
                program.launch(state[at.HUBS], keep_paying_moves_of_hubs(self.kind), team=HUB_TEAM)

    def rebalance(self) -> None:
        """A round of rebalancing."""
        program, state = self.program, self.state
        program.launch(state[at.VERTICES], list_leavers)
        with program.side_by_side():
            self.by_degree(state[at.LEAVERS], rate_along_arcs, rate_by_counts)
        program.launch(state[at.BLOCKS], set_threshold, team=32)
        record_leaving(program)

    def by_degree(self, count: Element, along_arcs: Any, by_counts: Any) -> None:
        """Launch what looks for destinations, for the ranges of degrees that the graph has."""
        program, widths = self.program, self.widths
        few = max(0, widths.pairwise)
        counter = widths.counter
        program.launch(count, along_arcs(self.kind, counter, few), team=widths.team, least=0,
                       most=few)
        if not widths.many:
            return
        kernel = (by_counts(self.kind, counter, self.counters) if self.counters
                  else along_arcs(self.kind, counter, 0))
        narrow = COUNTING_TEAM if self.counters <= FEW_COUNTERS else HUB_TEAM
        hub = self.hub_degree if widths.hubs else ANY_DEGREE
        program.launch(count, kernel, team=narrow, least=few + 1, most=hub)
        if widths.hubs:
            program.launch(count, kernel, team=HUB_TEAM, least=hub + 1, most=ANY_DEGREE)

    def weigh(self) -> None:
        """Account for the moves, those of hubs by more lanes."""
        program, widths = self.program, self.widths
        count, kernel = self.state[at.MOVES], weigh_moves(self.kind)
        hub = self.hub_degree if widths.hubs else ANY_DEGREE
        with program.side_by_side():
            program.launch(count, kernel, team=widths.team, least=0, most=hub)
            if widths.hubs:
                program.launch(count, kernel, team=HUB_TEAM, least=hub + 1, most=ANY_DEGREE)
