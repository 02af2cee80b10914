"""The best partition so far."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement.sizes import of_blocks, of_vertices
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.work import WorkRecord


class Incumbent(WorkRecord):
    """The best partition so far, and what has moved since.

    Attributes
    ----------
    best : array of int32, shape (n,)
    best_weight : array of int64, shape (k,)
    touched : array of int8, shape (n,)
        Whether a vertex may be on a boundary of the partition that a level starts from.
    is_unsaved : array of int8, shape (n,)
        Whether a vertex is on the list of vertices moved since.
    unsaved_list : array of int32
    tolerance : float
        The cost must fall below this share of the best one to count as progress.
    """

    best: Array = work(np.int32, of_vertices)
    best_weight: Array = work(np.int64, of_blocks)
    touched: Array = work(np.int8, of_vertices)
    is_unsaved: Array = work(np.int8, of_vertices)
    unsaved_list: Array = work(np.int32, of_vertices)
    tolerance: float = 1.0

    restored_blocks: int = kl.word()  # blocks whose weights start from those of the best partition
    restored_stripes: int = kl.word()  # words of the cost that start from it
    saves: int = kl.word()  # work items of `save_best`: the most of the next two, and one at least
    saved_vertices: int = kl.word()  # to copy to the best partition: the moved ones or none
    saved_blocks: int = kl.word()
    unsaved: int = kl.word()  # vertices that have moved since the best partition
    best_is_balanced: int = kl.word()
    best_cost: int = kl.word()
    best_overload: int = kl.word()
