"""Runs of equal keys in a sorted array: the first of each, and sums over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.sort import sort_keys

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace


class Runs:
    """The runs of equal keys in a sorted array.  Waits for the device, to count them.

    Attributes
    ----------
    count : int
    """

    def __init__(self, space: ExecutionSpace, keys: Array) -> None:
        first = space.empty(len(keys), np.int8)
        space.parallel_for(len(keys), mark_first, keys, first)
        self._space = space
        self._places = offsets_from_counts(space, first)
        self.count, = space.read(self._places[-1:], lambda: [len(keys)])

    def first_of(self, values: Array) -> Array:
        """The value at the first key of each run."""
        result = self._space.empty(self.count, values.dtype)
        self._space.parallel_for(len(values), copy_first, values, self._places, result)
        return result

    def sums_of(self, values: Array, order: Array) -> Array:
        """Sums over the runs, int64; ``order[i]`` is where the value of key i stands."""
        result = self._space.zeros(self.count, np.int64)
        self._space.parallel_for(len(order), add_to_run, values, order, self._places, result)
        return result


def distinct(space: ExecutionSpace, keys: Array) -> Array:
    """The keys in ascending order, each once."""
    if not len(keys):
        return keys
    ordered, _ = sort_keys(space, keys)
    return Runs(space, ordered).first_of(ordered)


@kl.kernel
def mark_first(i, keys, first):
    """first[i] = whether key i differs from the one before."""
    differs = i == 0
    if i > 0:
        differs = keys[i] != keys[i - 1]
    first[i] = kl.int8(differs)


@kl.kernel
def copy_first(i, values, places, result):
    """Copy value i to the place of its run, if it is the first there."""
    if places[i + 1] > places[i]:
        result[places[i]] = values[i]


@kl.kernel
def add_to_run(i, values, order, places, result):
    """Add the value of key i to the sum of its run; atomic, independent of order."""
    kl.atomic_add(result, places[i + 1] - 1, values[order[i]])
