"""What the weights of blocks are measured against."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Balance:
    """The number of blocks and the limits of their weights.

    Attributes
    ----------
    num_blocks : int
    max_block_weight : int
        No block may weigh more.
    mean_block_weight : int
        Total weight over the number of blocks, rounded down.
    """

    num_blocks: int
    max_block_weight: int
    mean_block_weight: int

    @property
    def destination_weight(self) -> int:
        """Blocks below this weight take vertices; the dead zone up to the limit stays closed.

        The zone is a hundredth of the limit, at most 100 (Jet's released code), and never so wide
        that no block of mean weight could take a vertex.
        """
        limit = self.max_block_weight
        return max(limit - min(100, limit // 100), min(limit, self.mean_block_weight + 1))
