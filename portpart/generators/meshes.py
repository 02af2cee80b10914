"""Meshes: around an airfoil, and squares that are refined around a moving front."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from portpart.errors import InputError
from portpart.generators.geometric import edges_of_triangles, triangles_of
from portpart.graphs import Graph, edges_graph
from portpart.options import checked_integer

# A mesh around an airfoil: fine at the body, coarse far away, as in flow simulations -----------
#
# Joukowski's map z = w + 1/w takes circles around a centre left of the origin to curves around an
# airfoil. Points at equal distances in angle and in the logarithm of the radius become points whose
# spacing grows in proportion to their distance from the body.


CENTRE = -0.10 + 0.12j
"""Centre of the circle that becomes the body: the real part gives thickness, the other camber."""

RADIUS = abs(1 - CENTRE)
"""The circle contains 1, which becomes the sharp trailing edge."""

FAR = 12.0
"""Ratio of the radii of the outermost and the innermost circle."""

JITTER = 0.45
"""Displacement of a point in the flow, in spacings."""

MIN_POINTS = 32


class PlacedGraph(NamedTuple):
    """A graph with the positions of its vertices, shape (n, 2)."""

    graph: Graph
    points: np.ndarray


def airfoil_mesh(num_points: int, seed: int = 0) -> PlacedGraph:
    """Return a triangular mesh of the air around an airfoil.

    Parameters
    ----------
    num_points : int
        Number of vertices, at least 32.
    seed : int
        Seed of ``numpy.random.default_rng``, which displaces the points.

    Returns
    -------
    PlacedGraph
        ``graph``, the edges of the triangles outside the body, and ``points``, the positions,
        float64, shape (num_points, 2).  Vertices are numbered around the body from the inside out.

    Notes
    -----
    The Delaunay triangulation takes about 5 seconds per million points.

    Examples
    --------
    >>> import portpart
    >>> graph, points = portpart.generators.airfoil_mesh(2_000)
    >>> graph.num_vertices == len(points)
    True
    """
    if num_points < MIN_POINTS:
        raise InputError(f"num_points is {num_points}; at least {MIN_POINTS} are needed")
    circle = _circle_points(num_points, np.random.default_rng(seed))
    plane = circle + 1 / circle
    points = np.stack([plane.real, plane.imag], axis=1)
    corners = triangles_of(points)
    middles = plane[corners].mean(axis=1)
    return PlacedGraph(edges_of_triangles(num_points, corners[~_in_body(middles)]), points)


def _circle_points(num_points: int, random: np.random.Generator) -> np.ndarray:
    """Return points around the circle as complex numbers: rings at one spacing, the body first."""
    around = math.sqrt(2 * math.pi * num_points / math.log(FAR))
    rings = max(2, round(num_points / around))
    sizes = np.full(rings, num_points // rings)
    sizes[: num_points % rings] += 1
    ring = np.repeat(np.arange(rings), sizes)
    place = np.arange(num_points) - (np.cumsum(sizes) - sizes)[ring]
    spacing = 2 * math.pi / sizes[ring]
    angle = spacing * (place + 0.5 * (ring % 2))
    height = math.sqrt(0.75) * 2 * math.pi / sizes[0] * ring
    in_flow = (ring > 0) & (ring < rings - 1)
    for coordinate in (angle, height):
        coordinate += in_flow * JITTER * spacing * (random.random(num_points) - 0.5)
    return CENTRE + RADIUS * np.exp(height + 1j * (angle + np.angle(1 - CENTRE)))


def _in_body(z: np.ndarray) -> np.ndarray:
    """Whether neither preimage of z under the map is outside the circle."""
    root = np.sqrt(z * z - 4)
    outer = np.maximum(abs((z + root) / 2 - CENTRE), abs((z - root) / 2 - CENTRE))
    return outer < RADIUS


# A mesh of squares that is refined around a moving front, step by step -------------------------
#
# Cells are the leaves of a quadtree in which neighbours differ by at most one level. Leaves are
# in the order of a Z curve: each is an interval of it.


MAX_LEVEL = 15
MAX_STEPS = 2**31 - 1

FRONT_RADIUS = 0.22
"""Radius of the front, a circle in the unit square."""

FROM, TO = (0.25, 0.31), (0.75, 0.69)
"""The centre of the front moves between these two points."""

SPEED = 2.5
"""The front moves this many finest cells per step."""

REACH = 2.0
"""A cell is divided if its centre is nearer to the front than this many of its sides."""

SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))

SPREAD = ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F),
          (2, 0x3333333333333333), (1, 0x5555555555555555))
"""Shifts and masks that put a zero between all bits of a number."""


class MeshStep(NamedTuple):
    """A mesh, and its difference from the previous one.

    Attributes
    ----------
    graph : Graph
        The cells; cells that share a side, or a part of one, are joined.
    centres : ndarray of float64, shape (n, 2)
    levels : ndarray of int8, shape (n,)
        Number of times that the unit square was halved: a cell has sides of ``2.0 ** -level``.
    The previous cell that a cell was or is inside of; if cells were joined, the first of
    them. In the first step the cell itself.
    kept : ndarray of bool, shape (n,)
        Whether the cell existed in the previous step.

    Examples
    --------
    >>> import portpart
    >>> first, second = portpart.generators.moving_front(2, max_level=4)
    >>> second.graph.num_vertices == len(second.centres) == len(second.origins)
    True
    """

    graph: Graph
    centres: np.ndarray
    levels: np.ndarray
    origins: np.ndarray
    kept: np.ndarray

    def play(self, ids: np.ndarray, batch: Any) -> np.ndarray:
        """Add the difference from the previous step to a batch of edits of its graph.

        Parameters
        ----------
        ids : ndarray
            Ids of the cells of the previous step.
        batch : GraphBatch

        Returns
        -------
        ndarray
            Ids of the cells of this step.
        """
        stay = np.zeros(len(ids), bool)
        stay[self.origins[self.kept]] = True
        new = ~self.kept
        own = np.empty(len(self.kept), np.int64)
        own[self.kept] = ids[self.origins[self.kept]]
        own[new] = batch.insert_vertices(count=int(new.sum()))
        batch.delete_vertices(ids[~stay])
        host = self.graph.space.to_host
        tails = np.repeat(np.arange(len(new)), np.diff(host(self.graph.offsets)))
        heads = host(self.graph.targets)
        made = (tails < heads) & (new[tails] | new[heads])
        batch.insert_edges(own[tails[made]], own[heads[made]])
        return own


class Leaves(NamedTuple):
    """Leaves of a quadtree: the begin of each on the curve of the finest cells, and its level."""

    codes: np.ndarray
    levels: np.ndarray


def moving_front(num_steps: int = 60, min_level: int = 2, max_level: int = 8) -> Iterator[MeshStep]:
    """Yield meshes of the unit square that are fine around a moving circle.

    Parameters
    ----------
    num_steps : int
    min_level, max_level : int
        Levels of the coarsest cells, at least 0, and of the finest, at most 15.

    Yields
    ------
    MeshStep
        With cells along a Z curve; about a fifth of them are new in each step.

    Notes
    -----
    There are about ``16 * 2 ** max_level`` cells.  Nothing is random.

    Examples
    --------
    >>> from portpart import generators
    >>> [step.graph.num_vertices for step in generators.moving_front(3, max_level=5)]
    [394, 430, 457]
    """
    checked_integer("num_steps", num_steps, 0, MAX_STEPS)
    if not 0 <= min_level <= max_level <= MAX_LEVEL:
        raise InputError(f"min_level is {min_level} and max_level {max_level}; they must ascend "
                         f"within 0 ... {MAX_LEVEL}")
    before = None
    for step in range(num_steps):
        leaves = _balanced(_refined(_centre(step, max_level), min_level, max_level), max_level)
        yield _mesh(leaves, leaves if before is None else before, max_level)
        before = leaves


def _centre(step: int, max_level: int) -> list[float]:
    """Return the centre of the front at a step."""
    length = math.dist(FROM, TO)
    way = step * SPEED * 0.5**max_level / length % 2
    share = min(way, 2 - way)
    return [begin + share * (end - begin) for begin, end in zip(FROM, TO)]


def _refined(front: list[float], min_level: int, max_level: int) -> Leaves:
    """Divide cells near the front."""
    side = np.arange(1 << min_level)
    x, y = (each.reshape(-1) for each in np.meshgrid(side, side))
    codes = np.sort(_code(x, y)) << (2 * (max_level - min_level))
    leaves = Leaves(codes, np.full(len(codes), min_level, np.int8))
    for level in range(min_level, max_level):
        x, y = _centres(leaves, max_level)
        away = np.sqrt((x - front[0]) ** 2 + (y - front[1]) ** 2) - FRONT_RADIUS
        divided = (leaves.levels == level) & (np.abs(away) < REACH * 0.5**level)
        leaves = _divided(leaves, divided, max_level)
    return leaves


def _balanced(leaves: Leaves, max_level: int) -> Leaves:
    """Divide cells until adjacent ones differ by at most one level."""
    while True:
        coarse = np.zeros(len(leaves.codes), bool)
        for cells, others in _beside(leaves, max_level):
            coarse[others[leaves.levels[others] < leaves.levels[cells] - 1]] = True
        if not coarse.any():
            return leaves
        leaves = _divided(leaves, coarse, max_level)


def _divided(leaves: Leaves, divided: np.ndarray, max_level: int) -> Leaves:
    """Replace cells by their quarters."""
    counts = np.where(divided, 4, 1)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    levels = np.repeat((leaves.levels + divided).astype(np.int8), counts)
    quarter = np.int64(1) << (2 * (max_level - levels.astype(np.int64)))
    return Leaves(np.repeat(leaves.codes, counts) + place * quarter, levels)


def _beside(leaves: Leaves, max_level: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for each side the cells, and the cell that contains their neighbour of equal size."""
    x, y = _corner(leaves.codes)
    size = np.int64(1) << (max_level - leaves.levels.astype(np.int64))
    for right, up in SIDES:
        to_x, to_y = x + right * size, y + up * size
        inside = np.flatnonzero((np.minimum(to_x, to_y) >= 0)
                                & (np.maximum(to_x, to_y) < 1 << max_level))
        yield inside, _holding(leaves, _code(to_x[inside], to_y[inside]))


def _holding(leaves: Leaves, codes: np.ndarray) -> np.ndarray:
    """Return the leaves that contain places of the curve."""
    found: np.ndarray = np.searchsorted(leaves.codes, codes, side="right") - 1
    return found


def _mesh(leaves: Leaves, before: Leaves, max_level: int) -> MeshStep:
    pairs = []
    for cells, others in _beside(leaves, max_level):
        # of two adjacent cells of different size, the smaller one finds the larger
        seen = leaves.levels[others] <= leaves.levels[cells]
        low, high = np.minimum(cells, others)[seen], np.maximum(cells, others)[seen]
        pairs.append(low << 32 | high)
    ends = np.unique(np.concatenate(pairs))
    origins = _holding(before, leaves.codes).astype(np.int32)
    kept = (before.codes[origins] == leaves.codes) & (before.levels[origins] == leaves.levels)
    return MeshStep(edges_graph(len(leaves.codes), ends >> 32, ends & 0xFFFFFFFF),
                    np.stack(_centres(leaves, max_level), axis=1), leaves.levels, origins, kept)


def _centres(leaves: Leaves, max_level: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = _corner(leaves.codes)
    half = 0.5 ** (leaves.levels + 1.0)
    return x * 0.5**max_level + half, y * 0.5**max_level + half


def _code(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the place on the curve: alternating bits of both coordinates."""
    return interleaved(x) | interleaved(y) << 1


def _corner(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both coordinates of places on the curve."""
    return _gathered(codes), _gathered(codes >> 1)


def interleaved(values: np.ndarray) -> np.ndarray:
    """Return numbers below 2**32 with a zero between any two of their bits."""
    values = values.astype(np.int64)
    for shift, mask in SPREAD:
        values = (values | values << shift) & mask
    return values


def _gathered(values: np.ndarray) -> np.ndarray:
    values = values & SPREAD[-1][1]
    for (shift, _), (_, mask) in zip(SPREAD[::-1], (*SPREAD[-2::-1], (0, 0xFFFFFFFF))):
        values = (values | values >> shift) & mask
    return values
