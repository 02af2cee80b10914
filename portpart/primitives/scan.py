"""Prefix sums, by reducing tiles, scanning the sums of tiles, and scanning within tiles.

A tile is the work of one team.  Teams never wait for each other, so the same three kernels run on
every space and inside programs; they read the input twice and write the output once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import AnySlot, Array, Element, ExecutionSpace, Program

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

SCAN_TILE = 1024
"""Number of elements that one team scans: few, so that small arrays have enough teams."""

TEAM = 32
"""Width of a team: a warp, which needs no barriers. Many warps with several loads each hide the
latency.
"""


def offsets_from_counts(space: ExecutionSpace, counts: Array, dtype: DTypeLike = np.int64) -> Array:
    """Return exclusive prefix sums of `counts` with the total appended: the offsets of a CSR array.

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
    before = None
    if tiles > 1:
        sums = space.empty(tiles, np.int64)
        space.parallel_for(tiles, sum_tile, counts, sums, None, n, team=TEAM)
        before = offsets_from_counts(space, sums)
    space.parallel_for(tiles, scan_tile, counts, before, result, None, n, team=TEAM)
    return result


def record_scan(program: Program, values: AnySlot, result: AnySlot, sums: AnySlot,
                size: Element | int, tiles: Element | int) -> None:
    """Record the scan of ``values`` into ``result`` (one longer); ``sums`` has an element for each
    tile.
    """
    record_scans(program, [(values, result, sums)], size, tiles)


def record_scans(program: Program, scans: Sequence[tuple[AnySlot, AnySlot, AnySlot]],
                 size: Element | int, tiles: Element | int) -> None:
    """Record several scans, each like `record_scan`, in the same launches."""
    assert isinstance(size, Element)
    with program.side_by_side():
        for values, _, sums in scans:
            program.parallel_for(tiles, sum_tile, values, sums, size.slot, size.index, team=TEAM)
    record_scans_of_tiles(program, scans, size, tiles)


def record_scans_of_tiles(program: Program, scans: Sequence[tuple[AnySlot, AnySlot, AnySlot]],
                          size: Element | int, tiles: Element | int) -> None:
    """Record the rest of scans for which ``sums`` holds the sum of each tile."""
    assert isinstance(size, Element)
    assert isinstance(tiles, Element)
    with program.side_by_side():
        for _, _, sums in scans:
            program.parallel_for(1, scan_tile_sums, sums, tiles.slot, tiles.index, team=256)
    with program.side_by_side():
        for values, result, sums in scans:
            program.parallel_for(tiles, scan_tile, values, sums, result, size.slot, size.index,
                                 team=TEAM)


def tiles_of(n: int) -> int:
    """Return the number of tiles of `n` elements; at least one, which writes the total."""
    return max(1, -(-n // SCAN_TILE))


# In the kernels below the number of elements (or tiles) is ``sizes[size_at]``, or ``size_at``
# itself if `sizes` is absent. A program reads sizes from memory; a direct launch has them.


@kl.device
def element(values, i, end):
    """Return values[i], or 0 from `end` on."""
    value = kl.int64(0)
    if i < end:
        value = kl.int64(values[i])
    return value


@kl.device
def scan_row(i, value, running, result, end):
    """Write the sums before the elements of a row, and return the sum after it."""
    inclusive = kl.team_scan(value)
    if i < end:
        result[i] = running + inclusive - value
    return running + kl.team_last(inclusive)


@kl.kernel
def sum_tile(tile, values, sums, sizes, size_at):
    """sums[tile] = sum of the elements of the tile."""
    total = kl.int64(0)
    end = min((tile + 1) * SCAN_TILE, kl.value_or(sizes, size_at, size_at))
    for i in range(tile * SCAN_TILE + kl.lane(), end, kl.team_size()):
        total += kl.int64(values[i])
    total = kl.team_sum(total)
    if kl.lane() == 0:
        sums[tile] = total


@kl.kernel
def scan_tile_sums(_, sums, sizes, tiles_at):
    """Replace the sums of the tiles by exclusive prefix sums; a lane processes neighbours."""
    tiles = kl.value_or(sizes, tiles_at, tiles_at)
    share = (tiles + kl.team_size() - 1) // kl.team_size()
    first = min(kl.lane() * share, tiles)
    last = min(first + share, tiles)
    own = kl.int64(0)
    for i in range(first, last):
        own += sums[i]
    before = kl.team_scan(own) - own
    for i in range(first, last):
        value = sums[i]
        sums[i] = before
        before += value


@kl.kernel
def scan_tile(tile, values, sums, result, sizes, size_at):
    """Write the exclusive prefix sums of the tile; the last tile also writes the total.

    If `sums` is absent, there is a single tile.  Four rows of the team are loaded before the first
    one is scanned, so that their latencies overlap.
    """
    running = kl.value_or(sums, tile, 0)
    size = kl.value_or(sizes, size_at, size_at)
    width = kl.int64(kl.team_size())
    end = min((tile + 1) * SCAN_TILE, size)
    for base in range(tile * SCAN_TILE, end, 4 * width):
        i = base + kl.lane()
        a = element(values, i, end)
        b = element(values, i + width, end)
        c = element(values, i + 2 * width, end)
        d = element(values, i + 3 * width, end)
        running = scan_row(i, a, running, result, end)
        running = scan_row(i + width, b, running, result, end)
        running = scan_row(i + 2 * width, c, running, result, end)
        running = scan_row(i + 3 * width, d, running, result, end)
    if end == size and kl.lane() == 0:
        result[size] = running
