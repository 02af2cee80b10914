"""What the weights of blocks are measured against, and what is known about packing into it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

# What a call has determined about packing weights into its limits ------------------------------
#
# Several partitions of a call end with the same weights and capacities, and a long search would
# take
# as long each time.


Found = TypeVar("Found")


class AnswerCache:
    """Answers to questions about arrays."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, bytes], Any] = {}

    def once(self, question: str, answer: Callable[[], Found], *arrays: np.ndarray) -> Found:
        """The answer, which depends on the arrays only; when they come again it is known.

        It is not to be changed.
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


# What the weights of blocks are measured against -----------------------------------------------


class Balance:
    """The number of blocks and the limits of their weights.

    Attributes
    ----------
    num_blocks : int
    max_block_weight : int
        No block may weigh more; the largest limit where blocks differ.
    mean_block_weight : int
        Total weight over the number of blocks, rounded down.
    limits, means : numpy.ndarray of int64, shape (k,)
        The same for each block.
    are_alike : bool
        Whether these were not given: all blocks have the same.
    imbalance : float
        The requested imbalance, which METIS gets.
    known : AnswerCache
        What has been determined about packing weights into these limits.
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
        """The same with other limits of the blocks; the largest is what it was."""
        return Balance(self.num_blocks, self.max_block_weight, self.mean_block_weight, limits,
                       self.means, self.imbalance, self.known)

    @property
    def open_below(self) -> np.ndarray:
        """Blocks below these weights take vertices; the closed zone up to the limit stays closed.

        The zone is a hundredth of the limit, at most 100 (Jet's released code), and never so wide
        that no block of mean weight could take a vertex.
        """
        if self.are_alike:
            return np.full(self.num_blocks, self.one_open_below, np.int64)
        limits = self.limits
        zone = np.minimum(100, limits // 100)
        return np.maximum(limits - zone, np.minimum(limits, self.means + 1))

    @property
    def one_open_below(self) -> int:
        """The same of one block, where all are alike."""
        limit = self.max_block_weight
        return max(limit - min(100, limit // 100), min(limit, self.mean_block_weight + 1))

    @property
    def shares(self) -> np.ndarray | None:
        """Share of the total weight that each block is meant to have; None if they are equal."""
        if self.are_alike:
            return None
        return np.maximum(self.limits, 1) / np.maximum(self.limits, 1).sum(dtype=np.float64)

    def overload(self, weights: np.ndarray) -> int:
        """Most by which a block of these weights exceeds its limit; not positive if none does."""
        return int((weights - self.limits).max(initial=-(2**62)))

    def cluster_limit(self, coarsest: int, max_share: float | None = 0.25) -> int:
        """Most that a coarse vertex may weigh, so that blocks can be made of such vertices.

        A share of a block; of the smallest one where blocks differ, but no less than twice the
        mean weight of `coarsest` vertices, for else coarsening would stall.  Without a share all
        that vertices can weigh.
        """
        total = int(self.means.sum()) + self.num_blocks
        if max_share is None:
            return total
        smallest, largest = (int(Fraction(float(max_share)) * int(limit))
                             for limit in (self.limits.min(), self.limits.max()))
        if self.are_alike:
            return max(largest, 1)
        return max(smallest, min(largest, 2 * total // max(1, coarsest)), 1)


def balance_of(limits: np.ndarray, weight: int) -> Balance:
    """What blocks of these limits, which may differ, are measured against with so much in all."""
    count, room = len(limits), int(limits.sum())
    imbalance = max(0.0, room / max(1, weight) - 1)
    if (limits == limits[0]).all():
        return Balance(count, int(limits[0]), weight // count, imbalance=imbalance)
    means = (limits * (weight / max(1, room))).astype(np.int64)
    return Balance(count, int(limits.max()), int(means.max()), limits, means, imbalance)
