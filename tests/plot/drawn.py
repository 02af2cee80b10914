"""What is on axes, read back from Matplotlib's artists."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

figure = pytest.importorskip("matplotlib.figure", reason="pictures need Matplotlib")


def new_axes(**options: Any) -> Any:
    """Axes of a figure that no window shows."""
    return figure.Figure(figsize=(4, 4), dpi=50).add_subplot(**options)


def rendered(ax: Any) -> np.ndarray:
    """The pixels of a figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def collections(ax: Any, kind: str) -> list[Any]:
    """The collections of a class on axes, in the order in which they were drawn."""
    return [each for each in ax.collections if type(each).__name__ == kind]


def edges_between(part: np.ndarray, edges: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs of blocks that an edge joins, the smaller first."""
    return {(min(part[u], part[v]), max(part[u], part[v])) for u, v in edges
            if part[u] != part[v]}


def pairs_of_nets(part: np.ndarray, nets: list[list[int]]) -> set[tuple[int, int]]:
    """Pairs of blocks that a net joins, the smaller first."""
    return {pair for net in nets for pair in combinations(sorted({int(part[v]) for v in net}), 2)}
