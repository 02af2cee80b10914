"""Sizes of refinement, which the lengths of its work arrays follow from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.backends.work import roomy

MAX_WEIGHT_COPIES = 256
"""Block weights are distributed over at most this many words."""

BUCKETS = 50
"""Buckets of losses, for each block."""


@dataclass(frozen=True)
class RefinementSizes:
    """Sizes of a graph that is refined, and of what follows from them.

    `finest` are the vertices of the finest graph, if that is a larger one.
    """

    vertices: int
    arcs: int
    blocks: int
    finest: int = 0

    @property
    def stripes(self) -> int:
        """Copies of the block weights that moves are added to."""
        return max(1, MAX_WEIGHT_COPIES // self.blocks)

    @property
    def hubs(self) -> int:
        """Most hubs, with the fewest lanes for other vertices, and one."""
        return 1 + self.arcs // max_arcs(1)

    @property
    def sub_buckets(self) -> int:
        """Sub-buckets of each bucket."""
        return sub_buckets_for(self.blocks, max(self.vertices, self.finest))

    def with_room_for(self, vertices: int) -> RefinementSizes:
        """Of the finest graph: the sizes of work arrays for a graph of this many vertices.

        What follows from the numbers of arcs and blocks is as large as that of the finest graph.
        """
        return replace(self, vertices=roomy(vertices, self.vertices),
                       finest=max(self.vertices, self.finest))


def max_arcs(team: int) -> int:
    """Most arcs of a vertex that is not a hub, where `team` lanes work on others."""
    return max(256, 32 * team)


def sub_buckets_for(num_blocks: int, num_vertices: int) -> int:
    """Sub-buckets per bucket, a power of two, about one for 8 vertices of a block.

    No more than keep the histogram small.
    """
    share = min(2**20 // (BUCKETS * num_blocks), num_vertices // (8 * num_blocks))
    return 1 << max(0, min(8, share.bit_length() - 1))


def of_vertices(size: RefinementSizes) -> int:
    """Length of an array with an entry for each vertex."""
    return size.vertices


def of_blocks(size: RefinementSizes) -> int:
    """Length of an array with an entry for each block."""
    return size.blocks
