"""Graphs for tests: small ones drawn by hand, and random ones.

This imports little, as several ranks start in most of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart import backends
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class RawGraph:
    """Plain CSR arrays as a user may give them: with loops, parallel arcs, any order in a row."""

    offsets: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None
    vertex_weights: np.ndarray | None

    @property
    def n(self) -> int:
        return len(self.offsets) - 1

    @property
    def sources(self) -> np.ndarray:
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def graph(self) -> Graph:
        """The graph without its loops, made by the constructor alone (no checks)."""
        proper = self.sources != self.targets
        degrees = np.bincount(self.sources[proper], minlength=self.n)
        offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
        weights = None if self.weights is None else self.weights[proper]
        vertex_weights = self.vertex_weights
        if vertex_weights is not None:
            vertex_weights = vertex_weights.astype(np.int64)
        return Graph(offsets, self.targets[proper].astype(np.int32), weights, vertex_weights,
                     backends.space("cpu"))


def raw_graph(
    n: int, edges: Any, weights: Any = None, vertex_weights: Any = None, shuffle: int | None = None
) -> RawGraph:
    """CSR arrays of undirected edges (a loop {u, u} becomes one arc); rows in drawn order.

    With `shuffle`, a seed, the arcs of each row are in random order.
    """
    ends = np.asarray(edges, np.int64).reshape(-1, 2)
    both = np.concatenate([ends, ends[ends[:, 0] != ends[:, 1]][:, ::-1]])
    order = np.arange(len(both))
    if shuffle is not None:
        np.random.default_rng(shuffle).shuffle(order)
    order = order[np.argsort(both[order, 0], kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=n))])
    arc_weights = None
    if weights is not None:
        values = np.asarray(weights)
        arc_weights = np.concatenate([values, values[ends[:, 0] != ends[:, 1]]])[order]
    masses = None if vertex_weights is None else np.asarray(vertex_weights)
    return RawGraph(offsets, both[order, 1], arc_weights, masses)


def drawn_graphs() -> dict[str, Graph]:
    """Small graphs, each with something that breaks careless code.

    two_triangles      isolated            weighted (edges)        parallel
      0       3          0   1---2    3      0 -5- 1                 0 === 1
      | \\   / |                              |     |                 |
      |  2-5  |                              0     7  (0: weight 0)  2
      | /   \\ |                              |     |
      1       4                              3 -2- 2
    """
    ring = [(i, (i + 1) % 7) for i in range(7)]
    raw = {
        "empty": raw_graph(0, []),
        "one_vertex": raw_graph(1, []),
        "edgeless": raw_graph(5, []),
        "one_edge": raw_graph(2, [(0, 1)]),
        "path": raw_graph(6, [(i, i + 1) for i in range(5)]),
        "ring": raw_graph(7, ring),
        "star": raw_graph(9, [(0, i) for i in range(1, 9)]),
        "complete": raw_graph(6, [(i, j) for i in range(6) for j in range(i)]),
        "two_triangles": raw_graph(6, [(0, 1), (1, 2), (2, 0), (2, 5), (3, 4), (4, 5), (5, 3)]),
        "isolated": raw_graph(4, [(1, 2)]),
        "weighted": raw_graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)], [5, 7, 2, 0]),
        "parallel": raw_graph(3, [(0, 1), (0, 1), (0, 2)], [1, 3, 2]),
        "heavy_vertex": raw_graph(7, ring, vertex_weights=[1, 1, 50, 0, 1, 1, 2]),
        "all_weights": raw_graph(5, [(0, 1), (1, 2), (3, 4)], [3, 2**40, 9], [0, 2**41, 1, 1, 5]),
    }
    return {name: value.graph() for name, value in raw.items()}


def random_graph(
    n: int,
    num_edges: int,
    seed: int,
    *,
    weighted: bool = False,
    vertex_weighted: bool = False,
    skewed: bool = False,
) -> Graph:
    """Random simple graph; `skewed` gives a few vertices most of the edges."""
    random = np.random.default_rng(seed)
    ends = random.random((num_edges, 2)) if n else np.empty((0, 2))
    pairs = (n * (ends**3 if skewed else ends)).astype(np.int64)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    weights = random.integers(0, 20, len(pairs)) if weighted else None
    masses = random.integers(0, 10, n) if vertex_weighted else None
    return raw_graph(n, pairs, weights, masses).graph()
