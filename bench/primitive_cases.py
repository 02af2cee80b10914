"""The primitives under measurement: for each name a call, and the bytes that it must move.

Shared by the piece benchmarks (pieces.py) and the sanitizer (sanitize.py).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from portpart.backends.language import kernel
from portpart.backends.programs.interface import ExecutionSpace
from portpart.primitives.basic import gather, iota
from portpart.primitives.histogram import histogram
from portpart.primitives.reduce import argmax_of, sum_of
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.select import positions_of
from portpart.primitives.sort import sort_keys

Case = tuple[Callable[[], Any], int]
"""What to time, and the bytes that an ideal implementation moves."""


def launch_case(space: ExecutionSpace, size: int) -> Case:
    values = space.zeros(size, np.int32)
    return lambda: space.parallel_for(size, touch, values), 8 * size


def iota_case(space: ExecutionSpace, size: int) -> Case:
    return lambda: iota(space, size), 4 * size


def gather_case(space: ExecutionSpace, size: int) -> Case:
    values, indices = integers(space, size), integers(space, size, size)
    return lambda: gather(space, values, indices), 12 * size


def sum_case(space: ExecutionSpace, size: int) -> Case:
    values = integers(space, size)
    return lambda: sum_of(space, values), 4 * size


def argmax_case(space: ExecutionSpace, size: int) -> Case:
    values = integers(space, size)
    return lambda: argmax_of(space, values), 4 * size


def scan_case(space: ExecutionSpace, size: int) -> Case:
    values = integers(space, size)
    return lambda: offsets_from_counts(space, values), 12 * size


def compaction_case(space: ExecutionSpace, size: int) -> Case:
    flags = space.asarray(np.random.default_rng(1).integers(0, 2, size, dtype=np.int8))
    return lambda: positions_of(space, flags), 3 * size


def sort_case(space: ExecutionSpace, size: int) -> Case:
    keys = integers(space, size)
    return lambda: sort_keys(space, keys), 12 * size


def histogram_case(space: ExecutionSpace, size: int) -> Case:
    keys = integers(space, size, 256)
    return lambda: histogram(space, keys, 256), 4 * size


CASES: dict[str, Callable[[ExecutionSpace, int], Case]] = {
    "launch": launch_case, "iota": iota_case, "gather": gather_case, "sum": sum_case,
    "argmax": argmax_case, "scan": scan_case, "compaction": compaction_case, "sort": sort_case,
    "histogram": histogram_case,
}  # fmt: skip


@functools.lru_cache(maxsize=3)
def integers(space: ExecutionSpace, size: int, high: int = 1 << 30) -> Any:
    """Return drawn int32 numbers below `high`; no case writes to them."""
    return space.asarray(np.random.default_rng(1).integers(0, high, size, dtype=np.int32))


@kernel
def touch(i, values):
    """values[i] += 1."""
    values[i] += 1
