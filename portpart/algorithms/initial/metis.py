"""The initial partition: METIS k-way on the coarsest graph."""

from __future__ import annotations

import numpy as np

from portpart.graph import Graph

MAX_METIS_SUM = 2**30
"""METIS adds weights in 32 bits; totals are scaled below this."""


def metis_partition(graph: Graph, num_blocks: int, imbalance: float, seed: int) -> np.ndarray:
    """Partition a small graph by METIS's k-way method.

    The graph goes to METIS in canonical order (rows sorted), so the result depends on the graph
    and the seed only.  Weights whose sums would overflow METIS's 32 bits are scaled down.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
        May violate the balance: refinement repairs it.
    """
    import pymetis

    n = graph.num_vertices
    if num_blocks == 1 or n == 0:
        return np.zeros(n, np.int32)
    if num_blocks >= n:
        return np.arange(n, dtype=np.int32)
    matrix = graph.to_scipy()
    matrix.sort_indices()
    adjacency = pymetis.CSRAdjacency(matrix.indptr.astype(np.int32), matrix.indices)
    vertex_weights = None
    if graph.vertex_weights is not None:
        vertex_weights = scaled(graph.space.to_host(graph.vertex_weights))
    options = pymetis.Options(seed=seed, ufactor=max(1, round(1000 * imbalance)))
    _, part = pymetis.part_graph(
        num_blocks, adjacency, vweights=vertex_weights, eweights=scaled(matrix.data),
        recursive=False, options=options,
    )
    return np.asarray(part, np.int32)


def scaled(weights: np.ndarray) -> np.ndarray:
    """Weights as int32 with a sum that METIS can hold; what was positive stays positive."""
    total = int(weights.sum(dtype=np.int64))
    if total <= MAX_METIS_SUM:
        return weights.astype(np.int32)
    shrunk = weights // (total // MAX_METIS_SUM + 1)
    return np.maximum(shrunk, weights > 0).astype(np.int32)
