"""The elements of a mesh as polygons: those of the plane, and the surface of those of space."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.errors import InputError
from portpart.graphs.mesh import Mesh

FACES: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((0, 1, 2),),
    4: ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)),
    5: ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 3, 4)),
    6: ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (0, 2, 5, 3)),
    8: ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 3, 7, 4)),
}
"""In space, by number of nodes: triangles, tetrahedra, pyramids, wedges and hexahedra."""


class Polygons(NamedTuple):
    """Polygons of p corners: nodes, shape (count, p), and the element of each."""

    nodes: np.ndarray
    elements: np.ndarray


def polygons_of(mesh: Mesh, dimension: int) -> list[Polygons]:
    """What is drawn of a mesh: its elements in the plane, in space the faces of one element.

    Raises
    ------
    InputError
        If an element of space is of a kind that is not known.
    """
    sizes = np.diff(mesh.offsets)
    found = []
    for size in np.unique(sizes[sizes > 2]).tolist():
        elements = np.flatnonzero(sizes == size)
        nodes = mesh.nodes[mesh.offsets[elements][:, None] + np.arange(size)]
        if dimension == 2:
            found.append(Polygons(nodes, elements))
            continue
        if size not in FACES:
            raise InputError(f"elements of {size} nodes in space; there are pictures of "
                             "triangles, tetrahedra, pyramids, wedges and hexahedra")
        found += [Polygons(nodes[:, list(face)], elements) for face in FACES[size]]
    return found if dimension == 2 else _outer(found)


def _outer(faces: list[Polygons]) -> list[Polygons]:
    """The faces that belong to one element only."""
    outer = []
    for corners in (3, 4):
        same = [each for each in faces if each.nodes.shape[1] == corners]
        if same:
            nodes = np.concatenate([each.nodes for each in same])
            elements = np.concatenate([each.elements for each in same])
            _, first, count = np.unique(np.sort(nodes, axis=1), axis=0, return_index=True,
                                        return_counts=True)
            alone = np.sort(first[count == 1])
            outer.append(Polygons(nodes[alone], elements[alone]))
    return outer


def borders(polygons: list[Polygons], part: np.ndarray) -> np.ndarray:
    """Sides between polygons of different blocks: their nodes, shape (count, 2)."""
    sides, blocks = [], []
    for nodes, elements in polygons:
        ends = np.stack([nodes, np.roll(nodes, -1, axis=1)], axis=-1).reshape(-1, 2)
        sides.append(np.sort(ends, axis=1))
        blocks.append(np.repeat(part[elements], nodes.shape[1]))
    if not sides:
        return np.zeros((0, 2), np.int64)
    side, block = np.concatenate(sides), np.concatenate(blocks)
    order = np.lexsort((side[:, 1], side[:, 0]))
    side, block = side[order], block[order]
    shared = (side[1:] == side[:-1]).all(axis=1) & (block[1:] != block[:-1])
    return side[1:][shared]
