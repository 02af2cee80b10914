"""G-kway's union-find: what is selected by a plain loop, components as SciPy finds them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import portpart
from portpart.algorithms.coarsening.groups import linked_groups
from portpart.algorithms.recipes.gkway import PRESETS
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d, grid_3d, random_geometric
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import oracles
from tests.algorithms.coarsening.test_matching import tie
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import drawn_graphs, graphs, random_graph, raw_graph
from tests.helpers.spaces import GRAPHS, NO_LIMIT, number_of, with_int64_offsets

SEED = 5


def components(space: ExecutionSpace, graph: Graph, limit: int = NO_LIMIT,
               factor: int | None = None, label: Any = None, ties: str = "first") -> np.ndarray:
    label = None if label is None else space.asarray(label, np.int32)
    clusters = linked_groups(graph.to(space), limit, SEED, None, factor, label, ties)
    found = oracles.host(clusters.cluster).copy()
    assert number_of(clusters) == len(set(found.tolist()))
    return found


def selections(graph: Graph, limit: int, factor: int, label: Any = None,
               ties: str = "first") -> dict[int, int]:
    """Lines 1 to 11 of algorithm 1: for each vertex the neighbour of the best score, by a loop."""
    weights, degrees = oracles.vertex_weights(graph), np.diff(oracles.host(graph.offsets))
    best: dict[int, tuple[int, int, int]] = {}
    for u, v, weight in oracles.arcs(graph):
        fits = weights[u] + weights[v] <= limit and (label is None or label[u] == label[v])
        if fits:
            preferred = -v if ties == "first" else tie(u, v, SEED)
            rank = (factor * weight - int(degrees[v]), preferred, v)
            best[u] = max(best.get(u, rank), rank)
    return {u: v for u, (_, _, v) in best.items()}


def numbered_components(n: int, links: dict[int, int]) -> np.ndarray:
    """Lines 12 to 25: the components of the links, numbered by their smallest vertices."""
    ends = np.array(list(links.items()), np.int64).reshape(-1, 2)
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, found = connected_components(matrix, directed=False)
    _, first, number = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def expected(graph: Graph, limit: int = NO_LIMIT, factor: int | None = None,
             label: Any = None, ties: str = "first") -> np.ndarray:
    factor = graph.max_degree + 1 if factor is None else factor
    return numbered_components(graph.num_vertices,
                               selections(graph, limit, factor, label, ties))


@functools.cache
def expected_by_name(name: str, limit: int, ties: str) -> np.ndarray:
    """The same for all spaces."""
    return expected(GRAPHS[name], limit, ties=ties)


@looped("ties", ["first", "hash"])
@looped("limit", [2, 12, NO_LIMIT])
@looped("name", GRAPHS)
def test_groups_are_the_components_of_the_selected_links(space: ExecutionSpace, name: str,
                                                         limit: int, ties: str) -> None:
    found = components(space, GRAPHS[name], limit, ties=ties)
    assert np.array_equal(found, expected_by_name(name, limit, ties))


@given(graph=graphs(14), limit=st.integers(0, 30), factor=st.sampled_from([None, 1, 3]))
@settings(max_examples=80)
def test_random_graphs(space: ExecutionSpace, graph: Graph, limit: int,
                       factor: int | None) -> None:
    found = components(space, graph, limit, factor)
    assert np.array_equal(found, expected(graph, limit, factor))


@given(graph=graphs(12), data=st.data())
@settings(max_examples=40)
def test_labels_are_kept_apart(space: ExecutionSpace, graph: Graph, data: st.DataObject) -> None:
    n = graph.num_vertices
    label = data.draw(st.lists(st.sampled_from([-2, -1, 0, 5]), min_size=n, max_size=n))
    found = components(space, graph, label=np.array(label, np.int32))
    assert np.array_equal(found, expected(graph, label=label))


@given(parents=st.lists(st.integers(0, 10**6), min_size=1, max_size=200),
       seed=st.integers(0, 99))
@settings(max_examples=40)
def test_trees_of_any_shape_are_joined(space: ExecutionSpace, parents: list[int],
                                       seed: int) -> None:
    """Heavier and heavier edges towards the root: all select it, through chains of any length."""
    n = len(parents) + 1
    number = np.random.default_rng(seed).permutation(n)
    edges = [(number[v], number[parent % v]) for v, parent in enumerate(parents, 1)]
    graph = raw_graph(n, edges, [n - v for v in range(1, n)]).graph()
    assert components(space, graph).tolist() == [0] * n


@pytest.mark.parametrize("lanes", [3, 8])
@pytest.mark.parametrize("name", ["star", "parallel", "all_weights", "random"])
def test_neither_width_nor_order_decides(name: str, lanes: int) -> None:
    graph = {**drawn_graphs(), "random": random_graph(40, 90, 3, weighted=True)}[name]
    assert np.array_equal(components(LanesSpace(lanes, seed=lanes), graph), expected(graph))


def test_the_order_of_arcs_does_not_matter(space: ExecutionSpace) -> None:
    random = np.random.default_rng(0)
    edges, weights = random.integers(0, 300, (900, 2)), random.integers(0, 4, 900)
    plain, shuffled = (components(space, raw_graph(300, edges, weights, shuffle=shuffle).graph())
                       for shuffle in (None, 8))
    assert np.array_equal(plain, shuffled)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    assert np.array_equal(components(space, graph), components(space, with_int64_offsets(graph)))


def test_the_figure_of_the_paper(space: ExecutionSpace) -> None:
    """Figure 2 (c): v3 selects v4, of lower degree than v2; without that all were one subset."""
    graph = raw_graph(4, [(0, 1), (1, 2), (2, 3)]).graph()
    assert components(space, graph).tolist() == [0, 0, 1, 1]


def path(n: int) -> Graph:
    return raw_graph(n, [(v, v + 1) for v in range(n - 1)]).graph()


def test_a_long_path_is_few_groups(space: ExecutionSpace) -> None:
    """Where the first is selected; by a hash chains end wherever two select each other."""
    assert components(space, path(5001)).max() == 1
    assert 5001 // 4 < components(space, path(5001), ties="hash").max() < 5001 // 2


def test_isolated_vertices_stay_single(space: ExecutionSpace) -> None:
    graph = raw_graph(100, [(0, 1)]).graph()
    assert components(space, graph).max() == 98


@pytest.mark.parametrize("graph", [delaunay(5000), random_geometric(5000), grid_2d(80),
                                   grid_2d(40, 160), grid_3d(20)],
                         ids=["delaunay", "rgg", "grid", "long grid", "cube"])
def test_the_second_level_of_a_mesh_is_small_but_no_mesh_collapses(graph: Graph) -> None:
    """Far fewer levels than pairs make is the paper's main claim; groups still fit into blocks."""
    result = portpart.partition(graph, 8, algorithm="gkway", preset="paper")
    sizes = [level["vertices"] for level in result.stats["levels"]]
    assert 0.03 * sizes[0] <= sizes[1] <= 0.30 * sizes[0]
    assert sizes[-1] >= 16 * 8
    assert result.stats["repaired"] == 0
    assert result.cut <= 2 * portpart.partition(graph, 8, algorithm="jet", preset="fast").cut


def test_a_path_has_two_levels_if_the_first_neighbour_is_selected() -> None:
    config = changed(PRESETS["paper"], {"grouping.ties": "first"})
    result = portpart.partition(path(5001), 8, preset=config)
    assert [level["vertices"] for level in result.stats["levels"]] == [5001, 2]
    assert result.feasible
