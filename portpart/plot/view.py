"""Three dimensions as they are seen from somewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.options import shown

LIGHT = np.array([-0.35, 0.45, 0.82])
"""Where light comes from: the axes are the right, above and the eye; about a unit vector."""

HAZE = 0.45
"""How much of what is farthest goes into white."""


def checked_view(view: Any) -> tuple[float, float]:
    """Elevation and azimuth of the eye, in degrees."""
    try:
        up, around = map(float, view)
    except (TypeError, ValueError):
        up = around = np.nan
    if not (np.isfinite(up) and np.isfinite(around)):
        raise InputError(f"view is {shown(view)}; (elevation, azimuth) in degrees are needed")
    return up, around


def seen_from(points: np.ndarray, view: tuple[float, float]) -> np.ndarray:
    """Points of space as seen: to the right, upwards, and towards the eye.

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
    """Colours that fade into white with the distance from the eye."""
    far = (depth.max(initial=0) - depth) / max(1e-12, float(np.ptp(depth)) if len(depth) else 1)
    return colours + (HAZE * far)[:, None] * (1 - colours)


def shaded(colours: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Colours of flat faces in light.

    Parameters
    ----------
    colours : ndarray, shape (n, 3)
    corners : ndarray, shape (n, p, 3)
        As `seen_from` has them.
    """
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.maximum(1e-300, np.linalg.norm(normal, axis=1))
    normal *= (np.sign(normal[:, 2]) / length)[:, None]
    bright = 0.62 + 0.4 * np.clip(normal @ LIGHT, 0, 1)
    return np.clip(colours * bright[:, None], 0, 1)
