"""Reductions of integers to one number: one team per tile, then teams over the results of tiles.

All values are converted to int64, so that no sum depends on how it is divided.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError

TILE = 8192
"""Number of elements that one team reduces."""

STRIPES = 256
"""Number of words that counters are distributed over if many threads add to them."""

NEEDS_INT64 = 2**33
"""Guess of a sum for which int64 was chosen."""

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)


def sum_of(space: ExecutionSpace, values: Array) -> int:
    """Return the sum of integers in int64; 0 for none. Waits for the device."""
    expected = len(values) if values.dtype.itemsize < 8 else NEEDS_INT64
    return _reduce(space, values, sum_tile, lambda: expected)


def max_of(space: ExecutionSpace, values: Array) -> int:
    """Return the largest integer; the smallest int64 for none. Waits for the device."""
    return _reduce(space, values, max_tile, lambda: int(values.max()) if len(values) else 0)


def min_of(space: ExecutionSpace, values: Array) -> int:
    """Return the smallest integer; the largest int64 for none. Waits for the device."""
    return _reduce(space, values, min_tile, lambda: 0)


def row_measures(space: ExecutionSpace, offsets: Array) -> Array:
    """Return the length of the longest of the rows that begin and end at `offsets`, and the sum of
    the squares of all lengths: int64, shape (2,).
    """
    result = space.zeros(2, np.int64)
    rows = len(offsets) - 1
    space.parallel_for(-(-rows // TILE), measure_rows.bound(with_ends=False), offsets, rows, result,
                       team=256)
    return result


def inspect_rows(space: ExecutionSpace, offsets: Array, found: Array) -> None:
    """Store the results of `row_measures` into found[0] and found[1], and the first and last offset
    after found[2]. If a row ends before it begins, found[2] becomes the smaller of itself and that
    row.
    """
    rows = len(offsets) - 1
    space.parallel_for(max(1, -(-rows // TILE)), measure_rows.bound(with_ends=True), offsets, rows,
                       found, team=256)


def rows_above(space: ExecutionSpace, offsets: Array, length: int, counts_rows: bool) -> Array:
    """Return how many of these rows are longer than `length`, or the number of their elements:
    int64, shape (1,).
    """
    result = space.zeros(1, np.int64)
    rows = len(offsets) - 1
    space.parallel_for(-(-rows // TILE), add_above.bound(counts_rows=counts_rows), offsets, rows,
                       length, result, team=256)
    return result


def argmax_of(space: ExecutionSpace, values: Array) -> int:
    """Return the position of the first largest integer; -1 for none. Waits for the device."""
    if not len(values):
        return -1
    _require_integers(values)
    tops = _tile_results(space, values, max_tile)
    place = space.empty(1, np.int64)
    space.parallel_for(1, place_top, values, len(values), tops, len(tops), place, team=256)
    return int(space.to_host(place)[0])


def _reduce(space: ExecutionSpace, values: Array, tile_kernel: kl.Kernel,
            expected: Callable[[], int]) -> int:
    _require_integers(values)
    while len(values) != 1:
        values = _tile_results(space, values, tile_kernel)
    return space.read(values, lambda: [expected()])[0]


def _tile_results(space: ExecutionSpace, values: Array, tile_kernel: kl.Kernel) -> Array:
    tiles = max(1, -(-len(values) // TILE))
    result = space.empty(tiles, np.int64)
    space.parallel_for(tiles, tile_kernel, values, len(values), result, team=256)
    return result


def _require_integers(values: Array) -> None:
    if values.dtype.kind not in "iub":
        raise InputError(f"only integers are reduced here, not {values.dtype}: sums of floats "
                         "would depend on the device")


@kl.kernel
def sum_tile(tile, values, size, result):
    """result[tile] = sum of the tile."""
    total = kl.int64(0)
    for i in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, size), kl.team_size()):
        total += kl.int64(values[i])
    total = kl.team_sum(total)
    if kl.lane() == 0:
        result[tile] = total


@kl.kernel
def measure_rows(tile, offsets, rows, result, with_ends: kl.StaticValue):
    """Compute result[0], the length of the longest row, result[1], the sum of the squared lengths,
    and `with_ends` also the other results of `inspect_rows`.

    Atomic, independent of order.
    """
    top = kl.int64(0)
    squares = kl.int64(0)
    for row in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, rows), kl.team_size()):
        length = kl.int64(offsets[row + 1]) - kl.int64(offsets[row])
        if with_ends:
            if length < 0:
                kl.atomic_min(result, 2, row)
        top = max(top, length)
        squares += length * length
    top = kl.team_max(top)
    squares = kl.team_sum(squares)
    if kl.lane() == 0:
        kl.atomic_max(result, 0, top)
        kl.atomic_add(result, 1, squares)
        if with_ends:
            if tile == 0:
                result[3] = offsets[0]
                result[4] = offsets[rows]


@kl.kernel
def add_above(tile, offsets, rows, length, result, counts_rows: kl.StaticValue):
    """Add the number of rows of the tile with more than `length` elements, or the number of their
    elements. Atomic, independent of order.
    """
    total = kl.int64(0)
    for row in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, rows), kl.team_size()):
        size = kl.int64(offsets[row + 1]) - kl.int64(offsets[row])
        if size > length:
            total += 1 if counts_rows else size
    total = kl.team_sum(total)
    if kl.lane() == 0:
        kl.atomic_add(result, 0, total)


@kl.kernel
def max_tile(tile, values, size, result):
    """result[tile] = largest value of the tile."""
    top = kl.int64(INT64_MIN)
    for i in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, size), kl.team_size()):
        top = max(top, kl.int64(values[i]))
    top = kl.team_max(top)
    if kl.lane() == 0:
        result[tile] = top


@kl.kernel
def min_tile(tile, values, size, result):
    """result[tile] = smallest value of the tile."""
    low = kl.int64(INT64_MAX)
    for i in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, size), kl.team_size()):
        low = min(low, kl.int64(values[i]))
    low = kl.team_min(low)
    if kl.lane() == 0:
        result[tile] = low


@kl.kernel
def place_top(_, values, size, tops, tiles, place):
    """place[0] = first position of the largest value, which is in the first tile that has it."""
    top = kl.int64(INT64_MIN)
    first = kl.int64(INT64_MAX)
    for tile in range(kl.lane(), tiles, kl.team_size()):
        if tops[tile] > top or first == INT64_MAX:
            top = tops[tile]
            first = tile
    best = kl.team_max(top)
    winner = kl.team_min(first if top == best else kl.int64(INT64_MAX))
    here = kl.int64(INT64_MAX)
    for i in range(winner * TILE + kl.lane(), min((winner + 1) * TILE, size), kl.team_size()):
        if kl.int64(values[i]) == best:
            here = min(here, i)
    here = kl.team_min(here)
    if kl.lane() == 0:
        place[0] = here
