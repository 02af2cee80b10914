"""The estimate of memory against the bytes of the arrays that a run really makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portpart
from bench.counting_space import CountingSpace, bytes_of_arrays
from portpart import GpmetisConfig, generators
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.partitioners import ALGORITHMS, lookup
from portpart.algorithms.refinement.state import Sizes
from portpart.api.memory_model import MOST, NEEDS
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import data_folder
from tests.algorithms.refining import balance_of


def weighted_grid() -> Graph:
    grid = generators.grid_2d(150, 150)
    tails = np.repeat(np.arange(22500), np.diff(grid.offsets))
    return portpart.as_graph(grid, vertex_weights=np.arange(22500) % 5,
                             edge_weights=(tails + grid.targets) % 9)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "mesh": lambda: generators.delaunay(20_000),
    "weighted grid": weighted_grid,
    "cube": lambda: generators.grid_3d(28),
    "rmat": lambda: generators.rmat(14, 8),
}


DEFAULTS: dict[str, Any] = dict.fromkeys(ALGORITHMS, "default")
# on a CPU both halves are in one memory: what is handed over has to be small
DEFAULTS["gpmetis"] = changed(GpmetisConfig(handoff_vertices=0), {"coarsening.max_coarsest": 2048})
CASES = [("portpart", "fast", 64), ("portpart", "strong", 64), ("portpart", "best", 64),
         ("gkway", "strong", 64), *((name, preset, k) for name, preset in DEFAULTS.items()
                                    for k in (2, 64, 1000))]  # fmt: skip
WORST = ("musae_github", "gemsec_deezer_HU", "epfl_log2", "luxembourg_osm")
"""Real graphs whose levels keep most arcs, or most vertices."""


def used_and_estimated(graph: Graph, algorithm: str, preset: Any, k: int,
                       **options: float) -> tuple[int, int]:
    """Bytes that the arrays of a run take, and those that the estimate allows."""
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, algorithm=algorithm, preset=preset,
        vertex_weights=graph.vertex_weights is not None, edge_weights=graph.weights is not None,
        **options,
    )  # fmt: skip
    return bytes_of_arrays(graph, k, preset, algorithm), estimate.peak


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_is_an_upper_bound_within_a_factor_of_two(name: str, case: tuple) -> None:
    used, estimated = used_and_estimated(GRAPHS[name](), *case)
    assert 0.5 * estimated <= used <= estimated


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", WORST)
def test_estimate_holds_where_graphs_hardly_shrink(name: str, algorithm: str) -> None:
    graph = portpart.io.read(data_folder.graph_path(name))
    for k in (2, 64):
        used, estimated = used_and_estimated(graph, algorithm, DEFAULTS[algorithm], k)
        assert 0.5 * estimated <= used <= estimated


@pytest.mark.parametrize("name", ["mesh", "cube"])
def test_estimate_for_meshes_is_closer(name: str) -> None:
    shrink = {"mesh": 0.45, "cube": 0.6}[name]
    for k in (2, 64):
        used, estimated = used_and_estimated(GRAPHS[name](), "portpart", "default", k,
                                             arc_shrink=shrink)
        assert used <= estimated <= 1.4 * used


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_bytes_per_vertex_of_refinement_are_those_of_its_arrays(algorithm: str) -> None:
    def bytes_of_refiner(n: int) -> int:
        space = CountingSpace(1)
        graph = portpart.as_graph((np.zeros(n + 1, np.int32), np.zeros(0, np.int32)), space=space)
        config, before = ALGORITHMS[algorithm].preset("default"), space.live
        problem = Problem(graph, balance_of(graph, 2), 1, Trace(space, graph, None))
        refiner = ALGORITHMS[algorithm].recipe(problem, config).refiner(1)
        assert refiner.best is not None
        return space.live - before

    per_vertex = (bytes_of_refiner(2**15) - bytes_of_refiner(2**14)) / 2**14
    needs = NEEDS.get(algorithm, MOST).refinement
    estimated = (needs(Sizes(2**15, 0, 2)) - needs(Sizes(2**14, 0, 2))) / 2**14
    assert per_vertex < estimated + 0.2
    assert per_vertex >= estimated or algorithm not in NEEDS


@pytest.mark.parametrize("contraction", ["hash", "sort"])
@pytest.mark.parametrize("k", [2, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_holds_for_both_contractions(name: str, k: int, contraction: str) -> None:
    config = GpmetisConfig(contraction=contraction, handoff_vertices=0)
    used, estimated = used_and_estimated(GRAPHS[name](), "gpmetis", config, k)
    assert used <= estimated


@pytest.mark.parametrize(("algorithm", "preset"), [("jet", "fast"), ("portpart", "strong"),
                                                   ("gkway", "strong"), ("gpmetis", "strong")])
def test_memory_is_given_back(algorithm: str, preset: str) -> None:
    space = CountingSpace(1)
    graph = generators.delaunay(5000).to(space)
    run, config = lookup(algorithm, preset)
    run(Problem(graph, balance_of(graph, 8), 1, Trace(space, graph, None)), config)
    assert space.live == 0
    assert space.peak > 0


def test_estimate_grows_with_weights_and_wide_offsets() -> None:
    plain = portpart.memory_estimate(10**6, 6 * 10**6, 8)
    weighted = portpart.memory_estimate(10**6, 6 * 10**6, 8, vertex_weights=True,
                                        edge_weights=True, offset_bytes=8)
    assert weighted.graph - plain.graph == 8 * 10**6 + 4 * 6 * 10**6 + 4 * (10**6 + 1)
    assert weighted.peak > plain.peak


def test_estimate_of_a_huge_graph_counts_wide_offsets() -> None:
    estimate = portpart.memory_estimate(10**8, 3 * 10**9, 64)
    assert estimate.graph == 8 * (10**8 + 1) + 4 * 3 * 10**9
    assert "GiB" in str(estimate)


def test_estimate_of_nothing_is_small() -> None:
    assert portpart.memory_estimate(0, 0, 1).peak < 2**20


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [((-1, 0, 1), {}, "num_vertices is -1"), ((1, 0, 0), {}, "k is 0"),
     ((1, 0, 1), {"arc_shrink": 1.0}, "arc_shrink is 1.0")],
)  # fmt: skip
def test_bad_sizes_are_refused(arguments: tuple, options: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        portpart.memory_estimate(*arguments, **options)
