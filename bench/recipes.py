"""Running a recipe by itself: in any space, with a trace of one's own."""

from __future__ import annotations

from typing import Any, TypeVar

from portpart import metrics
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.recipes.partitioners import lookup
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph, Hypergraph

AnyGraph = TypeVar("AnyGraph", Graph, Hypergraph)


def copied(host: AnyGraph, space: ExecutionSpace) -> AnyGraph:
    """Return the graph or hypergraph in memory that `space` has allocated."""
    arrays = [None if array is None else space.copy(space.asarray(array))
              for array in host.arrays.values()]
    return type(host)(*arrays, space)


def run(graph: EitherGraph, k: int, algorithm: str, preset: Any, seed: int, trace: Trace,
        rounds: int = 0) -> Array:
    """Partition as `portpart.partition` does, but for what it does before and afterwards."""
    of_nets = isinstance(graph, Hypergraph)
    total = graph.total_vertex_weight
    limit = min(metrics.block_weight_limit(total, k), total)
    recipe, config = lookup(algorithm, preset, of_nets=of_nets)
    return recipe(Problem(graph, Balance(k, limit, total // k), seed, trace,
                          Constraints(rounds=rounds),
                          net_objective("km1") if of_nets else CUT), config)
