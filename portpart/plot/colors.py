"""Colours of blocks: neighbours differ, also for red-green colour blindness."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from portpart.errors import InputError, shown
from portpart.graphs import Blocks, GraphLike, first_true
from portpart.plot.links import links_between

FIRST = ("#4477aa", "#ee8866", "#44bb99", "#eedd88", "#aa3377", "#99ddff", "#bbcc33", "#ffaabb")
"""The first colours, of Paul Tol's schemes; later ones are as far as possible from all before."""

LIGHTNESS = (0.52, 0.9)
CHROMA = (0.07, 0.19)
"""Chroma of colours in OKLab: text is readable on them, lines are visible on them."""

TO_LMS = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                   [0.2119034982, 0.6806995451, 0.1073969566],
                   [0.0883024619, 0.2817188376, 0.6299787005]])
TO_LAB = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                   [1.9779984951, -2.4285922050, 0.4505937099],
                   [0.0259040371, 0.7827717662, -0.8086757660]])
"""Linear RGB to OKLab (Ottosson, 2020), with a cube root between the two."""

EYES = (
    np.eye(3),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
              [-0.011820, 0.042940, 0.968881]]),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
              [-0.003882, -0.048116, 1.051998]]),
)
"""Linear RGB as seen with all cones, without green and without red cones (Machado et al., 2009)."""


def block_colors(graph: GraphLike, part: Blocks, k: int | None = None) -> np.ndarray:
    """Colours in which no two neighbouring blocks are alike.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of `as_graph`
        Blocks are neighbours if an edge joins them, or a net that touches 1,000 of them at most.
    part : array_like of int, shape (n,), PartitionResult or Session
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.

    Returns
    -------
    numpy.ndarray of float64, shape (k, 3)
        Red, green and blue from 0 to 1: the `colors` of the other functions.

    Notes
    -----
    Greedy colouring: blocks with most neighbours come first, and each gets the least used of its
    free colours. There are eight colours, or more for dense quotient graphs, far apart for all
    kinds of colour vision.

    Examples
    --------
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> portpart.plot.block_colors(grid, portpart.partition(grid, 4)).shape
    (4, 3)
    """
    return colors_of(links_between(graph, part, k))


def colors_of(links: csr_array) -> np.ndarray:
    """Return colours of blocks that are neighbours if `links`, symmetric, has an entry."""
    coloring = greedy_coloring(links)
    return palette(max(len(FIRST), int(coloring.max(initial=0)) + 1))[coloring]


def chosen_colors(colors: ArrayLike | None, k: int, links: Callable[[], csr_array]) -> np.ndarray:
    """Return the caller's colours of `k` blocks, or by default those of blocks with `links`."""
    return colors_of(links()) if colors is None else checked_colors(colors, k)


def checked_colors(colors: ArrayLike, k: int) -> np.ndarray:
    """Return a caller's colours, one for each of `k` blocks."""
    try:
        array = np.asarray(colors, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"colors is {shown(colors)}; numbers of shape ({k}, 3) are needed, red, "
                         "green and blue from 0 to 1") from None
    if array.ndim != 2 or len(array) < k or array.shape[1] != 3:
        raise InputError(f"colors have shape {array.shape} for {k} blocks; shape ({k}, 3) is "
                         "needed")
    block = first_true(~((array >= 0) & (array <= 1)).all(axis=1))
    if block is not None:
        raise InputError(f"colors[{block}] is {array[block].tolist()}; red, green and blue are "
                         "from 0 to 1")
    return array[:k]


def greedy_coloring(links: csr_array) -> np.ndarray:
    """Return a number for each row of a symmetric matrix; those of neighbours differ."""
    offsets, targets = links.indptr.tolist(), links.indices
    number = np.full(links.shape[0], -1)
    used = [0] * len(FIRST)
    for block in np.argsort(-np.diff(links.indptr), kind="stable").tolist():
        taken = set(number[targets[offsets[block]:offsets[block + 1]]].tolist())
        free = [each for each in range(len(used)) if each not in taken]
        if not free:
            free = [len(used)]
            used.append(0)
        number[block] = min(free, key=used.__getitem__)
        used[number[block]] += 1
    return number


@functools.cache
def palette(count: int) -> np.ndarray:
    """Return the first `count` colours, each far from all before, shape (count, 3)."""
    first = np.array([[int(name[at:at + 2], 16) / 255 for at in (1, 3, 5)] for name in FIRST])
    if count <= len(first):
        return first[:count]
    candidates = _candidates(count)
    seen = [_oklab(_linear(candidates) @ eye.T) for eye in EYES]
    near = np.full(len(candidates), np.inf)
    chosen = list(first)
    views = [list(_oklab(_linear(first) @ eye.T)) for eye in EYES]
    for _ in range(len(first), count):
        for view in zip(*views):
            distance = np.min([np.linalg.norm(own - colour, axis=1)
                               for own, colour in zip(seen, view)], axis=0)
            np.minimum(near, distance, out=near)
        best = int(near.argmax())
        chosen.append(candidates[best])
        views = [[own[best]] for own in seen]
    return np.array(chosen)


def _candidates(count: int) -> np.ndarray:
    """Return a grid of at least `count` colours that are neither too dark nor too pale."""
    steps = np.linspace(0, 1, max(17, round(4 * count ** (1 / 3))))
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    lab = _oklab(_linear(grid))
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    return grid[(lab[:, 0] > LIGHTNESS[0]) & (lab[:, 0] < LIGHTNESS[1])
                & (chroma > CHROMA[0]) & (chroma < CHROMA[1])]


def _linear(colours: np.ndarray) -> np.ndarray:
    """Return the linear RGB of sRGB."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def _oklab(linear: np.ndarray) -> np.ndarray:
    return np.cbrt(np.clip(linear @ TO_LMS.T, 0, None)) @ TO_LAB.T
