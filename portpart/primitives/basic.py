"""Element-wise primitives: fill, iota, copy, gather, scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import kernel


def fill(space: ExecutionSpace, array: Array, value: Any) -> None:
    """Set every element of `array` to `value`."""
    space.parallel_for(len(array), store_value, array, array.dtype.type(value))


def iota(space: ExecutionSpace, n: int, dtype: Any = np.int32) -> Array:
    """The numbers 0 ... n-1."""
    result = space.empty(n, dtype)
    space.parallel_for(n, write_index, result)
    return result


def copy(space: ExecutionSpace, values: Array, dtype: Any = None) -> Array:
    """A new array with the same elements, converted to `dtype` if one is given.

    Integers that `dtype` cannot hold wrap around.
    """
    result = space.empty(len(values), values.dtype if dtype is None else dtype)
    space.parallel_for(len(values), copy_one, values, result)
    return result


def gather(space: ExecutionSpace, values: Array, indices: Array) -> Array:
    """``values[indices]``."""
    result = space.empty(len(indices), values.dtype)
    space.parallel_for(len(indices), gather_one, values, indices, result)
    return result


def scatter(space: ExecutionSpace, values: Array, indices: Array, result: Array) -> None:
    """``result[indices] = values``; the indices must differ."""
    space.parallel_for(len(indices), scatter_one, values, indices, result)


@kernel
def store_value(i, array, value):
    """array[i] = value."""
    array[i] = value


@kernel
def write_index(i, result):
    """result[i] = i."""
    result[i] = i


@kernel
def copy_one(i, values, result):
    """result[i] = values[i]."""
    result[i] = values[i]


@kernel
def gather_one(i, values, indices, result):
    """result[i] = values[indices[i]]."""
    result[i] = values[indices[i]]


@kernel
def scatter_one(i, values, indices, result):
    """result[indices[i]] = values[i]."""
    result[indices[i]] = values[i]
