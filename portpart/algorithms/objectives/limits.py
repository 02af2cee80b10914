"""Limits of block weights, and cached answers about packing weights into them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

# Cached answers of a call about packing weights into its limits --------------------------------
#
# Several partitions of a call end with the same weights and capacities, and a long search would
# take as long each time.


Found = TypeVar("Found")


class AnswerCache:
    """Cached answers to questions about arrays."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, bytes], Any] = {}

    def once(self, question: str, answer: Callable[[], Found], *arrays: np.ndarray) -> Found:
        """Return the answer, which depends on the arrays only; it is computed once.

        The answer must not be changed.
        """
        digest = blake2b(digest_size=16)
        for array in arrays:
            digest.update(f"{len(array)} {array.dtype} ".encode())
            digest.update(array.tobytes())
        key = question, digest.digest()
        if key not in self._answers:
            self._answers[key] = answer()
        found: Found = self._answers[key]
        return found


# Limits and mean weights of blocks -------------------------------------------------------------


class Balance:
    """The number of blocks and the limits of their weights.

    Attributes
    ----------
    num_blocks : int
    max_block_weight : int
        Limit of a block; the largest one if blocks differ.
    mean_block_weight : int
        Total weight over the number of blocks, rounded down.
    limits, means : numpy.ndarray of int64, shape (k,)
        Limit and mean weight of each block.
    are_alike : bool
        Whether no limits were given: all blocks have the same.
    imbalance : float
        The requested imbalance, which is passed to METIS.
    known : AnswerCache
        Cached answers about packing weights into these limits.
    """

    def __init__(self, num_blocks: int, max_block_weight: int, mean_block_weight: int,
                 limits: np.ndarray | None = None, means: np.ndarray | None = None,
                 imbalance: float = 0.03, known: AnswerCache | None = None) -> None:
        self.num_blocks, self.imbalance = num_blocks, imbalance
        self.max_block_weight, self.mean_block_weight = max_block_weight, mean_block_weight
        self.are_alike = limits is None
        self.known = AnswerCache() if known is None else known
        if limits is not None:
            self.limits = limits
        if means is not None:
            self.means = means

    @cached_property
    def limits(self) -> np.ndarray:
        return np.full(self.num_blocks, self.max_block_weight, np.int64)

    @cached_property
    def means(self) -> np.ndarray:
        return np.full(self.num_blocks, self.mean_block_weight, np.int64)

    def with_limits(self, limits: np.ndarray) -> Balance:
        """Return a balance with other limits of the blocks and the same `max_block_weight`."""
        return Balance(self.num_blocks, self.max_block_weight, self.mean_block_weight, limits,
                       self.means, self.imbalance, self.known)

    @property
    def open_below(self) -> np.ndarray:
        """Blocks below these weights accept vertices; blocks between them and the limit do not.

        The closed zone is a hundredth of the limit, at most 100 (Jet's released code), and never so
        wide that no block of mean weight could accept a vertex.
        """
        if self.are_alike:
            return np.full(self.num_blocks, self.one_open_below, np.int64)
        limits = self.limits
        zone = np.minimum(100, limits // 100)
        return np.maximum(limits - zone, np.minimum(limits, self.means + 1))

    @property
    def one_open_below(self) -> int:
        """The weight below which a block accepts vertices, if all blocks are alike."""
        limit = self.max_block_weight
        return max(limit - min(100, limit // 100), min(limit, self.mean_block_weight + 1))

    @property
    def shares(self) -> np.ndarray | None:
        """Requested share of each block in the total weight; None if they are equal."""
        if self.are_alike:
            return None
        return np.maximum(self.limits, 1) / np.maximum(self.limits, 1).sum(dtype=np.float64)

    def overload(self, weights: np.ndarray) -> int:
        """Return the maximum by which a block of these weights exceeds its limit.

        It is not positive if no block does.
        """
        return int((weights - self.limits).max(initial=-(2**62)))

    def cluster_limit(self, coarsest: int, max_share: float | None = 0.25) -> int:
        """Return the maximum weight of a coarse vertex, with which blocks can still be made.

        It is a share of a block; of the smallest one if blocks differ, but at least twice the mean
        weight of `coarsest` vertices, since coarsening would stall otherwise.  Without a share it
        is the weight of all vertices.
        """
        if max_share is not None and self.are_alike:
            return max(int(Fraction(float(max_share)) * int(self.max_block_weight)), 1)
        total = int(self.means.sum()) + self.num_blocks
        if max_share is None:
            return total
        smallest, largest = (int(Fraction(float(max_share)) * int(limit))
                             for limit in (self.limits.min(), self.limits.max()))
        return max(smallest, min(largest, 2 * total // max(1, coarsest)), 1)


def balance_of(limits: np.ndarray, weight: int) -> Balance:
    """Return the balance of blocks with these limits, which may differ, for this total weight."""
    count, capacity = len(limits), int(limits.sum())
    imbalance = max(0.0, capacity / max(1, weight) - 1)
    if (limits == limits[0]).all():
        return Balance(count, int(limits[0]), weight // count, imbalance=imbalance)
    means = (limits * (weight / max(1, capacity))).astype(np.int64)
    return Balance(count, int(limits.max()), int(means.max()), limits, means, imbalance)
