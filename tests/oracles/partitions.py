"""Cut, boundary, communication and shape of a partition."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from portpart.graphs.graph import Graph
from tests.oracles.graphs import arcs, host, vertex_weights


def cut(graph: Graph, part: Any) -> int:
    """Weight of the edges between blocks, each in its direction from the smaller vertex."""
    part, offsets, targets = host(part), host(graph.offsets), host(graph.targets)
    sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    counts = (sources < targets) & (part[sources] != part[targets])
    return int(counts.sum()) if graph.weights is None else sum(host(graph.weights)[counts].tolist())


def block_weights(graph: Graph, part: Any, k: int) -> list[int]:
    """Weight of each block."""
    sums = [0] * k
    for block, weight in zip(host(part).tolist(), vertex_weights(graph)):
        sums[block] += weight
    return sums


def communication_volumes(graph: Graph, part: Any, k: int) -> list[int]:
    """What each block sends: pairs of a vertex and a foreign block next to it."""
    sent, part = [0] * k, host(part).tolist()
    for u, _ in {(u, part[v]) for u, v, _ in arcs(graph) if part[u] != part[v]}:
        sent[part[u]] += 1
    return sent


def boundary(graph: Graph, part: Any) -> list[int]:
    """Vertices with a neighbour in another block."""
    part = host(part).tolist()
    return sorted({u for u, v, _ in arcs(graph) if part[u] != part[v]})


def components_per_block(graph: Graph, part: Any, k: int) -> list[int]:
    """Connected components of each block, by following neighbours."""
    neighbours, part = defaultdict(set), host(part).tolist()
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
    cluster = host(cluster).tolist()
    for u, v, weight in arcs(graph):
        if cluster[u] != cluster[v]:
            sums[cluster[u], cluster[v]] += weight
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
