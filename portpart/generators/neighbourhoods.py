"""Rows of graphs whose vertices know their neighbours: grids, and hashed points and diagonals.

A vertex has a number of candidates, in ascending order, and each is a neighbour or not.  Rows are
counted, then written; nothing is sorted or exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import DeviceFunction, Record, Static
from portpart.generators.vertex_order import VertexOrder, place_of, vertex_at
from portpart.graphs.row_range import id_dtype
from portpart.primitives.hashing import hash_of
from portpart.primitives.scan import offsets_from_counts

CELL = 1 << 28
"""Places of a point along the side of its cell."""

NO_VERTEX = -1


class Sizes(Record):
    """What the neighbours of a vertex follow from."""


class GridSides(Sizes):
    """Vertices along the sides of a grid; the last side varies fastest.

    Attributes
    ----------
    layers, rows, columns : int
    """

    layers: int
    rows: int
    columns: int


class PointCells(Sizes):
    """Square cells with points in them.

    Attributes
    ----------
    cells : int
        Cells along a side.
    per_cell : int
        Points in a cell.
    reach : int
        Square of the largest distance of neighbours, where a cell's side is `CELL`.
    seed : int
    """

    cells: int
    per_cell: int
    reach: int
    seed: int


class MeshSides(Sizes):
    """A grid with a diagonal in each square.

    Attributes
    ----------
    rows, columns : int
    seed : int
    """

    rows: int
    columns: int
    seed: int


@dataclass(frozen=True)
class Neighbourhood(Static):
    """How neighbours are found.

    Attributes
    ----------
    num_candidates : DeviceFunction
        ``num_candidates(sizes)``: candidates of each vertex.
    candidate : DeviceFunction
        ``candidate(v, j, sizes)``: candidate j of vertex v, or `NO_VERTEX` if it is no neighbour.
    """

    num_candidates: DeviceFunction
    candidate: DeviceFunction


def neighbourhood_rows(space: ExecutionSpace, first: int, last: int, order: VertexOrder,
                       sizes: Sizes, kind: Neighbourhood) -> tuple[Array, Array]:
    """Offsets and targets of the rows at places ``first <= place < last`` of an order."""
    count = last - first
    degrees = space.empty(count, np.int64)
    space.parallel_for(count, count_row.bound(kind=kind), first, order, sizes, degrees)
    offsets = offsets_from_counts(space, degrees, np.int64)
    del degrees
    num_arcs = int(space.to_host(offsets[count:])[0])
    targets = space.empty(num_arcs, id_dtype(order.num_vertices))
    space.parallel_for(count, write_row.bound(kind=kind), first, order, sizes, offsets, targets)
    return offsets, targets


@kl.device
def six(sizes: GridSides):
    """Candidates in a grid."""
    return kl.int64(6)


@kl.device
def grid_neighbour(v, j, sizes: GridSides):
    """Neighbours along the first, second and third side before v, then those behind it."""
    axis = min(j, 5 - j)
    stride = kl.int64(1)
    side = kl.int64(sizes.columns)
    if axis < 2:
        stride *= side
        side = sizes.rows
    if axis < 1:
        stride *= side
        side = sizes.layers
    place = (v // stride) % side
    if j < 3:
        return v - stride if place > 0 else kl.int64(NO_VERTEX)
    return v + stride if place < side - 1 else kl.int64(NO_VERTEX)


@kl.device
def eight(sizes: MeshSides):
    """Candidates in a mesh of triangles."""
    return kl.int64(8)


@kl.device
def mesh_neighbour(v, j, sizes: MeshSides):
    """Neighbours in the row before, in the own row and in the next one."""
    around = j + kl.int64(j > 3)
    row = v // sizes.columns
    column = v % sizes.columns
    to_row = row + around // 3 - 1
    to_column = column + around % 3 - 1
    if to_row < 0 or to_row >= sizes.rows or to_column < 0 or to_column >= sizes.columns:
        return kl.int64(NO_VERTEX)
    if to_row != row and to_column != column:
        square = min(row, to_row) * sizes.columns + min(column, to_column)
        falls = (to_row > row) == (to_column > column)
        if falls != ((hash_of(square, sizes.seed) & 1) == 1):
            return kl.int64(NO_VERTEX)
    return to_row * sizes.columns + to_column


@kl.device
def around_cell(sizes: PointCells):
    """Candidates among points: those of 9 cells."""
    return kl.int64(9 * sizes.per_cell)


@kl.device
def point_neighbour(v, j, sizes: PointCells):
    """Points of the cells around that of v which are close to it."""
    around = j // sizes.per_cell
    cell = v // sizes.per_cell
    across = around % 3 - 1
    down = around // 3 - 1
    column = cell % sizes.cells + across
    row = cell // sizes.cells + down
    if row < 0 or row >= sizes.cells or column < 0 or column >= sizes.cells:
        return kl.int64(NO_VERTEX)
    u = (row * sizes.cells + column) * sizes.per_cell + j % sizes.per_cell
    x = across * CELL + coordinate(u, 0, sizes) - coordinate(v, 0, sizes)
    y = down * CELL + coordinate(u, 1, sizes) - coordinate(v, 1, sizes)
    return u if u != v and x * x + y * y <= sizes.reach else kl.int64(NO_VERTEX)


@kl.device
def coordinate(v, axis, sizes: PointCells):
    """Place of a point in its cell, from 0 to CELL - 1."""
    return hash_of(2 * v + axis, sizes.seed) & (CELL - 1)


@kl.kernel
def count_row(i, first, order: VertexOrder, sizes: Sizes, degrees, kind: Neighbourhood):
    """degrees[i] = number of neighbours of the vertex at place first + i."""
    v = vertex_at(first + i, order)
    degree = kl.int64(0)
    for j in range(kind.num_candidates(sizes)):
        if kind.candidate(v, j, sizes) >= 0:
            degree += 1
    degrees[i] = degree


@kl.kernel
def write_row(i, first, order: VertexOrder, sizes: Sizes, offsets, targets, kind: Neighbourhood):
    """Write the places of the neighbours of the vertex at place first + i."""
    v = vertex_at(first + i, order)
    arc = offsets[i]
    for j in range(kind.num_candidates(sizes)):
        u = kind.candidate(v, j, sizes)
        if u >= 0:
            targets[arc] = place_of(u, order)
            arc += 1
