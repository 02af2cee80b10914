"""Previous blocks of vertices, and the migration costs of leaving them.

A vertex outside its previous block costs its move cost, as if an arc of that weight led to a vertex
that is fixed there.  So the previous block is a candidate even without a neighbour in it, and a
gain includes the move cost.  These are the migration nets of Catalyurek et al. (2009), which are
stored nowhere.
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
        What a vertex costs elsewhere; 0 where it may be anywhere.
    """

    previous: Array
    move_cost: Array

    def of_clusters(self, space: ExecutionSpace, cluster: Array, count: int) -> PreviousBlocks:
        """The same of `count` clusters of vertices with one previous block."""
        return PreviousBlocks(label_of_clusters(space, self.previous, cluster, count),
                              histogram(space, cluster, count, self.move_cost))

    def add_to(self, sums: Array, space: ExecutionSpace, part: Array) -> None:
        """Add twice what a partition costs here to words that add up."""
        space.parallel_for(len(self.previous), add_cost_of_moving, part, self.previous,
                           self.move_cost, sums)

    def cost(self, space: ExecutionSpace, part: Array) -> int:
        """Cost of the vertices outside their previous blocks.  Waits for the device."""
        sums = space.zeros(STRIPES, np.int64)
        self.add_to(sums, space, part)
        return sum_of(space, sums) // 2


def previous_blocks_on(levels: Sequence[Level[Any]],
                       previous_blocks: PreviousBlocks) -> list[PreviousBlocks]:
    """The previous blocks on all levels, finest first; those of a cluster's vertices are equal."""
    found = [previous_blocks]
    for fine, coarse in pairwise(levels):
        assert fine.cluster is not None
        space, count = coarse.graph.space, coarse.graph.num_vertices
        found.append(found[-1].of_clusters(space, fine.cluster, count))
    return found


@kl.device
def migration_gain(v, block, blocks: Blocks):
    """The move cost of v if a block is its previous one, else 0."""
    move_cost = kl.value_or(blocks.move_cost, v, 0)
    if move_cost > 0:
        if kl.int64(block) != kl.value_or(blocks.previous, v, NONE):
            move_cost = kl.int64(0)
    return move_cost


@kl.device
def has_moved(v, part, blocks: Blocks):
    """Whether v is outside its previous block and costs something."""
    result = kl.value_or(blocks.move_cost, v, 0) > 0
    if result:
        result = kl.int64(part[v]) != kl.value_or(blocks.previous, v, NONE)
    return result


@kl.kernel
def add_cost_of_moving(v, part, previous, move_cost, sums):
    """Add twice what v costs where it is; atomic, independent of order."""
    if part[v] != previous[v] and move_cost[v] > 0:
        kl.atomic_add(sums, v % STRIPES, 2 * move_cost[v])
