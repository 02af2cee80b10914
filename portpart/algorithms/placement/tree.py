"""Bisections that divide a machine along its hierarchy."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from portpart.algorithms.initial.bisection import splits_of, splits_side_by_side
from portpart.graphs.topology import Topology


def splits_along(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    """The bisections that lead to single elements: first of the outermost level, then inwards.

    Recursive bisection with these is multisection, each section done by bisections.  An arc that
    is cut costs the distance of the level.

    Returns
    -------
    rows, level_begin
        As `splits_of` returns them, whose bisections these are if there is no hierarchy.
    """
    if not topology.is_hierarchy:
        return splits_of(topology.num_elements)
    rows: list[tuple[int, int, int, int]] = []
    begins = [0]
    level = [(0, topology.num_elements)]
    while level := [(first, last) for first, last in level if last - first > 1]:
        halves = []
        for first, last in level:
            inside = bisect_left(topology.group_sizes, last - first) - 1
            size = topology.group_sizes[inside]
            middle = first + (last - first) // size // 2 * size
            rows.append((first, middle, last, topology.level_distances[inside]))
            halves += [(first, middle), (middle, last)]
        begins.append(len(rows))
        level = halves
    return np.array(rows, np.int64).reshape(-1, 4), np.array(begins, np.int64)


def splits_of_ranges(num_ranges: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The bisections that divide each of several ranges of `width` blocks, side by side."""
    return splits_side_by_side(splits_of(width), num_ranges, width)
