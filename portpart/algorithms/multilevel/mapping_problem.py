"""What a mapper is given."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.objectives.communication import communication_cost
from portpart.algorithms.objectives.distances import Distances
from portpart.graphs.topology import Topology


@dataclass(frozen=True, eq=False, kw_only=True)
class MappingProblem(Problem):
    """A graph to map to a machine; blocks are its processing elements.

    Attributes
    ----------
    topology : Topology
    distances : Distances
        Those of the topology, in the space of the graph: the objective is the cost at these.
    """

    topology: Topology
    distances: Distances

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", communication_cost(self.distances))

    def of_the_cut(self) -> Problem:
        """The same graph with blocks that are far from each other alike."""
        return Problem(self.graph, self.balance, self.seed, self.trace, self.constraints)
