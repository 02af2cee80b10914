"""What a mapper is given, and the refiner of the communication cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from portpart.algorithms.mapping.refinement import MappingRefiner
from portpart.algorithms.multilevel.options import ScheduleOptions
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.refiner import Refiner
from portpart.algorithms.objectives.distances import Distances
from portpart.graphs.topology import Topology


@dataclass(frozen=True, eq=False, kw_only=True)
class MappingProblem(Problem):
    """A graph that is to be mapped to a machine; blocks are its processing elements.

    Attributes
    ----------
    topology : Topology
    distances : Distances
        Those of the topology, in the space of the graph.
    """

    topology: Topology
    distances: Distances


def mapping_refiner(problem: MappingProblem, options: ScheduleOptions) -> Callable[[int], Refiner]:
    """Makes, for a seed, what refines the communication cost."""
    return lambda seed: MappingRefiner(
        problem.space, problem.graph, problem.balance, problem.distances, options.coarse, seed,
        options.of_finest(problem.graph))
