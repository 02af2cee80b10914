"""Bisections that start from a given partition or from that of a coarser graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from portpart.algorithms.initial import fm_gains
from portpart.algorithms.initial.bisection_state import (
    BisectionSizes,
    Candidates,
    Keyed,
    ProjectedState,
    Splits,
    Splitting,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr
from portpart.primitives import hash_of, sorted_words

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
"""Bits of a random number, if that leaves enough for graph, block and vertex."""

KEY_BITS = 63


class SectionOrder(kl.Record):
    """An order of the vertices of a graph, for each candidate separately.

    Attributes
    ----------
    vertices : array of int32, shape (candidates * n,)
        The order, of one candidate after the other; it becomes the next order of `Candidates`.
    label : array of int32, shape (n,)
        The block that a vertex is in, the first of its possible final blocks.
    """

    vertices: Array
    label: Array


def orders_by_section(space: ExecutionSpace, labels: Sequence[Array], candidates: Sequence[int],
                      num_blocks: int, seed: int) -> list[SectionOrder]:
    """Order the vertices of several graphs by label and then at random, with one sort for all.

    Parameters
    ----------
    labels : sequence of array of int32
        Labels of the vertices of each graph.
    candidates : sequence of int
        Number of candidates on each graph.
    """
    counts = [len(label) * count for label, count in zip(labels, candidates, strict=True)]
    vertex_bits = max(map(len, labels)).bit_length()
    block_bits = (max(candidates) * num_blocks).bit_length()
    graph_bits = len(labels).bit_length()
    drawn_bits = min(RANDOM_BITS, KEY_BITS - graph_bits - block_bits - vertex_bits)
    ends = list(accumulate(counts, initial=0))
    keys = space.empty(ends[-1], np.int64)
    for number, label in enumerate(labels):
        space.parallel_for(counts[number], draw_key, label, len(label), num_blocks, seed,
                           SectionKeys(vertex_bits, drawn_bits, number << block_bits),
                           keys[ends[number] : ends[number + 1]])
    keys = sorted_words(space, keys, [(vertex_bits, drawn_bits + block_bits + graph_bits)])
    vertices = space.empty(len(keys), np.int32)
    space.parallel_for(len(keys), unpack_vertex, keys, vertex_bits, vertices)
    return [SectionOrder(vertices[begin:end], label)
            for begin, end, label in zip(ends, ends[1:], labels)]


class SectionKeys(kl.Record):
    """The layout of keys: graph, candidate and label, a random number, and the vertex.

    Attributes
    ----------
    vertex_bits, drawn_bits : int
    first : int
        The number of the graph, above candidate and label.
    """

    vertex_bits: int
    drawn_bits: int
    first: int


@kl.kernel
def draw_key(i, label, n, num_blocks, seed, layout: SectionKeys, keys):
    """Make the key of vertex i of all candidates."""
    v = i % n
    block = layout.first + i // n * num_blocks + label[v]
    drawn = hash_of(i, seed) & ((kl.int64(1) << layout.drawn_bits) - 1)
    keys[i] = (((block << layout.drawn_bits) | drawn) << layout.vertex_bits) | v


@kl.kernel
def unpack_vertex(i, keys, vertex_bits, vertices):
    """Store the vertex of key i."""
    vertices[i] = kl.int32(keys[i] & ((kl.int64(1) << vertex_bits) - 1))


@kl.device
def first_of_section(b, n, ordered: SectionOrder):
    """Return how many vertices have labels below b."""
    first = kl.int64(0)
    last = kl.int64(n)
    while first < last:
        middle = (first + last) // 2
        if ordered.label[ordered.vertices[middle]] < b:
            first = middle + 1
        else:
            last = middle
    return first


@kl.kernel
def take_section_order(q, candidates: Candidates, ordered: SectionOrder, sizes: BisectionSizes):
    """Store the q-th vertex of all candidates in the order, and where some blocks begin."""
    n = sizes.vertices
    k = sizes.blocks
    c = q // n
    v = ordered.vertices[q]
    candidates.order[q] = v
    candidates.place[c * n + v] = kl.int32(q - c * n)
    candidates.part[c * n + v] = ordered.label[v]
    for b in range(q - c * n, k + 1, n):
        candidates.segment[c * (k + 1) + b] = first_of_section(b, n, ordered)
