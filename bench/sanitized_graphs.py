"""Graphs for `bench.sanitized`: kinds that call for different kernels."""

from __future__ import annotations

from typing import Any

import numpy as np


def kinds_of_graphs(n: int) -> dict[str, Any]:
    """Return a mesh with every kind of weights, and graphs whose degrees call for other kernels."""
    import portpart

    mesh = portpart.generators.delaunay(n)
    random = np.random.default_rng(1)
    heavy = random.integers(0, 9, n)
    heavy[0] = heavy.sum() // 8
    tails = np.repeat(np.arange(n), np.diff(mesh.offsets))
    light = (tails + mesh.targets) % 7  # alike in both directions, zero now and then
    return {
        "no weights": mesh,
        "edge weights": portpart.as_graph(mesh, edge_weights=light),
        "vertex weights": portpart.as_graph(mesh, vertex_weights=heavy),
        "both weights": portpart.as_graph(mesh, vertex_weights=heavy, edge_weights=light),
        "64-bit weights": portpart.as_graph(
            mesh, vertex_weights=heavy.astype(np.int64) << 36,
            edge_weights=light.astype(np.int64) << 33),
        "64-bit offsets": wide(mesh),
        "skewed": portpart.generators.rmat(max(4, n.bit_length() - 1), 8),
        "hub": hub(n),
    }  # fmt: skip


def hub(n: int) -> Any:
    """Return a ring around a vertex that is a neighbour of all."""
    import portpart

    star = np.stack([np.zeros(n - 1, np.int64), np.arange(1, n)], axis=1)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    return portpart.as_graph(np.concatenate([star, ring]))


def wide(graph: Any) -> Any:
    """Return the same graph with 64-bit offsets, as graphs of more than 2**31 arcs have."""
    from portpart.graphs.graph import Graph

    return Graph(graph.offsets.astype(np.int64), graph.targets, graph.weights,
                 graph.vertex_weights, graph.space)
