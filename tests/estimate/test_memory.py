"""The estimate of memory against the bytes of the arrays that a run really makes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import portpart
from bench.counting_space import CountingSpace, bytes_of_arrays
from portpart import generators
from portpart.algorithms.coarsening import row_pieces
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.gpmetis import GpmetisConfig
from portpart.algorithms.recipes.partitioners import ALGORITHMS, lookup
from portpart.algorithms.recipes.portpart import PortpartConfig
from portpart.errors import InputError
from portpart.estimate import calls
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests.helpers import data_folder
from tests.helpers.refining import balance_of


def weighted_grid() -> Graph:
    grid = generators.grid_2d(150, 150)
    tails = np.repeat(np.arange(22500), np.diff(grid.offsets))
    return portpart.as_graph(grid, vertex_weights=np.arange(22500) % 5,
                             edge_weights=(tails + grid.targets) % 9)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "mesh": functools.cache(lambda: generators.delaunay(20_000)),
    "weighted grid": functools.cache(weighted_grid),
    "cube": functools.cache(lambda: generators.grid_3d(28)),
    "rmat": functools.cache(lambda: generators.rmat(14, 8)),
}


@functools.cache
def real_graph(name: str) -> Graph:
    return portpart.io.read(data_folder.graph_path(name))


DEFAULTS: dict[str, Any] = dict.fromkeys(ALGORITHMS, "default")
# on a CPU both halves are in one memory: what is handed over has to be small
DEFAULTS["gpmetis"] = changed(GpmetisConfig(handoff_vertices=0), {"coarsening.max_coarsest": 2048})
CASES = [("portpart", "fast", 64), ("portpart", "strong", 64), ("portpart", "best", 64),
         ("portpart", "best", 2),
         ("gkway", "strong", 64), ("gkway", "paper", 64), ("gpmetis", "paper", 64),
         ("jet", "paper", 64),
         *((name, preset, k) for name, preset in DEFAULTS.items() for k in (2, 64, 1000))]
RUNS = [(name, case) for i, name in enumerate(GRAPHS) for j, case in enumerate(CASES)
        if (i + j) % 4 == 0 or (case[0] == "portpart" and (i + j) % 2 == 0)]
"""Each case on one of the graphs, those of portpart on two."""

WORST = ("musae_github", "gemsec_deezer_HU", "epfl_log2", "luxembourg_osm")
"""Real graphs whose levels keep most arcs, or most vertices."""
OTHERS = ("rome99", "wiki-Vote", "ego-Facebook", "motorbike", "tv80_pins", "bcsstk29")
"""Real graphs that are small, dense, or shrink fast."""
CLOSE, FAR = 1.3, 2
"""So many times the bytes in use are at most estimated, by the graph and from sizes alone."""

FAR_FOR_FEW = 5
"""From sizes alone for up to 8 blocks, whose starts grow on copies of the coarsest graph: its arcs
are what sizes tell least about.
"""


def peak_of(graph: Graph, algorithm: str, preset: Any, k: int, **options: Any) -> int:
    """Bytes that are estimated for a graph."""
    return portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, algorithm=algorithm, preset=preset,
        vertex_weights=graph.vertex_weights is not None, edge_weights=graph.weights is not None,
        **options,
    ).peak  # fmt: skip


def assert_close(graph: Graph, algorithm: str, preset: Any, k: int) -> int:
    """Bytes that the arrays of a run take, which the estimate by the graph exceeds by little."""
    used = bytes_of_arrays(graph, k, preset, algorithm)
    assert used <= peak_of(graph, algorithm, preset, k, like=graph) <= CLOSE * used
    return used


@pytest.mark.parametrize(("name", "case"), RUNS, ids=lambda each: each if isinstance(each, str)
                         else f"{each[0]}-{each[2]}")
def test_estimates_are_upper_bounds_and_close_by_the_graph(name: str, case: tuple) -> None:
    graph = GRAPHS[name]()
    used = assert_close(graph, *case)
    assert used <= peak_of(graph, *case) <= (FAR if case[2] > 8 else FAR_FOR_FEW) * used


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", WORST)
def test_estimates_hold_where_graphs_hardly_shrink(name: str, algorithm: str) -> None:
    graph = real_graph(name)
    k = (2, 64)[(WORST.index(name) + list(ALGORITHMS).index(algorithm)) % 2]
    used = assert_close(graph, algorithm, DEFAULTS[algorithm], k)
    assert used <= peak_of(graph, algorithm, DEFAULTS[algorithm], k) <= FAR * used


@pytest.mark.parametrize(("name", "algorithm"), [
    (name, algorithm) for i, name in enumerate(OTHERS) for j, algorithm in enumerate(ALGORITHMS)
    if (i + j) % 2 == 0 or algorithm == "portpart"])
def test_estimates_by_the_graph_are_close_for_real_graphs(name: str, algorithm: str) -> None:
    graph = real_graph(name)
    used = assert_close(graph, algorithm, "default", 64)
    assert used <= peak_of(graph, algorithm, "default", 64)


def star() -> np.ndarray:
    return np.stack([np.zeros(4999, np.int64), np.arange(1, 5000)])


def random_edges() -> np.ndarray:
    """Edges of a graph without structure: levels keep nearly all arcs until they are dense."""
    return np.random.default_rng(1).integers(0, 6000, (2, 60_000))


def cliques() -> np.ndarray:
    """Edges of cliques of 40 vertices, of which nothing is left on the second or third level."""
    pairs = np.stack(np.triu_indices(40, 1))
    return np.concatenate([pairs + 40 * clique for clique in range(100)], axis=1)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("edges", [star, random_edges, cliques])
def test_estimates_by_the_graph_are_close_where_levels_shrink_oddly(
    edges: Callable[[], np.ndarray], algorithm: str
) -> None:
    tails, heads = edges()
    n = 1 + int(max(tails.max(), heads.max()))
    matrix = coo_array((np.ones(len(tails), np.int32), (tails, heads)), shape=(n, n))
    graph = portpart.as_graph((matrix + matrix.T).tocsr())
    assert_close(graph, algorithm, "default", 16)


@pytest.mark.parametrize(("algorithm", "k"), [("portpart", 64), ("jet", 2), ("gkway", 8)])
def test_a_smaller_graph_of_the_kind_tells_how_levels_shrink(algorithm: str, k: int) -> None:
    for make in (generators.delaunay, generators.random_geometric):
        graph = make(60_000)
        used = bytes_of_arrays(graph, k, "default", algorithm)
        assert used <= peak_of(graph, algorithm, "default", k, like=make(12_000)) <= CLOSE * used


@pytest.mark.parametrize("name", ["mesh", "cube"])
def test_estimate_for_meshes_is_closer(name: str) -> None:
    shrink = {"mesh": 0.45, "cube": 0.6}[name]
    for k in (2, 64):
        used = bytes_of_arrays(GRAPHS[name](), k, "default", "portpart")
        estimated = peak_of(GRAPHS[name](), "portpart", "default", k, arc_shrink=shrink)
        assert used <= estimated <= (1.4 if k > 8 else 1.5) * used


def test_several_runs_have_a_wider_margin() -> None:
    """The largest levels of several runs are larger than those of a dry run."""
    found = [calls.margin_for(changed(PortpartConfig(), each))
             for each in ({}, {"search.runs": 2}, {"search.max_runs": 2})]
    assert found == [calls.MARGIN, calls.RUNS_MARGIN, calls.RUNS_MARGIN]


def with_little_scratch(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", limit)


@pytest.mark.parametrize("algorithm", ["portpart", "gkway"])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimates_hold_where_rows_are_made_piece_by_piece(
    name: str, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On graphs so small the peak is that of refinement: all levels, with what they have spare."""
    graph = GRAPHS[name]()
    whole = bytes_of_arrays(graph, 64, "default", algorithm)
    with_little_scratch(monkeypatch, 2**17)
    assert assert_close(graph, algorithm, "default", 64) <= (1 + row_pieces.MAX_SPARE) * whole


@pytest.mark.parametrize("k", [2, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_estimate_holds_without_a_handoff(name: str, k: int) -> None:
    config = GpmetisConfig(handoff_vertices=0)
    assert_close(GRAPHS[name](), "gpmetis", config, k)


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


def test_weights_of_a_huge_graph_are_wide() -> None:
    """Without weights the arcs of 1 and more add up to 2^31 and more: sums are int64."""
    arcs = 2**31
    default, narrow, wide = (portpart.memory_estimate(10**8, arcs, 64, weight_bytes=width)
                             for width in (None, 4, 8))
    assert default == wide
    assert wide.graph == narrow.graph
    assert wide.hierarchy - narrow.hierarchy > 4 * arcs
    narrow, default = (portpart.memory_estimate(10**8, arcs - 1, 64, weight_bytes=width)
                       for width in (4, None))
    assert default == narrow


def test_estimate_of_nothing_is_small() -> None:
    assert portpart.memory_estimate(0, 0, 1).peak < 2**20


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [((-1, 0, 1), {}, "num_vertices is -1"), ((1, 0, 0), {}, "k is 0"),
     ((1, 0, 1), {"arc_shrink": 1.0}, "arc_shrink is 1.0"),
     (("many",), {}, "num_vertices is 'many'"), ((1, 0, "4:8"), {}, "k is '4:8'"),
     ((), {"like": csr_array(np.eye(3))}, "like is of type csr")],
)  # fmt: skip
def test_bad_sizes_are_refused(arguments: tuple, options: dict, text: str) -> None:
    with pytest.raises(InputError, match=text):
        portpart.memory_estimate(*arguments, **options)


@pytest.mark.parametrize("k", [2, 16])
def test_a_population_is_in_the_estimate(k: int) -> None:
    """Also where it takes much in comparison to all else."""
    graph = GRAPHS["mesh"]()
    preset = changed(portpart.PortpartConfig(), {"search.population": 100})
    used = bytes_of_arrays(graph, k, preset, "portpart", rounds=4)
    estimated = peak_of(graph, "portpart", preset, k, like=graph, rounds=4)
    assert used <= estimated <= CLOSE * used
    assert estimated > 100 * 4 * graph.num_vertices
    assert estimated > peak_of(graph, "portpart", preset, k, like=graph)


@pytest.mark.parametrize(("options", "message"), [
    ({"preset": "fast"}, "preset 'fast' has no population"), ({"algorithm": "jet"}, "'jet'"),
    ({"preset": "best", "ranks": 2}, "not for ranks"),
    ({"preset": "best", "session": True}, "not for ranks, sessions"),
    ({"preset": "best", "rounds": 0}, "rounds is 0")])
def test_rounds_of_what_has_none_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.memory_estimate(1000, 4000, 4, **{"rounds": 3, **options})
