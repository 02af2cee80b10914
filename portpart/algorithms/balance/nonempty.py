"""How many blocks need not stay empty."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.overload import host_vertex_weights
from portpart.backends.interface import Array
from portpart.graphs.hypergraph import EitherGraph


def nonempty_weight(graph: EitherGraph, num_blocks: int) -> int:
    """1 if there are enough vertices of positive weight that no block need be empty, else 0."""
    if graph.vertex_weights is None:
        return int(graph.num_vertices >= num_blocks)
    return int(int((graph.vertex_weights > 0).sum()) >= num_blocks)


def max_filled(graph: EitherGraph, limits: np.ndarray, fixed_weights: np.ndarray,
                fixed: Array | None = None) -> int:
    """How many blocks can weigh something at once; 0 if no vertices suffice for all `k` of them.

    Where limits can be kept, this many blocks weigh something in a partition that keeps them too:
    what an empty block lacks comes from a block that has several vertices, maybe by way of others
    that pass on their only one.  A vertex too heavy for every block is in one all the same, and
    fills it.

    Parameters
    ----------
    limits, fixed_weights : numpy.ndarray of int64, shape (k,)
        Limits of the blocks and weights of the vertices fixed there.
    fixed : array of int32, shape (n,), optional
        As in `filled`.
    """
    if nonempty_weight(graph, len(limits)) == 0:
        return 0
    weights = host_vertex_weights(graph)
    free = weights > 0
    if fixed is not None:
        free &= graph.space.to_host(fixed) < 0
    return filled_by(np.sort(weights[free]), limits, fixed_weights)


def filled_by(lightest: np.ndarray, limits: np.ndarray, fixed_weights: np.ndarray) -> int:
    """How many blocks can weigh something at once, where vertices suffice for all of them.

    Parameters
    ----------
    lightest : numpy.ndarray of int64
        Weights of free vertices, ascending and none of them 0; those of the k lightest suffice.
    limits, fixed_weights : numpy.ndarray of int64, shape (k,)
        As in `max_filled`.
    """
    empty, most_room = np.sort(limits[fixed_weights == 0]), int((limits - fixed_weights).max())
    first = lightest[: len(empty)].tolist()
    filled_ones = 0
    for limit in empty.tolist():
        if filled_ones < len(first) and (
                first[filled_ones] <= limit or first[filled_ones] > most_room):
            filled_ones += 1
    return len(limits) - len(empty) + filled_ones
