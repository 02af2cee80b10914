"""Prefix sums, by reducing tiles, scanning the sums of tiles, and scanning within tiles.

A tile is the work of one team.  Teams never wait for each other, so the same three kernels run on
every space and inside programs; they read the input twice and write the output once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    int64,
    kernel,
    lane,
    team_last,
    team_scan,
    team_size,
    team_sum,
    value_or,
)
from portpart.backends.program import Element, Program, Slot

TILE = 4096
"""Elements that one team scans."""

RUN = 512
"""Elements between two barriers; each lane of a team scans an equal run of neighbours.

Two for a lane of a block on a GPU, where longer runs are read piecemeal; all of them on a CPU.
"""


def offsets_from_counts(space: ExecutionSpace, counts: Array, dtype: Any = np.int64) -> Array:
    """Exclusive prefix sums of `counts` with the total appended: the offsets of a CSR array.

    Parameters
    ----------
    counts : array of integers, shape (n,)
    dtype : dtype, default int64
        Type of the result; sums are formed in int64.

    Returns
    -------
    array, shape (n + 1,)
    """
    n = len(counts)
    result = space.empty(n + 1, dtype)
    tiles = tiles_of(n)
    sums = None
    if tiles > 1:
        sums = space.empty(tiles, np.int64)
        space.parallel_for(tiles, sum_tile, counts, sums, None, n, team=256)
        space.parallel_for(1, scan_tile_sums, sums, None, tiles, team=256)
    space.parallel_for(tiles, scan_tile, counts, sums, result, None, n, team=256)
    return result


def exclusive_scan(space: ExecutionSpace, values: Array, dtype: Any = np.int64) -> Array:
    """Sum of all elements before each one; shape (n,)."""
    return offsets_from_counts(space, values, dtype)[:-1]


def inclusive_scan(space: ExecutionSpace, values: Array, dtype: Any = np.int64) -> Array:
    """Sum of all elements up to each one; shape (n,)."""
    return offsets_from_counts(space, values, dtype)[1:]


def record_scan(
    program: Program, values: Slot, result: Slot, sums: Slot, size: Element, tiles: Element
) -> None:
    """Record the scan of ``values`` into ``result`` (one longer); ``sums`` holds one per tile."""
    program.parallel_for(tiles, sum_tile, values, sums, size.slot, size.index, team=256)
    program.parallel_for(1, scan_tile_sums, sums, tiles.slot, tiles.index, team=256)
    program.parallel_for(tiles, scan_tile, values, sums, result, size.slot, size.index, team=256)


def tiles_of(n: int) -> int:
    """Number of tiles of `n` elements; at least one, which writes the total."""
    return max(1, -(-n // TILE))


# In the kernels below the number of elements (or tiles) is ``sizes[size_at]``, or ``size_at``
# itself if `sizes` is absent: a program reads sizes from memory, a direct launch knows them.


@kernel
def sum_tile(tile, values, sums, sizes, size_at):
    """sums[tile] = sum of the elements of the tile."""
    total = int64(0)
    end = min((tile + 1) * TILE, value_or(sizes, size_at, size_at))
    for i in range(tile * TILE + lane(), end, team_size()):
        total += int64(values[i])
    total = team_sum(total)
    if lane() == 0:
        sums[tile] = total


@kernel
def scan_tile_sums(_, sums, sizes, tiles_at):
    """Turn the sums of the tiles into exclusive prefix sums, in place."""
    tiles = value_or(sizes, tiles_at, tiles_at)
    running = int64(0)
    base = int64(0)
    while base < tiles:
        i = base + lane()
        value = int64(0)
        if i < tiles:
            value = sums[i]
        inclusive = team_scan(value)
        if i < tiles:
            sums[i] = running + inclusive - value
        running += team_last(inclusive)
        base += team_size()


@kernel
def scan_tile(tile, values, sums, result, sizes, size_at):
    """Write the exclusive prefix sums of the tile; the last tile writes the total too.

    Absent `sums` stand for a single tile.
    """
    running = value_or(sums, tile, 0)
    size = value_or(sizes, size_at, size_at)
    run = RUN // team_size()
    base = tile * TILE
    end = min(base + TILE, size)
    while base < end:
        first = base + lane() * run
        last = min(first + run, end)
        own = int64(0)
        for i in range(first, last):
            own += int64(values[i])
        inclusive = team_scan(own)
        before = running + inclusive - own
        for j in range(first, last):
            result[j] = before
            before += int64(values[j])
        running += team_last(inclusive)
        base += team_size() * run
    if end == size and lane() == 0:
        result[size] = running
