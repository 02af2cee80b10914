"""The price of moving: homes, and what ties vertices to them.

A vertex costs its tie wherever it is but at home, as if an arc of that weight led from it to a
vertex that is fixed there.  So home is a candidate even where no neighbour is, and a gain has the
tie in it.  These are the migration nets of Catalyurek et al. (2009), which are stored nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.hierarchy import Level, label_of_clusters
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.primitives.histogram import histogram
from portpart.primitives.reduce import STRIPES, sum_of

NONE = -1


@dataclass(frozen=True, eq=False)
class Homes:
    """Where vertices are at home.

    Attributes
    ----------
    home : array of int32, shape (n,)
    tie : array of int64, shape (n,)
        What a vertex costs elsewhere; 0 where it may as well be anywhere.
    """

    home: Array
    tie: Array

    def of_clusters(self, space: ExecutionSpace, cluster: Array, count: int) -> Homes:
        """The same of `count` clusters of vertices that have one home."""
        return Homes(label_of_clusters(space, self.home, cluster, count),
                     histogram(space, cluster, count, self.tie))

    def add_to(self, sums: Array, space: ExecutionSpace, part: Array) -> None:
        """Add twice what a partition costs here to words that add up."""
        space.parallel_for(len(self.home), add_cost_of_moving, part, self.home, self.tie, sums)

    def cost(self, space: ExecutionSpace, part: Array) -> int:
        """What vertices cost that are not at home.  Synchronises."""
        sums = space.zeros(STRIPES, np.int64)
        self.add_to(sums, space, part)
        return sum_of(space, sums) // 2


def homes_on(levels: Sequence[Level[Any]], homes: Homes) -> list[Homes]:
    """Those of all levels, finest first; clusters are made of vertices with one home."""
    found = [homes]
    for fine, coarse in pairwise(levels):
        assert fine.cluster is not None
        space, count = coarse.graph.space, coarse.graph.num_vertices
        found.append(found[-1].of_clusters(space, fine.cluster, count))
    return found


@kl.device
def pull_of(v, block, blocks: Blocks):
    """What ties v to a block: its tie if that is its home, else nothing."""
    tie = kl.value_or(blocks.tie, v, 0)
    if tie > 0:
        if kl.int64(block) != kl.value_or(blocks.home, v, NONE):
            tie = kl.int64(0)
    return tie


@kl.device
def is_away(v, part, blocks: Blocks):
    """Whether v is not at home and costs something."""
    result = kl.value_or(blocks.tie, v, 0) > 0
    if result:
        result = kl.int64(part[v]) != kl.value_or(blocks.home, v, NONE)
    return result


@kl.kernel
def add_cost_of_moving(v, part, home, tie, sums):
    """Add twice what v costs where it is; atomic, order-free."""
    if part[v] != home[v] and tie[v] > 0:
        kl.atomic_add(sums, v % STRIPES, 2 * tie[v])
