"""Sorting pairs of numbers, one 64-bit key each: the row above, the column below; or several.

A library's sort knows nothing about rows, and on a CPU takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.primitives.sort import HALF, SMALL, sort_by_bits

LONG = 4096
"""Pairs of a row from which it is not sorted by one work item."""


def sort_rows(space: ExecutionSpace, begin: Array, end: Array, keys: Array) -> None:
    """Sort pairs that are in order but for the columns of each row.

    Parameters
    ----------
    space : ExecutionSpace
    begin, end : array of int, shape (m,)
        Where rows begin in `keys`, and their ends.
    keys : array of int64
        Sorted in place.
    """
    if space.library_sort_in_place(keys):
        return
    long_rows = space.zeros(1, np.int64)
    space.parallel_for(len(begin), sort_row, begin, end, keys, long_rows)
    if space.to_host(long_rows)[0] > 0:
        begins, ends = space.to_host(begin), space.to_host(end)
        for row in np.flatnonzero(ends - begins >= LONG):
            keys[int(begins[row]) : int(ends[row])].sort()


def sorted_pairs(space: ExecutionSpace, keys: Array, num_rows: int, num_columns: int | None,
                 spare: Array | None = None) -> Array:
    """Pairs in order.

    Parameters
    ----------
    space : ExecutionSpace
    keys : array of int64, shape (p,)
        What it holds afterwards is of no use.
    num_rows, num_columns : int
        None for columns that ascend already wherever rows are equal.
    spare : array of int64, shape (p,), optional
        Also of no use afterwards.

    Returns
    -------
    array of int64, shape (p,)
        `keys`, or `spare`.
    """
    fields = [(first, (limit - 1).bit_length())
              for first, limit in ((0, num_columns), (HALF, num_rows)) if limit is not None]
    return sorted_words(space, keys, fields, spare)


def sorted_words(space: ExecutionSpace, keys: Array, fields: Sequence[tuple[int, int]],
                 spare: Array | None = None) -> Array:
    """Numbers of several fields in order.

    Parameters
    ----------
    space : ExecutionSpace
    keys : array of int64, shape (p,)
        None is negative.  What it holds afterwards is of no use.
    fields : sequence of (int, int)
        The first bit of each field and its bits, low ones first; without fields that ascend already
        wherever all above are equal.
    spare : array of int64, shape (p,), optional
        Also of no use afterwards.

    Returns
    -------
    array of int64, shape (p,)
        `keys`, or `spare`.
    """
    if len(keys) <= SMALL:
        keys.sort()
    elif not space.library_sort_in_place(keys):
        spare = space.empty(len(keys), np.int64) if spare is None else spare
        words, others = keys.view(np.uint64), spare.view(np.uint64)
        for first, bits in fields:
            ordered = sort_by_bits(space, words, others, first, bits)
            words, others = ordered, others if ordered is words else words
        keys = words.view(np.int64)
    return keys


@kl.device
def sort_with_gap(keys, begin, end, gap):
    """Sort every subsequence of keys that are `gap` places apart, by insertion."""
    for place in range(begin + gap, end):
        key = kl.int64(keys[place])
        hole = kl.int64(place)
        while hole - gap >= begin and keys[hole - gap] > key:
            keys[hole] = keys[hole - gap]
            hole -= gap
        keys[hole] = key
    return end


@kl.kernel
def sort_row(row, begin, end, keys, long_rows):
    """Sort a row that is not long (D. L. Shell, CACM 2 (1959) 30-32), or count it."""
    first = kl.int64(begin[row])
    last = kl.int64(end[row])
    if last - first >= LONG:
        kl.atomic_add(long_rows, 0, 1)
    else:
        gap = kl.int64(1)
        while gap < (last - first) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            sort_with_gap(keys, first, last, gap)
            gap //= 3
