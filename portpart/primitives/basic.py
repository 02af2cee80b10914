"""Element-wise primitives, and searches in ascending values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# Element-wise primitives: iota, gather and its inverse, other types ----------------------------


def iota(space: ExecutionSpace, n: int, dtype: DTypeLike = np.int32) -> Array:
    """The numbers 0 ... n-1."""
    result = space.empty(n, dtype)
    space.parallel_for(n, write_index, result)
    return result


def gather(space: ExecutionSpace, values: Array, indices: Array) -> Array:
    """``values[indices]``."""
    result = space.empty(len(indices), values.dtype)
    space.parallel_for(len(indices), gather_one, values, indices, result)
    return result


def converted(space: ExecutionSpace, values: Array, dtype: DTypeLike) -> Array:
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


# Places in ascending values, by bisection ------------------------------------------------------


@kl.device
def lower_bound(values, first, last, value):
    """The first place in values[first:last], ascending, that holds no less than the value."""
    low = kl.int64(first)
    high = kl.int64(last)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def lower_bounds(space: ExecutionSpace, values: Array, count: int, step: int, start: int = 0,
                 dtype: DTypeLike = np.int64) -> Array:
    """The first places in ascending values of none less than ``start + i * step``, for each i."""
    result = space.empty(count, dtype)
    space.parallel_for(count, write_bound, values, len(values), step, start, result)
    return result


@kl.kernel
def write_bound(i, values, count, step, start, result):
    """result[i] = the first place of a value that is no less than start + i * step."""
    result[i] = lower_bound(values, 0, count, start + i * step)


@kl.device
def row_at(place, begin, num_rows):
    """The row that a place is in: the last one that begins there or before it, or row 0."""
    return lower_bound(begin, 1, num_rows, place + 1) - 1


# Places in ascending names, sooner than by bisection of all of them ----------------------------
#
# Names are divided into buckets.  Where names lie evenly, as in random order, each has a few.


FILL = 4
"""Names of a bucket, about: they are near each other in memory."""


class NameIndex(kl.Record):
    """Ascending names, and where each bucket begins.

    Attributes
    ----------
    names : array of integers
    first : array of int32, shape (buckets + 1,)
        Names of bucket b are ``names[first[b]] ... names[first[b + 1] - 1]``.
    shift : int
        A bucket has names whose higher bits, from this one on, are equal.
    """

    names: Array
    first: Array
    shift: int = kl.word()


def name_index(space: ExecutionSpace, names: Array, end: int) -> NameIndex:
    """Index names.

    Parameters
    ----------
    space : ExecutionSpace
    names : array of integers
        Ascending, each once.
    end : int
        They are from 0 to end - 1.
    """
    count = len(names)
    shift = max(0, (FILL * end // max(1, count)).bit_length() - 1)
    buckets = (max(0, end - 1) >> shift) + 1
    first = lower_bounds(space, names, buckets + 1, 1 << shift, dtype=np.int32)
    return NameIndex(names, first).over(NameIndex.own_words(space.full(1, shift, np.int64)))


@kl.device
def place_of(name, index: NameIndex):
    """The first place of a name that is no less; the name is one of those below the end."""
    bucket = kl.int64(name) >> index.shift
    return lower_bound(index.names, kl.int64(index.first[bucket]),
                       kl.int64(index.first[bucket + 1]), name)
