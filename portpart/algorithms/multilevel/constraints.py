"""Constraints of a partition besides balance."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace

FREE = -1
"""The block of a vertex that is not fixed."""


def never() -> bool:
    """There is time."""
    return False


def deadline_check(space: ExecutionSpace, deadline: float) -> Callable[[], bool]:
    """Whether the device is still at work at `deadline`, a reading of ``time.perf_counter``."""
    if deadline == math.inf:
        return never

    def is_late() -> bool:
        space.synchronize()
        return time.perf_counter() > deadline

    return is_late


@dataclass(frozen=True, eq=False)
class Constraints:
    """Vertices that must not move, a partition to start from, a limit of time.

    Attributes
    ----------
    fixed : array of int32, shape (n,), optional
        The block of a fixed vertex, -1 for the others.
    initial : array of int32, shape (n,), optional
        A partition to improve, in which fixed vertices are where they have to be.
    out_of_time : callable
        Asked where work can end early with a whole partition.
    previous_blocks : PreviousBlocks, optional
        Blocks that it costs to be away from: those of `initial`.
    grows : bool
        Whether partitions are also grown where there are previous blocks.
    is_brief : bool
        Whether coarsening ends where levels are barely smaller, and each is refined once.
    """

    fixed: Array | None = None
    initial: Array | None = None
    out_of_time: Callable[[], bool] = never
    previous_blocks: PreviousBlocks | None = None
    grows: bool = True
    is_brief: bool = False

    def label(self, space: ExecutionSpace, part: Array | None) -> Array | None:
        """int32, one per vertex: vertices of different labels must not be merged.

        They differ in `part`, in the block that they are fixed to, or in their previous block.
        """
        if self.previous_blocks is not None and part is not self.previous_blocks.previous:
            part = _pairs(space, self.previous_blocks.previous, part)
        if part is None or self.fixed is None:
            return self.fixed if part is None else part
        label = space.empty(len(part), np.int32)
        space.parallel_for(len(part), mark_fixed, self.fixed, part, label)
        return label

    def moved(self, space: ExecutionSpace, other: ExecutionSpace) -> Constraints:
        """The same with the arrays, which are in `space`, in another one."""
        fixed, initial = (None if array is None else other.asarray(space.to_host(array))
                          for array in (self.fixed, self.initial))
        return Constraints(fixed, initial, self.out_of_time)


def _pairs(space: ExecutionSpace, previous: Array, part: Array | None) -> Array:
    """A number for each pair of previous and current block."""
    if part is None:
        return previous
    pairs = space.to_host(previous).astype(np.int64) << 32 | space.to_host(part)
    return space.asarray(np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int32))


UNCONSTRAINED = Constraints()


@kl.kernel
def mark_fixed(v, fixed, part, label):
    """The label of v is its own, and one for each block if it is fixed."""
    label[v] = part[v]
    if fixed[v] >= 0:
        label[v] = kl.int32(-2) - fixed[v]
