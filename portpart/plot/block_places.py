"""Where blocks are placed, how large their discs are, and vertices that gather around them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from portpart.plot.layouts import DENSE, places_of

DISC_SHARE = 0.14
"""Of the picture that all discs cover together."""

TOGETHER = 0.7
"""Share of vertices whose nearest one is of their block, from which blocks can be distinguished."""


def places_of_blocks(links: csr_array) -> np.ndarray:
    """Places for blocks, strongly linked ones near each other, shape (k, 2)."""
    joined, lengths = links.astype(np.float64), links.astype(np.float64)
    joined.data[:] = 1
    mean = lengths.data.sum() / max(1, lengths.nnz) or 1.0
    lengths.data = np.clip(np.maximum(lengths.data / mean, 1e-9) ** -0.5, 0.6, 2.5)
    return places_of(joined, lengths)


def middles(points: np.ndarray, part: np.ndarray, k: int) -> np.ndarray:
    """The middle of the points of each block, shape (k, 2)."""
    sums = [np.bincount(part, column, k) for column in points[:, :2].T]
    return np.stack(sums, axis=1) / np.maximum(1, np.bincount(part, minlength=k))[:, None]


def disc_radii(places: np.ndarray, weights: np.ndarray, share: float = DISC_SHARE) -> np.ndarray:
    """Radii of discs whose areas are as the weights, of which nine tenths do not overlap."""
    extent = np.ptp(places, axis=0) if len(places) else np.zeros(2)
    widest = float(extent.max()) or 1.0
    area = share * max(float(extent.prod()), (0.3 * widest) ** 2)
    radii = np.sqrt(weights / max(1, weights.sum()) * area / np.pi)
    if len(radii) < 2:
        return radii
    apart, near = cKDTree(places).query(places, k=2)
    room = apart[:, 1] / np.maximum(1e-12, radii + radii[near[:, 1]])
    return radii * np.clip(0.95 * np.quantile(room, 0.1), 0.3, 1)


def gathered(places: np.ndarray, part: np.ndarray, links: csr_array) -> np.ndarray:
    """The same places if blocks are together there; else each block is a disc.

    Few graphs fit into the plane: in a layout of a large circuit or social network the blocks lie
    on top of each other.  Then a block's vertices fill a disc in the order of their places.
    """
    k = links.shape[0]
    if k < 2 or len(places) <= DENSE or _share_together(places, part) >= TOGETHER:
        return places
    sizes = np.bincount(part, minlength=k)
    centres = places_of_blocks(links)
    radii = disc_radii(centres, sizes, share=0.6)
    x, y = (2 * _ranks(column, part, sizes) - 1 for column in places.T)
    # the square of ranks becomes a disc
    inside = np.stack([x * np.sqrt(1 - y * y / 2), y * np.sqrt(1 - x * x / 2)], axis=1)
    found: np.ndarray = centres[part] + radii[part][:, None] * inside
    return found


def _share_together(places: np.ndarray, part: np.ndarray) -> float:
    """Share of the points whose nearest other point is of the same block."""
    _, near = cKDTree(places).query(places, k=2, workers=-1)
    other = np.where(near[:, 0] == np.arange(len(part)), near[:, 1], near[:, 0])
    return float((part[other] == part).mean())


def _ranks(values: np.ndarray, part: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The place of each value among those of its block, between 0 and 1."""
    order = np.lexsort((values, part))
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values)) - begin[part[order]] + 0.5
    return ranks / sizes[part]
