"""Bisections taken over from a coarser graph: a vertex starts on the side of its cluster.

Two vertices are in the same bisection if they are in the same block so far.
"""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as word
from portpart.algorithms.initial.fm_gains import key_of, mask_of
from portpart.backends.language import (
    atomic_add,
    device,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
)

STRAY = 4
"""The side of a vertex whose cluster is in neither half: refinement has moved the vertex here."""


@kernel
def inherit_side(
    i, split_first, split_middle, split_last, segment, order, side, tally, cluster, coarse_part,
    state,
):
    """Put the vertices of bisection i on the sides of their clusters; its cut is not known yet."""
    n = state[word.VERTICES]
    k = state[word.BLOCKS]
    c = i // state[word.SPLITS]
    split = state[word.FIRST_SPLIT] + i % state[word.SPLITS]
    first = int64(split_first[split])
    last = int64(split_last[split])
    for p in range(segment[c * (k + 1) + first] + lane(), segment[c * (k + 1) + last], team_size()):
        v = order[c * n + p]
        b = int64(coarse_part[c * state[word.COARSE_VERTICES] + cluster[v]])
        there = int64(STRAY)
        if first <= b and b < last:
            there = int64(b >= split_middle[split])
        side[c * n + p] = int8(there)
    if lane() == 0:
        tally[word.TALLY * (c * k + first) + word.CUT] = 0


@kernel
def choose_for_stray(i, part, offsets, targets, weights, place, side, moves, state):
    """Vertex i, a stray, wants to the side it is better connected to; other strays do not count.

    Its wish is noted in `moves`.
    """
    n = state[word.VERTICES]
    base = i // n * n
    if side[base + place[i]] == STRAY:
        pull = int64(0)
        for arc in range(offsets[i - base] + lane(), offsets[i - base + 1], team_size()):
            w = base + targets[arc]
            if part[w] == part[i]:
                weight = value_or(weights, arc, 1) >> state[word.WEIGHT_SHIFT]
                if side[base + place[w]] == 1:
                    pull += weight
                elif side[base + place[w]] == 0:
                    pull -= weight
        pull = team_sum(pull)
        if lane() == 0:
            moves[base + place[i]] = int32(pull > 0)


@device
def side_at(q, side, moves):
    """The side of a vertex, strays where they want to be."""
    there = int64(side[q])
    if there == STRAY:
        there = int64(moves[q])
    return there


@kernel
def begin_key(i, part, offsets, targets, weights, place, side, key, moves, tally, state):
    """Compute the key of vertex i and add up the cut; strays go where they want to.

    Another vertex may read a stray's side before or after: it sees the same.
    """
    n = state[word.VERTICES]
    c = i // n
    v = i % n
    p = c * n + place[i]
    here = side_at(p, side, moves)
    outside = int64(0)
    inside = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        w = c * n + targets[arc]
        if part[w] == part[i]:
            weight = value_or(weights, arc, 1) >> state[word.WEIGHT_SHIFT]
            if side_at(c * n + place[w], side, moves) == here:
                inside += weight
            else:
                outside += weight
    outside = team_sum(outside)
    gain = outside - team_sum(inside)
    if lane() == 0:
        side[p] = int8(here)
        key[p] = key_of(p - c * n, gain, mask_of(c, state), state[word.KEY_BITS])
        if here == 0 and outside > 0:
            atomic_add(tally, word.TALLY * (c * state[word.BLOCKS] + part[i]) + word.CUT, outside)
