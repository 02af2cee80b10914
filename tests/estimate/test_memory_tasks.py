"""Estimates of walks that take place at the same time, each on one thread."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

import portpart
from bench.counting_space import CountingSpace
from bench.recipes import copied, run
from portpart import generators
from portpart.algorithms.multilevel.trace import Trace
from portpart.errors import InputError
from portpart.estimate import SizingSpace
from portpart.estimate.space import Shrinking

MESH, NETS = generators.delaunay(5000), generators.netlist(4000)


@pytest.mark.parametrize(("threads", "max_concurrent", "others"), [
    (1, 9, 0), (3, 9, 2), (9, 9, 4), (9, 2, 1)])
def test_a_task_is_counted_once_for_each_thread(threads: int, max_concurrent: int,
                                                others: int) -> None:
    """Each of five takes 300 kB, of which a third remains."""
    space = SizingSpace(Shrinking((1, 1)), threads)

    def task(number: int) -> Any:
        work = space.empty(200_000, np.int8)
        result = space.empty(100_000, np.int8)
        assert space.live == (number + 2) * 100_000 + 100_000 + others * (number > 0) * 300_000
        del work
        return result

    results = list(space.run_tasks([partial(task, each) for each in range(5)], max_concurrent))
    assert space.live == 5 * 100_000
    assert space.most == 400_000 + (1 + others) * 300_000
    assert len(results) == 5


class LockedSpace(CountingSpace):
    """Counts the arrays of several threads."""

    lock = threading.RLock()

    def _counted(self, array: np.ndarray) -> Any:
        with self.lock:
            return super()._counted(array)


@pytest.mark.parametrize("graph", [MESH, NETS], ids=["graph", "hypergraph"])
@pytest.mark.parametrize("preset", ["strong", "best"])
def test_estimates_are_upper_bounds_with_any_number_of_threads(
    graph: Any, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portpart.backends.cpu.space.available_threads", lambda: 4)
    estimates = {}
    for threads in (1, 2, 4):
        space = LockedSpace(threads)
        run(copied(graph, space), 8, "portpart", preset, 1, Trace(space, MESH, None), 0)
        estimate = portpart.memory_estimate(like=graph, k=8, preset=preset, threads=threads)
        assert space.peak <= estimate.peak
        estimates[threads] = estimate.peak - estimate.graph
    walks = 1 if (preset, graph) == ("strong", MESH) else 2 if preset == "strong" else 4
    assert estimates[4] <= walks * estimates[1]
    assert estimates[4] > 0.7 * walks * estimates[1]
    assert estimates[1] <= estimates[2] <= estimates[4]


def test_mappings_and_edges_have_walks_at_the_same_time_too() -> None:
    machine = portpart.Topology("2:4", "1:10")
    for wanted in ({"k": machine, "preset": "best"}, {"k": 4, "edges": True, "preset": "strong"}):
        one, four = (portpart.memory_estimate(like=MESH, threads=threads, **wanted).peak
                     for threads in (1, 4))
        assert one < four <= 4 * one


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
def test_the_number_of_threads_is_checked(threads: Any) -> None:
    with pytest.raises(InputError, match="threads"):
        portpart.memory_estimate(100, 400, 2, threads=threads)
