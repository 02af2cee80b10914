"""Grown partitions may exceed the limits where refinement may, if there are more than two blocks;
of equal cuts the better balanced one is kept.
"""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

import portpart
from portpart import PortpartConfig, generators
from portpart.algorithms.initial import GrowingOptions
from portpart.algorithms.multilevel import greedy_start, starting
from portpart.algorithms.multilevel.greedy_start import grown_parts
from portpart.algorithms.objectives import Balance
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import oracles


@pytest.fixture
def grown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The mean weight of a vertex of the coarsest graph, and the slack, each time that partitions
    are grown.
    """
    seen, means = list[tuple[int, int]](), list[int]()
    grow = starting._grown

    def begun(coarsest: Graph, *args: Any) -> Any:
        means.append(coarsest.total_vertex_weight // coarsest.num_vertices)
        return grow(coarsest, *args)

    def watched(graph: Graph, *args: Any, slack: int = 0) -> Any:
        seen.append((means[-1], slack))
        return grown_parts(graph, *args, slack=slack)

    monkeypatch.setattr(starting, "_grown", begun)

    monkeypatch.setattr(starting, "grown_parts", watched)
    monkeypatch.setattr(greedy_start, "grown_parts", watched)
    return seen


@pytest.mark.parametrize("k", [3, 33])
def test_blocks_have_three_quarters_of_a_mean_vertex(grown: list[tuple[int, int]], k: int) -> None:
    graph = generators.grid_2d(160)
    result = portpart.partition(graph, k, seed=1)
    [(mean, slack)] = grown
    assert mean > 1
    assert slack == mean * 3 // 4
    assert result.feasible


def test_two_blocks_have_exact_limits(grown: list[tuple[int, int]]) -> None:
    portpart.partition(generators.grid_2d(160), 2, seed=1)
    assert [slack for _, slack in grown] == [0]


@pytest.mark.parametrize(("k", "share"), [(8, 0), (33, 0.5)])
def test_only_many_blocks_of_a_hypergraph_have_slack(grown: list[tuple[int, int]], k: int,
                                                     share: float) -> None:
    netlist = generators.netlist(12_000, seed=3)
    result = portpart.partition(netlist, k, seed=1)
    assert grown
    assert all(mean > 1 and slack == int(share * mean) for mean, slack in grown)
    assert result.feasible


def test_fixed_vertices_do_not_change_the_slack(grown: list[tuple[int, int]]) -> None:
    graph = generators.grid_2d(160)
    fixed = np.full(graph.num_vertices, -1, np.int32)
    fixed[:33] = np.arange(33)
    result = portpart.partition(graph, 33, seed=1, fixed=fixed)
    assert grown
    assert all(slack == mean * 3 // 4 > 0 for mean, slack in grown)
    assert result.feasible
    assert np.array_equal(result.part[:33], fixed[:33])


def test_limits_of_a_graph_that_is_not_coarsened_are_exact(grown: list[tuple[int, int]]) -> None:
    graph = generators.grid_2d(20)
    heavy = np.full(graph.num_vertices, 8)
    result = portpart.partition((graph.offsets, graph.targets), 40, vertex_weights=heavy, seed=1)
    assert grown == [(8, 0)]
    assert result.feasible


def test_blocks_of_a_long_mesh_are_its_sections() -> None:
    """Without slack and balance, the last bisections of a strip are too heavy for one cut, and
    blocks fall into pieces.
    """
    strip = generators.grid_2d(4, 4_000)
    best = 15 * 4
    exact = changed(PortpartConfig(), {"initial.growing.slack": 0.0,
                                       "initial.growing.balanced": False})
    cuts = [[portpart.partition(strip, 16, preset=config, seed=seed).cut for seed in range(1, 9)]
            for config in (PortpartConfig(), exact)]
    assert min(map(min, cuts)) >= best
    assert sum(cuts[0]) <= 1.06 * 8 * best
    assert sum(cuts[0]) < sum(cuts[1])


@pytest.mark.parametrize("balanced", [False, True])
def test_the_better_balanced_of_equal_cuts_is_kept(balanced: bool) -> None:
    """Bisections of a path all cut one edge. The coarsest level has 16 vertices for 600."""
    n = 600
    path = portpart.as_graph(networkx.path_graph(n))
    options = GrowingOptions(refined=1, candidates=1, min_vertices=16, balanced=balanced)
    differences = []
    for seed in range(20):
        [part] = oracles.host(grown_parts(path, Balance(4, 170, 150), options, seed))
        assert oracles.cut(path, part) == 3
        differences.append(abs(int(np.count_nonzero(part < 2)) - n // 2))
    assert (max(differences) <= 1) == balanced
