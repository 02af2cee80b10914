"""A CPU space that knows how many bytes its arrays take, and what a partition takes there."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from bench.recipes import copied, run
from portpart.algorithms.mapping.mappers import mapper_of
from portpart.algorithms.multilevel.problem import MappingProblem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.limits import Balance
from portpart.api.mapping_call import mapped_by
from portpart.backends.cpu.space import CpuSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.topology import Topology
from portpart.metrics import block_weight_limit


def bytes_of_arrays(host: Graph | Hypergraph, k: int, preset: Any, algorithm: str = "jet",
                    rounds: int = 0) -> int:
    """Return the most bytes that the graph and all arrays of one partition take at once."""
    space = CountingSpace(1)  # no array depends on the number of threads
    graph = copied(host, space)
    run(graph, k, algorithm, preset, 1, Trace(space, graph, None), rounds)
    return space.peak


def bytes_of_mapping(host: Graph, machine: Topology, preset: Any, algorithm: str) -> int:
    """Return the most bytes that the graph and all arrays of one mapping take at once."""
    space = CountingSpace(1)  # no array depends on the number of threads
    graph, k = copied(host, space), machine.num_elements
    mapper, config = mapper_of(algorithm, preset, machine.is_hierarchy)
    total = graph.total_vertex_weight
    balance = Balance(k, min(block_weight_limit(total, k), total), total // k)
    problem = MappingProblem(graph, balance, 1, Trace(space, graph, None), topology=machine,
                             distances=distances_on(space, machine))
    mapped_by(mapper, problem, config, mapper.swaps_with(config))
    return space.peak


class CountingSpace(CpuSpace):
    """Counts the bytes of all living arrays that it has made.

    Attributes
    ----------
    live, peak : int
        Bytes now, and the most so far.
    """

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self.live = 0
        self.peak = 0
        self._made: set[int] = set()

    def empty(self, n: int, dtype: Any) -> Any:
        return self._counted(np.empty(n, dtype))

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        array = super().asarray(values, dtype)
        if array is values and not self._has_made(array):
            array = array.copy()  # as a device would
        return array if array is values else self._counted(array)

    def _has_made(self, array: np.ndarray) -> bool:
        return id(array if array.base is None else array.base) in self._made

    def _counted(self, array: np.ndarray) -> np.ndarray:
        self.live += array.nbytes
        self.peak = max(self.peak, self.live)
        self._made.add(id(array))
        weakref.finalize(array, self._end, id(array), array.nbytes)
        return array

    def _end(self, name: int, size: int) -> None:
        self._made.discard(name)
        self.live -= size
