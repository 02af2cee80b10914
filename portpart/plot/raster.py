"""Pictures of very many points as images, whose time depends on pixels, not on markers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from portpart.errors import InputError, shown
from portpart.plot.canvas import LIGHT
from portpart.plot.links import Ends

PIXELS = 1200
"""Number of pixels along the longer side."""

REACH = 0.85
"""Distance that a point colours, in mean lengths of its edges."""

FARTHEST = 30
"""Maximum of this distance, in medians of all: few edges may be as long as the picture is wide."""

NEAREST = 4
"""Without edges, the distance to this many-th nearest point replaces their length."""

Window = tuple[float, float, float, float]


def window_of(points: np.ndarray, margin: float = 0.02) -> Window:
    """Return the left, right, lower and upper end of a window around all points."""
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    widest = float((high - low).max())
    border = margin * widest or 1.0
    return (float(low[0] - border), float(high[0] + border),
            float(low[1] - border), float(high[1] + border))


def checked_window(window: Sequence[float] | None) -> Window | None:
    """Return a caller's window; None for all."""
    if window is None:
        return None
    try:
        left, right, lower, upper = map(float, window)
    except (TypeError, ValueError):
        left, right, lower, upper = np.full(4, np.nan).tolist()
    if not (-np.inf < left < right < np.inf and -np.inf < lower < upper < np.inf):
        raise InputError(f"window is {shown(window)}; (left, right, lower, upper) are needed")
    return left, right, lower, upper


def shape_of(window: Window) -> tuple[int, int]:
    """Return the rows and columns of an image of a window."""
    width, height = window[1] - window[0], window[3] - window[2]
    longest = max(width, height)
    return (max(1, round(PIXELS * height / longest)), max(1, round(PIXELS * width / longest)))


def reach_of(points: np.ndarray, ends: Ends | None) -> np.ndarray:
    """Return how far each point colours its surroundings: about as far as its neighbours are."""
    if ends is None or not len(ends[0]):
        near = min(NEAREST + 1, len(points))
        distance, _ = cKDTree(points).query(points, k=[near], workers=-1)
        return REACH * distance[:, 0]
    length = np.linalg.norm(points[ends[0]] - points[ends[1]], axis=1)
    degrees = sum(np.bincount(end, minlength=len(points)) for end in ends)
    sums = sum(np.bincount(end, length, len(points)) for end in ends)
    reach = REACH * sums / np.maximum(1, degrees)
    return np.minimum(reach, FARTHEST * np.median(reach[degrees > 0]))


def filled_image(points: np.ndarray, colours: np.ndarray, reach: np.ndarray,
                 window: Window) -> np.ndarray:
    """Return an image with each pixel in the colour of the nearest point, transparent out of its
    reach.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
    colours : ndarray, shape (n, 3)
    reach : ndarray, shape (n,)
    window : left, right, lower and upper end

    Returns
    -------
    ndarray of float32, shape (rows, columns, 4)
        The lowest row first.
    """
    rows, columns = shape_of(window)
    x = np.linspace(window[0], window[1], 2 * columns + 1)[1::2]
    y = np.linspace(window[2], window[3], 2 * rows + 1)[1::2]
    pixel = (window[1] - window[0]) / columns
    reach = np.maximum(reach, 0.75 * pixel)
    inside = ((points[:, 0] >= window[0] - reach) & (points[:, 0] <= window[1] + reach)
              & (points[:, 1] >= window[2] - reach) & (points[:, 1] <= window[3] + reach))
    image = np.zeros((rows, columns, 4), np.float32)
    if inside.any():
        points, colours, reach = points[inside], colours[inside], reach[inside]
        places = np.stack(np.meshgrid(x, y), axis=-1)
        distance, nearest = cKDTree(points).query(places, workers=-1,
                                                  distance_upper_bound=float(reach.max()) * 1.001)
        found = np.isfinite(distance)
        found[found] = distance[found] <= reach[nearest[found]]
        image[found, :3] = colours[nearest[found]]
        image[found, 3] = 1
    return image


def balls_image(points: np.ndarray, colours: np.ndarray, window: Window) -> np.ndarray:
    """Return an image of balls as large as points are apart, with larger third coordinates in
    front.

    The shape is as in `filled_image`; the balls have highlights.
    """
    rows, columns = shape_of(window)
    scale = columns / (window[1] - window[0])
    order = np.argsort(points[:, 2], kind="stable")
    column, row = ((points[order, axis] - window[2 * axis]) * scale for axis in (0, 1))
    column, row, depth = column.astype(np.int64), row.astype(np.int64), points[order, 2] * scale
    # balls of this radius fill a cube as wide as the image
    radius = int(np.clip(0.5 * np.sqrt(rows * columns / len(points) ** (2 / 3)), 1, 24))
    nearest = np.full(rows * columns, -np.inf)
    image = np.zeros((rows * columns, 4), np.float32)
    for down, right in np.ndindex(2 * radius + 1, 2 * radius + 1):
        y, x = down - radius, right - radius
        if y * y + x * x > radius * radius:
            continue
        height = np.sqrt(radius * radius - y * y - x * x)
        inside = ((row + y >= 0) & (row + y < rows) & (column + x >= 0) & (column + x < columns))
        pixel = (row[inside] + y) * columns + column[inside] + x
        front = depth[inside] + height > nearest[pixel]
        # points come from back to front: the last one of a pixel stays
        pixel, shown = pixel[front], np.flatnonzero(inside)[front]
        nearest[pixel] = depth[shown] + height
        light = np.clip(0.62 + 0.4 * (np.array([x, y, height]) @ LIGHT) / max(1, radius), 0, 1.0)
        image[pixel, :3] = colours[order[shown]] * light
        image[pixel, 3] = 1
    return image.reshape(rows, columns, 4)


