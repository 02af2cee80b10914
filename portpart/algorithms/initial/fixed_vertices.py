"""Initial partitions where vertices are fixed or blocks differ: METIS knows no fixed vertices.

METIS, or growing, divides the free vertices into the shares that the fixed ones leave; then blocks
are numbered so that as much weight as possible runs between free and fixed vertices of one block.
Where every block has fixed vertices, all blocks may also grow from them.
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
"""With more blocks the best numbering takes too long; a greedy one has to do."""

MIN_VERTICES = 2
"""Blocks whose share of the vertices is smaller get none from METIS."""

MAX_ROUNDS = 50
"""What blocks have not reached after this many rounds of growing is too far from all of them."""


@dataclass(frozen=True, eq=False)
class FreeCapacity:
    """What fixed vertices leave to the others.

    Attributes
    ----------
    fixed : numpy.ndarray of int32, shape (n,)
        The block of a fixed vertex, -1 for the others.
    vertex_weights : numpy.ndarray of int64, shape (n,)
    limits : numpy.ndarray of int64, shape (k,)
        Most that each block may weigh.
    taken, wanted : numpy.ndarray of int64, shape (k,)
        The weight fixed to each block, and what it may take in addition: 1 at least.
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
        """Those of blocks to which vertices are fixed."""
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
        """Whether something is fixed to a wide block: it matters which block is which then."""
        return bool((self.taken[self.wide] > 0).any())

    def names(self, matrix: csr_array, blocks: np.ndarray) -> np.ndarray:
        """A new number for each block of the free vertices, so that most runs to fixed ones.

        Parameters
        ----------
        matrix : scipy.sparse.csr_array, shape (n, n)
        blocks : numpy.ndarray of int32
            Of the free vertices.
        """
        k = len(self.limits)
        part = self.fixed.copy()
        part[self.free] = blocks
        attraction = _attraction(matrix, self.fixed, part, k)
        if k > MAX_ASSIGNED:
            return greedy_names(attraction)
        sizes = _sums(blocks, self.vertex_weights[self.free], k)
        excess = np.maximum(sizes[:, None] + self.taken[None, :] - self.limits[None, :], 0)
        price = 1 + int(matrix.data.sum(dtype=np.int64)) / max(1, int(self.vertex_weights.sum()))
        return best_names(attraction.toarray() - price * excess)


def start_partition(matrix: csr_array, vertex_weights: np.ndarray | None, limits: np.ndarray,
                    imbalance: float, seed: int, shares: np.ndarray | None = None,
                    fixed: np.ndarray | None = None, recursive: bool = True) -> np.ndarray:
    """A first partition of a small graph, on the host.

    Parameters
    ----------
    limits : numpy.ndarray of int64, shape (k,)
        Most that each block may weigh.
    shares : numpy.ndarray of float64, shape (k,), optional
        Share of the weight of each block, where they differ.
    fixed : numpy.ndarray of int32, shape (n,), optional
        The block of a fixed vertex, -1 for the others.
    recursive : bool
        By METIS's recursive bisection, else by its k-way method.

    Returns
    -------
    numpy.ndarray of int32, shape (n,)
        May violate the balance: refinement repairs it.
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
    if len(wide) > 1:  # METIS must not be asked for blocks without vertices
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
    """Let the blocks grow from their fixed vertices, round by round, until they are full.

    Returns
    -------
    numpy.ndarray of int32, shape (n,), or None
        A free vertex gets its most connected block with free capacity.
        What none reaches goes where there is most room.  None if a block has no fixed vertex.
    """
    from scipy.sparse import csr_array

    k = len(limits)
    if len(np.unique(fixed[fixed >= 0])) < k:
        return None
    part, arcs = fixed.copy(), matrix.astype(np.int64)
    room = limits - _sums(part, vertex_weights, k)
    for _ in range(MAX_ROUNDS):
        waiting, taken = np.flatnonzero(part < 0), np.flatnonzero(part >= 0)
        if len(waiting) == 0:
            return part
        member = ((room > 0)[part[taken]].astype(np.int64), (taken, part[taken]))
        toward = arcs[waiting] @ csr_array(member, shape=(len(part), k))
        toward.sort_indices()  # of equal blocks argmax finds the first
        most = toward.max(axis=1).toarray().ravel()
        blocks = np.asarray(toward.argmax(axis=1)).ravel()
        order = np.lexsort((waiting, -most, blocks))
        order = order[most[order] > 0]
        admitted = order[_fit(blocks[order], vertex_weights[waiting[order]], room)]
        if len(admitted) == 0:
            break
        part[waiting[admitted]] = blocks[admitted]
        room -= _sums(blocks[admitted], vertex_weights[waiting[admitted]], k)
    left = np.flatnonzero(part < 0)
    part[left] = _spread(vertex_weights[left], room)
    return part


def _fit(blocks: np.ndarray, weights: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Whether a vertex fits into its block after those before it; `blocks` ascend."""
    until = np.cumsum(weights)
    begin = np.searchsorted(blocks, blocks)
    return until - (until - weights)[begin] <= room[blocks]


def _sums(part: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """Weight of each block; entries below 0 are in none."""
    sums = np.zeros(k, np.int64)
    np.add.at(sums, part[part >= 0], weights[part >= 0])
    return sums


def _spread(weights: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """A block for each vertex, the heaviest first: the one with the most room."""
    blocks = np.empty(len(weights), np.int32)
    filled = [(-int(room), block) for block, room in enumerate(wanted)]
    heapq.heapify(filled)
    for v in np.argsort(-weights, kind="stable"):
        weight, block = filled[0]
        blocks[v] = block
        heapq.heapreplace(filled, (weight + max(1, int(weights[v])), block))
    return blocks


def _attraction(matrix: csr_array, fixed: np.ndarray, part: np.ndarray, k: int) -> csr_array:
    """Weight of the arcs from free vertices of block c to vertices fixed to b, at [c, b]."""
    from scipy.sparse import coo_array

    arcs = matrix.tocoo()
    to_fixed = (fixed[arcs.row] < 0) & (fixed[arcs.col] >= 0)
    pairs = part[arcs.row[to_fixed]], fixed[arcs.col[to_fixed]]
    return coo_array((arcs.data[to_fixed].astype(np.int64), pairs), shape=(k, k)).tocsr()


def best_names(value: np.ndarray) -> np.ndarray:
    """A new number for each block, with the largest sum of value[block, number]."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(value, maximize=True)[1].astype(np.int32)


def greedy_names(attraction: csr_array) -> np.ndarray:
    """A new number for each block: the strongest attraction first, the rest in order."""
    pairs = attraction.tocoo()
    names = np.full(attraction.shape[0], -1, np.int32)
    taken = np.zeros(attraction.shape[0], bool)
    for place in np.lexsort((pairs.col, pairs.row, -pairs.data)):
        block, name = pairs.row[place], pairs.col[place]
        if names[block] < 0 and not taken[name]:
            names[block], taken[name] = name, True
    names[names < 0] = np.flatnonzero(~taken)
    return names
