"""Reductions of integers to one number: one team per tile, then teams over the results of tiles.

All values are looked at as int64, so that no sum depends on how it is split.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    atomic_add,
    atomic_max,
    int64,
    kernel,
    lane,
    team_max,
    team_min,
    team_size,
    team_sum,
)
from portpart.errors import InputError

TILE = 8192
"""Elements that one team reduces."""

STRIPES = 256
"""Counters that many threads add to are spread over so many words."""

NEEDS_INT64 = 2**33
"""A guess of a sum for which int64 was chosen."""

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


def sum_of(space: ExecutionSpace, values: Array) -> int:
    """Sum of integers, in int64; 0 for none.  Synchronises."""
    guess = len(values) if values.dtype.itemsize < 8 else NEEDS_INT64
    return _reduce(space, values, sum_tile, lambda: guess)


def max_of(space: ExecutionSpace, values: Array) -> int:
    """Largest integer; the smallest int64 for none.  Synchronises."""
    return _reduce(space, values, max_tile, lambda: int(values.max()) if len(values) else 0)


def min_of(space: ExecutionSpace, values: Array) -> int:
    """Smallest integer; the largest int64 for none.  Synchronises."""
    return _reduce(space, values, min_tile, lambda: 0)


def longest_row(space: ExecutionSpace, offsets: Array) -> Array:
    """Elements of the longest of the rows that begin and end at `offsets`: int64, shape (1,)."""
    result = space.zeros(1, np.int64)
    rows = len(offsets) - 1
    space.parallel_for(-(-rows // TILE), longest_in_tile, offsets, rows, result, team=256)
    return result


def num_rows_above(space: ExecutionSpace, offsets: Array, length: int) -> Array:
    """How many of these rows have more elements: int64, shape (1,)."""
    result = space.zeros(1, np.int64)
    rows = len(offsets) - 1
    space.parallel_for(-(-rows // TILE), count_above, offsets, rows, length, result, team=256)
    return result


def argmax_of(space: ExecutionSpace, values: Array) -> int:
    """Position of the largest integer, the first one of equals; -1 for none.  Synchronises."""
    if not len(values):
        return -1
    _require_integers(values)
    tops = _tile_results(space, values, max_tile)
    place = space.empty(1, np.int64)
    space.parallel_for(1, place_top, values, len(values), tops, len(tops), place, team=256)
    return int(space.to_host(place)[0])


def _reduce(space: ExecutionSpace, values: Array, tile_kernel: Kernel,
            guess: Callable[[], int]) -> int:
    _require_integers(values)
    while len(values) != 1:
        values = _tile_results(space, values, tile_kernel)
    return space.read(values, lambda: [guess()])[0]


def _tile_results(space: ExecutionSpace, values: Array, tile_kernel: Kernel) -> Array:
    tiles = max(1, -(-len(values) // TILE))
    result = space.empty(tiles, np.int64)
    space.parallel_for(tiles, tile_kernel, values, len(values), result, team=256)
    return result


def _require_integers(values: Array) -> None:
    if values.dtype.kind not in "iub":
        raise InputError(f"only integers are reduced here, not {values.dtype}: sums of floats "
                         "would depend on the device")


@kernel
def sum_tile(tile, values, size, result):
    """result[tile] = sum of the tile."""
    total = int64(0)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        total += int64(values[i])
    total = team_sum(total)
    if lane() == 0:
        result[tile] = total


@kernel
def longest_in_tile(tile, offsets, rows, result):
    """result[0] = length of the longest row; atomic, order-free."""
    top = int64(0)
    for row in range(tile * TILE + lane(), min((tile + 1) * TILE, rows), team_size()):
        top = max(top, int64(offsets[row + 1]) - int64(offsets[row]))
    top = team_max(top)
    if lane() == 0:
        atomic_max(result, 0, top)


@kernel
def count_above(tile, offsets, rows, length, result):
    """Add the rows of the tile with more than `length` elements; atomic, order-free."""
    count = int64(0)
    for row in range(tile * TILE + lane(), min((tile + 1) * TILE, rows), team_size()):
        if int64(offsets[row + 1]) - int64(offsets[row]) > length:
            count += 1
    count = team_sum(count)
    if lane() == 0:
        atomic_add(result, 0, count)


@kernel
def max_tile(tile, values, size, result):
    """result[tile] = largest of the tile."""
    top = int64(INT64_MIN)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        top = max(top, int64(values[i]))
    top = team_max(top)
    if lane() == 0:
        result[tile] = top


@kernel
def min_tile(tile, values, size, result):
    """result[tile] = smallest of the tile."""
    low = int64(INT64_MAX)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        low = min(low, int64(values[i]))
    low = team_min(low)
    if lane() == 0:
        result[tile] = low


@kernel
def place_top(_, values, size, tops, tiles, place):
    """place[0] = first position of the largest value; it lies in the first tile that has it."""
    top = int64(INT64_MIN)
    first = int64(INT64_MAX)
    for tile in range(lane(), tiles, team_size()):
        if tops[tile] > top or first == INT64_MAX:
            top = tops[tile]
            first = tile
    best = team_max(top)
    winner = team_min(first if top == best else int64(INT64_MAX))
    here = int64(INT64_MAX)
    for i in range(winner * TILE + lane(), min((winner + 1) * TILE, size), team_size()):
        if int64(values[i]) == best:
            here = min(here, i)
    here = team_min(here)
    if lane() == 0:
        place[0] = here
