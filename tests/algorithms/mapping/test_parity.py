"""One mapping for each graph, machine, algorithm and seed, whatever runs it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.mapping.mappers import mapper_of
from portpart.algorithms.multilevel.problem import MappingProblem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.api.mapping_call import mapped_by
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from tests import oracles
from tests.api.test_parity import weighted_mesh
from tests.helpers.refining import balance_of

GRAPHS: dict[str, Callable[[], Graph]] = {
    "mesh": functools.cache(lambda: generators.delaunay(3000)),
    "weighted": functools.cache(weighted_mesh),
    "rmat": functools.cache(lambda: generators.rmat(11, 8)),
}
LINE = Topology.from_matrix(abs(np.subtract.outer(np.arange(10), np.arange(10))))
MACHINES = {"tree": Topology("4:3:2", "1:10:100"), "deep": Topology("2:4:8:9", "1:3:9:40"),
            "line": LINE}
CASES = [(name, "tree", algorithm, "default") for name in GRAPHS
         for algorithm in ("hm", "im", "two-phase")]
CASES += [("weighted", "tree", "hm-ultra", "default"), ("weighted", "line", "im", "default"),
          ("mesh", "deep", "im", "default"), ("rmat", "line", "im", "default"),
          ("rmat", "deep", "im", "default"), ("rmat", "tree", "im", "paper"),
          ("weighted", "line", "two-phase", "default"), ("mesh", "tree", "hm", "best"),
          ("mesh", "deep", "hm", "paper"), ("weighted", "tree", "hm", "paper"),
          ("rmat", "tree", "hm", "paper"), ("weighted", "tree", "hm-ultra", "paper")]


def on_threads(threads: int, name: str, machine: str, algorithm: str, preset: str) -> np.ndarray:
    return portpart.map_processes(GRAPHS[name](), topology=MACHINES[machine], algorithm=algorithm,
                                  preset=preset, seed=4, threads=threads).part


@functools.cache
def on_one_thread(*case: str) -> np.ndarray:
    return on_threads(1, *case)


def in_space(space: ExecutionSpace, name: str, machine: str, algorithm: str,
             preset: str) -> np.ndarray:
    """What `portpart.map_processes` does, in any space."""
    return mapped_in(space, GRAPHS[name]().to(space), machine, algorithm, preset)


def mapped_in(space: ExecutionSpace, graph: Graph, machine: str, algorithm: str,
              preset: Any) -> np.ndarray:
    topology = MACHINES[machine]
    balance, distances = balance_of(graph, topology.num_elements), distances_on(space, topology)
    mapper, config = mapper_of(algorithm, preset)
    problem = MappingProblem(graph, balance, 4, Trace(space, graph, None), topology=topology,
                             distances=distances)
    return oracles.host(mapped_by(mapper, problem, config, mapper.swaps_with(config))[0])


def name_of(case: Any) -> str:
    return "-".join(case)


@pytest.mark.parametrize("case", CASES[::2], ids=name_of)
def test_two_threads(case: Any) -> None:
    assert np.array_equal(on_threads(2, *case), on_one_thread(*case))


@pytest.mark.parametrize("space", [
    "host-cuda", pytest.param("cuda", marks=pytest.mark.gpu)], indirect=True)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_generated_cuda_source(space: ExecutionSpace, case: Any) -> None:
    assert np.array_equal(in_space(space, *case), on_one_thread(*case))


@pytest.mark.parametrize("algorithm", ["hm", "im"])
def test_two_threads_often(algorithm: str) -> None:
    """A race shows now and then only."""
    graph = generators.rmat(12, 16)
    one, *others = (portpart.map_processes(graph, "4:8", "1:10", algorithm=algorithm,
                                           threads=threads).part for threads in (1, 2, 2, 2, 2))
    assert all(np.array_equal(one, other) for other in others)
