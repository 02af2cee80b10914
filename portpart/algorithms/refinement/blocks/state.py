"""Weights, limits and capacities of the blocks."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement.sizes import of_blocks
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord


class Blocks(WorkRecord):
    """What blocks weigh and may weigh, and which vertices are fixed to theirs.

    Attributes
    ----------
    weight : array of int64, shape (k,)
    limits, means, open_below : array of int64, shape (k,)
        Most that a block may weigh; what it weighs if all weigh their share; and the weight below
        which it takes vertices of others.
    opening : array of int64, shape (k,)
        The same where blocks that were too heavy take none (`target_capacity.py`).
    destination : array of int32
        Blocks with room,
    room : array of int64
        and where the room of each begins, if it is laid out in one row.
    fixed : array of int32, shape (n,), or None
        Vertices with an entry of 0 or more stay where they are.
    previous : array of int32, shape (n,), or None
        Previous blocks of vertices,
    move_cost : array of int64, shape (n,), or None
        and what they cost elsewhere (`previous_blocks.py`).
    """

    limits: Array = work(np.int64, of_blocks)
    means: Array = work(np.int64, of_blocks)
    open_below: Array = work(np.int64, of_blocks)
    fixed: Array | None = None
    previous: Array | None = None
    move_cost: Array | None = None
    weight: Array = work(np.int64, of_blocks)
    opening: Array = work(np.int64, of_blocks)
    destination: Array = work(np.int32, of_blocks)
    room: Array = work(np.int64, lambda size: size.blocks + 1)

    destinations: int = kl.word()  # blocks with room
