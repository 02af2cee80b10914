"""Walks from scratch at the same time: what a call returns, reports and records is the same."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel import Partition, SearchOptions
from portpart.algorithms.multilevel.search import (
    MANY_RUNS_WORK,
    concurrent_runs,
    runs_together,
    search,
)
from portpart.backends.cpu import CpuSpace
from tests.algorithms.multilevel.test_rounds import problem_of

NETS = generators.netlist(800)
MESH = generators.delaunay(900)


@pytest.fixture(autouse=True)
def several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portpart.backends.cpu.space.available_threads", lambda: 4)


def without_times(stats: Any) -> Any:
    """What a call reports but times."""
    if isinstance(stats, dict):
        return {name: without_times(value) for name, value in stats.items()
                if name not in ("seconds", "phases")}
    return [without_times(each) for each in stats] if isinstance(stats, list) else stats


@pytest.mark.parametrize(("graph", "preset", "options"), [
    (NETS, "strong", {}), (NETS, "best", {}), (MESH, "best", {}),
    (NETS, "best", {"fixed": {0: 2, 5: 1}}), (MESH, "best", {"rounds": 3}),
    (MESH, "best", {"objective": "volume"}),
], ids=["strong", "best", "graph", "fixed", "rounds", "volume"])
def test_partitions_and_statistics_do_not_depend_on_threads(graph: Any, preset: str,
                                                            options: dict[str, Any]) -> None:
    one, two, four = (portpart.partition(graph.to(CpuSpace(threads)), 3, preset=preset, seed=4,
                                         **options) for threads in (1, 2, 4))
    for other in (two, four):
        assert np.array_equal(one.part, other.part)
        assert without_times(one.stats) == without_times(other.stats)
        assert set(one.stats["phases"]) == set(other.stats["phases"])
    assert len(one.stats["cuts"]) > 2


def test_mappings_do_not_depend_on_threads() -> None:
    one, three = (portpart.map_processes(MESH.to(CpuSpace(threads)), [2, 3], [1, 10], preset="best",
                                         algorithm="im") for threads in (1, 3))
    assert np.array_equal(one.part, three.part)
    assert one.cost == three.cost


def test_progress_is_reported_by_the_calling_thread() -> None:
    """In the phases of a search on one thread."""
    calls: dict[int, list[tuple[str, int]]] = {}
    for threads in (1, 3):
        calls[threads] = []

        def progress(phase: str, level: int, _: int, here: int = threads) -> None:
            assert threading.current_thread() is threading.main_thread()
            calls[here].append((phase, level))

        portpart.partition(NETS.to(CpuSpace(threads)), 4, preset="best", progress=progress)
    first = {threads: [call for call in told if call[0] != "search"]
             for threads, told in calls.items()}
    assert first[1] == first[3]
    assert [phase for phase, _ in calls[3]].count("search") > 0


def test_an_error_in_progress_ends_all_walks() -> None:
    def progress(phase: str, *_: int) -> None:
        if phase == "refinement":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        portpart.partition(NETS.to(CpuSpace(4)), 4, preset="best", progress=progress)
    assert not [each for each in threading.enumerate() if each.name.startswith("portpart")]


@pytest.mark.parametrize(("max_concurrent", "threads"), [(1, 1), (2, 2), (5, 4)])
def test_the_best_after_each_walk_is_told_in_the_order_of_the_walks(max_concurrent: int,
                                                                    threads: int) -> None:
    problem = problem_of(MESH, CpuSpace(4))
    values, used, told = {1: 50, 10**9 + 1: 40, 2 * 10**9 + 1: 45, 3 * 10**9 + 1: 30}, set(), []
    arrived = threading.Barrier(threads)

    def walk(seed: int, part: Any = None, label: Any = None) -> Partition:
        if part is not None:
            return Partition(part, 1, 99)  # worse than its parents
        arrived.wait(60)
        used.add(threading.get_ident())
        return Partition(np.full(MESH.num_vertices, values[seed], np.int32), 1, values[seed])

    part = search(problem, [walk], SearchOptions(runs=4),
                  lambda found: told.append(found.value), max_concurrent=max_concurrent)
    assert told == [50, 40, 40, 30, 30, 30, 30]
    assert part[0] == 30
    assert len(used) == threads


def test_walks_at_once_process_as_much_as_runs_of_a_small_graph() -> None:
    """A vertex counts as eight arcs or pins."""
    for graph in (MESH, NETS, generators.grid_2d(800)):
        work = graph.num_entries + 8 * graph.num_vertices
        count = runs_together(graph)
        assert count * work <= MANY_RUNS_WORK < (count + 1) * work
    assert runs_together(generators.grid_2d(800)) == 0


def test_tiny_graphs_have_one_walk_at_a_time() -> None:
    """Those of which a walk takes little more than its Python code."""
    for tiny, small in ((generators.delaunay(60), generators.delaunay(100)),
                        (generators.netlist(80), generators.netlist(100))):
        assert concurrent_runs(tiny) == 1 < concurrent_runs(small)
