"""Arrays that are brought to a space; those of the host travel together.

What a copy takes follows from their number, not from their length, as long as they are short.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Slice

Column = list[Array]
"""Arrays that follow each other, of the host or of the space."""

Sized = tuple[int, Column]
"""A column, and how long all of it is."""


WIDE, NARROW = np.dtype(np.int64), np.dtype(np.int32)

HOST = {np.ndarray}
"""Types of arrays of the host."""


def joined(space: ExecutionSpace, arrays: Column, dtype: Any) -> Array:
    """Arrays one after the other in a space; those of the host travel together."""
    if set(map(type, arrays)) <= HOST:
        together = np.concatenate(arrays) if arrays else np.empty(0, dtype)
        return space.asarray(together.astype(dtype, copy=False))
    result = space.empty(sum(map(len, arrays)), dtype)
    place = 0
    for array in arrays:
        result[place : place + len(array)] = space.asarray(array, dtype)
        place += len(array)
    return result


def together(space: ExecutionSpace, wide: list[Sized],
             narrow: list[Sized]) -> tuple[Array, Sequence[Slice]]:
    """Columns of int64, then those of int32, in one array of a space; from the host in one copy."""
    packed = joined(space, [*(piece.view(np.int32) for _, column in wide for piece in column),
                            *(piece for _, column in narrow for piece in column)], np.int32)
    return packed, _slices(tuple([length for length, _ in wide]),
                           tuple([length for length, _ in narrow]))


@lru_cache(maxsize=256)
def _slices(wide: tuple[int, ...], narrow: tuple[int, ...]) -> Sequence[Slice]:
    """Where columns of these lengths stand."""
    found, begin = [], 0
    for dtype, lengths in ((WIDE, wide), (NARROW, narrow)):
        for length in lengths:
            found.append(Slice(dtype, begin, length))
            begin += length * dtype.itemsize
    return found
