"""Large graphs whose rows each rank draws itself; the graph does not depend on the ranges.

A graph is described by a few numbers.  Its method ``rows`` draws the rows of a range of vertices on
any device, from hashes of vertices and edges, without messages.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

from portpart.errors import InputError, shown
from portpart.generators import drawn_edges as edges, neighbourhoods as near
from portpart.generators.large_graphs import LargeGraph, Neighbours, RandomEdges
from portpart.graphs import MAX_INT32, MAX_ROWS, Rows
from portpart.options import checked_integer

__all__ = ["LargeGraph", "RandomEdges", "Rows", "grid_2d", "grid_3d", "jittered_mesh",
           "jittered_rgg", "permuted", "rmat", "weighted"]

MAX_SEED = 2**62

MAX_SCALE = 31
"""Arcs are numbers of twice 32 bits."""

Kind = TypeVar("Kind", bound=LargeGraph)


def grid_2d(rows: int, columns: int | None = None) -> LargeGraph:
    """Return a grid of `rows` × `columns` vertices, equal to `portpart.generators.grid_2d`.

    Parameters
    ----------
    rows, columns : int
        `columns` defaults to `rows`.

    Returns
    -------
    LargeGraph

    Raises
    ------
    InputError
        If a side is negative, or there are more than 2^62 vertices.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.shares.grid_2d(3, 4).rows(0, 12).num_arcs
    34
    """
    return _grid(1, rows, rows if columns is None else columns)


def grid_3d(x: int, y: int | None = None, z: int | None = None) -> LargeGraph:
    """Return a grid of x × y × z vertices, equal to :func:`portpart.generators.grid_3d`.

    Parameters
    ----------
    x, y, z : int
        `y` and `z` default to `x`.

    Returns
    -------
    LargeGraph

    Raises
    ------
    InputError
        If a side is negative, or there are more than 2^62 vertices.

    Examples
    --------
    >>> import portpart
    >>> cube = portpart.generators.shares.grid_3d(3_000)
    >>> cube.rows(10_000_000_000, 10_000_000_001).targets.tolist()
    [9991000000, 9999997000, 9999999999, 10000000001, 10000003000, 10009000000]
    """
    return _grid(x, x if y is None else y, x if z is None else z)


def jittered_rgg(cells: int, per_cell: int = 4, seed: int = 1, radius: float = 1.0) -> LargeGraph:
    """Return a random geometric graph of `cells` × `cells` squares with `per_cell` points each.

    The points of a cell have consecutive numbers, cells are in row-major order.  Points are joined
    if their distance is at most `radius`.

    Parameters
    ----------
    cells : int
        Cells along a side.
    per_cell : int
        Points in each cell.
    seed : int
        Coordinates are hashes of the seed and the number of the point.
    radius : float
        In sides of a cell; at most 1.

    Returns
    -------
    LargeGraph
        Its mean degree is about ``pi * radius**2 * per_cell``.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.shares.jittered_rgg(20).rows(0, 1_600)
    <Rows: vertices 0 to 1,600 of 1,600, 17,634 arcs, on cpu>
    """
    n = _num_vertices("points", _side("cells", cells), _side("cells", cells),
                      checked_integer("per_cell", per_cell, 0, 2**20))
    if not 0 <= radius <= 1:
        raise InputError(f"radius is {shown(radius)}; it must be between 0 and 1")
    reach = int(radius * near.CELL) ** 2
    return Neighbours(num_vertices=n, family=near.POINTS,
                      numbers=(int(cells), int(per_cell), reach, _seed(seed)))


def jittered_mesh(rows: int, columns: int | None = None, seed: int = 1) -> LargeGraph:
    """Return a mesh of triangles: a grid with one diagonal per square, selected by a hash.

    Parameters
    ----------
    rows, columns : int
        Vertices along the sides, in row-major order; `columns` defaults to `rows`.
    seed : int

    Returns
    -------
    LargeGraph
        Degrees are 6 on average, except at the border, and from 4 to 8 inside.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.shares.jittered_mesh(3).rows(4, 5).targets.tolist()
    [1, 3, 5, 6, 7, 8]
    """
    columns = rows if columns is None else columns
    n = _num_vertices("vertices", _side("rows", rows), _side("columns", columns))
    return Neighbours(num_vertices=n, family=near.MESH,
                      numbers=(int(rows), int(columns), _seed(seed)))


def rmat(scale: int, edge_factor: int = 16, seed: int = 3, *, a: float = 0.57, b: float = 0.19,
         c: float = 0.19) -> RandomEdges:
    """Return an R-MAT graph of ``2**scale`` vertices; it differs from `portpart.generators.rmat`.

    Parameters
    ----------
    scale : int
        At most 31.
    edge_factor : int
        Edges drawn per vertex; loops and duplicates are dropped, so fewer remain.
    seed : int
        The quadrants of an edge follow from a hash of the seed, the number of the edge and the bit.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quadrant of the adjacency
        matrix; the lower right quadrant has the rest.

    Returns
    -------
    RandomEdges

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.shares.rmat(8, 4).rows(0, 256)
    <Rows: vertices 0 to 256 of 256, 1,498 arcs, on cpu>
    """
    scale = checked_integer("scale", scale, 0, MAX_SCALE)
    edges.check_shares(a, b, c)
    limits = tuple(round(share * 2**edges.DRAW_BITS) for share in (a, a + b, a + b + c))
    factor = checked_integer("edge_factor", edge_factor, 0, 2**20)
    return RandomEdges(num_vertices=1 << scale, num_edges=factor << scale,
                       scale=scale, limits=limits, seed=_seed(seed))


def permuted(graph: Kind, seed: int = 1) -> Kind:
    """Return the graph with its vertices in an order without locality.

    Parameters
    ----------
    graph : LargeGraph
    seed : int

    Returns
    -------
    LargeGraph
        The order of the vertices takes no memory.

    Raises
    ------
    InputError
        If the graph is permuted already.

    Examples
    --------
    >>> from portpart.generators import shares
    >>> shares.permuted(shares.grid_2d(1_000_000)).rows(0, 1).targets.tolist()
    [347173555847, 302489993270, 44817348318, 782483235473]
    """
    if graph.order_seed is not None:
        raise InputError("the graph is permuted already")
    return replace(graph, order_seed=_seed(seed))


def weighted(graph: Kind, max_weight: int = 1, max_vertex_weight: int = 1, seed: int = 1) -> Kind:
    """Return the graph with random weights.

    Parameters
    ----------
    graph : LargeGraph
    max_weight, max_vertex_weight : int
        Maximum weights of edges and vertices; with 1 there are no weights.
    seed : int

    Returns
    -------
    LargeGraph

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> from portpart.generators import shares
    >>> shares.weighted(shares.grid_2d(3), max_weight=9).rows(0, 1).weights.tolist()
    [3, 9]
    """
    return replace(graph, weight_seed=_seed(seed),
                   max_weight=checked_integer("max_weight", max_weight, 1, MAX_INT32),
                   max_vertex_weight=checked_integer("max_vertex_weight", max_vertex_weight, 1,
                                                     MAX_INT32))


def _grid(x: int, y: int, z: int) -> LargeGraph:
    sides = tuple(_side("a side", side) for side in (x, y, z))
    return Neighbours(num_vertices=_num_vertices("vertices", *sides), family=near.GRID,
                      numbers=sides)


def _side(name: str, value: Any) -> int:
    return checked_integer(name, value, 0, MAX_ROWS)


def _seed(value: Any) -> int:
    return checked_integer("seed", value, 0, MAX_SEED)


def _num_vertices(what: str, *factors: int) -> int:
    n = math.prod(factors)
    if n > MAX_ROWS:
        raise InputError(f"{n} {what} are more than 2^62")
    return n
