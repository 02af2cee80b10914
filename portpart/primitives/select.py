"""Stable compaction: the positions of nonzero flags, in order."""

from __future__ import annotations

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    int32,
    int64,
    kernel,
    lane,
    team_last,
    team_scan,
    team_size,
    team_sum,
)
from portpart.primitives.basic import gather
from portpart.primitives.scan import TILE, scan_tile_sums, tiles_of


def positions_of(space: ExecutionSpace, flags: Array) -> Array:
    """Ascending positions of the nonzero elements of `flags` (integers or bool), as int32.

    Synchronises once to learn how many there are.
    """
    n = len(flags)
    tiles = tiles_of(n)
    places = space.empty(tiles + 1, np.int64)
    space.parallel_for(tiles, count_flagged, flags, places, n, tiles, team=256)
    space.parallel_for(1, scan_tile_sums, places, None, tiles + 1, team=256)
    result = space.empty(int(space.to_host(places[tiles:])[0]), np.int32)
    space.parallel_for(tiles, place_flagged, flags, places, n, result, team=256)
    return result


def compact(space: ExecutionSpace, values: Array, flags: Array) -> Array:
    """``values[flags != 0]``, in order.  Synchronises once."""
    return gather(space, values, positions_of(space, flags))


@kernel
def count_flagged(tile, flags, counts, size, tiles):
    """counts[tile] = nonzero flags of the tile; counts[tiles] = 0."""
    total = int64(0)
    for i in range(tile * TILE + lane(), min((tile + 1) * TILE, size), team_size()):
        if flags[i] != 0:
            total += 1
    total = team_sum(total)
    if lane() == 0:
        counts[tile] = total
        if tile == tiles - 1:
            counts[tiles] = 0


@kernel
def place_flagged(tile, flags, places, size, result):
    """Write the positions of the tile's nonzero flags to places[tile] ... places[tile + 1] - 1.

    A lone lane writes every position until all flagged ones are found; one that is not flagged is
    overwritten by the next: a store costs less than a branch that nobody can predict.
    """
    running = places[tile]
    stop = places[tile + 1]
    base = tile * TILE
    end = min(base + TILE, size)
    while base < end and running < stop:
        i = base + lane()
        flag = int64(0)
        if i < end:
            flag = int64(flags[i] != 0)
        inclusive = team_scan(flag)
        place = running + inclusive - flag
        if team_size() == 1 or flag != 0:
            result[place] = int32(i)
        running += team_last(inclusive)
        base += team_size()
