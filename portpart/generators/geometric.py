"""Regular grids, and graphs of points in the unit square or cube."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from portpart import backends
from portpart.errors import InputError
from portpart.graphs import MAX_INT32_ARCS, MAX_VERTICES, Graph, edges_graph, read_only

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Graphs of points in the unit square or cube ---------------------------------------------------


REACH = {2: 0.55, 3: 0.61}
"""Radius over (ln n / n)^(1 / dimensions) at which the mean degree is about 0.95 ln n."""


def delaunay(num_vertices: int, seed: int = 1) -> Graph:
    """Return the Delaunay triangulation of random points, in the order in which they are drawn.

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
    """Return a graph of random points, joined if they are closer than `radius`.

    Parameters
    ----------
    num_vertices : int
    seed : int
        The points are ``numpy.random.default_rng(seed).random((num_vertices, dimensions))``.
    radius : float, optional
        Default ``0.55 * (ln(n) / n) ** (1 / 2)`` in the plane, ``0.61 * (ln(n) / n) ** (1 / 3)`` in
        space: mean degree about 0.95 ln n.
    dimensions : {2, 3}
        Dimension of the unit square or cube with the points.

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If the number of vertices or dimensions is invalid, or the radius is negative.

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


def triangulation(points: ArrayLike) -> Graph:
    """Return the Delaunay triangulation of points in the plane.

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
    """Return the corners of the Delaunay triangles, shape (count, 3)."""
    from scipy.spatial import Delaunay, QhullError

    try:
        corners: np.ndarray = Delaunay(points).simplices
    except (QhullError, ValueError) as problem:
        reason = str(problem).partition("\n")[0]
        raise InputError(f"the points cannot be triangulated: {reason}") from problem
    return corners


def edges_of_triangles(n: int, corners: np.ndarray) -> Graph:
    """Return the graph of the sides of triangles."""
    return edges_graph(n, corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1))


def _points(num_vertices: int, seed: int, dimensions: int = 2) -> np.ndarray:
    if num_vertices < 0:
        raise InputError(f"{num_vertices} vertices are not possible")
    return np.random.default_rng(seed).random((num_vertices, dimensions))


# Regular grids, vertices in row-major order ----------------------------------------------------


def grid_2d(rows: int, columns: int | None = None) -> Graph:
    """Return a grid of `rows` × `columns` vertices with 4 neighbours each (5-point stencil).

    Vertex (i, j) has the number ``i * columns + j``; `columns` defaults to `rows`.

    Parameters
    ----------
    rows, columns : int

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If a side is negative, or there are more than 2147483646 vertices.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.grid_2d(3, 4)
    <Graph: 12 vertices, 17 edges, on cpu>
    >>> portpart.generators.grid_2d(3).to_scipy().toarray()[0]
    array([0, 1, 0, 1, 0, 0, 0, 0, 0], dtype=int32)
    """
    return _grid((rows, rows if columns is None else columns))


def grid_3d(x: int, y: int | None = None, z: int | None = None) -> Graph:
    """Return a grid of x × y × z vertices with 6 neighbours each (7-point stencil).

    Vertex (i, j, k) has the number ``(i * y + j) * z + k``; `y` and `z` default to `x`.

    Parameters
    ----------
    x, y, z : int

    Returns
    -------
    Graph

    Raises
    ------
    InputError
        If a side is negative, or there are more than 2147483646 vertices.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.grid_3d(3, 4, 5)
    <Graph: 60 vertices, 133 edges, on cpu>
    """
    return _grid((x, x if y is None else y, x if z is None else z))


def _grid(shape: tuple[int, ...]) -> Graph:
    if min(shape) < 0:
        raise InputError(f"a grid of {' x '.join(map(str, shape))} is not possible")
    n = math.prod(shape)
    if n > MAX_VERTICES:
        raise InputError(f"a grid of {' x '.join(map(str, shape))} has more than {MAX_VERTICES} "
                         "vertices")
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    exists = np.empty((n, 2 * len(shape)), bool)
    neighbour = np.empty((n, 2 * len(shape)), np.int32)
    vertices = np.arange(n, dtype=np.int32)
    for axis, stride in enumerate(strides):
        place = vertices // max(1, stride) % max(1, shape[axis])
        for column, has, step in ((axis, place > 0, -stride),
                                  (-1 - axis, place < shape[axis] - 1, stride)):
            exists[:, column] = has
            neighbour[:, column] = vertices + step
    targets = neighbour[exists]
    offsets = np.zeros(n + 1, np.int32 if len(targets) <= MAX_INT32_ARCS else np.int64)
    np.cumsum(exists.sum(axis=1), out=offsets[1:])
    read_only([offsets, targets])
    return Graph(offsets, targets, None, None, backends.space("cpu"))
