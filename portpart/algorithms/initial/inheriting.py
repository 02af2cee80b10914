"""Bisections taken over from a coarser graph: a vertex starts on the side of its cluster."""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as word
from portpart.algorithms.initial.sides import begin_key, mask_of, store_tally
from portpart.backends.language import (
    device,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    team_sync,
    value_or,
)

BLOCKS = word.BLOCKS
COARSE_VERTICES = word.COARSE_VERTICES
FIRST_SPLIT = word.FIRST_SPLIT
KEY_BITS = word.KEY_BITS
SPLITS = word.SPLITS
TALLY = word.TALLY
VERTICES = word.VERTICES
WEIGHT_SHIFT = word.WEIGHT_SHIFT

STRAY = 4
"""The side of a vertex whose cluster is in neither half: refinement has moved the vertex here."""


@device
def take_sides(
    base, coarse_base, lower, upper, first, middle, last, order, side, cluster, coarse_part
):
    """Sides by the blocks of the clusters."""
    for p in range(lower + lane(), upper, team_size()):
        b = int64(coarse_part[coarse_base + cluster[order[base + p]]])
        there = int64(STRAY)
        if first <= b and b < last:
            there = int64(b >= middle)
        side[base + p] = int8(there)
    team_sync()


@device
def pull_to_side1(v, base, lower, upper, shift, offsets, targets, weights, place, side):
    """Weight of v's arcs to side 1, less that of its arcs to side 0."""
    result = int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        q = int64(place[base + targets[arc]])
        if lower <= q and q < upper:
            weight = value_or(weights, arc, 1) >> shift
            if side[base + q] == 1:
                result += weight
            elif side[base + q] == 0:
                result -= weight
    return result


@device
def settle_strays(
    base, lower, upper, shift, offsets, targets, weights, order, place, side, moves
):
    """Put strays on the side that they are better connected to; other strays do not count."""
    for p in range(lower + lane(), upper, team_size()):
        if side[base + p] == STRAY:
            pull = pull_to_side1(order[base + p], base, lower, upper, shift, offsets, targets,
                                 weights, place, side)
            moves[base + p] = int32(pull > 0)
    team_sync()
    for p in range(lower + lane(), upper, team_size()):
        if side[base + p] == STRAY:
            side[base + p] = int8(moves[base + p])
    team_sync()


@kernel
def inherit_side(
    i, split_first, split_middle, split_last, segment, offsets, targets, weights, vertex_weights,
    order, place, side, key, moves, tally, cluster, coarse_part, state,
):
    """Begin bisection i with the sides that the coarser graph has found."""
    n = state[VERTICES]
    k = state[BLOCKS]
    c = i // state[SPLITS]
    split = state[FIRST_SPLIT] + i % state[SPLITS]
    base = c * n
    lower = segment[c * (k + 1) + split_first[split]]
    upper = segment[c * (k + 1) + split_last[split]]
    take_sides(base, c * state[COARSE_VERTICES], lower, upper, split_first[split],
               split_middle[split], split_last[split], order, side, cluster, coarse_part)
    settle_strays(base, lower, upper, state[WEIGHT_SHIFT], offsets, targets, weights, order,
                  place, side, moves)
    mask = mask_of(c, state)
    weight = int64(0)
    count = int64(0)
    cut = int64(0)
    for p in range(lower + lane(), upper, team_size()):
        cut += begin_key(p, base, base, lower, upper, mask, state[KEY_BITS], state[WEIGHT_SHIFT],
                         offsets, targets, weights, order, place, side, key)
        if side[base + p] == 0:
            weight += value_or(vertex_weights, order[base + p], 1)
            count += 1
    weight = team_sum(weight)
    count = team_sum(count)
    cut = team_sum(cut)
    store_tally(tally, TALLY * (c * k + split), weight, count, cut // 2)
