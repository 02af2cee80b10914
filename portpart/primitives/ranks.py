"""Owners of vertices, and places among the numbers of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from portpart.backends import language as kl
from portpart.backends.communication import Communicator
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives.basic import lower_bound, lower_bounds
from portpart.primitives.messages import Message, Part, Talk
from portpart.primitives.scan import SCAN_TILE, TEAM, offsets_from_counts, tiles_of
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


FEW_RANKS = 8
"""Up to this many ranks, numbers are compared with the ranges of all of them; with more ranks, they
are sorted by rank.
"""


Groups = tuple[Array, np.ndarray]
"""An order of numbers by rank, and how many numbers each rank has."""


def grouped(space: ExecutionSpace, firsts: Array, size: int, numbers: Array) -> Groups:
    """Return numbers grouped by the rank whose range they are in, as an order.

    Waits for the device once.

    Parameters
    ----------
    space : ExecutionSpace
    firsts : array of int64, shape (size + 1,)
        The range of rank r is ``firsts[r] ... firsts[r + 1] - 1``.
    size : int
        Number of ranks.
    numbers : array of int32 or int64
        In any order; negative ones are left out.

    Returns
    -------
    array of int32
        Places in `numbers`, those for rank 0 first; for each rank they are in any order.
    numpy.ndarray of int64, shape (size,)
        How many there are for each rank.
    """
    return grouping(space, firsts, size, numbers)()


def grouping(space: ExecutionSpace, firsts: Array, size: int,
             numbers: Array) -> Callable[[], Groups]:
    """Begin to group numbers; return a function that waits and returns what `grouped` returns."""
    n = len(numbers)
    if not n:
        return lambda: (space.empty(0, np.int32), np.zeros(size, np.int64))
    if size > FEW_RANKS:
        return partial(_sorted_by_rank, space, firsts, size, numbers)
    tiles, counts = tiles_of(n), space.zeros(size, np.int64)
    order, places = space.empty(n, np.int32), space.empty(size * tiles, np.int64)
    space.parallel_for(size * tiles, count_in_range, numbers, n, firsts, tiles, counts, places,
                       team=TEAM)
    space.parallel_for(size * tiles, place_in_range, numbers, n, firsts, tiles, counts, places,
                       order, team=TEAM)
    arrived = space.fetch(counts)

    def wait() -> Groups:
        found = arrived()
        return order[: int(found.sum())], found

    return wait


def _sorted_by_rank(space: ExecutionSpace, firsts: Array, size: int, numbers: Array) -> Groups:
    ranks = space.empty(len(numbers), np.int32)
    space.parallel_for(len(numbers), find_rank, numbers, firsts, size, ranks)
    ordered, order = sort_keys(space, ranks)
    begins = space.to_host(lower_bounds(space, ordered, size + 1, 1))
    return order[: int(begins[-1])], np.diff(begins)


def counted(space: ExecutionSpace, ranks: Array, size: int) -> np.ndarray:
    """Return how often each rank occurs in an ascending array."""
    return np.diff(space.to_host(lower_bounds(space, ranks, size + 1, 1)))


@kl.device
def rank_of(firsts, i, size):
    """Return the rank to whose range number i belongs; the range of rank r begins at firsts[r]."""
    return lower_bound(firsts, 0, size, i + 1) - 1


@kl.kernel
def find_rank(i, numbers, firsts, size, ranks):
    """ranks[i] = the rank of a number, or `size` if it is negative."""
    number = kl.int64(numbers[i])
    ranks[i] = kl.int32(rank_of(firsts, number, size) if number >= 0 else size)


@kl.kernel
def count_in_range(item, numbers, count, firsts, tiles, counts, places):
    """Count the numbers of a tile in the range of a rank: counts[rank] is their sum over tiles,
    places[item] that of the tiles that were added before.  Atomic.
    """
    rank = item // tiles
    first = kl.int64(firsts[rank])
    last = kl.int64(firsts[rank + 1])
    begin = (item - rank * tiles) * SCAN_TILE
    total = kl.int64(0)
    for i in range(begin + kl.lane(), min(begin + SCAN_TILE, count), kl.team_size()):
        total += kl.int64(numbers[i] >= first and numbers[i] < last)
    total = kl.team_sum(total)
    if kl.lane() == 0:
        places[item] = kl.atomic_add(counts, rank, total)


@kl.kernel
def place_in_range(item, numbers, count, firsts, tiles, counts, places, order):
    """Write the places of these numbers behind those of the ranks before."""
    rank = item // tiles
    first = kl.int64(firsts[rank])
    last = kl.int64(firsts[rank + 1])
    begin = (item - rank * tiles) * SCAN_TILE
    end = min(begin + SCAN_TILE, count)
    running = kl.int64(places[item])
    for other in range(rank):
        running += counts[other]
    for base in range(begin, end, kl.team_size()):
        i = base + kl.lane()
        flag = kl.int64(0)
        if i < end:
            flag = kl.int64(numbers[i] >= first and numbers[i] < last)
        until = kl.team_scan(flag)
        if flag != 0:
            order[running + until - 1] = kl.int32(i)
        running += kl.team_last(until)


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
    order, counts = grouped(space, space.asarray(borders), comm.size, numbers)
    received = yield Message([Part([numbers], counts, order=order)])
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
