"""Odd graphs, weights and numbers of blocks: each gives a true result, balanced where possible."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart.api.call_options import MAX_SEED
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.graph import Graph
from portpart.inputs.convert import as_graph
from tests import oracles
from tests.helpers import checked
from tests.helpers.each import looped
from tests.helpers.graphs import RawGraph, raw_graph, raw_graphs

MESH = delaunay(1500)


def partition(graph: Any, k: int, **options: Any) -> portpart.PartitionResult:
    """The result; checked against plain answers, and no warning unless it is not feasible."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "imbalance=")  # of 5 looks like percents
        result = checked.partition(graph, k, **options)
    assert [w.category for w in caught] == ([] if result.feasible else [UserWarning])
    return result


def edges(n: int, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    raw = raw_graph(n, pairs)
    return raw.offsets, raw.targets


def complete(n: int) -> Any:
    return edges(n, [(i, j) for i in range(n) for j in range(i)])


def complete_bipartite(a: int, b: int) -> Any:
    return edges(a + b, [(i, a + j) for i in range(a) for j in range(b)])


def star(leaves: int) -> Any:
    return edges(leaves + 1, [(0, i) for i in range(1, leaves + 1)])


def path(n: int) -> Any:
    return edges(n, [(i, i + 1) for i in range(n - 1)])


SHAPES = {
    "one vertex": edges(1, []),
    "two vertices": edges(2, [(0, 1)]),
    "no edges": edges(50, []),
    "many isolated": edges(3000, [(0, 1), (1, 2)]),
    "star": star(2000),
    "small star": star(7),
    "clique": complete(60),
    "path": path(2500),
    "ring": edges(1000, [(i, (i + 1) % 1000) for i in range(1000)]),
    "bipartite": complete_bipartite(5, 900),
    "even bipartite": complete_bipartite(40, 40),
    "many cliques": edges(1200, [(c + i, c + j) for c in range(0, 1200, 6)
                                 for i in range(6) for j in range(i)]),
    "binary tree": edges(2047, [(i, (i - 1) // 2) for i in range(1, 2047)]),
    "matching": edges(2000, [(i, i + 1) for i in range(0, 2000, 2)]),
}


@pytest.mark.parametrize("preset", ["fast", "default", "strong"])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str, preset: str) -> None:
    graph = SHAPES[name]
    n = len(graph[0]) - 1
    for k in sorted({1, 2, 3, 17, n - 1, n, n + 1, 3 * n} - {0}):
        result = partition(graph, k, preset=preset)
        assert result.feasible, k


@looped("imbalance", [0, 0.03, 1.0])
@looped("name", SHAPES)
def test_shapes_at_other_imbalances(name: str, imbalance: float) -> None:
    for k in (2, 13):
        assert partition(SHAPES[name], k, imbalance=imbalance).feasible, k


def test_known_cuts() -> None:
    assert partition(SHAPES["path"], 5).cut == 4
    assert partition(SHAPES["ring"], 4).cut == 4
    assert partition(SHAPES["many cliques"], 10).cut == 0
    assert partition(SHAPES["matching"], 8).cut == 0
    assert partition(complete(60), 4, imbalance=0).cut == 6 * 15 * 15
    assert partition(SHAPES["no edges"], 5).cut == 0


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_empty_graph(k: int) -> None:
    result = partition(edges(0, []), k)
    assert len(result.part) == 0
    assert (result.cut, result.imbalance, result.feasible) == (0, 0.0, True)
    assert result.block_weights.tolist() == [0] * k


@pytest.mark.parametrize("extra", [0, 1, 1000])
def test_as_many_blocks_as_vertices_or_more(extra: int) -> None:
    result = partition(MESH, 1500 + extra)
    assert result.feasible
    assert sorted(result.part.tolist()) == list(range(1500))


def test_nearly_as_many_blocks_as_vertices() -> None:
    for k in (1499, 1400, 751, 750):
        assert partition(MESH, k).feasible
        assert partition(MESH, k, imbalance=0).feasible


def test_a_thousand_blocks_of_five_vertices() -> None:
    result = partition(delaunay(5000), 1000)
    assert result.feasible
    assert (result.block_weights > 0).all()
    assert partition(delaunay(5000), 1000, imbalance=0).block_weights.tolist() == [5] * 1000


def test_components_stay_whole_where_they_fit() -> None:
    two = as_graph((np.concatenate([MESH.offsets, MESH.offsets[1:] + MESH.num_arcs]),
                    np.concatenate([MESH.targets, MESH.targets + 1500])))
    result = partition(two, 2)
    assert result.cut == 0


def test_loops_are_ignored_and_parallel_arcs_count_each() -> None:
    with_loops = ([0, 2, 4, 6, 7], [0, 1, 0, 2, 1, 3, 2])
    assert partition(with_loops, 2).cut == 1
    doubled = ([0, 2, 5, 8, 10], [1, 1, 0, 0, 2, 1, 3, 3, 2, 2])
    assert partition(doubled, 2, imbalance=0).cut == 1


def test_an_asymmetric_graph_is_refused_or_symmetrized() -> None:
    directed = ([0, 1, 2, 3, 3], [1, 2, 3])
    with pytest.raises(portpart.InputError, match=r"no reverse arc.*symmetrize"):
        portpart.partition(directed, 2)
    assert portpart.partition(directed, 2, symmetrize=True).cut == 1


def arc_weights(graph: Graph, value: Any) -> np.ndarray:
    """Symmetric weights between 1 and `value`."""
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    low, high = np.minimum(sources, graph.targets), np.maximum(sources, graph.targets)
    return 1 + (low * np.int64(7919) + high * np.int64(104_729)) % value


WEIGHTS: dict[str, dict[str, Any]] = {
    "edges zero": {"edge_weights": np.zeros(MESH.num_arcs, int)},
    "edges beyond 32 bits": {"edge_weights": arc_weights(MESH, 2**45)},
    "edges near 2**62": {"edge_weights": np.full(MESH.num_arcs, 2**62 // MESH.num_arcs)},
    "edges float": {"edge_weights": arc_weights(MESH, 9).astype(np.float64)},
    "edges int8": {"edge_weights": arc_weights(MESH, 100).astype(np.int8)},
    "edges half zero": {"edge_weights": arc_weights(MESH, 2) - 1},
    "vertices beyond 32 bits": {"vertex_weights": 2**40 + np.arange(1500)},
    "vertices near 2**62": {"vertex_weights": np.full(1500, 2**62 // 1500)},
    "vertices float": {"vertex_weights": np.arange(1500) / 1.0},
    "vertices bool": {"vertex_weights": np.arange(1500) % 3 > 0},
    "vertices uint64": {"vertex_weights": np.arange(1500, dtype=np.uint64)},
    "vertices mostly zero": {"vertex_weights": (np.arange(1500) % 50 == 0) * 1},
    "both huge": {"vertex_weights": np.full(1500, 2**51),
                  "edge_weights": np.full(MESH.num_arcs, 2**48)},
}


@looped("imbalance", [0.03, 5])
@looped("k", [2, 7])
@looped("name", WEIGHTS)
def test_weights(name: str, k: int, imbalance: float) -> None:
    assert partition(MESH, k, imbalance=imbalance, **WEIGHTS[name]).feasible


def test_all_vertices_of_weight_zero() -> None:
    result = partition(MESH, 4, vertex_weights=np.zeros(1500, int))
    assert result.feasible
    assert result.max_block_weight_allowed == 0
    assert result.imbalance == 0.0


@pytest.mark.parametrize("graph", [MESH, rmat(10, 8)], ids=["mesh", "rmat"])
def test_the_scale_of_edge_weights_hardly_matters(graph: Graph) -> None:
    def mean_cut(scale: int) -> float:
        weights = arc_weights(graph, 97) * np.int64(scale)
        cuts = [portpart.partition(graph, 16, edge_weights=weights, seed=s).cut for s in range(3)]
        return sum(cuts) / scale

    assert mean_cut(10**9) <= 1.06 * mean_cut(1)


def test_a_vertex_heavier_than_the_limit_is_named() -> None:
    weights = np.ones(144, int)
    weights[17] = 100
    with pytest.warns(UserWarning, match=r"vertex 17 weighs 100, more than the 62 ") as caught:
        result = portpart.partition(grid_2d(12), 4, vertex_weights=weights)
    assert caught[0].filename == __file__
    assert not result.feasible
    assert "out of bounds" in repr(result)
    # the rest is balanced all the same
    others = np.delete(result.block_weights, result.part[17])
    assert others.max() <= result.max_block_weight_allowed


def test_several_vertices_heavier_than_the_limit() -> None:
    weights = np.ones(1500, int)
    weights[[3, 700, 1400]] = [5000, 4000, 4500]
    result = partition(MESH, 8, vertex_weights=weights)
    assert not result.feasible
    heavy = result.part[[3, 700, 1400]]
    assert len(set(heavy.tolist())) == 3
    assert result.block_weights.max() == 5000


def test_a_limit_that_only_one_packing_keeps() -> None:
    """Heaviest first fails: 508 + 594 and 336 + 365 + 378 must be found by search."""
    weights = [336, 508, 365, 594, 378]
    result = partition(path(5), 2, vertex_weights=weights, imbalance=0.011)
    assert result.feasible
    assert sorted(result.block_weights.tolist()) == [1079, 1102]


def test_a_limit_that_no_partition_keeps_is_said_so() -> None:
    with pytest.warns(UserWarning, match="weighs 12, more than the 10 .* imbalance=0.2"):
        result = portpart.partition(path(5), 3, vertex_weights=[6] * 5, imbalance=0)
    assert not result.feasible


@given(raw=raw_graphs(10), k=st.integers(1, 5), seed=st.integers(0, MAX_SEED),
       imbalance=st.sampled_from([0, 0.03, 0.1, 0.34, 1]),
       preset=st.sampled_from(["fast", "default", "strong"]))
@settings(max_examples=150)
def test_small_graphs_are_balanced_or_cannot_be(
    raw: RawGraph, k: int, seed: int, imbalance: float, preset: str
) -> None:
    weights = {"vertex_weights": raw.vertex_weights}
    arrays = (raw.offsets, raw.targets) + (() if raw.weights is None else (raw.weights,))
    result = partition(arrays, k, seed=seed, imbalance=imbalance, preset=preset, **weights)
    if not result.feasible:
        ordered = tuple(sorted(oracles.vertex_weights(raw.graph()), reverse=True))
        assert not oracles.can_be_packed(ordered, (result.max_block_weight_allowed,) * k)


@given(weights=st.lists(st.integers(1, 60), min_size=3, max_size=11), k=st.integers(2, 4),
       imbalance=st.sampled_from([0, 0.03, 0.1]), seed=st.integers(0, 99))
@settings(max_examples=150)
def test_a_few_uneven_vertices_are_balanced_or_cannot_be(
    weights: list[int], k: int, imbalance: float, seed: int
) -> None:
    result = partition(path(len(weights)), k, seed=seed, imbalance=imbalance,
                       vertex_weights=weights)
    fits = oracles.can_be_packed(tuple(sorted(weights, reverse=True)),
                                 (result.max_block_weight_allowed,) * k)
    assert result.feasible == fits


@given(n=st.integers(20, 400), density=st.floats(0.3, 6), k=st.integers(2, 60),
       heavy=st.sampled_from([1, 3, 30, 2**40]), imbalance=st.sampled_from([0.03, 0.1]),
       seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_larger_graphs_are_balanced_unless_a_vertex_is_too_heavy(
    n: int, density: float, k: int, heavy: int, imbalance: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    pairs = random.integers(0, n, (int(density * n), 2))
    weights = random.integers(1, heavy + 1, n)
    raw = raw_graph(n, pairs[pairs[:, 0] != pairs[:, 1]])
    result = partition((raw.offsets, raw.targets), k, vertex_weights=weights,
                       imbalance=imbalance, seed=seed)
    # first fit never fails while every vertex fits into the slack of the lightest block
    slack = result.max_block_weight_allowed - int(weights.sum()) // k
    if weights.max() <= slack:
        assert result.feasible
