"""A run on a problem of the same kind that computes nothing, so that all code is compiled at once.

Programs depend on the types of arrays, on their presence, and on degrees; not on sizes. So the
placeholder of the graph is of moderate size, and all its arrays are zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from portpart import graphs
from portpart.algorithms.multilevel import Constraints, MappingProblem, Problem, Trace
from portpart.algorithms.objectives import NET_COSTS, distances_on, net_values, total_cost
from portpart.backends.programs import Array, DryRuns, ExecutionSpace
from portpart.base.version import __version__
from portpart.primitives import histogram, max_of

if TYPE_CHECKING:
    from portpart.options import Configuration

AnyProblem = TypeVar("AnyProblem", bound="Problem[Any]")

MAX_VERTICES = 2**18
"""Maximum number of vertices of the placeholder, unless there are more blocks."""


DENSITIES_OF_NETS = 9 / 16, 3 / 4, 1, 4 / 3
"""Numbers of pins of placeholders for a hypergraph, as factors of the real number.

With the levels of all of them, programs are compiled for nearly every team size of rows.
"""


ENTRIES_OF_NETS = "net_pins", "vertex_nets"


def dry_run(problem: AnyProblem, run: Callable[[AnyProblem, Any], Array], config: Any,
            dry_runs: DryRuns | None = None) -> None:
    """Have the code of a run compiled in parallel; by default if the space supports it."""
    dry_runs = dry_runs or problem.space.dry_runs
    if dry_runs is None or problem.constraints.previous_blocks is not None:
        return

    def call(stage: ExecutionSpace) -> None:
        for density in DENSITIES_OF_NETS if isinstance(problem.graph, graphs.Hypergraph) else (1,):
            like = placeholder_problem(problem, stage, density)
            part = run(like, config)
            histogram(stage, part, like.num_blocks, like.graph.vertex_weights)
            _evaluate(like, part)

    dry_runs.once(kind_of(problem, config), call)


def dry_run_edges(graph: graphs.Graph, dry_runs: DryRuns | None = None) -> None:
    """Have the code compiled in parallel that makes the hypergraph of a graph's edges."""
    dry_runs = dry_runs or graph.space.dry_runs
    if dry_runs is not None:

        def call(stage: ExecutionSpace) -> None:
            graphs.edge_hypergraph(cast(graphs.Graph, _like(graph, stage, 1, 1)))

        dry_runs.once(f"{__version__} edges {graph.type_key}", call)


def _evaluate(problem: Problem[Any], part: Array) -> None:
    """Compute all values of a partition, as callers do."""
    if isinstance(problem.graph, graphs.Hypergraph):
        net_values(problem.graph, part, problem.num_blocks, NET_COSTS)
        if problem.graph.max_degree <= 2:  # its vertices may be the edges of a graph
            graphs.copies_of_vertices(problem.graph, part)
    else:
        total_cost(problem.graph, part, problem.objective, problem.rows)


def kind_of(problem: Problem[Any], config: Configuration) -> str:
    """Return what programs depend on; numbers of similar size lead to the same dry run."""
    graph, wanted = problem.graph, problem.constraints
    numbers = (problem.num_blocks, graph.max_degree, int(graph.mean_degree),
               graph.squared_degrees // max(1, graph.num_entries))
    return _text_of(
        cast(Any, config), graph.type_key, graph.weight_sum_dtype, problem.objective.rules.name,
        wanted.fixed is None, wanted.initial is None, wanted.rounds > 0,
        *(number.bit_length() for number in numbers))


@lru_cache(maxsize=64)
def _text_of(*values: Any) -> str:
    """Return a text for these values; writing it takes longer than finding it."""
    return f"{__version__} {values}"


def placeholder_problem(problem: AnyProblem, stage: ExecutionSpace,
                        density: float = 1) -> AnyProblem:
    """Return a problem of the same kind in a space that computes nothing."""
    wanted, graph = problem.constraints, _like(problem.graph, stage, problem.num_blocks, density)
    fixed, initial = (None if array is None else stage.zeros(graph.num_vertices, array.dtype)
                      for array in (wanted.fixed, wanted.initial))
    like = replace(problem, graph=graph, trace=Trace(stage, graph, None),
                   constraints=Constraints(fixed, initial, rounds=min(1, wanted.rounds)))
    if isinstance(problem, MappingProblem):
        distances = distances_on(stage, problem.topology)
        return cast(AnyProblem, replace(cast(MappingProblem, like), distances=distances))
    return replace(like, objective=problem.objective.moved(problem.space, stage))


def _like(graph: graphs.EitherGraph, stage: ExecutionSpace, num_blocks: int,
          density: float) -> graphs.EitherGraph:
    vertices = min(graph.num_vertices, max(MAX_VERTICES, 2 * num_blocks))
    share = vertices / max(1, graph.num_vertices)
    known = {"vertex": graph.total_vertex_weight, "degree": graph.max_degree,
             "degree" + graphs.SQUARES: int(graph.squared_degrees * share * density**2)}
    if isinstance(graph, graphs.Hypergraph):
        known |= {"net": graph.total_net_weight, "size": graph.max_net_size}
    else:
        known |= {"arc": graph.total_arc_weight}
    lengths = {name: _shrunk(name, array, share, density) for name, array in graph.arrays.items()}
    arrays: dict[str, Any] = {
        name: None if array is None else stage.zeros(lengths[name], array.dtype)
        for name, array in graph.arrays.items()}
    if isinstance(graph, graphs.Hypergraph) and graph.vertex_weights is not None and vertices:
        arrays["vertex_weights"][0] = max_of(graph.space, graph.vertex_weights)
    made = graphs.Graph if isinstance(graph, graphs.Graph) else graphs.Hypergraph
    return made(**arrays, space=stage, _totals=known)


def _shrunk(name: str, array: Array, share: float, density: float) -> int:
    if array is None:
        return 0
    ends = int(name.endswith("offsets"))
    if name in ENTRIES_OF_NETS:
        share *= density
    return int(np.ceil((len(array) - ends) * share)) + ends
