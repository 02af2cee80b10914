"""Pieces of a large coarse graph: the places of cuts, and the arrays that pieces fill.

Rows need scratch for all arcs of their clusters.  If that is much, they are made piece by piece: a
piece consists of the rows of consecutive clusters.  It is written to its final place.  Separate
arrays would have to be joined, which needs the largest array twice and leaves holes that no large
array fits into.  The number of arcs is not known before the last piece is made, so it is estimated
from the rows of some tiles of clusters.  If the estimate is too low, all pieces are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows, copy_row
from portpart.algorithms.coarsening.options import FineSizes
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32_ARCS, team_for_longest
from portpart.primitives import SCAN_TILE, converted

MAX_SCRATCH = 2**30
"""Maximum bytes of scratch of a piece.  Work on such a piece takes longer than reading its size
from the device, and the scratch is small compared with any graph that needs more.
"""


SAMPLES = 12
"""Tiles whose rows estimate the number of arcs: few, because a GPU waits for them."""

MIN_SPARE, MAX_SPARE = 1 / 256, 1 / 32
"""Limits of the share of additional arcs that are allocated.  It is three standard errors of the
estimate; at least the first, because estimates err on meshes, and at most the second, because
memory is scarce.
"""


def is_one_piece(sizes: FineSizes) -> bool:
    """Whether the rows of all clusters are made at once."""
    return CoarseRows.num_bytes(sizes) <= MAX_SCRATCH


def cut(sizes: FineSizes, arcs_of_tiles: np.ndarray,
        arcs_of_clusters: Callable[[int, int], np.ndarray]) -> list[tuple[int, FineSizes]]:
    """Return the first cluster and the sizes of each piece.

    Cuts are between tiles or, if a tile needs too much scratch, between its clusters.

    Parameters
    ----------
    sizes : FineSizes
        Sizes of all clusters.
    arcs_of_tiles : numpy.ndarray of int64
        Number of arcs of the members of each tile's clusters.
    arcs_of_clusters : callable
        Returns the same for each cluster from a first one to the one before an end.
    """
    arcs, clusters = arcs_of_tiles, np.full(len(arcs_of_tiles), SCAN_TILE)
    clusters[-1] = sizes.clusters - SCAN_TILE * (len(arcs) - 1)
    none, of_arc, of_tile = (CoarseRows.num_bytes(sizes._replace(arcs=a, clusters=c))
                             for a, c in ((0, 0), (1, 0), (0, SCAN_TILE)))
    of_arc, of_cluster = of_arc - none, -(-(of_tile - none) // SCAN_TILE)
    for tile in np.flatnonzero(of_arc * arcs + of_cluster * clusters > MAX_SCRATCH)[::-1]:
        count, first = int(clusters[tile]), SCAN_TILE * int(tile)
        inside = arcs_of_clusters(first, first + count)
        arcs = np.concatenate([arcs[:tile], inside, arcs[tile + 1 :]])
        clusters = np.concatenate([clusters[:tile], np.ones(count, np.int64), clusters[tile + 1 :]])
    arcs, clusters = (np.concatenate([[0], each.cumsum()]) for each in (arcs, clusters))
    ends = _ends(of_arc * arcs + of_cluster * clusters)
    return [(int(clusters[a]), sizes._replace(arcs=int(arcs[b] - arcs[a]),
                                              clusters=int(clusters[b] - clusters[a])))
            for a, b in pairwise(ends)]


def _ends(scratch: np.ndarray) -> list[int]:
    """Return places between which there is at most `MAX_SCRATCH`, or only one place."""
    ends, end = [0], 0
    while end < len(scratch) - 1:
        fits = int(np.searchsorted(scratch, scratch[end] + MAX_SCRATCH, side="right")) - 1
        ends.append(end := max(end + 1, fits))
    return ends


class TileSample(NamedTuple):
    """A tile of clusters: how often it counts, its first cluster, and its sizes."""

    weight: int
    first: int
    sizes: FineSizes


def samples(sizes: FineSizes, arcs_of_tiles: np.ndarray) -> list[TileSample]:
    """Return tiles at even distances among all arcs, except tiles that need too much scratch."""
    ends = np.cumsum(arcs_of_tiles)
    places = (2 * np.arange(SAMPLES) + 1) * int(ends[-1]) // (2 * SAMPLES)
    chosen = np.unique(np.searchsorted(ends, places, side="right"), return_counts=True)
    found = (TileSample(weight, SCAN_TILE * tile, sizes._replace(
                 arcs=int(arcs_of_tiles[tile]),
                 clusters=min(SCAN_TILE, sizes.clusters - SCAN_TILE * tile)))
             for tile, weight in zip(*map(np.ndarray.tolist, chosen), strict=True)
             if tile < len(arcs_of_tiles))  # else no tile has arcs
    return [sample for sample in found if is_one_piece(sample.sizes)]


def expected_arcs(sizes: FineSizes, chosen: list[TileSample], coarse: list[int]) -> int:
    """Return the number of arcs to allocate for a coarse graph.

    Parameters
    ----------
    sizes : FineSizes
        Sizes of all clusters.
    chosen : list of TileSample
    coarse : list of int
        Number of arcs of their rows.
    """
    shares = np.repeat([arcs / sample.sizes.arcs
                        for sample, arcs in zip(chosen, coarse, strict=True)],
                       [sample.weight for sample in chosen])
    mean, error = shares.mean(), shares.std() / np.sqrt(len(shares))
    spare = np.clip(3 * error, MIN_SPARE * mean, MAX_SPARE * mean)
    return min(sizes.arcs, int((mean + spare) * sizes.arcs))


class Filling:
    """Arrays of a coarse graph that pieces are copied to, in order.

    If a piece does not fit, the arrays are freed, and arcs are only counted from then on.

    Parameters
    ----------
    space : ExecutionSpace
    sizes : FineSizes
        Includes the number of clusters.
    capacity : int
        Number of arcs that the arrays hold.

    Attributes
    ----------
    arcs, max_degree, arc_weight : int
        Totals of the pieces so far: arcs, the longest row, and the weight of all arcs.
    """

    def __init__(self, space: ExecutionSpace, sizes: FineSizes, capacity: int) -> None:
        self.space, self.capacity = space, capacity
        self.clusters = self.arcs = self.max_degree = self.arc_weight = 0
        self._arrays: Sequence[Array] = space.allocate([
            (sizes.clusters + 1, np.dtype(_index_type(capacity))), (capacity, np.dtype(np.int32)),
            (capacity, sizes.sum_type), (sizes.clusters, np.dtype(np.int64))])

    @property
    def is_complete(self) -> bool:
        """Whether all pieces so far have fitted."""
        return self.arcs <= self.capacity

    def add(self, rows: CoarseRows, count: int, arcs: int, max_degree: int,
            arc_weight: int) -> None:
        """Copy the rows of the next clusters, and update the totals."""
        first, before = self.clusters, self.arcs
        self.clusters, self.arcs = first + count, before + arcs
        self.max_degree = max(self.max_degree, max_degree)
        self.arc_weight += arc_weight
        if not self.is_complete:
            self._arrays = ()
            return
        offsets, targets, weights, vertex_weights = self._arrays
        self.space.parallel_for(
            count + 1, copy_row, count, before, rows, _part(offsets, first, first + count + 1),
            targets, weights, _part(vertex_weights, first, first + count),
            team=team_for_longest(count, arcs / max(1, count), max_degree))

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Return offsets, targets, weights of arcs and of vertices; a little memory is unused."""
        offsets, targets, weights, vertex_weights = self._arrays
        return (converted(self.space, offsets, _index_type(self.arcs)),
                _part(targets, 0, self.arcs), _part(weights, 0, self.arcs), vertex_weights)


def _part(array: Array, first: int, end: int) -> Array:
    """Return ``array[first:end]``, or the array if that is all of it: slices take time."""
    return array if end - first == len(array) else array[first:end]


def _index_type(arcs: int) -> type[np.integer[Any]]:
    """Return the type of offsets into this many arcs."""
    return np.int32 if arcs <= MAX_INT32_ARCS else np.int64
