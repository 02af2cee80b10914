"""Stable compaction: the positions of nonzero flags, in order."""

from __future__ import annotations

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import int32, int64, kernel
from portpart.primitives.scan import offsets_from_counts


def positions_of(space: ExecutionSpace, flags: Array) -> Array:
    """Ascending positions of the nonzero elements of `flags` (int8 0 or 1), as int32.

    Synchronises once to learn how many there are.
    """
    places = offsets_from_counts(space, flags, np.int32)
    count = int(space.to_host(places[-1:])[0])
    result = space.empty(count, np.int32)
    space.parallel_for(len(flags), place_flagged, flags, places, result)
    return result


@kernel
def place_flagged(i, flags, places, result):
    """Write the position of a nonzero flag to its place."""
    if flags[i] != 0:
        result[int64(places[i])] = int32(i)
