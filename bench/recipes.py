"""Running a recipe by itself: in any space, with a trace of one's own."""

from __future__ import annotations

from typing import Any

from portpart import metrics
from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.partitioners import lookup
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph


def copied(host: Graph, space: ExecutionSpace) -> Graph:
    """Return the graph in memory that `space` has allocated."""
    arrays = [None if array is None else space.copy(space.asarray(array))
              for array in host.arrays.values()]
    return Graph(*arrays, space)


def run(graph: Graph, k: int, algorithm: str, preset: Any, seed: int, trace: Trace) -> Array:
    """Partition as `portpart.partition` does, but for what it does before and afterwards."""
    total = graph.total_vertex_weight
    limit = min(metrics.block_weight_limit(total, k), total)
    recipe, config = lookup(algorithm, preset)
    return recipe(Problem(graph, Balance(k, limit, total // k), seed, trace), config)
