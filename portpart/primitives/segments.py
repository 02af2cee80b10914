"""Reductions and scans of the segments of a CSR array, and runs of equal sorted keys.

A segment is the work of one team, whose width follows the mean length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    int64,
    kernel,
    lane,
    team_last,
    team_max,
    team_min,
    team_scan,
    team_size,
    team_sum,
)
from portpart.primitives.basic import gather
from portpart.primitives.reduce import INT64_MAX, INT64_MIN
from portpart.primitives.scan import element
from portpart.primitives.select import positions_of


def segment_sum(space: ExecutionSpace, offsets: Array, values: Array) -> Array:
    """Sum of ``values[offsets[s]:offsets[s + 1]]`` for every s, in int64; 0 for an empty segment.

    Parameters
    ----------
    offsets : array of integers, shape (segments + 1,)
    values : array of integers, shape (offsets[-1],)
    """
    return _per_segment(space, offsets, values, sum_segment)


def segment_max(space: ExecutionSpace, offsets: Array, values: Array) -> Array:
    """Largest element of every segment, in int64; the smallest int64 for an empty one."""
    return _per_segment(space, offsets, values, max_segment)


def segment_min(space: ExecutionSpace, offsets: Array, values: Array) -> Array:
    """Smallest element of every segment, in int64; the largest int64 for an empty one."""
    return _per_segment(space, offsets, values, min_segment)


def segment_scan(
    space: ExecutionSpace, offsets: Array, values: Array, dtype: Any = np.int64, *,
    inclusive: bool = False,
) -> Array:
    """Sum of the elements of the own segment before (or up to) each element; shape (n,)."""
    segments = len(offsets) - 1
    result = space.empty(len(values), dtype)
    team = _team_for_scan(segments, len(values))
    space.parallel_for(segments, scan_segment, offsets, values, int(inclusive), result, team=team)
    return result


def run_offsets(space: ExecutionSpace, keys: Array) -> Array:
    """Where the runs of equal neighbours in `keys` begin, with ``len(keys)`` appended (int32).

    Synchronises once.
    """
    n = len(keys)
    starts = space.empty(n + 1, np.int8)
    space.parallel_for(n + 1, mark_run_start, keys, n, starts)
    return positions_of(space, starts)


def unique_of(space: ExecutionSpace, keys: Array) -> tuple[Array, Array]:
    """The different values of sorted `keys`, and the offsets of their runs (one more).

    Synchronises once.
    """
    offsets = run_offsets(space, keys)
    return gather(space, keys, offsets[:-1]), offsets


def _per_segment(
    space: ExecutionSpace, offsets: Array, values: Array, segment_kernel: Kernel
) -> Array:
    segments = len(offsets) - 1
    result = space.empty(segments, np.int64)
    team = _team_for_reduction(segments, len(values))
    space.parallel_for(segments, segment_kernel, offsets, values, result, team=team)
    return result


def _team_for_scan(segments: int, elements: int) -> int:
    """Team width by the mean length of a segment: its lanes write side by side."""
    mean = elements / max(1, segments)
    if mean <= 4:
        return 1
    if mean <= 16:
        return 8
    return 32 if mean <= 1024 else 256


def _team_for_reduction(segments: int, elements: int) -> int:
    """Team width by the mean length: neighbouring short segments share what a warp reads."""
    mean = elements / max(1, segments)
    if mean <= 64:
        return 1 if mean <= 24 else 8
    return 32 if mean <= 1024 else 256


@kernel
def sum_segment(s, offsets, values, result):
    """result[s] = sum of segment s."""
    total = int64(0)
    for i in range(int64(offsets[s]) + lane(), int64(offsets[s + 1]), team_size()):
        total += int64(values[i])
    total = team_sum(total)
    if lane() == 0:
        result[s] = total


@kernel
def max_segment(s, offsets, values, result):
    """result[s] = largest element of segment s."""
    top = int64(INT64_MIN)
    for i in range(int64(offsets[s]) + lane(), int64(offsets[s + 1]), team_size()):
        top = max(top, int64(values[i]))
    top = team_max(top)
    if lane() == 0:
        result[s] = top


@kernel
def min_segment(s, offsets, values, result):
    """result[s] = smallest element of segment s."""
    low = int64(INT64_MAX)
    for i in range(int64(offsets[s]) + lane(), int64(offsets[s + 1]), team_size()):
        low = min(low, int64(values[i]))
    low = team_min(low)
    if lane() == 0:
        result[s] = low


@kernel
def scan_segment(s, offsets, values, inclusive, result):
    """Write the prefix sums of segment s; `inclusive` is 0 or 1."""
    running = int64(0)
    base = int64(offsets[s])
    end = int64(offsets[s + 1])
    while base < end:
        i = base + lane()
        value = element(values, i, end)
        up_to = team_scan(value)
        if i < end:
            result[i] = running + up_to - (1 - inclusive) * value
        running += team_last(up_to)
        base += team_size()


@kernel
def mark_run_start(i, keys, size, starts):
    """starts[i] = 1 if a run begins at i; the end counts as a beginning."""
    start = int64(1)
    if i > 0 and i < size:
        start = int64(keys[i] != keys[i - 1])
    starts[i] = start
