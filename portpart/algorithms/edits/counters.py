"""Counters of the check of a batch, and arrays that are copied to a space together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# Arrays that are copied to a space; arrays of the host in one copy -----------------------------
#
# The time of short copies depends on their number, not on their length.


Column = Sequence[Array]
"""Arrays to concatenate, on the host or in the space."""

WIDE, NARROW = np.dtype(np.int64), np.dtype(np.int32)


def filled(length: int, value: int) -> np.ndarray:
    """Return an int32 array of the host; faster than `numpy.full` for short arrays."""
    array = np.empty(length, np.int32)
    array.fill(value)
    return array


def joined(space: ExecutionSpace, arrays: Column, dtype: DTypeLike, slack: int = 0) -> Array:
    """Return concatenated arrays in a space, with slack at the end; one copy if all are of the
    host.
    """
    of_host = [array for array in arrays if isinstance(array, np.ndarray)]
    if len(of_host) == len(arrays):
        together = np.concatenate(of_host) if of_host else np.empty(0, dtype)
        together = together.astype(dtype, copy=False)
        return space.with_slack(together, slack) if slack else space.asarray(together)
    result = space.empty(sum(map(len, arrays)) + slack, dtype)
    place = 0
    for array in arrays:
        result[place : place + len(array)] = space.asarray(array, dtype)
        place += len(array)
    return result


def together(space: ExecutionSpace, wide: Column, narrow: Column, slack: int = 0) -> Array:
    """Return int64 arrays, then int32 arrays, as one int32 array of a space.

    Arrays of the host need one copy.  At the end there are `slack` more elements of int32.
    """
    return joined(space, [*(piece.view(np.int32) for piece in wide), *narrow], np.int32, slack)


# Counts of the check of a batch, and its first refused operation -------------------------------


MISSING_FIRST, MISSING_SECOND, MISSING = 1, 2, 3
"""Problems: the first id, the second id, or the pair or deleted id does not exist."""

PROBLEMS = 4

NONE = 2**62


class EditCounters(kl.Sliced, kl.Words):
    """Counts of one pass over a batch.

    Attributes
    ----------
    refused : int
        Time and problem of the first refused operation.
    loops, merged, missing : int
        Self loops, inserted pairs that existed already, deletions of missing pairs or ids.
    extra : int
        Change of the total weight, without 1 for each inserted or deleted pair.
    unusual : int
        Pairs that are given a weight other than 1.
    claimed : int
        Elements of new places of rows.
    wide : int
        Elements that move in wide rows.
    deltas : int
        2^32 for each inserted pair plus 1 for each deleted one.
    written : int
        Whether rows have already been written.
    deleted, weight : int
        Deleted ids, and the change of the total weight.
    cleared : int
        Pairs of deleted ids.
    """

    refused: int
    loops: int
    merged: int
    missing: int
    extra: int
    unusual: int
    claimed: int
    wide: int
    deltas: int
    written: int
    deleted: int
    weight: int
    cleared: int


class BatchCounters(kl.Sliced, kl.Words):
    """The words of all counters of a batch: two stores, vertices, and nets if there are any."""


OF_SECOND, OF_VERTICES = len(EditCounters.indices), 2 * len(EditCounters.indices)
"""Where the counters of the second store and of vertices begin."""


def new_counters(space: ExecutionSpace, count: int) -> tuple[Array, list[EditCounters]]:
    """Return `count` new `EditCounters` in one array."""
    array = space.asarray(begun(count).copy())
    return array, split(array, count)


@cache
def begun(count: int) -> np.ndarray:
    """Return the words of `count` empty counters on the host, read-only."""
    words = np.zeros(count * len(EditCounters.indices), np.int64)
    words[:: len(EditCounters.indices)] = NONE
    words.flags.writeable = False
    return words


def split(memory: Array, count: int) -> list[EditCounters]:
    """Return the `count` counters at the beginning of memory."""
    return [EditCounters.sliced(memory, slices) for slices in _slices(count)]


@cache
def _slices(count: int) -> list[dict[str, kl.Slice]]:
    cutter = kl.Cutter()
    return [{"array": cutter.next(WIDE, len(EditCounters.indices))} for _ in range(count)]


def batch_counters(array: Array) -> BatchCounters:
    """Return the counters of an array of halves of words."""
    return BatchCounters.sliced(array, _all_of(len(array) // 2))


@cache
def _all_of(words: int) -> dict[str, kl.Slice]:
    return {"array": kl.Slice(WIDE, 0, words)}


def read(space: ExecutionSpace, array: Array) -> Sequence[EditCounters]:
    """Return the counters of an array of words, or of their halves, on the host."""
    return counted(space.to_host(array))


def counted(array: np.ndarray) -> Sequence[EditCounters]:
    """Return the counters of an array of words, or of their halves, of the host."""
    words, numbers = len(EditCounters.indices), array.view(np.int64).tolist()
    return [EditCounters(numbers[at : at + words]) for at in range(0, len(numbers), words)]


@kl.device
def refuse(counters: EditCounters, at, problem):
    """Store that the operation at this time is refused, if it is the first; by atomic_min."""
    kl.atomic_min(counters, EditCounters.refused, at * PROBLEMS + problem)
    return 0
