"""Hypothesis strategies of graphs, beside the plain graphs for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings, strategies as st

from portpart.graphs.graph import Graph
from tests.helpers.plain_graphs import RawGraph, drawn_graphs, random_graph, raw_graph

__all__ = ["RawGraph", "drawn_graphs", "graphs", "partitioned_graphs", "random_graph", "raw_graph",
           "raw_graphs"]

# a kernel compiles on its first launch, which no deadline can foresee
settings.register_profile("portpart", deadline=None)
settings.load_profile("portpart")


@st.composite
def raw_graphs(
    draw: st.DrawFn, max_vertices: int = 12, *, loops: bool = True, parallel: bool = True,
    large_weights: bool = False,
) -> RawGraph:
    """Any small symmetric CSR input, often disconnected, with isolated vertices."""
    n = draw(st.integers(0, max_vertices))
    vertex = st.integers(0, max(0, n - 1))
    pairs = draw(st.lists(st.tuples(vertex, vertex), max_size=3 * n if n else 0))
    if not loops:
        pairs = [pair for pair in pairs if pair[0] != pair[1]]
    if not parallel:
        pairs = list({(min(p), max(p)): p for p in pairs}.values())
    weight = st.integers(0, 2**50 if large_weights else 9)
    weights = draw(st.none() | st.lists(weight, min_size=len(pairs), max_size=len(pairs)))
    masses = draw(st.none() | st.lists(weight, min_size=n, max_size=n))
    return raw_graph(n, pairs, _int64(weights), _int64(masses), draw(st.integers(0, 99)))


def _int64(values: list[int] | None) -> np.ndarray | None:
    return None if values is None else np.array(values, np.int64)


def graphs(max_vertices: int = 12, **options: Any) -> st.SearchStrategy[Graph]:
    """Any small valid graph; options as for `raw_graphs`."""
    return raw_graphs(max_vertices, **options).map(RawGraph.graph)


@st.composite
def partitioned_graphs(draw: st.DrawFn, max_vertices: int = 12) -> tuple[Graph, np.ndarray, int]:
    """A graph, a partition of it and its number of blocks, some perhaps empty."""
    graph = draw(graphs(max_vertices))
    k = draw(st.integers(1, 5))
    n = graph.num_vertices
    part = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    return graph, np.array(part, np.int32), k
