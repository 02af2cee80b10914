"""Vertices that may leave blocks that are too heavy, in buckets (Jet, section 4.2)."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import BUCKETS
from portpart.backends import language as kl
from portpart.backends.programs import Array

STAYS = -1
"""In place of the slot of a vertex that does not leave."""

SHORT_TILE, MAX_TILES = 128, 8192
"""Vertices of a tile, and the number of tiles from which there are more to a tile."""


def tile_of(num_vertices: int) -> int:
    """Vertices of a tile of this many."""
    tile = SHORT_TILE
    while num_vertices > MAX_TILES * tile:
        tile *= 2
    return tile


def max_tiles(num_vertices: int) -> int:
    """Tiles of this many vertices, or fewer, at most."""
    return min(-(-num_vertices // SHORT_TILE), MAX_TILES)


class Rebalancing(kl.Record):
    """Vertices that may leave blocks that are too heavy, by what that loses (`rule.py`).

    Attributes
    ----------
    listed : array of int32
        Those vertices, in any order.
    slot_of : array of int32, shape (n,)
        A vertex's bucket and sub-bucket; in strong rebalancing `STAYS` for vertices that do not
        leave.
    bucket_weight, slot_weight : array of int64
        Weights of buckets and sub-buckets, block by block; zero between two rebalancings.
    threshold : array of int64, shape (k,)
        Last slot that leaves a block.
    scope : array of int32, shape (k,)
        Which vertices of a block are rated.
    tile_sums : array of int64
        Strong rebalancing: weight of the vertices that leave, tile by tile; then the sums of these
        before each tile, and of all behind the last one.
    sub_buckets : int
    """

    listed: Array = kl.work(np.int32, "vertices")
    slot_of: Array = kl.work(np.int32, "vertices")
    bucket_weight: Array = kl.work(np.int64, lambda size: size.blocks * BUCKETS, zeros=True)
    slot_weight: Array = kl.work(
        np.int64, lambda size: size.blocks * BUCKETS * size.sub_buckets, zeros=True)
    threshold: Array = kl.work(np.int64, "blocks")
    scope: Array = kl.work(np.int32, "blocks", zeros=True)
    tile_sums: Array = kl.work(np.int64, lambda size: max_tiles(size.vertices) + 1)
    sub_buckets: int = 1

    candidates: int = kl.word()  # vertices that may leave a block that is too heavy
    swept: int = kl.word()  # vertices that may leave heavily overloaded blocks: all or none
    rated: int = kl.word()  # this many eviction candidates have been rated
    single: int = kl.word()  # listed vertices that are examined one by one; 0 if it gathers
    batches: int = kl.word()  # batches of them, at most, that it gathers from; or 0
    many_on_boundary: int = kl.word()  # from a longer list eviction candidates are gathered first
    strong: int = kl.word()  # the next rebalancing is the strong one
    short: int = kl.word()  # a block has to give up more than the movable vertices rated so far
    wide: int = kl.word()  # this rebalancing rates others, too, from the start
    next_wide: int = kl.word()
    rebalancings: int = kl.word()  # weak ones since the last label propagation
    weak_limit: int = kl.word()
    loss_unit: int = kl.word()  # losses are sorted into buckets in multiples of this
    mean_vertex_weight: int = kl.word()
    tile: int = kl.word()  # vertices of a tile
    tiles: int = kl.word()  # tiles of the vertices, and an empty one behind them
