"""Refinement of a mapping on the communication cost: Jet's scheme with gains in J (algorithm 6).

Program, work arrays, lists and judging are those of Jet's refinement of the cut
(`algorithms/refinement/`); the kernels that depend on the objective stand in the files beside.
Rebalancing measures losses in J too, since the gains are there.
"""

from __future__ import annotations

from functools import partial

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.mapping.choices import (
    choose_destination,
    choose_destination_of_hub,
    choose_destination_of_many,
    rate_leaving,
    rate_leaving_of_hub,
    rate_leaving_of_many,
)
from portpart.algorithms.mapping.destinations import FEW_COUNTED, MOST_ALONG
from portpart.algorithms.mapping.propagation import (
    keep_paying_moves,
    keep_paying_moves_of_hubs,
    weigh_moves,
    weigh_moves_of_hubs,
)
from portpart.algorithms.objectives.communication import costs_of
from portpart.algorithms.objectives.distances import MOST_COUNTED, Distances
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.connectivity import HUB_TEAM, MOST_IN_TABLE
from portpart.algorithms.refinement.gain_cache import COUNTING_TEAM
from portpart.algorithms.refinement.jet_program import ByDegree, Objective
from portpart.algorithms.refinement.jet_refinement import (
    LARGE_ARC_WEIGHT,
    JetRefiner,
    RefinementOptions,
)
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Word, int32
from portpart.graphs.graph import Graph

LONE_FEW = 12
"""Most neighbours whose elements one lane puts into a table rather than count all elements."""


class MappingRefiner(JetRefiner):
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine, on J.

    Parameters are those of `JetRefiner`, and the distances.  What it calls ``cut`` is J.
    """

    wide_degree = 16

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
        return next((most for most in (FEW_COUNTED, MOST_COUNTED) if k <= most), 0)

    def _cut_twice(self, graph: Graph, part: Array) -> Array:
        return costs_of(graph, part, self.distances)

    @property
    def objective(self) -> Objective:
        """J on these distances."""
        return communication_cost(self.distances.kind, self._counters)

    def _set_limits(self, graph: Graph) -> None:
        super()._set_limits(graph)
        self.words[at.FEW_ARCS] = most_of_few(self.space.widest_team, self.counter,
                                              graph.max_degree)


def most_of_few(widest_team: int, counter: Word, max_degree: int) -> int:
    """Most neighbours of a vertex that has few: for whom elements are not counted."""
    if widest_team == 1:
        return LONE_FEW
    return MOST_IN_TABLE if counter is int32 and max_degree > MOST_ALONG else MOST_ALONG


def communication_cost(kind: str, counters: int) -> Objective:
    """J as an objective, for a kind of distance; many arcs are counted for so many elements."""
    team = COUNTING_TEAM if counters <= FEW_COUNTED else HUB_TEAM
    return Objective(
        ByDegree(partial(choose_destination, kind),
                 partial(choose_destination_of_many, kind, counters),
                 partial(choose_destination_of_hub, kind, counters), team),
        ByDegree(partial(rate_leaving, kind), partial(rate_leaving_of_many, kind, counters),
                 partial(rate_leaving_of_hub, kind, counters), team),
        (keep_paying_moves(kind), keep_paying_moves_of_hubs(kind)),
        (weigh_moves(kind), weigh_moves_of_hubs(kind)),
        scalars=("longest",),
    )
