"""Rows of graphs whose neighbours are computed: grids, and hashed points and diagonals.

A vertex has groups of candidates with consecutive ids, in ascending order. Each candidate is a
neighbour or not. Rows are counted, then written; nothing is sorted or exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.generators.hashed import VertexOrder, place_of, vertex_at
from portpart.graphs import id_dtype
from portpart.primitives import hash_of, offsets_from_counts

CELL = 1 << 28
"""Number of places of a point along the side of its cell."""

NO_VERTEX = -1


class NeighbourhoodSizes(kl.Record):
    """Numbers that determine the neighbours of a vertex."""


class GridSides(NeighbourhoodSizes):
    """Vertices along the sides of a grid; the last side varies fastest.

    Attributes
    ----------
    layers, rows, columns : int
    """

    layers: int
    rows: int
    columns: int


class PointCells(NeighbourhoodSizes):
    """Square cells with points in them.

    Attributes
    ----------
    cells : int
        Cells along a side.
    per_cell : int
        Points in a cell.
    Square of the largest distance of neighbours, in units in which a cell's side is `CELL`.
        Square of the largest distance of neighbours, where a cell's side is `CELL`.
    seed : int
    """

    cells: int
    per_cell: int
    reach: int
    seed: int


class MeshSides(NeighbourhoodSizes):
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
class Neighbourhood(kl.Static):
    """Functions that determine neighbours.

    Attributes
    ----------
    num_groups : int
        Groups of candidates of each vertex.
    group_size : DeviceFunction
        ``group_size(sizes)``: candidates in a group.
    group_begin : DeviceFunction
        ``group_begin(v, group, sizes)``: first candidate of a group, or `NO_VERTEX` if it is
        empty.
    is_neighbour : DeviceFunction
        ``is_neighbour(v, u, group, sizes)``: whether candidate u of a group is a neighbour.
    """

    num_groups: int
    group_size: kl.DeviceFunction
    group_begin: kl.DeviceFunction
    is_neighbour: kl.DeviceFunction


def neighbourhood_rows(space: ExecutionSpace, first: int, last: int, order: VertexOrder,
                       family: str, numbers: tuple[int, ...]) -> tuple[Array, Array]:
    """Return offsets and targets of the rows at places ``first <= place < last`` of an order.

    `family` is one of `FAMILIES`; `numbers` are the fields of its record.
    """
    record, kind = FAMILIES[family]
    sizes, count = record(*numbers), last - first
    degrees = space.empty(count, np.int64)
    space.parallel_for(count, visit_row.bound(kind=kind, writes=False), first, order, sizes,
                       degrees, None)
    offsets = offsets_from_counts(space, degrees, np.int64)
    del degrees
    num_arcs = int(space.to_host(offsets[count:])[0])
    targets = space.empty(num_arcs, id_dtype(order.num_vertices))
    space.parallel_for(count, visit_row.bound(kind=kind, writes=True), first, order, sizes, offsets,
                       targets)
    return offsets, targets


@kl.device
def one(sizes: NeighbourhoodSizes):
    """Return 1: a group has one candidate."""
    return kl.int64(1)


@kl.device
def always(v, u, group, sizes: NeighbourhoodSizes):
    """Return True: every candidate is a neighbour."""
    return True


@kl.device
def grid_neighbour(v, group, sizes: GridSides):
    """Return the neighbour of a group: before v along the sides, then behind v; or NO_VERTEX."""
    axis = min(group, 5 - group)
    stride = kl.int64(1)
    side = kl.int64(sizes.columns)
    if axis < 2:
        stride *= side
        side = sizes.rows
    if axis < 1:
        stride *= side
        side = sizes.layers
    place = (v // stride) % side
    if group < 3:
        return v - stride if place > 0 else kl.int64(NO_VERTEX)
    return v + stride if place < side - 1 else kl.int64(NO_VERTEX)


@kl.device
def mesh_neighbour(v, group, sizes: MeshSides):
    """Return the neighbour of a group, in the previous, same or next row; or NO_VERTEX."""
    around = group + kl.int64(group > 3)
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
def points_of_cell(sizes: PointCells):
    """Return the number of candidates in a cell."""
    return kl.int64(sizes.per_cell)


@kl.device
def cell_around(v, group, sizes: PointCells):
    """Return the first point of one of the 9 cells around that of v."""
    cell = v // sizes.per_cell
    column = cell % sizes.cells + group % 3 - 1
    row = cell // sizes.cells + group // 3 - 1
    if row < 0 or row >= sizes.cells or column < 0 or column >= sizes.cells:
        return kl.int64(NO_VERTEX)
    return (row * sizes.cells + column) * sizes.per_cell


@kl.device
def is_close(v, u, group, sizes: PointCells):
    """Whether a point of a cell is within the reach of v."""
    x = (group % 3 - 1) * CELL + coordinate(u, 0, sizes) - coordinate(v, 0, sizes)
    y = (group // 3 - 1) * CELL + coordinate(u, 1, sizes) - coordinate(v, 1, sizes)
    return u != v and x * x + y * y <= sizes.reach


@kl.device
def coordinate(v, axis, sizes: PointCells):
    """Return the place of a point in its cell, from 0 to CELL - 1."""
    return hash_of(2 * v + axis, sizes.seed) & (CELL - 1)


GRID, MESH, POINTS = "grid", "mesh", "points"

FAMILIES: dict[str, tuple[type[Any], Neighbourhood]] = {
    GRID: (GridSides, Neighbourhood(6, one, grid_neighbour, always)),
    MESH: (MeshSides, Neighbourhood(8, one, mesh_neighbour, always)),
    POINTS: (PointCells, Neighbourhood(9, points_of_cell, cell_around, is_close)),
}
"""The record of numbers that describe a graph, and the functions for its neighbours."""


@kl.kernel
def visit_row(i, first, order: VertexOrder, sizes: NeighbourhoodSizes, offsets, targets,
              kind: Neighbourhood, writes: kl.StaticValue):
    """offsets[i] = degree of the vertex at place first + i; or write its neighbours there."""
    v = vertex_at(first + i, order)
    arc = kl.int64(offsets[i]) if writes else kl.int64(0)
    for group in range(kind.num_groups):
        begin = kind.group_begin(v, group, sizes)
        if begin >= 0:
            for u in range(begin, begin + kind.group_size(sizes)):
                if kind.is_neighbour(v, u, group, sizes):
                    if writes:
                        targets[arc] = place_of(u, order)
                    arc += 1
    if not writes:
        offsets[i] = arc
