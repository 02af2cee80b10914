"""Initial partitions with fixed vertices or unequal blocks: METIS has no fixed vertices.

METIS, or growing, partitions the free vertices into the shares that the fixed ones leave. Blocks
are numbered so that the weight between free and fixed vertices of one block is as large as
possible. If every block has fixed vertices, all blocks may also grow from these.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.initial.metis import metis_partition

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_ASSIGNED = 1000
"""With more blocks the best numbering takes too long; a greedy one is used."""

MIN_VERTICES = 2
"""METIS makes no block whose share of the vertices is smaller."""

MAX_ROUNDS = 50
"""Rounds of growing; vertices that are not reached by then are distributed."""


@dataclass(frozen=True, eq=False)
class FreeCapacity:
    """The capacity of blocks that fixed vertices leave to free ones.

    Attributes
    ----------
    fixed : numpy.ndarray of int32, shape (n,)
        The block of a fixed vertex, -1 for the others.
    vertex_weights : numpy.ndarray of int64, shape (n,)
    limits : numpy.ndarray of int64, shape (k,)
        Maximum weight of each block.
    taken, wanted : numpy.ndarray of int64, shape (k,)
        The fixed weight of each block, and its free capacity, at least 1.
    wide : numpy.ndarray of int64
        Blocks whose share of the free vertices is not too small.
    """

    fixed: np.ndarray
    vertex_weights: np.ndarray
    limits: np.ndarray
    taken: np.ndarray
    wanted: np.ndarray
    wide: np.ndarray

    @classmethod
    def of(cls, fixed: np.ndarray, vertex_weights: np.ndarray, limits: np.ndarray) -> FreeCapacity:
        """Return the capacities that fixed vertices leave."""
        taken = _sums(fixed, vertex_weights, len(limits))
        wanted = np.maximum(limits - taken, 1)
        shares = wanted / wanted.sum(dtype=np.float64)
        wide = np.flatnonzero(shares * (fixed < 0).sum() >= MIN_VERTICES)
        return cls(fixed, vertex_weights, limits, taken, wanted, wide)

    @property
    def free(self) -> np.ndarray:
        """The vertices that are not fixed, ascending."""
        return np.flatnonzero(self.fixed < 0)

    @property
    def have_neighbours(self) -> bool:
        """Whether a wide block has fixed vertices, so that the numbers of blocks matter."""
        return bool((self.taken[self.wide] > 0).any())

    def names(self, matrix: csr_array, blocks: np.ndarray) -> np.ndarray:
        """Return new numbers for blocks of free vertices, by their arcs to fixed vertices.

        Parameters
        ----------
        matrix : scipy.sparse.csr_array, shape (n, n)
        blocks : numpy.ndarray of int32
            Blocks of the free vertices.
        """
        k = len(self.limits)
        part = self.fixed.copy()
        part[self.free] = blocks
        attraction = _attraction(matrix, self.fixed, part, k)
        if k > MAX_ASSIGNED:
            return greedy_names(attraction)
        sizes = _sums(blocks, self.vertex_weights[self.free], k)
        excess = np.maximum(sizes[:, None] + self.taken[None, :] - self.limits[None, :], 0)
        penalty = 1 + int(matrix.data.sum(dtype=np.int64)) / max(1, int(self.vertex_weights.sum()))
        return best_names(attraction.toarray() - penalty * excess)


def start_partition(matrix: csr_array, vertex_weights: np.ndarray | None, limits: np.ndarray,
                    imbalance: float, seed: int, shares: np.ndarray | None = None,
                    fixed: np.ndarray | None = None, recursive: bool = True) -> np.ndarray:
    """Return an initial partition of a small graph, made on the host.

    Parameters
    ----------
    limits : numpy.ndarray of int64, shape (k,)
        Maximum weight of each block.
    shares : numpy.ndarray of float64, shape (k,), optional
        Share of each block in the weight, if the shares differ.
    fixed : numpy.ndarray of int32, shape (n,), optional
        The block of a fixed vertex, -1 for the others.
    recursive : bool
        Whether METIS bisects recursively; else its k-way method is used.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
        May exceed limits: refinement repairs this.
    """
    k = len(limits)
    if fixed is None and shares is None:
        return metis_partition(matrix, vertex_weights, k, imbalance, seed, recursive=recursive)
    if vertex_weights is None:
        vertex_weights = np.ones(matrix.shape[0], np.int64)
    if fixed is None:
        fixed = np.full(matrix.shape[0], -1, np.int32)
    left = FreeCapacity.of(fixed, vertex_weights, limits)
    free, wide = left.free, left.wide
    if len(wide) > 1:  # METIS must not make blocks without vertices
        blocks = wide[metis_partition(matrix[free][:, free], vertex_weights[free], len(wide),
                                      imbalance, seed,
                                      left.wanted[wide] / left.wanted[wide].sum(), recursive)]
    else:
        blocks = _spread(vertex_weights[free], left.wanted)
    part = fixed.copy()
    part[free] = left.names(matrix, blocks)[blocks]
    return part


def grown_partition(matrix: csr_array, fixed: np.ndarray, vertex_weights: np.ndarray,
                    limits: np.ndarray) -> np.ndarray | None:
    """Grow the blocks from their fixed vertices, round by round, until they are full.

    Returns
    -------
    numpy.ndarray of int32, shape (n,), or None
        A free vertex gets its most connected block with free capacity. Unreached vertices get
        the blocks with the largest free capacity. None if a block has no fixed vertex.
    """
    from scipy.sparse import csr_array

    k = len(limits)
    if len(np.unique(fixed[fixed >= 0])) < k:
        return None
    part, arcs = fixed.copy(), matrix.astype(np.int64)
    capacity = limits - _sums(part, vertex_weights, k)
    for _ in range(MAX_ROUNDS):
        waiting, taken = np.flatnonzero(part < 0), np.flatnonzero(part >= 0)
        if len(waiting) == 0:
            return part
        member = ((capacity > 0)[part[taken]].astype(np.int64), (taken, part[taken]))
        toward = arcs[waiting] @ csr_array(member, shape=(len(part), k))
        toward.sort_indices()  # argmax returns the first of equal blocks
        most = toward.max(axis=1).toarray().ravel()
        blocks = np.asarray(toward.argmax(axis=1)).ravel()
        order = np.lexsort((waiting, -most, blocks))
        order = order[most[order] > 0]
        admitted = order[_fit(blocks[order], vertex_weights[waiting[order]], capacity)]
        if len(admitted) == 0:
            break
        part[waiting[admitted]] = blocks[admitted]
        capacity -= _sums(blocks[admitted], vertex_weights[waiting[admitted]], k)
    left = np.flatnonzero(part < 0)
    part[left] = _spread(vertex_weights[left], capacity)
    return part


def _fit(blocks: np.ndarray, weights: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """Whether each vertex fits into its block behind the vertices before it; `blocks` ascend."""
    until = np.cumsum(weights)
    begin = np.searchsorted(blocks, blocks)
    return until - (until - weights)[begin] <= capacity[blocks]


def _sums(part: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """Return the weight of each block; vertices with a negative block do not count."""
    sums = np.zeros(k, np.int64)
    np.add.at(sums, part[part >= 0], weights[part >= 0])
    return sums


def _spread(weights: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return a block for each vertex: heaviest first, the block with the largest free capacity."""
    blocks = np.empty(len(weights), np.int32)
    filled = [(-int(capacity), block) for block, capacity in enumerate(wanted)]
    heapq.heapify(filled)
    for v in np.argsort(-weights, kind="stable"):
        weight, block = filled[0]
        blocks[v] = block
        heapq.heapreplace(filled, (weight + max(1, int(weights[v])), block))
    return blocks


def _attraction(matrix: csr_array, fixed: np.ndarray, part: np.ndarray, k: int) -> csr_array:
    """Return at [c, b] the weight of arcs from free vertices of block c to vertices fixed to b."""
    from scipy.sparse import coo_array

    arcs = matrix.tocoo()
    to_fixed = (fixed[arcs.row] < 0) & (fixed[arcs.col] >= 0)
    pairs = part[arcs.row[to_fixed]], fixed[arcs.col[to_fixed]]
    return coo_array((arcs.data[to_fixed].astype(np.int64), pairs), shape=(k, k)).tocsr()


def best_names(value: np.ndarray) -> np.ndarray:
    """Return a new number for each block, with the largest sum of value[block, number]."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(value, maximize=True)[1].astype(np.int32)


def greedy_names(attraction: csr_array) -> np.ndarray:
    """Return a new number for each block: the strongest attraction first, the rest in order."""
    pairs = attraction.tocoo()
    names = np.full(attraction.shape[0], -1, np.int32)
    taken = np.zeros(attraction.shape[0], bool)
    for place in np.lexsort((pairs.col, pairs.row, -pairs.data)):
        block, name = pairs.row[place], pairs.col[place]
        if names[block] < 0 and not taken[name]:
            names[block], taken[name] = name, True
    names[names < 0] = np.flatnonzero(~taken)
    return names
