"""Places in ascending names, sooner than by bisection of all of them.

Names are divided into buckets.  Where names lie evenly, as in random order, each has a few.
"""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.primitives.bisection import lower_bound

FILL = 4
"""Names of a bucket, about: they are near each other in memory."""


class NameIndex(Record):
    """Ascending names, and where each bucket begins.

    Attributes
    ----------
    names : array of integers
    first : array of int32, shape (buckets + 1,)
        Names of bucket b are ``names[first[b]] ... names[first[b + 1] - 1]``.
    shift : int
        A bucket has names whose higher bits, from this one on, are equal.
    """

    names: Array
    first: Array
    shift: int = kl.word()


def name_index(space: ExecutionSpace, names: Array, end: int) -> NameIndex:
    """Index names.

    Parameters
    ----------
    space : ExecutionSpace
    names : array of integers
        Ascending, each once.
    end : int
        They are from 0 to end - 1.
    """
    count = len(names)
    shift = max(0, (FILL * end // max(1, count)).bit_length() - 1)
    buckets = (max(0, end - 1) >> shift) + 1
    first = space.empty(buckets + 1, np.int32)
    space.parallel_for(buckets + 1, begin_bucket, names, count, shift, first)
    return NameIndex(names, first).over(NameIndex.own_words(space.full(1, shift, np.int64)))


@kl.device
def place_of(name, index: NameIndex):
    """The first place of a name that is no less; the name is one of those below the end."""
    bucket = kl.int64(name) >> index.shift
    return lower_bound(index.names, kl.int64(index.first[bucket]),
                       kl.int64(index.first[bucket + 1]), name)


@kl.kernel
def begin_bucket(bucket, names, count, shift, first):
    """first[bucket] = the first name of the bucket, or of one behind it."""
    first[bucket] = kl.int32(lower_bound(names, 0, count, bucket << shift))
