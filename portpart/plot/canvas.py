"""Axes to draw on, and what goes into pictures as arrays of the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.interrupts import late_signals
from portpart.errors import InputError
from portpart.graphs.arrays import host_array
from portpart.options import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MISSING = "portpart.plot draws with Matplotlib, which is not installed: pip install portpart[plot]"

INK = "0.15"
"""Cut edges and outlines."""

LARGEST = 1e100
"""Of coordinates: squares of distances are finite."""

PALE = "0.75"
"""Lines that only lead the eye."""


def axes_on(ax: Axes | None, size: tuple[float, float] = (6.4, 6.4)) -> Axes:
    """`ax`, or the axes of a new figure of pyplot.

    Raises
    ------
    ImportError
        If there is no Matplotlib.
    """
    if ax is not None:
        return ax
    try:
        with late_signals():
            from matplotlib import pyplot
    except ModuleNotFoundError as problem:
        raise ImportError(MISSING) from problem
    return pyplot.subplots(figsize=size, layout="constrained")[1]


@contextmanager
def picture_on(ax: Axes | None, title: str) -> Iterator[Axes]:
    """Axes for a picture, which gets its title, equal units and no frame once it is drawn.

    Axes of three dimensions scale to what is on them when units become equal.
    """
    ax = axes_on(ax)
    yield ax
    ax.set_aspect("equal")
    ax.axis("off")
    ax.set_title(title)


def host_points(points: Any, what: str = "points") -> np.ndarray:
    """Coordinates as float64 of shape (n, 2) or (n, 3); a flat third dimension is left out.

    Raises
    ------
    InputError
        If there are not two or three finite numbers for each point.
    """
    array = np.asarray(host_array(points))
    if array.ndim != 2 or array.shape[1] not in (2, 3) or array.dtype.kind not in "iuf":
        raise InputError(f"{what} have shape {array.shape} and type {array.dtype}; coordinates of "
                         "shape (n, 2) or (n, 3) are needed")
    array = array.astype(np.float64)
    bad = ~(np.abs(array) <= LARGEST).all(axis=1)
    if bad.any():
        place = int(bad.argmax())
        raise InputError(f"{what}[{place}] is {shown(array[place].tolist())}; coordinates must be "
                         f"finite, and at most {LARGEST:g}")
    flat = array.shape[1] == 3 and len(array) > 0 and np.ptp(array[:, 2]) == 0
    return array[:, :2] if flat else array
