"""Pieces of a coarse graph: where the clusters of a large one are cut, and how it is put together.

Rows need scratch for all arcs of their clusters.  Where that would be much, they are made piece by
piece: a piece is the rows of clusters that follow each other, and has offsets of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows
from portpart.algorithms.coarsening.sizes import FineSizes
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.graphs.limits import MAX_INT32_ARCS
from portpart.primitives.basic import copy_one
from portpart.primitives.scan import TILE

MAX_SCRATCH = 2**30
"""Bytes of scratch up to which rows are one piece: a device is at work on such a piece for longer
than it takes to read how large it has become, and that is little beside any graph of more."""


class Piece(NamedTuple):
    """Rows of a coarse graph.

    Attributes
    ----------
    offsets : array, shape (c + 1,)
        Where the rows of its c clusters begin in the piece.
    targets, weights : array
    vertex_weights : array of int64, shape (c,)
    max_degree, arc_weight : int
        The longest row, and the weight of all arcs.
    """

    offsets: Array
    targets: Array
    weights: Array
    vertex_weights: Array
    max_degree: int
    arc_weight: int


def is_one_piece(sizes: FineSizes) -> bool:
    """Whether the rows of all clusters are made at once."""
    return CoarseRows.num_bytes(sizes) <= MAX_SCRATCH


def cut(sizes: FineSizes, arcs_of_tiles: list[int],
        arcs_of_clusters: Callable[[int, int], list[int]]) -> list[tuple[int, FineSizes]]:
    """First cluster and sizes of each piece.

    Cuts are between tiles or, where a tile takes too much scratch, between clusters.

    Parameters
    ----------
    sizes : FineSizes
        Those of all clusters.
    arcs_of_tiles : list of int
        How many arcs leave the members of each tile's clusters.
    arcs_of_clusters : callable
        The same for the clusters from a first one to the one before a last one.
    """
    arcs = np.array(arcs_of_tiles, np.int64)
    clusters = np.full(len(arcs), TILE)
    clusters[-1] = sizes.clusters - TILE * (len(arcs) - 1)
    none, of_arc, of_tile = (CoarseRows.num_bytes(sizes._replace(arcs=a, clusters=c))
                             for a, c in ((0, 0), (1, 0), (0, TILE)))
    of_arc, of_cluster = of_arc - none, -(-(of_tile - none) // TILE)
    for tile in np.flatnonzero(of_arc * arcs + of_cluster * clusters > MAX_SCRATCH)[::-1]:
        count, first = int(clusters[tile]), TILE * int(tile)
        inside = np.array(arcs_of_clusters(first, first + count), np.int64)
        arcs = np.concatenate([arcs[:tile], inside, arcs[tile + 1 :]])
        clusters = np.concatenate([clusters[:tile], np.ones(count, np.int64), clusters[tile + 1 :]])
    arcs, clusters = (np.concatenate([[0], each.cumsum()]) for each in (arcs, clusters))
    ends = _ends(of_arc * arcs + of_cluster * clusters)
    return [(int(clusters[a]), sizes._replace(arcs=int(arcs[b] - arcs[a]),
                                              clusters=int(clusters[b] - clusters[a])))
            for a, b in pairwise(ends)]


def _ends(scratch: np.ndarray) -> list[int]:
    """Places between which there is as little scratch as there may be, or one place only."""
    ends, end = [0], 0
    while end < len(scratch) - 1:
        fits = int(np.searchsorted(scratch, scratch[end] + MAX_SCRATCH, side="right")) - 1
        ends.append(end := max(end + 1, fits))
    return ends


def joined(space: ExecutionSpace, pieces: list[Piece]) -> Piece:
    """All rows; the list is emptied, since arrays of pieces are given back one after the other."""
    if len(pieces) == 1:
        return pieces.pop()
    max_degree = max(piece.max_degree for piece in pieces)
    arc_weight = sum(piece.arc_weight for piece in pieces)
    offsets, targets, weights, vertex_weights, *_ = ([*each] for each in zip(*pieces, strict=True))
    pieces.clear()
    return Piece(_stacked(space, offsets, [*map(len, targets)]), _concatenated(space, targets),
                 _concatenated(space, weights), _concatenated(space, vertex_weights),
                 max_degree, arc_weight)


def _concatenated(space: ExecutionSpace, arrays: list[Array]) -> Array:
    """One array after the other; the list is emptied."""
    result, place = space.empty(sum(map(len, arrays)), arrays[0].dtype), 0
    while arrays:
        array = arrays.pop(0)
        space.parallel_for(len(array), copy_one, array, result[place : place + len(array)])
        place += len(array)
    return result


def _stacked(space: ExecutionSpace, offsets: list[Array], lengths: list[int]) -> Array:
    """Offsets of rows of pieces one after the other, each of so many arcs; the list is emptied."""
    arcs, first, place = sum(lengths), 0, 0
    result = space.empty(1 + sum(len(each) - 1 for each in offsets),
                         np.int32 if arcs <= MAX_INT32_ARCS else np.int64)
    for length in lengths:
        each = offsets.pop(0)
        space.parallel_for(len(each), add_one, each, place, result[first : first + len(each)])
        first, place = first + len(each) - 1, place + length
    return result


@kl.kernel
def add_one(i, values, first, result):
    """result[i] = values[i], counted from a first number."""
    result[i] = first + values[i]
