"""Graphs in place of hypergraphs: compared with plain loops over the pairs of pins of each net."""

from __future__ import annotations

from collections import defaultdict
from unittest import mock

import numpy as np
import pytest

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs import graph_models as cliques
from portpart.graphs.graph import Graph

ROWS = [[0, 3], [1, 2, 3], [], [4], [0, 1, 2, 3, 4, 5, 6], list(range(2, 23)), [7, 9], [7, 9]]


def expected(rows: list[list[int]], weights: list[int], max_clique: int) -> dict[tuple[int, int],
                                                                                 int]:
    """Return the weight of each arc."""
    found: dict[tuple[int, int], int] = defaultdict(int)
    for row, weight in zip(rows, weights, strict=True):
        size = len(row)
        steps = [2**i for i in range(32) if 2 ** (i + 1) < size]
        for place, v in enumerate(row):
            others = [u for u in row if u != v]
            if size > max_clique:
                others = [row[(place + d) % size] for step in steps for d in (step, -step)]
            for u in others:
                share = (weight * cliques.EDGE_WEIGHT + len(others) // 2) // len(others)
                found[v, u] += max(share, 1 if weight else 0)
    return found


def arcs(graph: Graph) -> dict[tuple[int, int], int]:
    """Return the weight of each arc of a graph."""
    matrix = graph.to_scipy().tocoo()
    return {(int(u), int(v)): int(w) for u, v, w in zip(*matrix.coords, matrix.data, strict=True)}


@pytest.mark.parametrize("max_clique", [256, 6])
def test_arcs_are_those_of_a_plain_loop(space: ExecutionSpace, max_clique: int) -> None:
    """Nets of all sizes, some equal, one of weight 0; large ones as circulants."""
    weights = [1, 5, 1, 1, 2, 3, 0, 4]
    made = portpart.as_hypergraph(
        (np.cumsum([0, *map(len, ROWS)]), np.concatenate(ROWS).astype(int)), num_vertices=24,
        net_weights=weights, vertex_weights=np.arange(24), space=space)
    with mock.patch.object(cliques, "MAX_CLIQUE", max_clique):
        graph = cliques.clique_graph(made)
    assert arcs(graph) == expected(ROWS, weights, max_clique)
    assert graph.total_vertex_weight == sum(range(24))
    assert portpart.as_graph(graph.to_scipy()).num_vertices == 24  # symmetric: else it is refused


def test_huge_weights_and_many_pins_fit() -> None:
    """Weights stay within 64 bits, and cliques give way before they take all memory."""
    rows = [list(range(200))] * 50
    made = portpart.as_hypergraph((np.cumsum([0, *map(len, rows)]), np.concatenate(rows)),
                                  net_weights=[2**55] * 50)
    with mock.patch.object(cliques, "MAX_ARCS", 10**5):
        graph = cliques.clique_graph(made)
    assert 0 < graph.total_arc_weight <= 2**62
    assert graph.max_degree == 2 * len([i for i in range(32) if 2 ** (i + 1) < 200])


CLIQUES = 2 * 10 * 9 + 30 * 29


@pytest.mark.parametrize(("max_arcs", "limit"), [(CLIQUES, 256), (CLIQUES - 1, 16)])
def test_cliques_are_smaller_where_they_have_too_many_arcs(space: ExecutionSpace, max_arcs: int,
                                                           limit: int) -> None:
    """Two nets of 10 pins and one of 30: one arc less than they need is not enough."""
    rows = [list(range(10)), list(range(20, 30)), list(range(30)), [3]]
    made = portpart.as_hypergraph((np.cumsum([0, *map(len, rows)]), np.concatenate(rows)),
                                  num_vertices=30, space=space)
    with mock.patch.object(cliques, "MAX_ARCS", max_arcs):
        graph = cliques.clique_graph(made)
    assert arcs(graph) == expected(rows, [1] * 4, limit)
