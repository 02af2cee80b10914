"""Meshes whose elements are in the colours of their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.graphs.mesh import Mesh
from portpart.plot.canvas import INK
from portpart.plot.cells import Polygons, borders, polygons_of
from portpart.plot.points import Scene, draw_points
from portpart.plot.raster import Window, window_of
from portpart.plot.view import seen_from, shaded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 50_000
"""Elements of the plane above which they are drawn as points."""

OUTLINED = 10_000
"""Elements up to which each has an outline."""


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


def _draw_on_axes_of_space(ax: Any, points: np.ndarray, polygons: list[Polygons],
                           colours: np.ndarray) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    for nodes, elements in polygons:
        ax.add_collection3d(Poly3DCollection(points[nodes], facecolors=colours[elements],
                                             edgecolors=INK, linewidths=0.1))
    ax.auto_scale_xyz(*points.T)


def centres_of(points: np.ndarray, mesh: Mesh) -> np.ndarray:
    """The mean of the nodes of each element."""
    sizes = np.diff(mesh.offsets)
    element = np.repeat(np.arange(mesh.num_elements), sizes)
    sums = [np.bincount(element, column[mesh.nodes], mesh.num_elements) for column in points.T]
    return np.stack(sums, axis=1) / np.maximum(1, sizes)[:, None]
