"""The rows of a graph as kernels see them, runs of equal keys, and the largest numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.primitives import offsets_from_counts, sort_keys

if TYPE_CHECKING:
    from portpart.backends.programs import Array, ExecutionSpace

# The rows of a graph as kernels see them -------------------------------------------------------


class Csr(kl.Record):
    """Compressed rows of arcs: arcs ``begin[v] ... end[v] - 1`` leave vertex v.

    Attributes
    ----------
    begin, end : array of int32 or int64, shape (n,)
        Of a plain graph two views of the same offsets.
    targets : array of int32, shape (num_arcs,)
    weights : array of int32 or int64, shape (num_arcs,), or None
    vertex_weights : array of int64, shape (n,), or None
    global_ids : array of int32 or int64, or None
        Ids of the vertices in the whole graph, where these are some of its rows.  What is drawn or
        decided by ids is by these, and so comes out as in the whole graph.
    """

    begin: Array
    end: Array
    targets: Array
    weights: Array | None
    vertex_weights: Array | None
    global_ids: Array | None


@kl.device
def global_id(v, graph: Csr):
    """The id of v in the whole graph."""
    return kl.value_or(graph.global_ids, v, v)


@kl.device
def degree_of(v, graph: Csr):
    """Number of v's arcs."""
    return kl.int64(graph.end[v]) - kl.int64(graph.begin[v])


# Runs of equal keys in a sorted array: the first of each, and sums over them -------------------


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


# The largest numbers that graphs may hold ------------------------------------------------------


MAX_INT32_ARCS = 2**31 - 1
"""Offsets are int32 up to this number of arcs and int64 above it."""

MAX_INT32 = 2**31 - 1

MAX_TOTAL_WEIGHT = 2**62
"""Largest total of weights: twice a total still fits the 64-bit sums of every algorithm."""
