"""Which rank owns which vertex."""

from __future__ import annotations

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record
from portpart.primitives.bisection import lower_bound


class Owners(Record):
    """Ranks own contiguous ranges of vertices.

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


@kl.device
def rank_of(firsts, i, size):
    """The rank to whose range number i belongs, where those of rank r begin at firsts[r]."""
    return lower_bound(firsts, 0, size, i + 1) - 1
