"""Rows of ranks; imports nothing that ranks do not need."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.graphs.graph import Graph
from portpart.graphs.row_range import Rows, id_dtype


def borders(n: int, size: int, seed: int) -> list[int]:
    """Where the ranges of ranks begin, and n; some ranges are empty."""
    inner = np.random.default_rng(seed).integers(0, n + 1, size - 1)
    return [0, *np.sort(inner).tolist(), n]


def rows_of(graph: Graph, first: int, last: int, space: Any = None,
            kind: Any = None) -> Rows:
    """The rows of a range of vertices, with ids of a type."""
    begin, end = int(graph.offsets[first]), int(graph.offsets[last])
    space, kind = space or graph.space, kind or id_dtype(graph.num_vertices)
    weights, masses = graph.weights, graph.vertex_weights
    return Rows(first, graph.num_vertices,
                space.asarray(graph.offsets[first : last + 1].astype(np.int64) - begin),
                space.asarray(graph.targets[begin:end].astype(kind)),
                None if weights is None else space.asarray(weights[begin:end].copy()),
                None if masses is None else space.asarray(masses[first:last].copy()), space)
