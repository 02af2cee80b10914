"""The partition, the moves of an iteration, and the sums of weights and cost."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement.sizes import of_vertices
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord
from portpart.primitives.reduce import STRIPES


class Moves(WorkRecord):
    """The partition, the moves of an iteration, and the accounts of weights and costs.

    Attributes
    ----------
    part : array of int32, shape (n,)
    target : array of int32, shape (n,)
        Where a vertex moves to, if it moves.
    moved_in, locked_in : array of int32, shape (n,)
        Iteration of a vertex's last move; the same by label propagation, which locks it for one.
    listed : array of int32
        The vertices that move in this iteration.
    weight_sums : array of int64
        Block weights in several copies that add up.
    cost_sums : array of int64, shape (STRIPES,)
        Words that add up to twice the cost.
    """

    part: Array = work(np.int32, of_vertices)
    target: Array = work(np.int32, of_vertices)
    moved_in: Array = work(np.int32, of_vertices)
    locked_in: Array = work(np.int32, of_vertices)
    listed: Array = work(np.int32, of_vertices)
    weight_sums: Array = work(np.int64, lambda size: size.blocks * size.stripes)
    cost_sums: Array = work(np.int64, lambda size: STRIPES)

    moves: int = kl.word()  # vertices that move in this iteration
    last_propagation: int = kl.word()  # the last label propagation, whose moves are locked
    subsampled: int = kl.word()  # few proposed moves are made at a time: all were too many
    weight_stripes: int = kl.word()  # copies of the block weights that moves are added to
