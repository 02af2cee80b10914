"""Stable radix sort of integer keys, least significant digit first.

One work item sorts one tile by one digit: it counts its digits, the counts are scanned over all
digits and tiles, and it moves its elements in order.  Passes in which all keys share the digit are
skipped by looking at the span of the keys first.
"""

from __future__ import annotations

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import int64, kernel, uint64
from portpart.primitives.basic import iota
from portpart.primitives.reduce import max_of, min_of
from portpart.primitives.scan import offsets_from_counts

RADIX_BITS = 8
RADIX = 1 << RADIX_BITS
SORT_TILE = 16384


def sort_by_key(space: ExecutionSpace, keys: Array, values: Array) -> tuple[Array, Array]:
    """`keys` sorted, and `values` in the same order; equal keys keep their order.

    Parameters
    ----------
    keys : array of integers, shape (n,)
    values : array, shape (n,)
    """
    from portpart.primitives.basic import gather

    ordered, permutation = space.sort_keys(keys)
    return ordered, gather(space, values, permutation)


def radix_sort_keys(space: ExecutionSpace, keys: Array) -> tuple[Array, Array]:
    """Sorted copy of `keys` and the stable permutation that sorts them (int32)."""
    n = len(keys)
    order = iota(space, n)
    if n < 2:
        return space.copy(keys), order
    low = min_of(space, keys)
    span = max_of(space, keys) - low
    tiles = -(-n // SORT_TILE)
    counts = space.empty(tiles * RADIX, np.int64)
    ordered, spare, spare_order = keys, space.empty(n, keys.dtype), space.empty(n, np.int32)
    first = True
    for shift in range(0, max(1, span.bit_length()), RADIX_BITS):
        space.parallel_for(tiles, count_digits, ordered, n, low, shift, tiles, counts)
        places = offsets_from_counts(space, counts)
        space.parallel_for(tiles, move_by_digit, ordered, order, n, low, shift, tiles, places,
                           spare, spare_order)
        ordered, spare = spare, space.empty(n, keys.dtype) if first else ordered
        order, spare_order = spare_order, order
        first = False
    return ordered, order


@kernel
def count_digits(tile, keys, size, low, shift, tiles, counts):
    """counts[digit * tiles + tile] = occurrences of the digit in the tile."""
    for digit in range(RADIX):
        counts[digit * tiles + tile] = 0
    for i in range(tile * SORT_TILE, min((tile + 1) * SORT_TILE, size)):
        rest = (uint64(int64(keys[i])) - uint64(low)) >> uint64(shift)
        counts[int64(rest & uint64(RADIX - 1)) * tiles + tile] += 1


@kernel
def move_by_digit(tile, keys, order, size, low, shift, tiles, places, new_keys, new_order):
    """Move the tile's elements behind those of smaller digits and earlier tiles; uses up places."""
    for i in range(tile * SORT_TILE, min((tile + 1) * SORT_TILE, size)):
        rest = (uint64(int64(keys[i])) - uint64(low)) >> uint64(shift)
        slot = int64(rest & uint64(RADIX - 1)) * tiles + tile
        place = places[slot]
        places[slot] = place + 1
        new_keys[place] = keys[i]
        new_order[place] = order[i]
