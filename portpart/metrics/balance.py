"""Block weights and balance, in exact integer arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any

import numpy as np

from portpart.errors import InputError, shown
from portpart.graphs import Blocks, GraphLike, Numbers, host_array
from portpart.graphs.ranks import RankGraph
from portpart.metrics.nets import NetsView, view_of
from portpart.metrics.view import PartitionView, block_weights_of_ranks, on_ranks
from portpart.options import WrittenNumber, nonnegative, number_of_blocks, whole_number

MAX_COMMON_BITS = 1 << 14
"""Maximum bits of the common denominator of a target; decimals of 1,000 digits need 4,650."""


def block_weight_limit(total_weight: int, k: int, imbalance: WrittenNumber = 0.03) -> int:
    """Return the limit of a block, ``floor((1 + imbalance) * ceil(total_weight / k))``.

    Parameters
    ----------
    total_weight : int
        Weight of all vertices.
    k : int
        Number of blocks.
    imbalance : float, int, Fraction, Decimal or str
        Read as the decimal that was written: 0.03 means 3/100, not the nearest binary number.
        ``"3%"`` and ``"1/3"`` are also accepted, with at most 1,000 digits and exponents of 400.

    Returns
    -------
    int

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
    total, blocks = whole_number("total_weight", total_weight), number_of_blocks(k)
    return math.floor((1 + nonnegative("imbalance", imbalance, ">= 0")) * -(-total // blocks))


def block_weight_limits(total_weight: int, k: int, imbalance: WrittenNumber = 0.03,
                        target: Numbers | None = None) -> list[int]:
    """Return the limit of each block, ``floor((1 + imbalance) * ceil(target_b))``.

    Parameters
    ----------
    total_weight, k, imbalance
        As in :func:`block_weight_limit`.
    target : array_like, shape (k,), optional
        Shares of the blocks; by default equal, with equal limits.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from portpart.metrics import block_weight_limits
    >>> block_weight_limits(1000, 3, 0.03, [1, 1, 2])
    [257, 257, 515]
    """
    excess = 1 + nonnegative("imbalance", imbalance, ">= 0")
    weights = target_weights(total_weight, k, target)
    if target is None:
        return [math.floor(excess * weights[0])] * len(weights)
    return [math.floor(excess * weight) for weight in weights]


def target_weights(total_weight: int, k: int, target: Numbers | None = None) -> list[int]:
    """Return the weight of each block in perfect balance, ``ceil(total_weight * share_b)``.

    Parameters
    ----------
    total_weight, k : int
    target : array_like, shape (k,), optional
        Integers or fractions of at least 0; only their ratios count: share_b is ``target[b] /
        sum(target)``, in exact arithmetic. Numbers are read as the decimals that were written. By
        default all shares are equal.

    Returns
    -------
    list of int

    Raises
    ------
    InputError
        If `target` does not have `k` finite numbers of at least 0, or all are 0.

    Examples
    --------
    >>> from portpart.metrics import target_weights
    >>> target_weights(1000, 3, [0.2, 0.2, 0.4])
    [250, 250, 500]
    """
    total, blocks = whole_number("total_weight", total_weight), number_of_blocks(k)
    if target is None:
        return [-(-total // blocks)] * blocks
    shares = target_shares(blocks, target)
    whole = sum(shares)
    return [-(-total * share // whole) for share in shares]


def target_shares(k: int, target: Numbers) -> list[int]:
    """Return the target as integers in the same ratios."""
    fractions = exact_target(k, target)
    common = 1
    for block, denominator in enumerate(fraction.denominator for fraction in fractions):
        common = math.lcm(common, denominator)
        if common.bit_length() > MAX_COMMON_BITS:
            raise InputError(f"target[{block}] and those before it have no common denominator of "
                             f"{MAX_COMMON_BITS} bits; write the target as decimals")
    return [fraction.numerator * (common // fraction.denominator) for fraction in fractions]


def exact_target(k: int, target: Any) -> list[Fraction]:
    """Return the target as the numbers that were written."""
    if isinstance(target, (str, Mapping, Set)) or not hasattr(target, "__len__"):
        raise InputError(f"target is {shown(target)}; {k} numbers are needed, one for each block")
    on_gpu = hasattr(target, "__cuda_array_interface__")
    numbers = list(host_array(target) if on_gpu else target)
    if len(numbers) != k:
        raise InputError(f"target holds {len(numbers)} numbers for {k} blocks; one for each block "
                         "is needed")
    shares = [nonnegative(f"target[{block}]", number, "0 or more")
              for block, number in enumerate(numbers)]
    if not any(shares):
        raise InputError(f"target holds {k} zeros; a block with a share of the weight is needed")
    return shares


def block_weights(graph: GraphLike, part: Blocks, k: int | None = None) -> np.ndarray:
    """Return the total vertex weight of each block, int64, shape (k,).

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  For a RankGraph, all
        ranks make the call, each with the blocks of its vertices.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    numpy.ndarray of int64, shape (k,)

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> path = portpart.as_graph(path, vertex_weights=[1, 2, 3, 4])
    >>> portpart.metrics.block_weights(path, [0, 0, 1, 1])
    array([3, 7])
    """
    if isinstance(graph, RankGraph):
        return on_ranks(graph, part, k, block_weights_of_ranks)
    return block_weights_of(view_of(graph, part, k))


def max_block_weight(graph: GraphLike, part: Blocks, k: int | None = None) -> int:
    """Return the weight of the heaviest block.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  For a RankGraph, all
        ranks make the call, each with the blocks of its vertices.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    int

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.max_block_weight(path, [0, 0, 0, 1])
    3
    """
    return int(block_weights(graph, part, k).max(initial=0))


def imbalance(graph: GraphLike, part: Blocks, k: int | None = None,
              target: Numbers | None = None) -> float:
    """Return the excess of the heaviest block over ``ceil(W / k)``: 0.03 means 3 % (0 if W is 0).

    With a `target` the largest of ``weight_b / ceil(target_b) - 1`` over the blocks.  A partition
    keeps the limits of imbalance e exactly if this is at most e.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  For a RankGraph, all
        ranks make the call, each with the blocks of its vertices.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    target : array_like, shape (k,), optional
        Shares of the blocks, as in :func:`target_weights`.

    Returns
    -------
    float

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.imbalance(path, [0, 0, 0, 1])
    0.5
    """
    return imbalance_of(block_weights(graph, part, k), target)


def is_balanced(graph: GraphLike, part: Blocks, k: int | None = None,
                imbalance: WrittenNumber = 0.03, target: Numbers | None = None) -> bool:
    """Whether no block is heavier than its :func:`block_weight_limits` (exact).

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`, Hypergraph or RankGraph
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; device arrays are copied to the host.  For a RankGraph, all
        ranks make the call, each with the blocks of its vertices.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    imbalance, target
        As in :func:`block_weight_limits`.

    Returns
    -------
    bool

    Examples
    --------
    >>> import portpart
    >>> path = portpart.generators.grid_2d(1, 4)
    >>> portpart.metrics.is_balanced(path, [0, 0, 0, 1], imbalance="50%")
    True
    >>> portpart.metrics.is_balanced(path, [0, 0, 0, 1], imbalance="49%")
    False
    """
    return keeps_limits(block_weights(graph, part, k), imbalance, target)


def keeps_limits(weights: np.ndarray, imbalance: WrittenNumber,
                 target: Numbers | None = None) -> bool:
    """Return :func:`is_balanced` for block weights."""
    limits = block_weight_limits(int(weights.sum()), max(1, len(weights)), imbalance, target)
    return all(weight <= limit for weight, limit in zip(weights.tolist(), limits))


def block_weights_of(view: PartitionView | NetsView) -> np.ndarray:
    """Return :func:`block_weights` of a view."""
    if view.vertex_weights is None:
        return np.bincount(view.part, minlength=view.k).astype(np.int64)
    weights = np.zeros(view.k, np.int64)
    np.add.at(weights, view.part, view.vertex_weights)
    return weights


def imbalance_of(weights: np.ndarray, target: Numbers | None = None) -> float:
    """Return :func:`imbalance` of block weights."""
    return float(exact_imbalance(weights, target))


def exact_imbalance(weights: np.ndarray, target: Numbers | None = None) -> Fraction | float:
    """Return :func:`imbalance_of` exactly; infinite if a block with share 0 has weight."""
    total = int(weights.sum())
    if total == 0:
        return Fraction(0)
    if target is None:
        return Fraction(int(weights.max()), -(-total // len(weights))) - 1
    wanted = target_weights(total, len(weights), target)
    pairs = list(zip(weights.tolist(), wanted))
    if any(w > t == 0 for w, t in pairs):
        return math.inf
    return max(Fraction(w, t) for w, t in pairs if t > 0) - 1
