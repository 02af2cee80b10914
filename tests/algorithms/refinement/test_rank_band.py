"""Flows on band graphs over several ranks end with the partition of one device."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import generators
from portpart.algorithms.multilevel import over_ranks
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests.algorithms.recipes import test_rank_constraints as constraints
from tests.algorithms.recipes.test_rank_partition import EAGER, SMALL, check, permuted
from tests.helpers.data_folder import graph_path
from tests.helpers.graphs import graphs
from tests.helpers.ranks.cut_rows import borders
from tests.helpers.ranks.rank_rows import DEVICES, cut_graphs, space_of

NEAR = changed(SMALL, {"flows.max_level": 0})
"""All graphs are large enough for band graphs."""



def weighted_mesh() -> Graph:
    mesh = generators.delaunay(2000, seed=1)
    tails = np.repeat(np.arange(2000), np.diff(mesh.offsets))
    return portpart.as_graph(mesh, vertex_weights=np.arange(2000) % 5,
                             edge_weights=1 + (tails + mesh.targets) % 9)


GRAPHS = {
    "mesh": generators.delaunay(3000),
    "geometric": generators.random_geometric(3000),
    "weighted": weighted_mesh(),
}


@pytest.fixture
def gains(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What flows on band graphs gain, rank by rank."""
    found: list[int] = []
    refine = over_ranks.refine_band

    def noted(*given: object) -> tuple[int, object]:
        gain, part = refine(*given)
        found.append(gain)
        return gain, part

    monkeypatch.setattr(over_ranks, "refine_band", noted)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("name", GRAPHS)
def test_partitions_are_those_of_one_device(name: str, size: int, gains: list[int]) -> None:
    graph = GRAPHS[name]
    first = borders(graph.num_vertices, size, size)
    check(graph, first, 2, NEAR)
    check(graph, first, 4, NEAR, moved_by=size)
    assert len(gains) == 2 * size
    assert max(gains) > 0
    check(graph, first, 4, NEAR, fold=1000)


@pytest.mark.parametrize("name", ["motorbike", "bcsstk29"])
def test_partitions_of_large_graphs_are_those_of_one_device(name: str, gains: list[int]) -> None:
    graph = portpart.io.read(graph_path(name))
    check(graph, borders(graph.num_vertices, 3, 3), 8)
    assert len(gains) == 3
    check(permuted(graph), borders(graph.num_vertices, 2, 2), 8, rule=EAGER)


@settings(max_examples=60, deadline=None)
@given(cut_graphs(graphs(40, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.3]), st.integers(0, 99))
def test_any_graph_is_refined_as_by_one_device(drawn: tuple[Graph, list[int]], k: int,
                                               imbalance: float, seed: int) -> None:
    graph, first = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits that no partition keeps
        check(graph, first, k, NEAR, imbalance=imbalance, seed=seed)
        check(graph, first, k, NEAR, imbalance=imbalance, seed=seed, moved_by=seed)


def test_fixed_vertices_and_initial_partitions(gains: list[int],
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portpart.algorithms.recipes.portpart_ranks.fold_for",
                        lambda graph: constraints.NEVER)
    graph = GRAPHS["mesh"]
    n, config = graph.num_vertices, changed(PRESETS["default"], {"flows.max_level": 0})
    first = borders(n, 3, 1)
    initial = portpart.partition(graph, 4, preset="fast").part
    fixed = np.where(np.random.default_rng(1).random(n) < 0.1, initial, -1)
    constraints.check(graph, first, 4, preset=config, fixed=fixed)
    constraints.check(graph, first, 4, preset=config, initial=initial)
    assert max(gains) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", DEVICES)
def test_partitions_do_not_depend_on_the_device(name: str) -> None:
    for graph in (GRAPHS["mesh"], GRAPHS["weighted"]):
        first = borders(graph.num_vertices, 2, 2)
        check(graph, first, 3, NEAR, there=space_of(name))
        check(graph, first, 3, NEAR, there=space_of(name), moved_by=1)
