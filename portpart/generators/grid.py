"""Regular grids, vertices in row-major order."""

from __future__ import annotations

import math

import numpy as np

from portpart import backends
from portpart.errors import InputError
from portpart.graphs.from_arrays import MAX_VERTICES
from portpart.graphs.graph import Graph
from portpart.graphs.limits import MAX_INT32_ARCS
from portpart.graphs.totals import read_only


def grid_2d(rows: int, columns: int | None = None) -> Graph:
    """Grid of `rows` × `columns` vertices, each joined to the 4 around it (5-point stencil).

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
    """Grid of x × y × z vertices, each joined to the 6 around it (7-point stencil).

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
