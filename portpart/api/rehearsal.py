"""A call on a problem of the same kind in which nothing runs, so that its code is compiled at once.

Programs depend on the types of arrays, on which of them are there, and on degrees; not on the size.
What stands in for the graph is therefore of moderate size, and all its arrays are zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from portpart.algorithms.multilevel.constraints import Constraints
from portpart.algorithms.multilevel.mapping_problem import MappingProblem
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.total import total_cost
from portpart.api.version import __version__
from portpart.backends.interface import Array, ExecutionSpace, Rehearsals
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph, Hypergraph
from portpart.primitives.histogram import histogram

AnyProblem = TypeVar("AnyProblem", bound="Problem[Any]")

MAX_VERTICES = 2**16
"""Vertices of what stands in for a graph, unless there are more blocks."""


def rehearse(problem: AnyProblem, run: Callable[[AnyProblem, Any], Array], config: Any,
             rehearsals: Rehearsals | None = None) -> None:
    """Have the code of a run compiled side by side; by default where the space does such things."""
    rehearsals = rehearsals or problem.space.rehearsals
    if rehearsals is None or problem.constraints.homes is not None:
        return

    def call(stage: ExecutionSpace) -> None:
        like = stand_in(problem, stage)
        part = run(like, config)
        histogram(stage, part, like.num_blocks, like.graph.vertex_weights)
        total_cost(like.graph, part, like.objective, like.rows)

    rehearsals.once(kind_of(problem, config), call)


def kind_of(problem: Problem[Any], config: Any) -> str:
    """What programs depend on; rehearsals of numbers close to each other would be the same."""
    graph, wanted = problem.graph, problem.constraints
    numbers = (problem.num_blocks, graph.max_degree, int(graph.mean_degree))
    lengths = [number.bit_length() for number in numbers]
    return (f"{__version__} {config} {graph.type_key} {graph.weight_sum_dtype} "
            f"{problem.objective.rules.name} {wanted.fixed is None} {wanted.initial is None} "
            f"{lengths}")


def stand_in(problem: AnyProblem, stage: ExecutionSpace) -> AnyProblem:
    """A problem of the same kind in a space in which nothing runs."""
    wanted, graph = problem.constraints, _like(problem.graph, stage, problem.num_blocks)
    fixed, initial = (None if array is None else stage.zeros(graph.num_vertices, array.dtype)
                      for array in (wanted.fixed, wanted.initial))
    like = replace(problem, graph=graph, trace=Trace(stage, graph, None),
                   constraints=Constraints(fixed, initial))
    if isinstance(problem, MappingProblem):
        distances = distances_on(stage, problem.topology)
        return cast(AnyProblem, replace(cast(MappingProblem, like), distances=distances))
    return replace(like, objective=problem.objective.moved(problem.space, stage))


def _like(graph: EitherGraph, stage: ExecutionSpace, num_blocks: int) -> EitherGraph:
    vertices = min(graph.num_vertices, max(MAX_VERTICES, 2 * num_blocks))
    share = vertices / max(1, graph.num_vertices)
    known = {"vertex": graph.total_vertex_weight, "degree": graph.max_degree}
    if isinstance(graph, Hypergraph):
        known |= {"net": graph.total_net_weight, "size": graph.max_net_size}
    else:
        known |= {"arc": graph.total_arc_weight}
    lengths = {name: _shrunk(name, array, share) for name, array in graph.arrays.items()}
    arrays: dict[str, Any] = {
        name: None if array is None else stage.zeros(lengths[name], array.dtype)
        for name, array in graph.arrays.items()}
    made = Graph if isinstance(graph, Graph) else Hypergraph
    return made(**arrays, space=stage, _totals=known)


def _shrunk(name: str, array: Any, share: float) -> int:
    if array is None:
        return 0
    ends = int(name.endswith("offsets"))
    return int(np.ceil((len(array) - ends) * share)) + ends
