"""Counters of a batch that is checked, and columns that travel to the space together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# Arrays that are brought to a space; those of the host travel together -------------------------
#
# What a copy takes follows from their number, not from their length, as long as they are short.


Column = Sequence[Array]
"""Arrays that follow each other, of the host or of the space."""

WIDE, NARROW = np.dtype(np.int64), np.dtype(np.int32)


def filled(length: int, value: int) -> np.ndarray:
    """An array of the host, of int32; sooner than `numpy.full` has examined what it is given."""
    array = np.empty(length, np.int32)
    array.fill(value)
    return array


def joined(space: ExecutionSpace, arrays: Column, dtype: DTypeLike, room: int = 0) -> Array:
    """Arrays one by one in a space, and room behind; those of the host travel together."""
    of_host = [array for array in arrays if isinstance(array, np.ndarray)]
    if len(of_host) == len(arrays):
        together = np.concatenate(of_host) if of_host else np.empty(0, dtype)
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


# What kernels count while they check a batch, and the first operation that is refused ----------


MISSING_FIRST, MISSING_SECOND, MISSING = 1, 2, 3
"""What can be wrong: an end is not alive, the pair does not exist."""

PROBLEMS = 4

NONE = 2**62


class EditCounters(kl.Sliced, kl.Words):
    """Counts of one pass over a batch.

    Attributes
    ----------
    refused : int
        Time and problem of the first operation that is refused.
    loops, merged, missing : int
        Self loops, pairs that were there already, deletions of what is not there.
    extra : int
        Change of the total weight, beyond 1 for each pair that comes or goes.
    unusual : int
        Pairs that get another weight than 1.
    room : int
        Elements of new places.
    wide : int
        Elements that move in rows where that are many.
    deltas : int
        2^32 for each pair that comes, 1 for each that goes.
    written : int
        Whether rows have been written already.
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
    room: int
    wide: int
    deltas: int
    written: int
    deleted: int
    weight: int
    cleared: int


class BatchCounters(kl.Sliced, kl.Words):
    """The words of all counters of a batch: two stores, vertices, and nets if there are any."""


OF_SECOND, OF_VERTICES = len(EditCounters.indices), 2 * len(EditCounters.indices)
"""Where the counters begin after those of the first store."""


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
    """Return the `count` counters that memory begins with."""
    return [EditCounters.sliced(memory, slices) for slices in _slices(count)]


@cache
def _slices(count: int) -> list[dict[str, kl.Slice]]:
    cutter = kl.Cutter()
    return [{"array": cutter.next(WIDE, len(EditCounters.indices))} for _ in range(count)]


def batch_counters(array: Array) -> BatchCounters:
    """The counters of an array of halves of words."""
    return BatchCounters.sliced(array, _all_of(len(array) // 2))


@cache
def _all_of(words: int) -> dict[str, kl.Slice]:
    return {"array": kl.Slice(WIDE, 0, words)}


def read(space: ExecutionSpace, array: Array) -> Sequence[EditCounters]:
    """Return the counters of an array of words, or of their halves, on the host."""
    return counted(space.to_host(array))


def counted(array: np.ndarray) -> Sequence[EditCounters]:
    """Return the counters of such an array of the host."""
    words, numbers = len(EditCounters.indices), array.view(np.int64).tolist()
    return [EditCounters(numbers[at : at + words]) for at in range(0, len(numbers), words)]


@kl.device
def refuse(counters: EditCounters, at, problem):
    """Note that the operation at this time is refused."""
    kl.atomic_min(counters, EditCounters.refused, at * PROBLEMS + problem)
    return 0
