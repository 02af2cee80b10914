"""Arcs and weights of a graph, and graphs that must be equal."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np

from portpart.graphs.graph import Graph


def host(array: Any) -> np.ndarray:
    """NumPy array of an array of any space."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


@lru_cache(maxsize=8)
def arcs(graph: Graph) -> tuple[tuple[int, int, int], ...]:
    """All arcs (u, v, weight) in order of storage."""
    offsets, targets = host(graph.offsets).tolist(), host(graph.targets).tolist()
    weights = [1] * len(targets) if graph.weights is None else host(graph.weights).tolist()
    return tuple(
        (u, targets[i], weights[i])
        for u in range(len(offsets) - 1)
        for i in range(offsets[u], offsets[u + 1])
    )


def vertex_weights(graph: Graph) -> list[int]:
    """Weight of each vertex."""
    if graph.vertex_weights is None:
        return [1] * graph.num_vertices
    weights: list[int] = host(graph.vertex_weights).tolist()
    return weights


def assert_same_graph(actual: Graph, expected: Graph) -> None:
    """The two have the same vertices and the same arcs, whatever the order within a row."""
    assert actual.num_vertices == expected.num_vertices
    assert Counter(arcs(actual)) == Counter(arcs(expected))
    assert vertex_weights(actual) == vertex_weights(expected)


def assert_valid_graph(graph: Graph) -> None:
    """Types, offsets and symmetry are what every algorithm may rely on."""
    assert graph.offsets.dtype in (np.int32, np.int64)
    assert graph.targets.dtype == np.int32
    assert graph.weights is None or graph.weights.dtype in (np.int32, np.int64)
    assert graph.vertex_weights is None or graph.vertex_weights.dtype == np.int64
    offsets = host(graph.offsets)
    assert offsets[0] == 0
    assert offsets[-1] == graph.num_arcs
    assert (np.diff(offsets) >= 0).all()
    all_arcs = Counter(arcs(graph))
    assert all_arcs == Counter({(v, u, w): count for (u, v, w), count in all_arcs.items()})
    assert all(u != v for u, v, _ in all_arcs)


def merged_undirected(
    n: int, edges: list[tuple[int, int]], weights: list[int] | None
) -> dict[tuple[int, int], int]:
    """Weight of each edge {u, v}, u < v: repeats add up per direction, then the larger counts."""
    sums: Counter[tuple[int, int]] = Counter()
    for i, (u, v) in enumerate(edges):
        if u != v:
            sums[u, v] = 1 if weights is None else sums[u, v] + weights[i]
    return {
        (min(u, v), max(u, v)): max(sums.get((u, v), 0), sums.get((v, u), 0)) for u, v in sums
    }
