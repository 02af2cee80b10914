"""The shape of a partition: connected pieces of its blocks, and the graph of its blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart import backends
from portpart.graphs.graph import Graph
from portpart.graphs.totals import read_only
from portpart.metrics.balance import block_weights_of
from portpart.metrics.view import PartitionView


def components_per_block(graph: Any, part: Any, k: int | None = None) -> np.ndarray:
    """Number of connected components of each block's induced subgraph, shape (k,).

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    ndarray of int64
        0 for an empty block, 1 for a connected one.

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.components_per_block(path, [0, 1, 1, 0])
    array([2, 1])
    """
    return components_of(PartitionView(graph, part, k))


def quotient_graph(graph: Any, part: Any, k: int | None = None) -> Graph:
    """The graph of the blocks: block weights on vertices, cut between two blocks on edges.

    Blocks that share only edges of weight zero are still neighbours.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    Graph
        On the host.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(2, 4)
    >>> blocks = portpart.metrics.quotient_graph(grid, [0, 0, 1, 1, 0, 0, 1, 1])
    >>> blocks.vertex_weights.tolist(), blocks.to_scipy().toarray().tolist()
    ([4, 4], [[0, 2], [2, 0]])
    """
    return quotient_of(PartitionView(graph, part, k))


def components_of(view: PartitionView) -> np.ndarray:
    """:func:`components_per_block` of a view."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(view.part)
    inner = np.ones(len(view.targets), bool)
    inner[view.cut_arcs] = False
    kept_before = np.concatenate([[0], np.cumsum(inner)])
    offsets = kept_before[view.offsets]
    inside = csr_array((np.ones(offsets[-1], np.int8), view.targets[inner], offsets), shape=(n, n))
    count, label = connected_components(inside, directed=False)
    block = np.zeros(count, np.int64)
    block[label] = view.part
    return np.bincount(block, minlength=view.k)


def quotient_of(view: PartitionView) -> Graph:
    """:func:`quotient_graph` of a view."""
    pairs = view.part[view.cut_arc_tails] * view.k + view.part[view.cut_arc_heads]
    keys, place = np.unique(pairs, return_inverse=True)
    weights = np.zeros(len(keys), np.int64)
    np.add.at(weights, place, view.cut_arc_weights)
    offsets = np.searchsorted(keys, np.arange(view.k + 1) * view.k).astype(np.int32)
    targets = (keys % max(1, view.k)).astype(np.int32)
    quotient = Graph(offsets, targets, weights, block_weights_of(view), backends.space("cpu"))
    read_only(quotient.arrays.values())
    return quotient
