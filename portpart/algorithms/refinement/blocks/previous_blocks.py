"""Previous blocks of vertices, and the migration costs of leaving them.

A vertex outside its previous block costs its move cost, like an arc of that weight to a vertex
fixed there.  So the previous block is a candidate even without a neighbour in it, and a gain
includes the move cost.  These are the migration nets of Catalyurek et al. (2009), but not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from portpart.algorithms.coarsening import Level, label_of_clusters
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives import STRIPES, histogram, sum_of

NONE = -1


@dataclass(frozen=True, eq=False)
class PreviousBlocks:
    """The previous block of each vertex, and the cost of leaving it.

    Attributes
    ----------
    previous : array of int32, shape (n,)
    move_cost : array of int64, shape (n,)
        Migration cost of a vertex outside its previous block; 0 if it may be anywhere.
    """

    previous: Array
    move_cost: Array

    def of_clusters(self, space: ExecutionSpace, cluster: Array, count: int) -> PreviousBlocks:
        """Return the previous blocks of clusters; the vertices of a cluster have the same."""
        return PreviousBlocks(label_of_clusters(space, self.previous, cluster, count),
                              histogram(space, cluster, count, self.move_cost))

    def add_to(self, sums: Array, space: ExecutionSpace, part: Array) -> None:
        """Add twice the migration cost of a partition to words that add up."""
        space.parallel_for(len(self.previous), add_cost_of_moving, part, self.previous,
                           self.move_cost, sums)

    def cost(self, space: ExecutionSpace, part: Array) -> int:
        """Return the cost of the vertices outside their previous blocks.  Waits for the device."""
        sums = space.zeros(STRIPES, np.int64)
        self.add_to(sums, space, part)
        return sum_of(space, sums) // 2


def previous_blocks_on(levels: Sequence[Level[Any]],
                       previous_blocks: PreviousBlocks) -> list[PreviousBlocks]:
    """Return the previous blocks on all levels, finest first.

    The vertices of a cluster have the same previous block.
    """
    found = [previous_blocks]
    for fine, coarse in pairwise(levels):
        assert fine.cluster is not None
        space, count = coarse.graph.space, coarse.graph.num_vertices
        found.append(found[-1].of_clusters(space, fine.cluster, count))
    return found


@kl.device
def migration_gain(v, block, blocks: Blocks):
    """Return the move cost of v if the block is its previous one, else 0."""
    move_cost = kl.value_or(blocks.move_cost, v, 0)
    if move_cost > 0:
        if kl.int64(block) != kl.value_or(blocks.previous, v, NONE):
            move_cost = kl.int64(0)
    return move_cost


@kl.device
def has_moved(v, part, blocks: Blocks):
    """Whether v is outside its previous block and has a move cost."""
    result = kl.value_or(blocks.move_cost, v, 0) > 0
    if result:
        result = kl.int64(part[v]) != kl.value_or(blocks.previous, v, NONE)
    return result


@kl.kernel
def add_cost_of_moving(v, part, previous, move_cost, sums):
    """Add twice the migration cost of v.  Atomic, independent of order."""
    if part[v] != previous[v] and move_cost[v] > 0:
        kl.atomic_add(sums, v % STRIPES, 2 * move_cost[v])
