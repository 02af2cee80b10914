"""Eviction candidates and their buckets (Jet, section 4.2)."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import BUCKETS
from portpart.backends import language as kl
from portpart.backends.programs import Array

STAYS = -1
"""Stored instead of a slot for a vertex that does not leave."""

SHORT_TILE, MAX_TILES = 128, 8192
"""Vertices of a tile, and the number of tiles from which on tiles are longer."""


def tile_of(num_vertices: int) -> int:
    """Return the number of vertices of a tile, for a graph of `num_vertices`."""
    tile = SHORT_TILE
    while num_vertices > MAX_TILES * tile:
        tile *= 2
    return tile


class Rebalancing(kl.Record):
    """Eviction candidates, sorted into buckets by their loss (`rule.py`).

    Attributes
    ----------
    listed : array of int32
        Eviction candidates, in any order.
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
        Strong rebalancing: weight of the leaving vertices of each tile; later the sum of these
        before each tile, and the total after the last one.
    sub_buckets : int
    """

    listed: Array = kl.work(np.int32, "vertices")
    slot_of: Array = kl.work(np.int32, "vertices")
    bucket_weight: Array = kl.work(np.int64, lambda size: size.blocks * BUCKETS, zeros=True)
    slot_weight: Array = kl.work(
        np.int64, lambda size: size.blocks * BUCKETS * size.sub_buckets, zeros=True)
    threshold: Array = kl.work(np.int64, "blocks")
    scope: Array = kl.work(np.int32, "blocks", zeros=True)
    tile_sums: Array = kl.work(
        np.int64, lambda size: min(-(-size.vertices // SHORT_TILE), MAX_TILES) + 1)
    sub_buckets: int = 1

    candidates: int = kl.word()  # vertices that may leave an overloaded block
    swept: int = kl.word()  # batches examined for heavily overloaded blocks: all or none
    rated: int = kl.word()  # number of candidates that have been rated
    single: int = kl.word()  # boundary vertices examined one by one; 0 if candidates are gathered
    batches: int = kl.word()  # maximum number of batches to gather candidates from; or 0
    many_on_boundary: int = kl.word()  # from a longer boundary list candidates are gathered
    strong: int = kl.word()  # whether the next rebalancing is a strong one
    short: int = kl.word()  # whether the rated movable vertices of a block are too few
    wide: int = kl.word()  # whether vertices that are not movable are rated from the start
    next_wide: int = kl.word()  # the same for the next rebalancing
    rebalancings: int = kl.word()  # weak rebalancings since the last label propagation
    weak_limit: int = kl.word()
    loss_unit: int = kl.word()  # unit of losses when they are sorted into buckets
    mean_vertex_weight: int = kl.word()
    tile: int = kl.word()  # vertices of a tile
    tiles: int = kl.word()  # tiles of the vertices, and an empty one after them
