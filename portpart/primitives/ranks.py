"""Owners of vertices, and places among the numbers of all ranks."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.communication import Communicator
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives.basic import gather, lower_bound, lower_bounds
from portpart.primitives.messages import Message, Part, Talk
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.sort import sort_keys

# Owners of vertices ----------------------------------------------------------------------------


class Owners(kl.Record):
    """Ranks own contiguous ranges of vertices, which have global names.

    Attributes
    ----------
    first : array of int64, shape (size + 1,)
        Rank r owns the vertices ``first[r] ... first[r + 1] - 1``.
    size, rank : int
        Number of ranks, and this one.
    """

    first: Array
    size: int = kl.word()
    rank: int = kl.word()


def grouped(space: ExecutionSpace, owners: Owners, size: int,
            names: Array) -> tuple[Array, np.ndarray]:
    """Return vertices grouped by owner, as an order, and the number that each rank owns.

    Parameters
    ----------
    space : ExecutionSpace
    owners : Owners
    size : int
        Number of ranks.
    names : array of integers
        Names of vertices, in any order.

    Returns
    -------
    array of int32
    numpy.ndarray of int64
    """
    ranks = space.empty(len(names), np.int32)
    if not len(names):
        return ranks, np.zeros(size, np.int64)
    space.parallel_for(len(names), find_owner, names, owners.first, size, ranks)
    ordered, order = sort_keys(space, ranks)
    return order, counted(space, ordered, size)


def counted(space: ExecutionSpace, ranks: Array, size: int) -> np.ndarray:
    """Return how often each rank occurs in an ascending array."""
    return np.diff(space.to_host(lower_bounds(space, ranks, size + 1, 1)))


def counted_in_parts(space: ExecutionSpace, places: Array, lengths: np.ndarray) -> np.ndarray:
    """Return how many of some ascending places are in each of the parts of these lengths."""
    ends, below = space.asarray(lengths.cumsum()), space.empty(len(lengths), np.int64)
    space.parallel_for(len(lengths), count_below, places, len(places), ends, below)
    return np.diff(space.to_host(below), prepend=0)


@kl.device
def rank_of(firsts, i, size):
    """Return the rank to whose range number i belongs; the range of rank r begins at firsts[r]."""
    return lower_bound(firsts, 0, size, i + 1) - 1


@kl.kernel
def find_owner(i, names, firsts, size, ranks):
    """ranks[i] = the rank that owns a vertex."""
    ranks[i] = kl.int32(rank_of(firsts, kl.int64(names[i]), size))


@kl.kernel
def count_below(part, places, count, ends, below):
    """below[part] = number of ascending places before the end of a part."""
    below[part] = lower_bound(places, 0, count, ends[part])


# Places in ascending order of numbers that several ranks have ----------------------------------


def even_borders(end: int, size: int) -> np.ndarray:
    """Return the borders of `size` ranges of equal lengths of the numbers below `end`."""
    return np.array([end * rank // size for rank in range(size + 1)], np.int64)


def places_among_ranks(comm: Communicator, space: ExecutionSpace, numbers: Array,
                       end: int) -> Talk[Array]:
    """Return for each number of this rank how many numbers of all ranks are smaller.

    Each rank counts in one of several ranges of equal lengths of all numbers.

    Each rank sees to a range of all numbers, whose lengths are equal.

    Parameters
    ----------
    comm : Communicator
    space : ExecutionSpace
    numbers : array of int32 or int64
        In any order; each number occurs once on all ranks together.
    end : int
        Numbers are from 0 to end - 1.

    Returns
    -------
    array of int64
    """
    borders = even_borders(end, comm.size)
    low, high = (int(each) for each in borders[comm.rank : comm.rank + 2])
    order, counts = grouped(space, Owners(first=space.asarray(borders)), comm.size, numbers)
    received = yield Message([Part([gather(space, numbers, order)], counts)])
    requests = received.parts[0]
    there, count = requests.columns[0], len(requests.columns[0])
    marks, answers = space.zeros(high - low, np.int8), space.empty(count, np.int64)
    space.parallel_for(count, mark_number, there, low, marks)
    space.parallel_for(count, place_number, there, low, offsets_from_counts(space, marks), answers)
    kind = np.int32 if end < 2**31 else np.int64
    received = yield Message([Part([answers], requests.counts, [kind])], [count])
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
    """Mark a number; each number occurs once."""
    marks[numbers[i] - low] = kl.int8(1)


@kl.kernel
def place_number(i, numbers, low, before, places):
    """places[i] = how many marked numbers are smaller than number i."""
    places[i] = before[numbers[i] - low]


@kl.kernel
def put_shifted(i, places, values, shift, result):
    """result[places[i]] = values[i] + shift; each place occurs once."""
    result[places[i]] = values[i] + shift
