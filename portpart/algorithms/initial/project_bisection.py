"""Bisections that start from a given partition or from that of a coarser graph."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.initial import fm_gains
from portpart.algorithms.initial.bisection_state import (
    Candidates,
    Keyed,
    ProjectedState,
    Splits,
    Splitting,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr
from portpart.primitives import hash_of, histogram, offsets_from_counts, sorted_words

# Bisections projected from a coarser graph: a vertex starts on the side of its cluster ---------
#
# Two vertices are in the same bisection if they are in the same block so far.


NO_SIDE = 4
"""The side of a vertex whose cluster is in neither half, because refinement moved the vertex."""


@kl.kernel
def project_side(i, splits: Splits, candidates: Candidates, attempts: fm_gains.Attempts,
                 handover: ProjectedState, state: Splitting):
    """Put the vertices of bisection i on the sides of their clusters, and set its cut to 0."""
    n = state.sizes.vertices
    k = state.sizes.blocks
    c = i // state.recursion.splits
    split = state.recursion.first_split + i % state.recursion.splits
    first = kl.int64(splits.first[split])
    last = kl.int64(splits.last[split])
    lower = candidates.segment[c * (k + 1) + first]
    upper = candidates.segment[c * (k + 1) + last]
    for p in range(lower + kl.lane(), upper, kl.team_size()):
        v = candidates.order[c * n + p]
        b = kl.int64(handover.coarse_part[c * state.sizes.coarse_vertices + handover.cluster[v]])
        there = kl.int64(NO_SIDE)
        if first <= b and b < last:
            there = kl.int64(b >= splits.middle[split])
        attempts.side[c * n + p] = kl.int8(there)
    if kl.lane() == 0:
        attempts.totals[fm_gains.NUM_TOTALS * (c * k + first) + fm_gains.BisectionTotals.cut] = 0


@kl.kernel
def choose_side(i, graph: Csr, candidates: Candidates, attempts: fm_gains.Attempts, state: Keyed,
                rule: fm_gains.GainRule):
    """Assign vertex i, if it has no projected side, to its better connected side, in `moves`."""
    p = i // state.sizes.vertices * state.sizes.vertices + candidates.place[i]
    if attempts.side[p] == NO_SIDE:
        pull = kl.team_sum(rule.pull(i, graph, candidates, attempts, state))
        if kl.lane() == 0:
            attempts.moves[p] = kl.int32(pull > 0)


@kl.device
def side_at(q, attempts: fm_gains.Attempts):
    """Return the side of a vertex; without a projected side it is in `moves`."""
    there = kl.int64(attempts.side[q])
    if there == NO_SIDE:
        there = kl.int64(attempts.moves[q])
    return there


@kl.device
def store_key(i, here, gain, candidates: Candidates, attempts: fm_gains.Attempts, state: Keyed):
    """Store side and key of vertex i; return its candidate."""
    n = state.sizes.vertices
    c = i // n
    p = c * n + candidates.place[i]
    attempts.side[p] = kl.int8(here)
    attempts.key[p] = fm_gains.key_of(p - c * n, gain, fm_gains.mask_of(c, state.keys),
                                      state.keys.key_bits)
    return c


@kl.device
def keep_first_key(i, here, gain, cut, candidates: Candidates, attempts: fm_gains.Attempts,
                   state: Keyed):
    """Store side and key of vertex i and add its share of the cut. The first lane does; atomic."""
    if kl.lane() == 0:
        c = store_key(i, here, gain, candidates, attempts, state)
        if cut > 0:
            begin = fm_gains.NUM_TOTALS * (c * state.sizes.blocks + candidates.part[i])
            kl.atomic_add(attempts.totals, begin + fm_gains.BisectionTotals.cut, cut)


# Bisection of vertices that are already in several blocks: an order by these blocks ------------


RANDOM_BITS = 31
"""Bits of a random number, if that leaves enough for block and vertex."""

KEY_BITS = 63


def order_by_section(space: ExecutionSpace, label: Array, candidates: int, num_blocks: int,
                     seed: int, partitions: Candidates) -> None:
    """Order the vertices of each candidate separately, by label and then at random.

    Parameters
    ----------
    label : array of int32, shape (n,)
        The block that a vertex is in, the first of its possible final blocks.
    partitions : Candidates
        Its ``order``, ``next_order``, ``place``, ``part`` and ``segment`` are filled.
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
    """Make the key of vertex i of all candidates: candidate, label, a random number, and i."""
    block = i // n * num_blocks + label[i % n]
    drawn = hash_of(i, seed) & ((kl.int64(1) << drawn_bits) - 1)
    keys[i] = (((block << drawn_bits) | drawn) << place_bits) | i


@kl.kernel
def place_vertex(q, keys, place_bits, label, n, candidates: Candidates):
    """Store the q-th vertex of all candidates in the order."""
    v = (keys[q] & ((kl.int64(1) << place_bits) - 1)) % n
    first = q // n * n
    candidates.order[q] = kl.int32(v)
    candidates.next_order[q] = kl.int32(v)
    candidates.place[first + v] = kl.int32(q - first)
    candidates.part[first + v] = label[v]


@kl.kernel
def begin_segment(i, begin, num_blocks, segment):
    """Store where the vertices of a block begin in the order of a candidate."""
    segment[i] = begin[i % (num_blocks + 1)]
