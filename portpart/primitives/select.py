"""Stable compaction: the positions of nonzero flags, in order."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives.scan import SCAN_TILE, TEAM, offsets_from_counts, tiles_of

RUN = 4
"""Number of neighbours that a lane loads at once."""


def positions_of(space: ExecutionSpace, flags: Array, number: int | None = None) -> Array:
    """Return the ascending positions of the nonzero elements of `flags` (integers or bool), as
    int32.

    Waits for the device once, unless their number is given.
    """
    n = len(flags)
    if not n:
        return space.empty(0, np.int32)
    tiles = tiles_of(n)
    counts = space.empty(tiles, np.int32)
    space.parallel_for(tiles, count_flagged, flags, counts, n, team=TEAM)
    places = offsets_from_counts(space, counts)
    if number is None:
        number = int(space.to_host(places[tiles:])[0])
    result = space.empty(number, np.int32)
    space.parallel_for(tiles, place_flagged, flags, places, n, result, team=TEAM)
    return result


@kl.kernel
def count_flagged(tile, flags, counts, size):
    """counts[tile] = number of nonzero flags of the tile."""
    total = kl.int64(0)
    begin = tile * SCAN_TILE
    end = min(begin + SCAN_TILE, size)
    row = RUN * kl.int64(kl.team_size())
    whole_rows = end - (end - begin) % row
    for base in range(begin, whole_rows, row):
        for i in range(base + RUN * kl.lane(), base + RUN * kl.lane() + RUN):
            total += kl.int64(flags[i] != 0)
    for i in range(whole_rows + kl.lane(), end, kl.team_size()):
        total += kl.int64(flags[i] != 0)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        counts[tile] = total


@kl.device
def place_position(i, flag, place, stop, result):
    """Write position i to its place if it is flagged, and return the next place.

    A single lane writes every position before `stop`; the next one overwrites a position that is
    not flagged. A store costs less than an unpredictable branch.
    """
    if (kl.team_size() == 1 and place < stop) or flag != 0:
        result[place] = kl.int32(i)
    return place + flag


@kl.kernel
def place_flagged(tile, flags, places, size, result):
    """Write the positions of the tile's nonzero flags to places[tile] ... places[tile + 1] - 1.

    A lane processes several neighbours, since flags are small; in the last, short row it processes
    one.
    """
    running = places[tile]
    stop = places[tile + 1]
    end = min((tile + 1) * SCAN_TILE, size)
    base = tile * SCAN_TILE
    while base + RUN * kl.team_size() <= end:
        first = base + RUN * kl.lane()
        mask = kl.int64(0)
        for j in range(RUN):
            mask |= kl.int64(flags[first + j] != 0) << j
        own = kl.int32(kl.popcount(kl.uint64(mask)))  # a warp scans 32 bits in half the steps
        until = kl.team_scan(own)
        place = running + until - own
        for j in range(RUN):
            # a core reads the flag again faster than it unpacks the bit; a GPU must not wait
            flag = kl.int64(flags[first + j] != 0) if kl.team_size() == 1 else (mask >> j) & 1
            place = place_position(first + j, flag, place, stop, result)
        running += kl.team_last(until)
        base += RUN * kl.team_size()
    while base < end:
        i = base + kl.lane()
        flag = kl.int64(0)
        if i < end:
            flag = kl.int64(flags[i] != 0)
        inclusive = kl.team_scan(flag)
        place_position(i, flag, running + inclusive - flag, stop, result)
        running += kl.team_last(inclusive)
        base += kl.team_size()
