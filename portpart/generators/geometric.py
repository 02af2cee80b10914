"""Graphs of points in the unit square or cube."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.from_arrays import edges_graph
from portpart.graphs.graph import Graph

REACH = {2: 0.55, 3: 0.61}
"""Radius over (ln n / n)^(1 / dimensions) at which the mean degree is about 0.95 ln n."""


def delaunay(num_vertices: int, seed: int = 1) -> Graph:
    """Delaunay triangulation of random points, in the order in which they were drawn.

    The points are ``numpy.random.default_rng(seed).random((num_vertices, 2))``.

    Parameters
    ----------
    num_vertices : int
    seed : int

    Returns
    -------
    Graph

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.delaunay(1_000)
    <Graph: 1,000 vertices, 2,981 edges, on cpu>
    """
    return triangulation(_points(num_vertices, seed))


def random_geometric(num_vertices: int, seed: int = 2, radius: float | None = None,
                     dimensions: int = 2) -> Graph:
    """Random points, joined when they are closer than `radius`.

    Parameters
    ----------
    num_vertices : int
    seed : int
        The points are ``numpy.random.default_rng(seed).random((num_vertices, dimensions))``.
    radius : float, optional
        Default ``0.55 * (ln(n) / n) ** (1 / 2)`` in the plane, ``0.61 * (ln(n) / n) ** (1 / 3)`` in
        space: mean degree about 0.95 ln n.
    dimensions : {2, 3}
        Of the unit square or cube that the points are in.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If there is no such number of vertices or dimensions, or the radius is below zero.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.random_geometric(1_000)
    <Graph: 1,000 vertices, 3,066 edges, on cpu>
    """
    from scipy.spatial import cKDTree

    if dimensions not in REACH:
        raise InputError(f"dimensions is {dimensions}; it must be 2 or 3")
    points = _points(num_vertices, seed, dimensions)
    if radius is None:
        sparsity = math.log(max(2, num_vertices)) / max(1, num_vertices)
        root = math.sqrt(sparsity) if dimensions == 2 else sparsity ** (1 / 3)
        radius = REACH[dimensions] * root
    if not radius >= 0:
        raise InputError(f"radius is {radius}; it must be >= 0")
    if num_vertices == 0:
        return edges_graph(0, np.empty(0, np.int64), np.empty(0, np.int64))
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return edges_graph(num_vertices, pairs[:, 0], pairs[:, 1])


def triangulation(points: Any) -> Graph:
    """Delaunay triangulation of points in the plane.

    Parameters
    ----------
    points : array_like of float, shape (n, 2)

    Returns
    -------
    Graph

    Notes
    -----
    Fewer than three points are joined in a row.

    Examples
    --------
    >>> import portpart
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5]]
    >>> portpart.generators.triangulation(square)
    <Graph: 5 vertices, 8 edges, on cpu>
    """
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"points have shape {points.shape}; shape (n, 2) is needed")
    if len(points) < 3:
        ends = np.arange(max(0, len(points) - 1))
        return edges_graph(len(points), ends, ends + 1)
    return edges_of_triangles(len(points), triangles_of(points))


def triangles_of(points: np.ndarray) -> np.ndarray:
    """Corners of the Delaunay triangles, shape (count, 3)."""
    from scipy.spatial import Delaunay, QhullError

    try:
        corners: np.ndarray = Delaunay(points).simplices
    except (QhullError, ValueError) as problem:
        reason = str(problem).partition("\n")[0]
        raise InputError(f"the points cannot be triangulated: {reason}") from problem
    return corners


def edges_of_triangles(n: int, corners: np.ndarray) -> Graph:
    """The graph of the sides of triangles."""
    return edges_graph(n, corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1))


def _points(num_vertices: int, seed: int, dimensions: int = 2) -> np.ndarray:
    if num_vertices < 0:
        raise InputError(f"{num_vertices} vertices are not possible")
    return np.random.default_rng(seed).random((num_vertices, dimensions))
