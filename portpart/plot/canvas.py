"""Axes in two or three dimensions, and arrays in the form that pictures need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from portpart.base.interrupts import late_signals
from portpart.errors import InputError, raised_as, shown
from portpart.graphs import first_true, host_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

# Axes to draw on, and data of pictures as arrays of the host -----------------------------------


MISSING = "portpart.plot draws with Matplotlib, which is not installed: pip install portpart[plot]"

INK = "0.15"
"""Colour of cut edges and outlines."""

LARGEST = 1e100
"""Largest coordinate: squares of distances are finite."""

PALE = "0.75"
"""Colour of auxiliary lines."""


def axes_on(ax: Axes | None, size: tuple[float, float] = (6.4, 6.4)) -> Axes:
    """Return `ax`, or the axes of a new figure of pyplot.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    if ax is not None:
        return ax
    with needed(MISSING):
        from matplotlib import pyplot
    return pyplot.subplots(figsize=size, layout="constrained")[1]


@contextmanager
def needed(otherwise: str) -> Iterator[None]:
    """Context in which a package of an extra is imported; without it that is an error."""
    with raised_as(lambda _: ImportError(otherwise), ModuleNotFoundError), late_signals():
        yield


@contextmanager
def picture_on(ax: Axes | None, title: str) -> Iterator[Axes]:
    """Context with axes for a picture, which gets its title, equal units and no frame at the end.

    Axes of three dimensions are scaled to their contents when units become equal.
    """
    ax = axes_on(ax)
    yield ax
    ax.set_aspect("equal")
    ax.axis("off")
    ax.set_title(title)


def host_points(points: ArrayLike | None, what: str = "points") -> np.ndarray:
    """Return coordinates as float64 of shape (n, 2) or (n, 3); a flat third dimension is left out.

    Raises
    ------
    InputError
        If a point does not have two or three finite numbers.
    """
    array = np.asarray(host_array(points))
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "iuf":
        raise InputError(f"{what} have shape {array.shape} and type {array.dtype}; coordinates of "
                         "shape (n, 2) or (n, 3) are needed")
    array = array.astype(np.float64)
    place = first_true(~(np.abs(array) <= LARGEST).all(axis=1))
    if place is not None:
        raise InputError(f"{what}[{place}] is {shown(array[place].tolist())}; coordinates must be "
                         f"finite, and at most {LARGEST:g}")
    flat = array.shape[1] == 3 and len(array) > 0 and np.ptp(array[:, 2]) == 0
    return array[:, :2] if flat else array


# Three dimensions as seen from a point of view -------------------------------------------------


LIGHT = np.array([-0.35, 0.45, 0.82])
"""Direction of light: the axes are the right, above and the eye; about a unit vector."""

HAZE = 0.45
"""Share of white in the farthest points."""


def checked_view(view: Sequence[float]) -> tuple[float, float]:
    """Return elevation and azimuth of the eye, in degrees."""
    try:
        up, around = map(float, view)
    except (TypeError, ValueError):
        up = around = np.nan
    if not (np.isfinite(up) and np.isfinite(around)):
        raise InputError(f"view is {shown(view)}; (elevation, azimuth) in degrees are needed")
    return up, around


def seen_from(points: np.ndarray, view: tuple[float, float]) -> np.ndarray:
    """Return points of space as seen: to the right, upwards, and towards the eye.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
    view : elevation and azimuth of the eye in degrees
    """
    up, around = np.radians(view)
    eye = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    right = np.array([-np.sin(around), np.cos(around), 0.0])
    return points @ np.stack([right, np.cross(eye, right), eye], axis=1)


def faded(colours: np.ndarray, depth: np.ndarray) -> np.ndarray:
    """Return colours that fade into white with the distance from the eye."""
    far = (depth.max(initial=0) - depth) / max(1e-12, float(np.ptp(depth)) if len(depth) else 1)
    return colours + (HAZE * far)[:, None] * (1 - colours)


def shaded(colours: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return colours of flat faces in light.

    Parameters
    ----------
    colours : ndarray, shape (n, 3)
    corners : ndarray, shape (n, p, 3)
        As returned by `seen_from`.
    """
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.maximum(1e-300, np.linalg.norm(normal, axis=1))
    normal *= (np.sign(normal[:, 2]) / length)[:, None]
    bright = 0.62 + 0.4 * np.clip(normal @ LIGHT, 0, 1)
    return np.clip(colours * bright[:, None], 0, 1)
