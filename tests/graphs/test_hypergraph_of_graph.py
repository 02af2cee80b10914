"""Graphs as hypergraphs and back, against plain sets."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph_models import graph_of_pairs, neighbourhood_hypergraph


def test_nets_are_closed_neighbourhoods(space: ExecutionSpace) -> None:
    """Each once, however often an edge stands in the graph; isolated vertices by themselves."""
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (5, 2)]
    graph = portpart.from_edges(edges, num_vertices=6, space=space)
    nets = neighbourhood_hypergraph(graph, space.asarray(np.arange(6)))
    offsets, pins = space.to_host(nets.net_offsets), space.to_host(nets.net_pins)
    assert [pins[a:b].tolist() for a, b in pairwise(offsets)] == [
        sorted({v, *(u for e in edges for u in e if v in e)}) for v in range(6)]
    assert np.array_equal(space.to_host(nets.vertex_nets), pins)
    assert nets.total_net_weight == 15


def test_nets_of_two_pins_are_edges(space: ExecutionSpace) -> None:
    """Weights of equal nets add up; nets of one pin and none vanish."""
    made = portpart.as_hypergraph(([0, 2, 3, 3, 5, 7], [4, 1, 2, 1, 4, 0, 3]), num_vertices=6,
                                  net_weights=[5, 9, 9, 2, 1], vertex_weights=range(6), space=space)
    graph = graph_of_pairs(made)
    matrix = graph.to_scipy().todense()
    expected = np.zeros((6, 6), int)
    expected[1, 4] = expected[4, 1] = 7
    expected[0, 3] = expected[3, 0] = 1
    assert np.array_equal(matrix, expected)
    assert graph.total_vertex_weight == 15
