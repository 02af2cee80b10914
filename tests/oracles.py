"""Plain answers: slow, obvious, sharing no code with portpart."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np

from portpart.graphs.graph import Graph


def host(array: Any) -> np.ndarray:
    """NumPy array of an array of any space."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def arcs(graph: Graph) -> list[tuple[int, int, int]]:
    """All arcs (u, v, weight) in order of storage."""
    offsets, targets = host(graph.offsets), host(graph.targets)
    weights = np.ones(len(targets), int) if graph.weights is None else host(graph.weights)
    return [
        (u, int(targets[i]), int(weights[i]))
        for u in range(len(offsets) - 1)
        for i in range(offsets[u], offsets[u + 1])
    ]


def vertex_weights(graph: Graph) -> list[int]:
    """Weight of each vertex."""
    if graph.vertex_weights is None:
        return [1] * graph.num_vertices
    return [int(weight) for weight in host(graph.vertex_weights)]


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


def cut(graph: Graph, part: Any) -> int:
    """Weight of the edges between blocks."""
    return sum(w for u, v, w in arcs(graph) if u < v and part[u] != part[v])


def block_weights(graph: Graph, part: Any, k: int) -> list[int]:
    """Weight of each block."""
    sums = [0] * k
    for block, weight in zip(part, vertex_weights(graph)):
        sums[block] += weight
    return sums


def block_weight_limit(total: int, k: int, imbalance: str) -> int:
    """The largest integer L with L <= (1 + imbalance) * ceil(total / k)."""
    bound = (1 + Fraction(imbalance)) * ((total + k - 1) // k)
    limit = 0
    while limit + 1 <= bound:
        limit += 1
    return limit


def communication_volumes(graph: Graph, part: Any, k: int) -> list[int]:
    """What each block sends: pairs of a vertex and a foreign block next to it."""
    sent = [0] * k
    for u, _ in {(u, part[v]) for u, v, _ in arcs(graph) if part[u] != part[v]}:
        sent[part[u]] += 1
    return sent


def boundary(graph: Graph, part: Any) -> list[int]:
    """Vertices with a neighbour in another block."""
    return sorted({u for u, v, _ in arcs(graph) if part[u] != part[v]})


def components_per_block(graph: Graph, part: Any, k: int) -> list[int]:
    """Connected components of each block, by following neighbours."""
    neighbours = defaultdict(set)
    for u, v, _ in arcs(graph):
        if part[u] == part[v]:
            neighbours[u].add(v)
    counts, seen = [0] * k, set()
    for vertex in range(graph.num_vertices):
        if vertex in seen:
            continue
        counts[part[vertex]] += 1
        front = [vertex]
        while front:
            seen.update(front)
            front = [v for u in front for v in neighbours[u] if v not in seen]
    return counts


def quotient(graph: Graph, cluster: Any, num_clusters: int) -> Graph:
    """The graph of the clusters: parallel arcs add up, inner arcs vanish; rows ascending."""
    sums: Counter[tuple[int, int]] = Counter()
    for u, v, weight in arcs(graph):
        if cluster[u] != cluster[v]:
            sums[int(cluster[u]), int(cluster[v])] += weight
    # a Counter keeps pairs of weight zero, which stay edges
    keys = sorted(sums)
    degrees = np.bincount([u for u, _ in keys], minlength=num_clusters) if keys else (
        np.zeros(num_clusters, int))
    return Graph(
        np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
        np.array([v for _, v in keys], np.int32),
        np.array([sums[key] for key in keys], np.int64),
        np.array(block_weights(graph, cluster, num_clusters), np.int64),
        graph.space,
    )


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
