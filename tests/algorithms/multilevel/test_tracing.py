"""What a run reports of the work on each level."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.coarsening import small_levels
from portpart.algorithms.recipes.jet import JetConfig
from portpart.algorithms.recipes.partitioners import ALGORITHMS, OF_NETS
from tests import oracles
from tests.helpers.graphs import raw_graph

WORK = ("launches", "synchronizations", "seconds")


@pytest.mark.parametrize(("algorithm", "preset"), [
    ("jet", "fast"), ("jet", "default"), ("jet", "ultra"), ("portpart", "strong")])
def test_work_of_the_levels_adds_up_to_that_of_the_run(algorithm: str, preset: str) -> None:
    stats = portpart.partition(generators.delaunay(3000), 4, algorithm=algorithm,
                               preset=preset).stats
    assert ("search" in stats["phases"]) == (algorithm == "portpart")
    phases = set(stats["phases"])
    charged = [level[phase] for level in stats["levels"] for phase in phases & set(level)]
    for name in WORK[:2]:
        assert sum(work[name] for work in charged) == stats[name]
    seconds = sum(work["seconds"] for work in charged)
    assert seconds == pytest.approx(sum(stats["phases"].values()), rel=0.1)


@pytest.mark.parametrize("max_vertices", [0, 2**12])
def test_every_level_tells_its_coarsening_and_refinement(monkeypatch: pytest.MonkeyPatch,
                                                         max_vertices: int) -> None:
    """Launches of levels that one program makes count with the first of them."""
    monkeypatch.setattr(small_levels, "MAX_SIZES", {False: (max_vertices, 2**20)})
    levels = portpart.partition(generators.delaunay(3000), 4).stats["levels"]
    assert len(levels) > 2
    for level in levels:
        assert set(level["refinement"]) == set(WORK)
        assert level["refinement"]["launches"] > 0
    made = [level["coarsening"]["launches"] > 0 for level in levels[:-1]]
    assert made == [not max_vertices or number == 0 for number in range(len(made))]
    assert "initial" in levels[-1]
    assert "finish" in levels[0]


@pytest.mark.parametrize(("nets", "algorithm"), [
    *((False, name) for name in ALGORITHMS), *((True, name) for name in OF_NETS)])
def test_every_algorithm_tells_what_the_page_of_results_promises(nets: bool,
                                                                 algorithm: str) -> None:
    grid = generators.grid_2d(30)
    graph = portpart.as_hypergraph(grid.to_scipy(), model="row-net") if nets else grid
    for preset in (OF_NETS if nets else ALGORITHMS)[algorithm].presets:
        result = portpart.partition(graph, 4, algorithm=algorithm, preset=preset)
        stats = result.stats
        assert stats["device"] == "cpu"
        assert set(stats["phases"]) - {"search"} == {"coarsening", "initial", "refinement",
                                                     "finish"}
        assert stats["launches"] > 0
        assert stats["synchronizations"] == 0
        assert stats["cuts"][-1] == (result.km1 if nets else result.cut)
        assert stats["repaired"] == 0
        ((by, count),) = stats["starts"].items()
        assert by in ("grown", "metis")
        assert count > 0
        sizes = {"vertices", "nets", "pins"} if nets else {"vertices", "arcs"}
        for level in stats["levels"]:
            assert set(level) >= sizes | {"iterations", "cut", "refinement"}
        assert stats["irregularities" if nets else "weight_scale"] is not None


def test_a_partition_that_needs_no_algorithm_has_one_level() -> None:
    stats = portpart.partition(generators.grid_2d(3, 3), 1).stats
    assert [level["vertices"] for level in stats["levels"]] == [9]


@pytest.mark.parametrize(("algorithm", "preset"), [
    ("portpart", "fast"), ("portpart", "strong"), ("jet", "fast"), ("gkway", "default"),
    ("gpmetis", "default")])
def test_progress_hears_of_the_start_and_of_the_end(algorithm: str, preset: str) -> None:
    mesh, calls = generators.delaunay(3000), []
    told = portpart.partition(mesh, 4, algorithm=algorithm, preset=preset,
                              progress=lambda *call: calls.append(call))
    phases = [phase for phase, _ in groupby(calls, key=lambda call: call[0])]
    search = ["search"] if len(told.stats["cuts"]) > 1 else []
    assert phases == ["coarsening", "initial", "refinement", *search, "finish", "done"]
    count = len([call for call in calls if call[0] == "coarsening"])
    assert [call for call in calls if call[0] in ("initial", "finish", "done")] == [
        ("initial", count - 1, count), *[(phase, 0, calls[-1][2]) for phase in ("finish", "done")]]
    assert calls[0] == ("coarsening", 0, 1)
    quiet = portpart.partition(mesh, 4, algorithm=algorithm, preset=preset)
    assert np.array_equal(told.part, quiet.part)


def counts(stats: dict[str, Any]) -> tuple[Any, ...]:
    """What a call reports of its work but times."""
    levels = [{name: {key: value for key, value in work.items() if key != "seconds"}
               if isinstance(work, dict) else work for name, work in level.items()}
              for level in stats["levels"]]
    return stats["launches"], stats["synchronizations"], levels


def test_calls_in_other_threads_are_not_counted() -> None:
    jobs = [(generators.delaunay(1500 + 700 * i), 2 + 3 * i) for i in range(4)]
    alone = [counts(portpart.partition(*job).stats) for job in jobs]
    assert len({launches for launches, _, _ in alone}) > 1
    with ThreadPoolExecutor(len(jobs)) as pool:
        together = list(pool.map(lambda job: counts(portpart.partition(*job).stats), jobs * 2))
    assert together == alone * 2


def test_calls_inside_progress_are_not_counted() -> None:
    mesh, small = generators.delaunay(2000), generators.grid_2d(20, 20)

    def partition_too(*_: Any) -> None:
        portpart.partition(small, 3)

    alone = portpart.partition(mesh, 4, progress=lambda *_: None).stats
    assert counts(portpart.partition(mesh, 4, progress=partition_too).stats) == counts(alone)


@pytest.mark.parametrize(("weights", "k", "needed"), [
    ([6, 5, 6, 3, 5, 7, 4], 2, True), ([5, 3, 3, 6, 5, 5, 3, 7, 4], 3, True), ([1] * 60, 3, False)])
def test_a_result_tells_how_many_vertices_moved_for_the_bounds_alone(
    weights: list[int], k: int, needed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without repair there is what refinement has found."""
    n = len(weights)
    graph = raw_graph(n, [(i, (i + 1) % n) for i in range(n)], vertex_weights=weights).graph()
    result = portpart.partition(graph, k, imbalance=0, preset=JetConfig())
    monkeypatch.setattr("portpart.api.request.enforce_limits", lambda graph, part, balance, *_: (
        part, np.array(oracles.block_weights(graph, part, k))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = portpart.partition(graph, k, imbalance=0, preset=JetConfig())
    assert result.feasible
    assert found.feasible != needed
    assert result.stats["repaired"] == int((found.part != result.part).sum())
    assert found.stats["repaired"] == 0
