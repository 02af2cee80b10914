"""Arrays that are brought to a space; those of the host travel together.

What a copy takes follows from their number, not from their length, as long as they are short.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace

Column = list[Array]
"""Arrays that follow each other, of the host or of the space."""

Sized = tuple[int, Column]
"""A column, and how long all of it is."""


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


def together(space: ExecutionSpace, wide: list[Sized], narrow: list[Sized]) -> list[Array]:
    """Columns of int64, then those of int32, in a space; from the host in one copy."""
    packed = joined(space, [*(piece.view(np.int32) for _, column in wide for piece in column),
                            *(piece for _, column in narrow for piece in column)], np.int32)
    found, begin = [], 0
    for length, _ in wide:
        end = begin + 2 * length
        found.append(packed[begin:end].view(np.int64))
        begin = end
    for length, _ in narrow:
        end = begin + length
        found.append(packed[begin:end])
        begin = end
    return found
