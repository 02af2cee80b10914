"""Element-wise primitives: iota, gather and its inverse, other types."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace


def iota(space: ExecutionSpace, n: int, dtype: Any = np.int32) -> Array:
    """The numbers 0 ... n-1."""
    result = space.empty(n, dtype)
    space.parallel_for(n, write_index, result)
    return result


def gather(space: ExecutionSpace, values: Array, indices: Array) -> Array:
    """``values[indices]``."""
    result = space.empty(len(indices), values.dtype)
    space.parallel_for(len(indices), gather_one, values, indices, result)
    return result


def converted(space: ExecutionSpace, values: Array, dtype: Any) -> Array:
    """The values as another type of integers, which holds them; the same array if it has it."""
    if values.dtype == dtype:
        return values
    result = space.empty(len(values), dtype)
    space.parallel_for(len(values), copy_one, values, result)
    return result


def put_to(space: ExecutionSpace, places: Array, values: Array) -> Array:
    """Values at their places, each of which comes once."""
    result = space.empty(len(values), values.dtype)
    space.parallel_for(len(values), put_one, places, values, result)
    return result


@kl.kernel
def copy_one(i, values, result):
    """result[i] = values[i]."""
    result[i] = values[i]


@kl.kernel
def write_index(i, result):
    """result[i] = i."""
    result[i] = i


@kl.kernel
def gather_one(i, values, indices, result):
    """result[i] = values[indices[i]]."""
    result[i] = values[indices[i]]


@kl.kernel
def put_one(i, places, values, result):
    """result[places[i]] = values[i]; each place comes once."""
    result[places[i]] = values[i]
