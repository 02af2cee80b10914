"""What the weights of blocks are measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Balance:
    """The number of blocks and the limits of their weights.

    Attributes
    ----------
    num_blocks : int
    max_block_weight : int
        No block may weigh more.
    mean_block_weight : int
        Total weight over the number of blocks, rounded down.
    own_limits, own_means : numpy.ndarray of int64, shape (k,), optional
        The same for each block, where blocks differ; then `max_block_weight` is the largest limit.
    """

    num_blocks: int
    max_block_weight: int
    mean_block_weight: int
    own_limits: np.ndarray | None = None
    own_means: np.ndarray | None = None

    @property
    def limits(self) -> np.ndarray:
        """Most that each block may weigh: int64, shape (k,)."""
        if self.own_limits is None:
            return np.full(self.num_blocks, self.max_block_weight, np.int64)
        return self.own_limits

    @property
    def means(self) -> np.ndarray:
        """What each block weighs in perfect balance, rounded down: int64, shape (k,)."""
        if self.own_means is None:
            return np.full(self.num_blocks, self.mean_block_weight, np.int64)
        return self.own_means

    @property
    def open_below(self) -> np.ndarray:
        """Blocks below these weights take vertices; the dead zone up to the limit stays closed.

        The zone is a hundredth of the limit, at most 100 (Jet's released code), and never so wide
        that no block of mean weight could take a vertex.
        """
        limits = self.limits
        zone = np.minimum(100, limits // 100)
        return np.maximum(limits - zone, np.minimum(limits, self.means + 1))

    @property
    def shares(self) -> np.ndarray | None:
        """Share of the total weight that each block is meant to have; None if they are equal."""
        if self.own_limits is None:
            return None
        return np.maximum(self.limits, 1) / np.maximum(self.limits, 1).sum(dtype=np.float64)

    def overload(self, weights: np.ndarray) -> int:
        """Most by which a block of these weights exceeds its limit; not positive if none does."""
        return int((weights - self.limits).max(initial=-(2**62)))

    def cluster_limit(self, coarsest: int) -> int:
        """Most that a coarse vertex may weigh, so that blocks can be made of such vertices.

        A quarter of a block; of the smallest one where blocks differ, but no less than twice the
        mean weight of `coarsest` vertices, for else coarsening would stall.
        """
        if self.own_limits is None:
            return max(self.max_block_weight // 4, 1)
        total = int(self.means.sum()) + self.num_blocks
        smallest, largest = int(self.limits.min()) // 4, int(self.limits.max()) // 4
        return max(smallest, min(largest, 2 * total // max(1, coarsest)), 1)
