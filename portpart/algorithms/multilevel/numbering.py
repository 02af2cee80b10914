"""Renumbers new blocks after the previous ones, so that most vertices stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.initial.fixed_vertices import best_names, greedy_names
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.backends.interface import Array, ExecutionSpace

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_MATCHED = 2048
"""With more blocks the best numbering takes too long; a greedy one has to do."""


def renumbered(space: ExecutionSpace, part: Array, previous_blocks: PreviousBlocks,
               balance: Balance) -> Array:
    """The same blocks, renumbered so that the saved migration cost is largest.

    Blocks that may not weigh the same do not change numbers.
    """
    from scipy.sparse import coo_array

    k, blocks = balance.num_blocks, space.to_host(part)
    overlap = coo_array((space.to_host(previous_blocks.move_cost),
                         (blocks, space.to_host(previous_blocks.previous))),
                        shape=(k, k)).tocsr()
    names = np.arange(k, dtype=np.int32)
    for alike in _alike(balance):
        names[alike] = alike[_names(overlap[alike][:, alike])]
    return space.asarray(names[blocks])


def _alike(balance: Balance) -> list[np.ndarray]:
    """Blocks by what they may and are meant to weigh."""
    kinds = np.unique(np.stack([balance.limits, balance.means]), axis=1, return_inverse=True)[1]
    kinds = kinds.reshape(-1)
    return [np.flatnonzero(kinds == kind) for kind in range(int(kinds.max()) + 1)]


def _names(overlap: csr_array) -> np.ndarray:
    if overlap.shape[0] > MAX_MATCHED:
        return greedy_names(overlap)
    return best_names(overlap.toarray())
