"""The estimate of memory for mappings against the bytes of the arrays that one really makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from bench.counting_space import CountingSpace, bytes_of_mapping
from portpart.algorithms.mapping.mappers import MAPPERS
from portpart.algorithms.mapping.multisection import MultisectionConfig
from portpart.algorithms.objectives.distances import distances_on
from portpart.errors import InputError, OutOfMemory
from portpart.estimate.mapping import _searches, distance_bytes
from portpart.graphs.topology import Topology
from tests.estimate.test_memory import CLOSE, FAR, GRAPHS

MACHINES = {
    "small": Topology("4:2", "1:10"), "three levels": Topology("4:8:2", "1:10:100"),
    "many": Topology("4:8:30", "1:10:100"),
    "matrix": Topology.from_matrix(abs(np.subtract.outer(range(200), range(200)))),
}  # fmt: skip
CASES = [("hm", "default", "three levels"), ("hm", "best", "small"),
         ("hm-ultra", "default", "many"), ("im", "default", "three levels"),
         ("hm", "paper", "small"), ("hm-ultra", "paper", "three levels"),
         ("im", "paper", "matrix"), ("im", "strong", "many"), ("two-phase", "default", "many"),
         ("identity", "jet", "small")]  # fmt: skip


RUNS = [(name, case) for j, case in enumerate(CASES) for i, name in enumerate(GRAPHS)
        if (i + j) % 4 == 0 or case[0] == "two-phase"]
"""Each case on one of the graphs."""

CLOSE_FOR_BEST = 1.6
"""Sections of `best` start from sixteen hierarchies each: sizes are estimated less closely."""


@pytest.mark.parametrize(("name", "case"), RUNS, ids=lambda each: "-".join(
    [each] if isinstance(each, str) else each))
def test_estimates_are_upper_bounds_and_close_by_the_graph(name: str, case: Any) -> None:
    algorithm, preset, machine = case
    # what takes long takes a smaller graph, whose levels keep as many of their arcs
    scale = {"best": 10, "strong": 11}.get(preset, 11 if algorithm == "hm-ultra" else 12)
    graph = portpart.generators.rmat(scale, 8) if name == "rmat" else GRAPHS[name]()
    used = bytes_of_mapping(graph, MACHINES[machine], preset, algorithm)
    for like, most in ((graph, CLOSE_FOR_BEST if preset == "best" else CLOSE), (None, FAR)):
        estimate = portpart.memory_estimate(
            graph.num_vertices, graph.num_arcs, MACHINES[machine], algorithm=algorithm,
            preset=preset, vertex_weights=graph.vertex_weights is not None,
            edge_weights=graph.weights is not None, like=like)
        assert used <= estimate.peak <= most * used


@pytest.mark.parametrize("machine", [*MACHINES.values(), Topology([10] * 4, [1] * 4),
                                     Topology([1], [0])], ids=str)
def test_distances_take_what_is_said(machine: Topology) -> None:
    space = CountingSpace(1)
    distances = distances_on(space, machine)
    arrays = [value for _, value in distances.tables.named() if hasattr(value, "nbytes")]
    assert space.live == distance_bytes(machine) == sum(array.nbytes for array in arrays)


def test_a_machine_of_one_element_takes_a_search_for_one_block() -> None:
    config = MultisectionConfig(partitioner="jet")
    assert [each.num_blocks for each in _searches(config, Topology([1], [0]))] == [1]
    assert [each.num_blocks for each in _searches(config, Topology("4:2", "1:10"))] == [2]


def test_what_cannot_be_mapped_has_no_estimate() -> None:
    with pytest.raises(InputError, match="multisection needs a hierarchy"):
        portpart.memory_estimate(1000, 6000, MACHINES["matrix"], algorithm="hm")


def test_the_table_of_swaps_counts() -> None:
    few, many = (portpart.memory_estimate(10**4, 6 * 10**4, Topology([64, size], [1, 2]))
                 for size in (2, 64))
    assert many.swaps - few.swaps >= 8 * (4096**2 - 128**2)
    assert many.peak == many.swaps
    assert "peak of swaps" in str(many)
    assert "swaps" not in str(portpart.memory_estimate(10**4, 6 * 10**4, 64))


@pytest.mark.parametrize("algorithm", MAPPERS)
def test_estimates_grow_with_the_graph(algorithm: str) -> None:
    machine = MACHINES["three levels"]
    small, large = (portpart.memory_estimate(n, 6 * n, machine, algorithm=algorithm)
                    for n in (10**5, 10**6))
    assert 5 * small.peak < large.peak
    assert portpart.memory_estimate(0, 0, machine, algorithm=algorithm).peak < 2**20


def test_a_mapper_takes_a_machine() -> None:
    with pytest.raises(InputError, match="'im'"):
        portpart.memory_estimate(10, 20, 4, algorithm="im")
    with pytest.raises(InputError, match="'jet'"):
        portpart.memory_estimate(10, 20, Topology("4", "1"), algorithm="jet")


def test_what_cannot_fit_is_refused_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = portpart.generators.grid_2d(2000, 2000)
    machine = Topology("4:8", "1:10")
    monkeypatch.setattr(type(graph.space), "free_bytes", lambda space: 2**28)
    before = graph.space.counters.launches
    with pytest.raises(OutOfMemory, match=r"4000000 vertices to 32 elements .* 256 MiB"):
        portpart.map_processes(graph, topology=machine)
    assert graph.space.counters.launches == before


def test_small_mappings_do_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = portpart.generators.grid_2d(20, 20)
    monkeypatch.setattr(type(graph.space), "free_bytes", lambda space: 0)
    assert portpart.map_processes(graph, "4:2", "1:10").feasible
