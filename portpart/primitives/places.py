"""Places in ascending order of numbers that several ranks have."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.communication.protocol import Communicator
from portpart.backends.interface import Array, ExecutionSpace
from portpart.primitives.basic import gather
from portpart.primitives.messages import Message, Part, Talk
from portpart.primitives.ranks import Owners, grouped
from portpart.primitives.scan import offsets_from_counts


def even_borders(end: int, size: int) -> np.ndarray:
    """Borders of as many ranges of the numbers below `end`, of equal lengths."""
    return np.array([end * rank // size for rank in range(size + 1)], np.int64)


def places_among_ranks(comm: Communicator, space: ExecutionSpace, numbers: Array,
                       end: int) -> Talk[Array]:
    """How many numbers of all ranks are smaller than each of this one.

    Each rank sees to a range of all numbers, whose lengths are equal.

    Parameters
    ----------
    comm : Communicator
    space : ExecutionSpace
    numbers : array of int32 or int64
        In any order; no number comes twice, on all ranks.
    end : int
        They are from 0 to end - 1.

    Returns
    -------
    array of int64
    """
    borders = even_borders(end, comm.size)
    low, high = (int(each) for each in borders[comm.rank : comm.rank + 2])
    order, counts = grouped(space, Owners(first=space.asarray(borders)), comm.size, numbers)
    received = yield Message([Part([gather(space, numbers, order)], counts)])
    asked = received.parts[0]
    there, count = asked.columns[0], len(asked.columns[0])
    marks, answers = space.zeros(high - low, np.int8), space.empty(count, np.int64)
    space.parallel_for(count, mark_number, there, low, marks)
    space.parallel_for(count, place_number, there, low, offsets_from_counts(space, marks), answers)
    kind = np.int32 if end < 2**31 else np.int64
    received = yield Message([Part([answers], asked.counts, [kind])], [count])
    before = np.cumsum(received.words[:, 0]) - received.words[:, 0]
    firsts = np.concatenate([[0], np.cumsum(counts)])
    result = space.empty(len(numbers), np.int64)
    for rank in np.flatnonzero(counts):
        mine = slice(int(firsts[rank]), int(firsts[rank + 1]))
        space.parallel_for(mine.stop - mine.start, put_shifted, order[mine],
                           received.parts[0].columns[0][mine], int(before[rank]), result)
    return result


@kl.kernel
def mark_number(i, numbers, low, marks):
    """Mark a number; each comes once."""
    marks[numbers[i] - low] = kl.int8(1)


@kl.kernel
def place_number(i, numbers, low, before, places):
    """places[i] = how many marked numbers come before number i."""
    places[i] = before[numbers[i] - low]


@kl.kernel
def put_shifted(i, places, values, shift, result):
    """result[places[i]] = values[i] + shift; each place comes once."""
    result[places[i]] = values[i] + shift
