"""Road networks: long chains of points between junctions, towns within regions.

Junctions are on a lattice that is halved recursively. Three roads join the four quarters of every
square, which alone would give a tree. Further roads cross borders, longer borders less often. As
with real roads, few of them must be cut.
"""

from __future__ import annotations

import math

import numpy as np

from portpart.errors import InputError
from portpart.generators.meshes import interleaved
from portpart.graphs import Graph, edges_graph

JUNCTIONS = 0.15
"""Share of the vertices on the lattice; the others are on the roads between them."""

LOOPS = 0.6
"""Share of the lattice edges across the shortest borders that are roads besides the tree."""

THINNING = 2 ** (-1 / 3)
"""Factor of that share from one length of borders to the next, which is twice as long."""


def road_network(num_vertices: int, seed: int = 4) -> Graph:
    """Return a connected, planar graph like a road network with all points of its polylines.

    About 1.06 edges per vertex; 85 % of the vertices have two neighbours, none more than four.

    Parameters
    ----------
    num_vertices : int
    seed : int
        Seed of ``numpy.random.default_rng``.

    Returns
    -------
    Graph
        Without weights.  Junctions are numbered along a Z-curve, each followed by the points of
        the roads to the right and down.

    Notes
    -----
    Takes about half a second per million vertices, and 150 bytes a vertex.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.road_network(1_000)
    <Graph: 1,000 vertices, 1,055 edges, on cpu>
    """
    if num_vertices < 0:
        raise InputError(f"{num_vertices} vertices are not possible")
    rows, columns = _lattice(num_vertices)
    random = np.random.default_rng(seed)
    order = _z_order(rows, columns)
    owners, heads = _roads(rows, columns, order, random)
    lengths = _shares(num_vertices - rows * columns, len(owners), random)
    return _subdivided(num_vertices, rows * columns, owners, heads, lengths)


def _lattice(num_vertices: int) -> tuple[int, int]:
    """Return the rows and columns of the junctions, about square."""
    junctions = max(min(num_vertices, 2), round(JUNCTIONS * num_vertices))
    rows = math.isqrt(junctions)
    return rows, junctions // max(1, rows)


def _z_order(rows: int, columns: int) -> np.ndarray:
    """Return the place of each junction along the Z-curve, shape (rows, columns)."""
    row, column = (interleaved(np.arange(size)) for size in (rows, columns))
    code = (row[:, None] << 1 | column[None, :]).reshape(-1)
    place = np.empty(len(code), np.int64)
    place[np.argsort(code)] = np.arange(len(code))
    return place.reshape(rows, columns)


def _roads(rows: int, columns: int, order: np.ndarray,
           random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of both ends of each road; the first ones ascend."""
    right, down = _tree(rows, columns, random)
    right |= random.random(right.shape, np.float32) < _loop_share(columns)
    down |= random.random(down.shape, np.float32) < _loop_share(rows)[:, None]
    owners = np.concatenate([order[:, :-1][right], order[:-1][down]])
    heads = np.concatenate([order[:, 1:][right], order[1:][down]])
    ascending = np.argsort(owners, kind="stable")
    return owners[ascending], heads[ascending]


def _tree(rows: int, columns: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges to the right and down that span the lattice: three per square of four."""
    right = np.zeros((rows, max(0, columns - 1)), bool)
    down = np.zeros((columns, max(0, rows - 1)), bool)
    half = 1
    while half < max(rows, columns):
        left_out = random.integers(4, size=(-(-rows // (2 * half)), -(-columns // (2 * half))))
        # a square at the lower or right end may lack quarters: all others are joined
        left_out[rows <= half + 2 * half * np.arange(len(left_out))] = -1
        left_out[:, columns <= half + 2 * half * np.arange(left_out.shape[1])] = -1
        _cross(right, left_out, half, random)
        _cross(down, np.where(left_out < 0, -1, 3 - left_out).T, half, random)
        half *= 2
    return right, down.T


def _cross(across: np.ndarray, left_out: np.ndarray, half: int,
           random: np.random.Generator) -> None:
    """Select an edge across each upper (0) and lower (1) half of the borders not left out."""
    for side in (0, 1):
        first = half * (side + 2 * np.arange(len(left_out)))[:, None]
        line = half - 1 + 2 * half * np.arange(left_out.shape[1])[None, :]
        length = np.minimum(half, len(across) - first)
        wanted = (left_out != side) & (length > 0) & (line < across.shape[1])
        place = first + (random.random(left_out.shape) * length).astype(np.int64)
        across[place[wanted], np.broadcast_to(line, place.shape)[wanted]] = True


def _loop_share(size: int) -> np.ndarray:
    """Return the share of edges that are roads anyway, for each line between two columns."""
    line = np.arange(1, max(1, size))
    level = np.log2(line & -line)
    return (LOOPS * THINNING**level).astype(np.float32)


def _shares(total: int, parts: int, random: np.random.Generator) -> np.ndarray:
    """Distribute `total` points over `parts` roads: many get few and few get many."""
    if parts == 0:
        return np.empty(0, np.int64)
    ends = np.cumsum(random.random(parts) ** 2)
    ends *= total / ends[-1]
    ends[-1] = total
    return np.diff(ends.astype(np.int64), prepend=0)


def _subdivided(n: int, num_junctions: int, owners: np.ndarray, heads: np.ndarray,
                lengths: np.ndarray) -> Graph:
    """Return the graph of roads with `lengths` points each."""
    before = np.cumsum(lengths) - lengths  # points of earlier roads
    first = before + owners + 1  # vertex that is the first point of the road
    with_points = lengths > 0
    places = np.arange(num_junctions)
    roads_before = np.searchsorted(owners, places)
    junctions = places + np.append(before, n - num_junctions)[roads_before]
    tails, heads = junctions[owners], junctions[heads]
    is_point = np.ones(n, bool)
    is_point[junctions] = False
    points = np.flatnonzero(is_point)
    previous = points - 1
    previous[before[with_points]] = tails[with_points]
    last = np.where(with_points, first + lengths - 1, tails)
    return edges_graph(n, np.concatenate([previous, last]), np.concatenate([points, heads]))
