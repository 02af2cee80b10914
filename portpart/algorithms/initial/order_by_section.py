"""Where bisection begins if vertices are in several blocks already: an order by these blocks."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.initial.bisection_state import Candidates, StartSizes
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import int32, int64, kernel
from portpart.backends.work import WorkRecord
from portpart.primitives.hashing import hash_of
from portpart.primitives.histogram import histogram
from portpart.primitives.scan import offsets_from_counts
from portpart.primitives.sort import sort_keys, sorting_bytes

RANDOM_BITS = 31


class SectionKeys(WorkRecord):
    """What the vertices of all candidates are sorted by, and how many there are of each label."""

    keys: Array = work(np.int64, lambda sizes: sizes.vertices)
    counts: Array = work(np.int64, lambda sizes: sizes.blocks)
    begin: Array = work(np.int64, lambda sizes: sizes.blocks + 1)


def ordering_bytes(sizes: StartSizes) -> int:
    """Bytes that are used while vertices are ordered."""
    return SectionKeys.num_bytes(sizes) + sorting_bytes(sizes.vertices)


def order_by_section(space: ExecutionSpace, label: Array, candidates: int, num_blocks: int,
                     seed: int, partitions: Candidates) -> None:
    """Give the vertices of every candidate an order of its own, by label and then by chance.

    Parameters
    ----------
    label : array of int32, shape (n,)
        The block that a vertex is in, the first of those that it may end up in.
    partitions : Candidates
        Whose ``order``, ``next_order``, ``place``, ``part`` and ``segment`` are filled.
    """
    n = len(label)
    begin = offsets_from_counts(space, histogram(space, label, num_blocks))
    keys = space.empty(candidates * n, begin.dtype)
    space.parallel_for(candidates * n, draw_key, label, n, num_blocks, seed, keys)
    _, order = sort_keys(space, keys)
    space.parallel_for(candidates * n, place_vertex, order, label, n, partitions)
    space.parallel_for(candidates * (num_blocks + 1), begin_segment, begin, num_blocks,
                       partitions.segment)


@kernel
def draw_key(i, label, n, num_blocks, seed, keys):
    """Key of vertex i of all candidates: its candidate, its label, and a number by chance."""
    block = i // n * num_blocks + label[i % n]
    drawn = hash_of(i, seed) & ((int64(1) << RANDOM_BITS) - 1)
    keys[i] = (block << RANDOM_BITS) | drawn


@kernel
def place_vertex(q, sorted_ids, label, n, candidates: Candidates):
    """Put the q-th vertex of all candidates to its place."""
    v = sorted_ids[q] % n
    first = q // n * n
    candidates.order[q] = int32(v)
    candidates.next_order[q] = int32(v)
    candidates.place[first + v] = int32(q - first)
    candidates.part[first + v] = label[v]


@kernel
def begin_segment(i, begin, num_blocks, segment):
    """Where the vertices of a block begin in the order of a candidate."""
    segment[i] = begin[i % (num_blocks + 1)]
