"""A mesh around an airfoil: fine at the body, coarse far away, as in flow simulations.

Joukowski's map z = w + 1/w takes circles around a centre left of the origin to curves around an
airfoil.  Points at even distances in angle and in the logarithm of the radius become points whose
spacing grows in proportion to their distance from the body.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from portpart.errors import InputError
from portpart.generators.geometric import edges_of_triangles, triangles_of
from portpart.graphs.graph import Graph

CENTRE = -0.10 + 0.12j
"""Centre of the circle that becomes the body: its real part makes thickness, the other camber."""

RADIUS = abs(1 - CENTRE)
"""The circle passes through 1, which becomes the sharp trailing edge."""

FAR = 12.0
"""Radius of the outermost circle over that of the innermost."""

JITTER = 0.45
"""Displacement of a point in the flow, in spacings."""

MIN_POINTS = 32


class PlacedGraph(NamedTuple):
    """A graph with the positions of its vertices, shape (n, 2)."""

    graph: Graph
    points: np.ndarray


def airfoil_mesh(num_points: int, seed: int = 0) -> PlacedGraph:
    """Triangular mesh of the air around an airfoil.

    Parameters
    ----------
    num_points : int
        Number of vertices, at least 32.
    seed : int
        Of ``numpy.random.default_rng``, which displaces the points.

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
    plane = _joukowski(circle)
    points = np.stack([plane.real, plane.imag], axis=1)
    corners = triangles_of(points)
    middles = plane[corners].mean(axis=1)
    return PlacedGraph(edges_of_triangles(num_points, corners[~_in_body(middles)]), points)


def _circle_points(num_points: int, random: np.random.Generator) -> np.ndarray:
    """Points around the circle, as complex numbers: rings one spacing apart, the body first."""
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


def _joukowski(w: np.ndarray) -> np.ndarray:
    return w + 1 / w


def _in_body(z: np.ndarray) -> np.ndarray:
    """True where neither preimage of z under the map lies outside the circle."""
    root = np.sqrt(z * z - 4)
    outer = np.maximum(abs((z + root) / 2 - CENTRE), abs((z - root) / 2 - CENTRE))
    return outer < RADIUS
