"""Where bisection begins if vertices are in several blocks already: an order by these blocks."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.initial.bisection_state import Candidates, StartSizes
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.work import WorkRecord
from portpart.primitives.hashing import hash_of
from portpart.primitives.histogram import histogram
from portpart.primitives.pair_sort import sorted_words
from portpart.primitives.scan import offsets_from_counts

RANDOM_BITS = 31
"""Bits of a number by chance, if that leaves enough for block and vertex."""

KEY_BITS = 63


class SectionKeys(WorkRecord):
    """What the vertices of all candidates are sorted by, and how many there are of each label."""

    keys: Array = work(np.int64, lambda sizes: sizes.vertices)
    spare: Array = work(np.int64, lambda sizes: sizes.vertices)
    counts: Array = work(np.int64, lambda sizes: sizes.blocks)
    begin: Array = work(np.int64, lambda sizes: sizes.blocks + 1)


def ordering_bytes(sizes: StartSizes) -> int:
    """Bytes that are used while vertices are ordered."""
    return SectionKeys.num_bytes(sizes)


def order_by_section(space: ExecutionSpace, label: Array, candidates: int, num_blocks: int,
                     seed: int, partitions: Candidates) -> None:
    """Order the vertices of each candidate separately, by label and then at random.

    Parameters
    ----------
    label : array of int32, shape (n,)
        The block that a vertex is in, the first of its possible final blocks.
    partitions : Candidates
        Whose ``order``, ``next_order``, ``place``, ``part`` and ``segment`` are filled.
    """
    n = len(label)
    begin = offsets_from_counts(space, histogram(space, label, num_blocks))
    place_bits = (candidates * n).bit_length()
    block_bits = (candidates * num_blocks).bit_length()
    drawn_bits = min(RANDOM_BITS, KEY_BITS - block_bits - place_bits)
    keys = space.empty(candidates * n, np.int64)
    space.parallel_for(candidates * n, draw_key, label, n, num_blocks, seed, place_bits,
                       drawn_bits, keys)
    keys = sorted_words(space, keys, [(place_bits, drawn_bits + block_bits)])
    space.parallel_for(candidates * n, place_vertex, keys, place_bits, label, n, partitions)
    space.parallel_for(candidates * (num_blocks + 1), begin_segment, begin, num_blocks,
                       partitions.segment)


@kl.kernel
def draw_key(i, label, n, num_blocks, seed, place_bits, drawn_bits, keys):
    """Key of vertex i of all candidates: its candidate, its label, a number by chance, and i."""
    block = i // n * num_blocks + label[i % n]
    drawn = hash_of(i, seed) & ((kl.int64(1) << drawn_bits) - 1)
    keys[i] = (((block << drawn_bits) | drawn) << place_bits) | i


@kl.kernel
def place_vertex(q, keys, place_bits, label, n, candidates: Candidates):
    """Put the q-th vertex of all candidates to its place."""
    v = (keys[q] & ((kl.int64(1) << place_bits) - 1)) % n
    first = q // n * n
    candidates.order[q] = kl.int32(v)
    candidates.next_order[q] = kl.int32(v)
    candidates.place[first + v] = kl.int32(q - first)
    candidates.part[first + v] = label[v]


@kl.kernel
def begin_segment(i, begin, num_blocks, segment):
    """Where the vertices of a block begin in the order of a candidate."""
    segment[i] = begin[i % (num_blocks + 1)]
