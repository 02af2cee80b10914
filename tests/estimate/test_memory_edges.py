"""The estimate of memory of partitions of edges against the bytes that a run really takes."""

from __future__ import annotations

from typing import Any

import pytest

import portpart
from bench.counting_space import CountingSpace
from bench.recipes import copied, run
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.portpart_nets import PRESETS_OF_EDGES
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.graph_models import copies_of_vertices, edge_hypergraph

CLOSE = 1.7
"""So many times the bytes in use are at most estimated."""


def bytes_used(host: Graph, k: int) -> int:
    """The most bytes that the graph, its edges as vertices, and their partition take at once."""
    space = CountingSpace()
    graph = copied(host, space)
    edges = edge_hypergraph(graph)
    part = run(edges, k, "portpart", PRESETS_OF_EDGES["default"], 1, Trace(space, edges, None))
    copies_of_vertices(edges, part)
    return space.peak


@pytest.mark.parametrize(("graph", "k"), [
    (portpart.generators.grid_2d(90), 8), (portpart.generators.rmat(10), 64)],
    ids=["grid", "rmat"])
def test_estimates_are_upper_bounds_and_close(graph: Graph, k: int) -> None:
    used = bytes_used(graph, k)
    assert used <= portpart.memory_estimate(k=k, like=graph, edges=True).peak <= CLOSE * used


def test_the_input_is_the_graph_and_the_hypergraph() -> None:
    """Offsets of the graph are those of nets, too."""
    n, arcs = 1000, 9000
    told = portpart.memory_estimate(n, arcs, 4, edges=True)
    assert told.graph == 4 * (n + 1 + arcs // 2 + 1) + 3 * 4 * arcs
    heavy = portpart.memory_estimate(n, arcs, 4, edges=True, vertex_weights=True,
                                     edge_weights=True)
    assert heavy.graph == told.graph + 8 * n + 8 * arcs // 2 + 4 * arcs


@pytest.mark.parametrize("options", [
    {"num_nets": 5, "num_pins": 9}, {"session": True}, {"ranks": 2}, {"objective": "volume"},
    {"k": portpart.Topology("2:2", "1:10")}])
def test_what_edges_do_not_have_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="edges=True is for graphs"):
        portpart.memory_estimate(100, 400, edges=True, **options)
