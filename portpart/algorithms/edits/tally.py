"""What kernels count while they look at a batch, and the first operation that is refused."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from portpart.algorithms.edits.columns import WIDE, Cutter
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Slice, Words

DEAD_FIRST, DEAD_SECOND, MISSING = 1, 2, 3
"""What can be wrong: an end is not alive, the pair does not exist."""

PROBLEMS = 4

NONE = 2**62


class Tally(Words):
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
    died, weight : int
        Ids that die, and the change of the weight of all that live.
    cleared : int
        Pairs of ids that die.
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
    died: int
    weight: int
    cleared: int


class Outcome(Words):
    """The words of all tallies of a batch: of two stores, of vertices, of nets if there are."""


OF_SECOND, OF_VERTICES = len(Tally.indices), 2 * len(Tally.indices)
"""Where tallies begin there, behind that of the first store."""


def tallies(space: ExecutionSpace, count: int) -> tuple[Array, list[Tally]]:
    """So many tallies in one array."""
    array = space.asarray(begun(count).copy())
    return array, split(array, count)


@cache
def begun(count: int) -> np.ndarray:
    """Words of so many tallies on the host that have counted nothing; not to be written to."""
    words = np.zeros(count * len(Tally.indices), np.int64)
    words[:: len(Tally.indices)] = NONE
    words.flags.writeable = False
    return words


def split(memory: Array, count: int) -> list[Tally]:
    """So many tallies that memory begins with."""
    return [Tally.sliced(memory, slices) for slices in _slices(count)]


@cache
def _slices(count: int) -> list[dict[str, Slice]]:
    cutter = Cutter()
    return [{"array": cutter.next(WIDE, len(Tally.indices))} for _ in range(count)]


def outcome_of(array: Array) -> Outcome:
    """The tallies of an array of halves of words."""
    return Outcome.sliced(array, _all_of(len(array) // 2))


@cache
def _all_of(words: int) -> dict[str, Slice]:
    return {"array": Slice(WIDE, 0, words)}


def read(space: ExecutionSpace, array: Array) -> Sequence[Tally]:
    """The tallies of an array of words, or of their halves, on the host."""
    return counted(space.to_host(array))


def counted(array: np.ndarray) -> Sequence[Tally]:
    """The tallies of such an array of the host."""
    words, numbers = len(Tally.indices), array.view(np.int64).tolist()
    return [Tally(numbers[at : at + words]) for at in range(0, len(numbers), words)]


@kl.device
def refuse(tally: Tally, at, problem):
    """Note that the operation at this time is refused."""
    kl.atomic_min(tally, Tally.refused, at * PROBLEMS + problem)
    return 0
