"""Arrays that are brought to a space; those of the host travel together.

What a copy takes follows from their number, not from their length, as long as they are short.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Slice

Column = list[Array]
"""Arrays that follow each other, of the host or of the space."""

WIDE, NARROW = np.dtype(np.int64), np.dtype(np.int32)

HOST = {np.ndarray}
"""Types of arrays of the host."""


def filled(length: int, value: int) -> np.ndarray:
    """An array of the host, of int32; sooner than `numpy.full` has examined what it is given."""
    array = np.empty(length, np.int32)
    array.fill(value)
    return array


def joined(space: ExecutionSpace, arrays: Column, dtype: Any, room: int = 0) -> Array:
    """Arrays one by one in a space, and room behind; those of the host travel together."""
    if set(map(type, arrays)) <= HOST:
        together = np.concatenate(arrays) if arrays else np.empty(0, dtype)
        together = together.astype(dtype, copy=False)
        return space.with_room(together, room) if room else space.asarray(together)
    result = space.empty(sum(map(len, arrays)) + room, dtype)
    place = 0
    for array in arrays:
        result[place : place + len(array)] = space.asarray(array, dtype)
        place += len(array)
    return result


def together(space: ExecutionSpace, wide: Column, narrow: Column, room: int = 0) -> Array:
    """Arrays of int64, then those of int32, in one array of a space; from the host in one copy.

    Behind them there is room for this many elements of int32.
    """
    return joined(space, [*(piece.view(np.int32) for piece in wide), *narrow], np.int32, room)


class Cutter:
    """Cuts what is `together` into slices, one behind the other.

    Attributes
    ----------
    end : int
        Bytes that have been cut.
    """

    def __init__(self) -> None:
        self.end = 0

    def next(self, dtype: np.dtype, length: int) -> Slice:
        """The next slice; those of int64 begin at whole words."""
        begin = -(-self.end // dtype.itemsize) * dtype.itemsize
        self.end = begin + length * dtype.itemsize
        return Slice(dtype, begin, length)
