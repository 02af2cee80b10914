"""Block weights and balance, in exact integer arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.metrics.view import PartitionView


def block_weight_limit(total_weight: int, k: int, imbalance: Any = 0.03) -> int:
    """Largest weight a block may have, ``floor((1 + imbalance) * ceil(total_weight / k))``.

    Parameters
    ----------
    total_weight : int
        Weight of all vertices.
    k : int
        Number of blocks.
    imbalance : float, int, Fraction, Decimal or str
        Taken as the decimal that was written: 0.03 means 3/100, not the nearest binary number.

    Raises
    ------
    InputError
        If `k` < 1 or `imbalance` is negative or not a finite number.

    Examples
    --------
    >>> from portpart.metrics import block_weight_limit
    >>> block_weight_limit(1000, 10, 0.03), block_weight_limit(1001, 10, 0)
    (103, 101)
    """
    if k < 1:
        raise InputError(f"k is {k}; it must be at least 1")
    try:
        excess = Fraction(str(imbalance))
    except (ValueError, ZeroDivisionError) as problem:
        raise InputError(f"imbalance is {imbalance!r}; it must be a finite number") from problem
    if excess < 0:
        raise InputError(f"imbalance is {imbalance}; it must be >= 0")
    return math.floor((1 + excess) * -(-int(total_weight) // int(k)))


def block_weights(graph: Any, part: Any, k: int | None = None) -> np.ndarray:
    """Total vertex weight of each block, int64, shape (k,).

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
    part : array_like of int, shape (n,)
        Block of each vertex; device arrays are copied to the host.
    k : int, optional
        Number of blocks; default: the largest block number plus one.
    """
    return block_weights_of(PartitionView(graph, part, k))


def max_block_weight(graph: Any, part: Any, k: int | None = None) -> int:
    """Weight of the heaviest block."""
    return int(block_weights(graph, part, k).max(initial=0))


def imbalance(graph: Any, part: Any, k: int | None = None) -> float:
    """How much the heaviest block exceeds ``ceil(W / k)``: 0.03 means 3 % (0 if W is 0).

    A partition keeps the limit of imbalance e exactly if this is at most e.
    """
    return imbalance_of(block_weights(graph, part, k))


def is_balanced(graph: Any, part: Any, k: int | None = None, imbalance: Any = 0.03) -> bool:
    """True if no block is heavier than :func:`block_weight_limit` (exact)."""
    weights = block_weights(graph, part, k)
    limit = block_weight_limit(int(weights.sum()), max(1, len(weights)), imbalance)
    return int(weights.max(initial=0)) <= limit


def block_weights_of(view: PartitionView) -> np.ndarray:
    """:func:`block_weights` of a view."""
    if view.vertex_weights is None:
        return np.bincount(view.part, minlength=view.k).astype(np.int64)
    weights = np.zeros(view.k, np.int64)
    np.add.at(weights, view.part, view.vertex_weights)
    return weights


def imbalance_of(weights: np.ndarray) -> float:
    """:func:`imbalance` of block weights."""
    total = int(weights.sum())
    if total == 0:
        return 0.0
    return float(Fraction(int(weights.max()), -(-total // len(weights))) - 1)
