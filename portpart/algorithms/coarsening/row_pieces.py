"""Pieces of a coarse graph: where the clusters of a large one are cut, and how it is put together.

Rows need scratch for all arcs of their clusters.  Where that would be much, they are made piece by
piece: a piece is the rows of clusters that follow each other, and has offsets of its own.
"""

from __future__ import annotations

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


def cut(sizes: FineSizes, arcs_of_tiles: list[int]) -> list[tuple[int, FineSizes]]:
    """First cluster and sizes of each piece; cuts are between tiles.

    Parameters
    ----------
    sizes : FineSizes
        Those of all clusters.
    arcs_of_tiles : list of int
        How many arcs leave the members of each tile's clusters.
    """
    arcs = np.array([0, *arcs_of_tiles], np.int64).cumsum()
    tiles = np.arange(len(arcs))
    firsts = np.minimum(tiles * TILE, sizes.clusters)
    none, of_arc, of_tile = (CoarseRows.num_bytes(sizes._replace(arcs=a, clusters=c))
                             for a, c in ((0, 0), (1, 0), (0, TILE)))
    scratch = arcs * (of_arc - none) + tiles * (of_tile - none)
    ends, end = [0], 0
    while end < len(arcs) - 1:
        fits = int(np.searchsorted(scratch, scratch[end] + MAX_SCRATCH, side="right")) - 1
        ends.append(end := max(end + 1, fits))
    return [(int(firsts[a]), sizes._replace(arcs=int(arcs[b] - arcs[a]),
                                            clusters=int(firsts[b] - firsts[a])))
            for a, b in pairwise(ends)]


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
