"""What kernels count while they look at a batch, and the first operation that is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Words, atomic_min, device

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


def tallies(space: ExecutionSpace, count: int) -> tuple[Array, list[Tally]]:
    """So many tallies in one array."""
    words = len(Tally.indices)
    begin = np.zeros(count * words, np.int64)
    begin[::words] = NONE
    array = space.asarray(begin)
    return array, [Tally(array[at : at + words]) for at in range(0, count * words, words)]


def read(space: ExecutionSpace, array: Array) -> Sequence[Tally]:
    """The tallies of an array, on the host."""
    words = len(Tally.indices)
    numbers = space.to_host(array).tolist()
    return [Tally(numbers[at : at + words]) for at in range(0, len(numbers), words)]


@device
def refuse(tally: Tally, at, problem):
    """Note that the operation at this time is refused."""
    atomic_min(tally, Tally.refused, at * PROBLEMS + problem)
    return 0
