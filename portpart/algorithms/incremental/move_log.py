"""Where vertices are and were: what rounds report, and how they are undone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.id_table import ALIVE
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace

NONE = -1


class RoundResult(NamedTuple):
    """The result of a round.

    Attributes
    ----------
    cost, iterations : int
    affected : int
        Vertices that refinement began with.
    moved, migration : int
        Vertices that were there before and are elsewhere now, and their size.
    journaled : int
        Length of the lists of moved vertices.
    weights : numpy.ndarray of int64, shape (k,)
        Of the blocks.
    """

    cost: int
    iterations: int
    affected: int
    moved: int
    migration: int
    journaled: int
    weights: np.ndarray


class LivePartition(NamedTuple):
    """The partition of the existing vertices; arrays of their number, or None.

    Attributes
    ----------
    part : array of int32
    sizes : array of int64, or None
    fixed : array of int32, or None
    """

    part: Array
    sizes: Array | None
    fixed: Array | None


class MoveLog(NamedTuple):
    """What takes a partition back to where it was.

    Attributes
    ----------
    listed, left : array of int32
        Vertices that have moved, and from where; -1 if from nowhere.
    """

    listed: Array
    left: Array

    def kept(self, space: ExecutionSpace) -> MoveLog:
        """A copy that stays."""
        return MoveLog(space.copy(self.listed), space.copy(self.left))


@kl.kernel
def write_left(i, listed, left, part):
    """Vertex i of the list is where it was, if it is alive."""
    if left[i] >= 0 and part[listed[i]] >= 0:
        part[listed[i]] = left[i]


@kl.kernel
def write_existing_block(v, best, deletions, part):
    """part[v] = the block of v, -1 if v is not alive."""
    part[v] = best[v] if deletions[v] == ALIVE else kl.int32(NONE)
