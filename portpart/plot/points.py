"""Points in the colours of their blocks, with edges, as markers or as an image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from portpart.plot.canvas import INK, faded, seen_from
from portpart.plot.links import Ends
from portpart.plot.raster import Window, balls_image, filled_image, reach_of, window_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

FEW = 4000
"""Maximum number of points that are drawn as discs, with edges inside of blocks."""

PALER = 0.35
"""Share of white in edges inside of blocks."""


@dataclass(frozen=True)
class Scene:
    """Points in the colours of their blocks.

    Attributes
    ----------
    points : ndarray, shape (n, 2) or (n, 3)
        A third coordinate points to the eye, unless axes have three dimensions.
    colours : ndarray, shape (n, 3)
    part : ndarray of int64, shape (n,)
    ends : two ndarrays, shape (m,), or None
        Ends of each edge once.
    edges : {"cut", "all", "none"}
    """

    points: np.ndarray
    colours: np.ndarray
    part: np.ndarray
    ends: Ends | None
    edges: str


def draw_points(ax: Axes, scene: Scene, window: Window | None, view: tuple[float, float]) -> None:
    """Draw points and edges; points of space as seen from `view` if `ax` is flat."""
    if not len(scene.points):
        return
    if scene.points.shape[1] == 3 and ax.name == "3d":
        _in_space(ax, scene)
        return
    if scene.points.shape[1] == 3:
        seen = seen_from(scene.points, view)
        scene = replace(scene, points=seen, colours=faded(scene.colours, seen[:, 2]))
    limits = window_of(scene.points) if window is None else window
    if len(scene.points) <= FEW:
        _as_discs(ax, scene, limits)
    else:
        _as_image(ax, scene, limits)
    ax.set(xlim=limits[:2], ylim=limits[2:])


def _as_discs(ax: Axes, scene: Scene, window: Window) -> None:
    points = scene.points
    order = np.argsort(points[:, 2], kind="stable") if points.shape[1] == 3 else slice(None)
    area = disc_area(ax, points, window)
    lines = edge_lines(scene, window)
    ax.add_collection(lines)
    ax.scatter(points[order, 0], points[order, 1], s=area, c=scene.colours[order],
               edgecolors=INK if area > 12 else "none", linewidths=0.4, zorder=2)


def disc_area(ax: Axes, points: np.ndarray, window: Window) -> float:
    """Return the area of a marker in square points; all together cover a third of the axes."""
    box = ax.get_window_extent()
    inches = (box.width * box.height) / ax.figure.dpi**2
    inside = ((points[:, 0] >= window[0]) & (points[:, 0] <= window[1])
              & (points[:, 1] >= window[2]) & (points[:, 1] <= window[3])).sum()
    return float(np.clip(0.3 * inches * 72**2 / max(1, inside), 2, 120))


def edge_lines(scene: Scene, window: Window) -> LineCollection:
    """Return the edges to draw: dark between blocks, in the colour of their block inside."""
    from matplotlib.collections import LineCollection

    tails, heads = drawn_ends(scene)
    points = scene.points[:, :2]
    low, high = np.minimum(points[tails], points[heads]), np.maximum(points[tails], points[heads])
    seen = ((high[:, 0] >= window[0]) & (low[:, 0] <= window[1])
            & (high[:, 1] >= window[2]) & (low[:, 1] <= window[3]))
    tails, heads = tails[seen], heads[seen]
    cut = scene.part[tails] != scene.part[heads]
    many = len(scene.points) > FEW
    colours = np.ones((len(tails), 4))
    colours[:, :3] = scene.colours[tails] + PALER * (1 - scene.colours[tails])
    colours[cut] = (0.1, 0.1, 0.1, 0.8)
    return LineCollection(np.stack([points[tails], points[heads]], axis=1), colors=colours,
                          linewidths=np.where(cut, 0.45 if many else 0.9, 0.7), rasterized=many,
                          zorder=1.5)


def drawn_ends(scene: Scene) -> Ends:
    """Return the ends of the edges to draw; edges between blocks last."""
    if scene.ends is None or scene.edges == "none":
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    tails, heads = scene.ends
    cut = scene.part[tails] != scene.part[heads]
    order = np.flatnonzero(cut)
    if scene.edges == "all":
        order = np.concatenate([np.flatnonzero(~cut), order])
    return tails[order], heads[order]


def _as_image(ax: Axes, scene: Scene, window: Window) -> None:
    if scene.points.shape[1] == 3:
        image = balls_image(scene.points, scene.colours, window)
    else:
        image = filled_image(scene.points, scene.colours, reach_of(scene.points, scene.ends),
                             window)
        ax.add_collection(edge_lines(scene, window))
    ax.imshow(image, extent=window, origin="lower", interpolation="antialiased", zorder=1)


def _in_space(ax: Axes, scene: Scene) -> None:
    """Draw on axes of three dimensions."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    few = len(scene.points) <= FEW
    tails, heads = drawn_ends(scene)
    cut = scene.part[tails] != scene.part[heads]
    colours = np.where(cut[:, None], 0.1, scene.colours[tails])
    lines = np.stack([scene.points[tails], scene.points[heads]], axis=1)
    ax.add_collection3d(Line3DCollection(lines, colors=colours, linewidths=0.5))
    ax.scatter(*scene.points.T, c=scene.colours, s=20 if few else 2, depthshade=few,
               rasterized=not few)
    ax.auto_scale_xyz(*scene.points.T)
