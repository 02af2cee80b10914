"""Grown partitions may exceed the limits where refinement may, for more than 32 blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel import greedy_start, starting
from portpart.algorithms.multilevel.greedy_start import grown_parts
from portpart.graphs.graph import Graph


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


def test_many_blocks_have_half_a_mean_vertex(grown: list[tuple[int, int]]) -> None:
    graph = generators.grid_2d(160)
    result = portpart.partition(graph, 33, seed=1)
    [(mean, slack)] = grown
    assert mean > 1
    assert slack == mean // 2
    assert result.feasible


@pytest.mark.parametrize("k", [2, 32])
def test_few_blocks_have_exact_limits(grown: list[tuple[int, int]], k: int) -> None:
    portpart.partition(generators.grid_2d(160), k, seed=1)
    assert [slack for _, slack in grown] == [0]


def test_fixed_vertices_do_not_change_the_slack(grown: list[tuple[int, int]]) -> None:
    graph = generators.grid_2d(160)
    fixed = np.full(graph.num_vertices, -1, np.int32)
    fixed[:33] = np.arange(33)
    result = portpart.partition(graph, 33, seed=1, fixed=fixed)
    assert grown
    assert all(slack == mean // 2 > 0 for mean, slack in grown)
    assert result.feasible
    assert np.array_equal(result.part[:33], fixed[:33])


def test_limits_of_a_graph_that_is_not_coarsened_are_exact(grown: list[tuple[int, int]]) -> None:
    graph = generators.grid_2d(20)
    heavy = np.full(graph.num_vertices, 8)
    result = portpart.partition((graph.offsets, graph.targets), 40, vertex_weights=heavy, seed=1)
    assert grown == [(8, 0)]
    assert result.feasible
