"""Kinds of cells by their names in meshio, and blocks of cells of a mesh."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from portpart.errors import InputError, shown
from portpart.graphs.incidence import Incidence, stacked


class Kind(NamedTuple):
    """Properties of a kind of cells, for any order of the shape functions.

    Attributes
    ----------
    dimension : int
    corners : int or None
        Number of corners, which precede all other nodes of a cell.  None: every node is a corner.
    face_corners : int
        Corners of the smallest face; for plane cells an edge is a face.
    """

    dimension: int
    corners: int | None
    face_corners: int


KINDS = {
    "vertex": Kind(0, 1, 1),
    "line": Kind(1, 2, 1),
    "curve": Kind(1, 2, 1),
    "triangle": Kind(2, 3, 2),
    "quad": Kind(2, 4, 2),
    "polygon": Kind(2, None, 2),
    "tetra": Kind(3, 4, 3),
    "hexa_prism": Kind(3, 12, 4),
    "hexa": Kind(3, 8, 4),
    "wedge": Kind(3, 6, 3),
    "pyramid": Kind(3, 5, 3),
    "penta": Kind(3, 10, 4),
    "polyhedron": Kind(3, None, 3),
}
"""Kinds by the beginning of their names, as in ``hexahedron20``; longer beginnings come first."""


class Cells(NamedTuple):
    """A block of cells of one kind.

    Attributes
    ----------
    kind : str
        The name in meshio, such as ``"tetra10"``.
    nodes : ndarray of int32, shape (number of cells, nodes per cell)
        In meshio's order.
    first : int or None
        The element number of the first cell; the others follow.  None: these cells are of a lower
        dimension and not elements.
    """

    kind: str
    nodes: np.ndarray
    first: int | None


def kind_of(name: Any) -> Kind:
    """Return the kind of cells with this name in meshio.

    Raises
    ------
    InputError
        If there is no such kind.
    """
    bare = str(name).lower().removeprefix("vtk_lagrange_").removeprefix("vtk_bezier_")
    found = next((kind for begin, kind in KINDS.items() if bare.startswith(begin)), None)
    if found is None:
        raise InputError(f"{shown(name)} is no kind of cells: names are those of meshio, such as "
                         "triangle, quad8, tetra10 or hexahedron; without kinds, give the nodes of "
                         "the elements as an array or a list")
    return found


def with_nodes(cells: tuple[Cells, ...], nodes: np.ndarray) -> tuple[Cells, ...]:
    """Return the same cells with the nodes of elements as views of `nodes`."""
    made, begin = [], 0
    for each in cells:
        table = each.nodes.astype(np.int32)
        if each.first is not None:
            table = nodes[begin : begin + table.size].reshape(table.shape)
            begin += table.size
        made.append(each._replace(nodes=table))
    return tuple(made)


def corners_of(cells: tuple[Cells, ...],
               by_element: Incidence) -> tuple[Incidence, int | np.ndarray]:
    """Return the corners of each element, and the corners of a face: for each, or one number."""
    blocks = [each for each in cells if each.first is not None]
    kinds = [kind_of(each.kind) for each in blocks]
    needed = np.repeat(np.array([kind.face_corners for kind in kinds], np.int32),
                       [len(each.nodes) for each in blocks])
    same = int(needed[0]) if len(needed) and (needed == needed[0]).all() else needed
    tables = [each.nodes[:, : kind.corners] for each, kind in zip(blocks, kinds)]
    all_nodes = sum(table.size for table in tables) == len(by_element.members)
    return by_element if all_nodes else stacked(tables), same


def chosen_cells(cells: tuple[Cells, ...], elements: np.ndarray, offsets: np.ndarray,
                 nodes: np.ndarray) -> tuple[Cells, ...]:
    """Return blocks of cells of some elements, one for each run of a kind, with their nodes."""
    blocks = [each for each in cells if each.first is not None]
    firsts = np.array([each.first for each in blocks], np.int64)
    block = np.searchsorted(firsts, elements, side="right") - 1
    begins = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
    return tuple(Cells(blocks[block[begin]].kind,
                       nodes[offsets[begin] : offsets[end]].reshape(end - begin, -1), begin)
                 for begin, end in zip(begins, [*begins[1:], len(elements)]))


def lower_cells(cells: tuple[Cells, ...], parts: list[np.ndarray],
                k: int) -> list[dict[int, np.ndarray]]:
    """Return for each block of a partition its cells of each block of a lower dimension.

    `parts` has the block of every cell, -1 for none.
    """
    found: list[dict[int, np.ndarray]] = [{} for _ in range(k)]
    for at, (each, part) in enumerate(zip(cells, parts)):
        if each.first is None:
            order = np.argsort(part, kind="stable").astype(np.int32)
            borders = np.searchsorted(part[order], np.arange(k + 1)).tolist()
            for mine, begin, end in zip(found, borders, borders[1:]):
                mine[at] = order[begin:end]
    return found


def renumbered(cells: tuple[Cells, ...], chosen: dict[int, np.ndarray],
               numbers: np.ndarray) -> list[Cells]:
    """Return the chosen cells of blocks, with the places of their nodes among `numbers`."""
    order = np.argsort(numbers) if chosen else numbers
    return [Cells(cells[at].kind, order[np.searchsorted(numbers, cells[at].nodes[mine],
                                                        sorter=order)].astype(np.int32), None)
            for at, mine in chosen.items()]
