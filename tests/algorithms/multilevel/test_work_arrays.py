"""Work arrays grow with the levels of large graphs: the results stay, and the memory is less."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

import portpart
from bench.counting_space import bytes_of_arrays
from portpart import generators
from portpart.algorithms.coarsening.hierarchy import Level
from portpart.algorithms.multilevel import walk
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.partitioners import ALGORITHMS, OF_NETS
from portpart.backends import language as kl
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.programs import arrays as work
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import EitherGraph
from tests.helpers import data_folder
from tests.helpers.refining import copied

EVERY_LEVEL = 64
"""With so little room to begin with, each level of a test's graph has work arrays of its own."""

GRAPHS: dict[str, Callable[[], EitherGraph]] = {
    "mesh": functools.cache(lambda: generators.delaunay(4000)),
    "rmat": functools.cache(lambda: generators.rmat(11, 8)),
    "bcsstk29": functools.cache(lambda: portpart.io.read(data_folder.graph_path("bcsstk29"))),
    "netlist": functools.cache(lambda: generators.netlist(2500)),
}
CALLS = [*((name, algorithm, preset) for name in ("mesh", "rmat") for algorithm, preset in
           [*((each, "default") for each in ALGORITHMS), ("portpart", "strong"), ("jet", "paper")]),
         ("bcsstk29", "portpart", "default"),
         *(("netlist", algorithm, "default") for algorithm in OF_NETS)]
RUNS = [(*call, (2, 24, 70)[i % 3]) for i, call in enumerate(CALLS)]
"""Each call with a number of blocks; those of the same preset on two graphs differ."""


@pytest.fixture
def grows(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let work arrays grow from level to level."""
    return lambda: monkeypatch.setattr(work, "MIN_RESERVED", EVERY_LEVEL)


@pytest.mark.parametrize(("name", "algorithm", "preset", "k"), RUNS)
def test_results_do_not_depend_on_how_much_room_there_is(
    space: ExecutionSpace, grows: Callable[[], None], name: str, algorithm: str, preset: str, k: int
) -> None:
    graph = GRAPHS[name]().to(space)

    def call() -> np.ndarray:
        return copied(portpart.partition(graph, k, algorithm=algorithm, preset=preset).part)

    roomy = call()
    grows()
    assert np.array_equal(call(), roomy)


@pytest.mark.parametrize("name", ["mesh", "netlist"])
def test_homes_and_fixed_vertices_stay_with_their_levels(
    space: ExecutionSpace, grows: Callable[[], None], name: str
) -> None:
    graph = GRAPHS[name]().to(space)
    n, k = graph.num_vertices, 8
    before = np.random.default_rng(1).integers(0, k, n).astype(np.int32)
    fixed = np.where(np.arange(n) % 97 == 0, before, -1)

    def call() -> np.ndarray:
        return copied(portpart.repartition(graph, before, k, fixed=fixed).part)

    roomy = call()
    assert np.array_equal(roomy[fixed >= 0], before[fixed >= 0])
    grows()
    assert np.array_equal(call(), roomy)


def test_a_session_has_all_its_room_from_the_start(grows: Callable[[], None]) -> None:
    def answers() -> list[np.ndarray]:
        session = portpart.Session(generators.grid_2d(60, 60), 6)
        parts = [copied(session.part)]
        for step in range(3):
            batch = session.batch()
            batch.insert_edges(step, 1800 + 7 * step)
            session.apply(batch)
            parts.append(copied(session.part))
        return parts

    roomy = answers()
    grows()
    for mine, theirs in zip(answers(), roomy, strict=True):
        assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["mesh", "netlist"])
def test_a_level_is_given_back_when_the_next_one_is_refined(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made: list[tuple[int, ref[Any]]] = []
    counts: list[tuple[int, int]] = []
    coarsen, refined = walk.coarsen, Trace.refined_level

    def watched(*args: Any, **options: Any) -> list[Level]:
        levels = coarsen(*args, **options)
        if len(levels) > 2:  # a walk, and no start on its coarsest graph
            made.extend((level.graph.num_vertices, ref(next(iter(level.graph.arrays.values()))))
                        for level in levels)
        return levels

    def counted(trace: Trace, depth: int, graph: EitherGraph, outcome: Any) -> None:
        alive = [n for n, array in made if array() is not None]
        counts.append((depth, sum(n <= graph.num_vertices for n in alive)))
        refined(trace, depth, graph, outcome)

    monkeypatch.setattr(walk, "coarsen", watched)
    monkeypatch.setattr(Trace, "refined_level", counted)
    portpart.partition(GRAPHS[name](), 2, preset="fast")
    assert len(counts) > 2
    assert all(number == 1 for _, number in counts)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_growing_takes_less_memory_and_estimates_hold(
    grows: Callable[[], None], algorithm: str
) -> None:
    graph = generators.grid_3d(24)
    preset: Any = "default"
    if algorithm == "gpmetis":  # on a CPU both halves are in one memory
        preset = portpart.GpmetisConfig(handoff_vertices=0)
    roomy = bytes_of_arrays(graph, 8, preset, algorithm)
    grows()
    used = bytes_of_arrays(graph, 8, preset, algorithm)
    assert used < 0.95 * roomy
    estimate, by_sizes = (
        portpart.memory_estimate(graph.num_vertices, graph.num_arcs, 8, like=like,
                                 algorithm=algorithm, preset=preset).peak
        for like in (graph, None))
    assert used <= estimate <= 1.3 * used
    assert used <= by_sizes


def test_calls_begin_by_giving_back_what_is_held_without_use(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def give_back(space: CpuSpace) -> int:
        asked.append(space.name)
        return 0

    monkeypatch.setattr(CpuSpace, "give_back", give_back)
    portpart.partition(GRAPHS["mesh"](), 2, device="cpu")
    assert asked == ["cpu"]
    portpart.map_processes(GRAPHS["mesh"](), "2:2", "1:10", device="cpu")
    assert asked == ["cpu", "cpu"]


def test_blocks_keep_what_they_hold_when_arrays_grow(space: ExecutionSpace) -> None:
    class Numbers(kl.Record):
        of_items: Any = kl.work(np.int32, lambda size: size)
        of_blocks: Any = kl.work(np.int64, lambda size: 3, zeros=True)

    numbers = Numbers.allocate(space, 10)
    numbers.of_blocks[:] = 7
    without = numbers.lasting(10, 20)
    assert without.of_items is None
    assert without.of_blocks is numbers.of_blocks
    grown = without.completed(space, 20)
    assert len(grown.of_items) == 20
    assert copied(grown.of_blocks).tolist() == [7, 7, 7]
    assert grown.completed(space, 20) is grown
