"""How many lanes the vertices of a graph get, by their degrees."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import cut
from portpart.algorithms.objectives.objective import Objective, Shape
from portpart.algorithms.refinement.gains import active_sets
from portpart.algorithms.refinement.piece import Widths
from portpart.algorithms.refinement.sizes import max_arcs
from portpart.backends.language import Word
from portpart.graphs.structure import WithMeasures
from portpart.graphs.teams import team_for

MIN_TEAM, WIDE_TEAM = 8, 32
"""Lanes for a vertex of one of the lists, which are short: a lane alone would take longer."""

MAX_IN_GROUP = 8
"""Vertices that a team examines together, to see which have many neighbours."""


@dataclass(frozen=True)
class Lanes:
    """Lanes of one kind of device.

    Attributes
    ----------
    objective : Objective
    num_blocks : int
    counter : Word
        Type of numbers that hold any sum of arc weights.
    widest_team : int
        Most lanes that a vertex gets anywhere.
    sums_hubs : bool
        Whether the ties of hubs are summed up first.
    """

    objective: Objective
    num_blocks: int
    counter: Word
    widest_team: int
    sums_hubs: bool

    def team_on(self, graph: WithMeasures) -> int:
        """Lanes for a vertex of one of the lists."""
        return MIN_TEAM if graph.whole.mean_degree <= self.objective.wide_degree else WIDE_TEAM

    def one_lane_degree(self, graph: WithMeasures) -> int:
        """Most neighbours of a vertex, if long lists are work for single lanes; else 0."""
        whole = graph.whole
        may_be_long = (self.widest_team > 1 and whole.num_vertices > active_sets.LONG
                       and self.objective.lone_lanes)
        max_degree = cut.max_of_few(self._shape(graph, 1, 0.0)) if may_be_long else 0
        return max_degree if whole.max_degree <= max_degree else 0

    def words_on(self, graph: WithMeasures, num_vertices: int, one_lane: int) -> dict[str, int]:
        """The words by which kernels know what they get, with lists of this many vertices at most.

        `one_lane` is the degree that `one_lane_degree` returns.
        """
        team, several = self.team_on(graph), self.widest_team > 1
        shape = self._shape(graph, team, graph.whole.mean_degree)
        return {
            "few_arcs": int(self.objective.max_of_few(shape)),
            # few, where many teams share hubs
            "hub_degree": max_arcs(1 if self.sums_hubs else team),
            "max_in_group": min(MAX_IN_GROUP, self.widest_team),
            "long": active_sets.LONG if one_lane else num_vertices,
            "many_on_boundary": active_sets.MANY if several else num_vertices,
        }

    def widths(self, graph: WithMeasures, words: dict[str, int], one_lane: int) -> Widths:
        """Teams for the vertices of a graph, with these words and that degree."""
        whole, team, few, hub = (graph.whole, self.team_on(graph), words["few_arcs"],
                                 words["hub_degree"])
        return Widths(
            1 if team_for(whole.mean_degree) == 1 else team, team,
            many=whole.max_degree > few, hubs=whole.max_degree > hub, counter=self.counter, few=few,
            one_lane=one_lane, summed=whole.max_degree > hub and self.sums_hubs)

    def _shape(self, graph: WithMeasures, team: int, mean_degree: float) -> Shape:
        return Shape(team, self.widest_team, self.num_blocks, self.counter, mean_degree,
                     graph.whole.max_degree)
