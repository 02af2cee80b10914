"""The estimate of memory against the bytes of the arrays that a run really makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import portpart
from bench.counting_space import CountingSpace, bytes_of_arrays
from portpart import GkwayConfig, GpmetisConfig, generators
from portpart.algorithms.tracing import Trace
from portpart.errors import InputError
from portpart.graph import Graph
from portpart.presets import lookup
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


@pytest.mark.parametrize("k", [2, 64, 1000])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_is_an_upper_bound_within_a_factor_of_two(name: str, k: int) -> None:
    graph = GRAPHS[name]()
    used = bytes_of_arrays(graph, k, "default")
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, vertex_weights=graph.vertex_weights is not None,
        edge_weights=graph.weights is not None,
    )  # fmt: skip
    assert 0.5 * estimate.peak <= used <= estimate.peak


@pytest.mark.parametrize("preset", ["default", "best"])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_holds_for_clusters_and_searches(name: str, preset: str) -> None:
    graph = GRAPHS[name]()
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, 64, vertex_weights=graph.vertex_weights is not None,
        edge_weights=graph.weights is not None,
    )  # fmt: skip
    assert bytes_of_arrays(graph, 64, preset, "portpart") <= estimate.peak


@pytest.mark.parametrize("k", [2, 64, 300])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_holds_for_groups(name: str, k: int) -> None:
    graph = GRAPHS[name]()
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, vertex_weights=graph.vertex_weights is not None,
        edge_weights=graph.weights is not None,
    )  # fmt: skip
    without_grown = GkwayConfig(start="metis")  # what those take is not part of the estimate
    assert bytes_of_arrays(graph, k, without_grown, "gkway") <= estimate.peak


@pytest.mark.parametrize("contraction", ["hash", "sort"])
@pytest.mark.parametrize("k", [2, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_holds_for_both_contractions(name: str, k: int, contraction: str) -> None:
    graph = GRAPHS[name]()
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, vertex_weights=graph.vertex_weights is not None,
        edge_weights=graph.weights is not None,
    )  # fmt: skip
    config = GpmetisConfig(start="metis", contraction=contraction, handoff_vertices=0)
    assert bytes_of_arrays(graph, k, config, "gpmetis") <= estimate.peak


@pytest.mark.parametrize(("algorithm", "preset"), [("jet", "fast"), ("portpart", "strong"),
                                                   ("gkway", "strong"), ("gpmetis", "strong")])
def test_memory_is_given_back(algorithm: str, preset: str) -> None:
    space = CountingSpace(1)
    graph = generators.delaunay(5000).to(space)
    run, config = lookup(algorithm, preset)
    run(graph, balance_of(graph, 8), 0.03, config, 1, Trace(space, graph, None))
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
