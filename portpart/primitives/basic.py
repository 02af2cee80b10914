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
    """Return the numbers 0 ... n-1."""
    result = space.empty(n, dtype)
    space.parallel_for(n, write_index, result)
    return result


def gather(space: ExecutionSpace, values: Array, indices: Array) -> Array:
    """Return ``values[indices]``."""
    result = space.empty(len(indices), values.dtype)
    space.parallel_for(len(indices), gather_one, values, indices, result)
    return result


def converted(space: ExecutionSpace, values: Array, dtype: DTypeLike) -> Array:
    """Return the values as integers of another type, which must hold them; no copy if it is the
    same type.
    """
    if values.dtype == dtype:
        return values
    result = space.empty(len(values), dtype)
    space.parallel_for(len(values), copy_one, values, result)
    return result


def put_to(space: ExecutionSpace, places: Array, values: Array) -> Array:
    """Return an array with values at the given places; each place occurs once."""
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
    """result[places[i]] = values[i]; each place occurs once."""
    result[places[i]] = values[i]


# Places in ascending values, by bisection ------------------------------------------------------


@kl.device
def lower_bound(values, first, last, value):
    """Return the first place in values[first:last], which ascend, of an element >= value."""
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
    """Return for each i the first place in ascending values of an element >= start + i * step."""
    result = space.empty(count, dtype)
    space.parallel_for(count, write_bound, values, len(values), step, start, result)
    return result


@kl.kernel
def write_bound(i, values, count, step, start, result):
    """result[i] = the first place of an element >= start + i * step."""
    result[i] = lower_bound(values, 0, count, start + i * step)


@kl.device
def row_at(place, begin, num_rows):
    """Return the row of a place: the last row that begins at or before it, or row 0."""
    return lower_bound(begin, 1, num_rows, place + 1) - 1


# Places in ascending names, faster than by bisection of all names ------------------------------
#
# Names are divided into buckets.  If names are distributed evenly, as random names are, each bucket
# has a few.


FILL = 4
"""Approximate number of names of a bucket; they are adjacent in memory."""


class NameIndex(kl.Record):
    """Ascending names, and the first place of each bucket.

    Attributes
    ----------
    names : array of integers
    first : array of int32, shape (buckets + 1,)
        Names of bucket b are ``names[first[b]] ... names[first[b + 1] - 1]``.
    shift : int
        The names of a bucket are equal in the bits from this one on.
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
        Ascending; each name occurs once.
    end : int
        Names are from 0 to end - 1.
    """
    count = len(names)
    shift = max(0, (FILL * end // max(1, count)).bit_length() - 1)
    buckets = (max(0, end - 1) >> shift) + 1
    first = lower_bounds(space, names, buckets + 1, 1 << shift, dtype=np.int32)
    return NameIndex(names, first).over(NameIndex.own_words(space.full(1, shift, np.int64)))


@kl.device
def place_of(name, index: NameIndex):
    """Return the first place of a name >= `name`, which must be below the end."""
    bucket = kl.int64(name) >> index.shift
    return lower_bound(index.names, kl.int64(index.first[bucket]),
                       kl.int64(index.first[bucket + 1]), name)
