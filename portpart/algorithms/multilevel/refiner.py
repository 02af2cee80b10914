"""What the walk asks of a refiner, and the refiner that most recipes have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from portpart.algorithms.multilevel.options import ScheduleOptions
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement import refiner
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.algorithms.refinement.incumbent.outcomes import RefinementOutcome
from portpart.algorithms.refinement.piece import Piece
from portpart.algorithms.refinement.program import JET
from portpart.backends.interface import Array
from portpart.graphs.graph import Graph


class LevelRefiner(Protocol):
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine."""

    @property
    def best(self) -> Array:
        """The best partition found, as long as the finest graph."""

    def settle(self, previous_blocks: Sequence[PreviousBlocks], num_vertices: int, /) -> None:
        """Set the previous blocks of vertices of all levels, the finest first."""

    def start(self, graph: Graph, part: Array, /) -> None:
        """Begin with a partition of `graph`, which counts as the best so far."""

    def project(self, graph: Graph, cluster: Array, /) -> None:
        """Carry the best partition of the coarser graph over to `graph`."""

    def restart(self, graph: Graph, /) -> None:
        """Go back to the best partition of `graph`."""

    def refine(self, graph: Graph, temperature: float, fixed: Array | None, /) -> RefinementOutcome:
        """Refine the current partition of `graph` in place; fixed vertices stay."""


def jet_refiner(problem: Problem, options: ScheduleOptions,
                order: str = "id") -> Callable[[int], LevelRefiner]:
    """Makes, for a seed, what refines as Jet does; nets think of moves in an order."""
    return lambda seed: refiner.Refiner(
        problem.space, problem.graph, problem.balance, options.coarse, seed,
        options.of_finest(problem.graph), objective=problem.objective,
        pieces=pieces_for(problem.objective, order))


def pieces_for(objective: Objective, order: str = "id") -> tuple[Piece, ...]:
    """Jet's refinement for an objective of graphs or of hypergraphs."""
    if objective.rules.price is None:
        return JET
    from portpart.algorithms.refinement.nets.steps import jet_on_nets

    return jet_on_nets(order)
