"""Meshes with elements in the colours of their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from portpart.errors import InputError
from portpart.graphs import Mesh
from portpart.plot.canvas import INK, seen_from, shaded
from portpart.plot.points import Scene, draw_points
from portpart.plot.raster import Window, window_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The elements of a mesh as polygons: elements in the plane, surfaces in space ------------------


FACES: dict[int, tuple[tuple[int, ...], ...]] = {
    3: ((0, 1, 2),),
    4: ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)),
    5: ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 3, 4)),
    6: ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (0, 2, 5, 3)),
    8: ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 3, 7, 4)),
}
"""Elements of space, by number of nodes: triangles, tetrahedra, pyramids, wedges and hexahedra."""


class Polygons(NamedTuple):
    """Polygons of p corners: nodes, shape (count, p), and the element of each."""

    nodes: np.ndarray
    elements: np.ndarray


def polygons_of(mesh: Mesh, dimension: int) -> list[Polygons]:
    """Return the polygons of a mesh: its elements in the plane, in space the faces of a single
    element.

    Raises
    ------
    InputError
        If an element of space is of an unknown kind.
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
    """Return the faces that belong to one element only."""
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
    """Return the sides between polygons of different blocks: their nodes, shape (count, 2)."""
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


# Meshes with elements in the colours of their blocks -------------------------------------------


MANY = 50_000
"""Maximum number of elements of the plane that are drawn as polygons; more are drawn as points."""

OUTLINED = 10_000
"""Maximum number of elements that have outlines."""


def draw_elements(ax: Axes, points: np.ndarray, mesh: Mesh, part: np.ndarray, colours: np.ndarray,
                  window: Window | None, view: tuple[float, float]) -> None:
    """Draw the elements of a mesh as polygons, and dark borders between blocks."""
    flat = points.shape[1] == 2
    if flat and mesh.num_elements > MANY:
        scene = Scene(centres_of(points, mesh), colours[part], part, None, "none")
        draw_points(ax, scene, window, view)
        return
    polygons = polygons_of(mesh, points.shape[1])
    if flat:
        _draw_plane(ax, points, polygons, part, colours)
    elif ax.name == "3d":
        _draw_on_axes_of_space(ax, points, polygons, colours[part])
        return
    else:
        points = seen_from(points, view)
        _draw_surface(ax, points, polygons, colours[part])
    limits = window_of(points) if window is None else window
    ax.set(xlim=limits[:2], ylim=limits[2:])


def _draw_plane(ax: Axes, points: np.ndarray, polygons: list[Polygons], part: np.ndarray,
                colours: np.ndarray) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    many = len(part) > OUTLINED
    for nodes, elements in polygons:
        faces = colours[part[elements]]
        edges = faces if many else faces + 0.45 * (1 - faces)
        ax.add_collection(PolyCollection(points[nodes], facecolors=faces, edgecolors=edges,
                                         linewidths=0.3, rasterized=many))
    ax.add_collection(LineCollection(points[borders(polygons, part)], colors=INK,
                                     linewidths=0.6 if many else 1.1, capstyle="round"))


def _draw_surface(ax: Axes, points: np.ndarray, polygons: list[Polygons],
                  colours: np.ndarray) -> None:
    """Draw faces as seen, the farthest first."""
    from matplotlib.collections import PolyCollection

    corners = [points[each.nodes] for each in polygons]
    depths = np.concatenate([each[..., 2].mean(axis=1) for each in corners])
    faces = np.concatenate([shaded(colours[each.elements], own)
                            for each, own in zip(polygons, corners)])
    flat = [face for own in corners for face in own[..., :2]]
    order = np.argsort(depths, kind="stable").tolist()
    many = len(flat) > OUTLINED
    ax.add_collection(PolyCollection([flat[face] for face in order], facecolors=faces[order],
                                     edgecolors=faces[order] * (1 if many else 0.8),
                                     linewidths=0.3, rasterized=many))


def _draw_on_axes_of_space(ax: Axes, points: np.ndarray, polygons: list[Polygons],
                           colours: np.ndarray) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    for nodes, elements in polygons:
        ax.add_collection3d(Poly3DCollection(points[nodes], facecolors=colours[elements],
                                             edgecolors=INK, linewidths=0.1))
    ax.auto_scale_xyz(*points.T)


def centres_of(points: np.ndarray, mesh: Mesh) -> np.ndarray:
    """Return the mean of the nodes of each element."""
    sizes = np.diff(mesh.offsets)
    element = np.repeat(np.arange(mesh.num_elements), sizes)
    sums = [np.bincount(element, column[mesh.nodes], mesh.num_elements) for column in points.T]
    return np.stack(sums, axis=1) / np.maximum(1, sizes)[:, None]
