"""The last word on what blocks weigh: no more than their limits, no less than wanted, not nothing.

Refinement nearly always ends within the limits; then nothing is done.  Else vertices move or are
packed again (`overload`), light blocks are filled (`underload`), and where bounds are broken still,
what can be had by any means is looked for (`exact_packing`).
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.balance.exact_packing import within_bounds
from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.balance.overload import (
    attainable,
    block_weights_on_host,
    host_vertex_weights,
    repaired,
)
from portpart.algorithms.balance.underload import filled
from portpart.backends.interface import Array
from portpart.graphs.hypergraph import EitherGraph


def enforce_limits(graph: EitherGraph, part: Array, balance: Balance, min_weight: int = 0,
                   fixed: Array | None = None) -> tuple[Array, np.ndarray]:
    """`part` within its bounds, or with bounds broken little, and the block weights.

    Parameters
    ----------
    graph : Graph or Hypergraph
    part : array of int32, shape (n,)
        Returned as it is if it keeps the bounds.
    balance : Balance
    min_weight : int
        What each block has to weigh; where that is 0, something if enough vertices do.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay where they are.

    Returns
    -------
    part : array of int32, shape (n,)
    block_weights : numpy.ndarray of int64, shape (k,)
    """
    found, blocks = repaired(graph, part, balance, fixed)
    found, blocks = filled(graph, found, blocks, balance, min_weight, fixed)
    if balance.overload(blocks) <= 0 and blocks.min() >= min_weight:
        return found, blocks
    space, weights = graph.space, host_vertex_weights(graph)
    balance = attainable(balance, space.to_host(found), weights)
    if balance.overload(blocks) <= 0 and blocks.min() >= min_weight:
        return found, blocks
    free = np.ones(len(weights), bool) if fixed is None else space.to_host(fixed) < 0
    result = within_bounds(space.to_host(part), space.to_host(found), weights, free,
                           balance.limits, min_weight, balance.known)
    blocks = block_weights_on_host(result, weights, balance.num_blocks)
    return filled(graph, space.asarray(result), blocks, balance, min_weight, fixed)
