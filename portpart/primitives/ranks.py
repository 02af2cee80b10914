"""Which rank owns which vertex."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.primitives.bisection import lower_bound
from portpart.primitives.sort import sort_keys


class Owners(Record):
    """Ranks own contiguous ranges of vertices, by the names of these.

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
    """The order in which vertices stand by their owners, and how many each rank owns.

    Parameters
    ----------
    space : ExecutionSpace
    owners : Owners
    size : int
        Number of ranks.
    names : array of integers
        Of vertices, in any order.

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
    """How often each rank stands in an ascending array."""
    counts = space.empty(size, np.int64)
    space.parallel_for(size, count_rank, ranks, len(ranks), counts)
    return space.to_host(counts)


def counted_in_parts(space: ExecutionSpace, places: Array, lengths: np.ndarray) -> np.ndarray:
    """How many of some ascending places lie in each of consecutive parts of these lengths."""
    ends, below = space.asarray(lengths.cumsum()), space.empty(len(lengths), np.int64)
    space.parallel_for(len(lengths), count_below, places, len(places), ends, below)
    return np.diff(space.to_host(below), prepend=0)


@kl.device
def rank_of(firsts, i, size):
    """The rank to whose range number i belongs, where those of rank r begin at firsts[r]."""
    return lower_bound(firsts, 0, size, i + 1) - 1


@kl.kernel
def find_owner(i, names, firsts, size, ranks):
    """ranks[i] = the rank that owns a vertex."""
    ranks[i] = kl.int32(rank_of(firsts, kl.int64(names[i]), size))


@kl.kernel
def count_rank(rank, ranks, count, counts):
    """counts[rank] = how often it stands in an ascending array."""
    counts[rank] = lower_bound(ranks, 0, count, rank + 1) - lower_bound(ranks, 0, count, rank)


@kl.kernel
def count_below(part, places, count, ends, below):
    """below[part] = how many of some ascending places lie before the end of a part."""
    below[part] = lower_bound(places, 0, count, ends[part])
