"""Bisections taken over from a coarser graph: a vertex starts on the side of its cluster."""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as at_word
from portpart.algorithms.initial.growing import store_tally
from portpart.algorithms.initial.sides import begin_key
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
from portpart.primitives.hashing import hash_of

BLOCKS = at_word.BLOCKS
VERTICES = at_word.VERTICES
WIDTH = at_word.WIDTH
FIRST_SPLIT = at_word.FIRST_SPLIT
KEY_BITS = at_word.KEY_BITS
WEIGHT_SHIFT = at_word.WEIGHT_SHIFT
SEED = at_word.SEED
COARSE_VERTICES = at_word.COARSE_VERTICES
STRAY = 4


@device
def take_sides(
    base, coarse_base, lower, upper, first, middle, last, order, side, cluster,
    coarse_part,
):
    """Sides by the blocks of the clusters; a vertex whose cluster lies elsewhere is a stray."""
    for p in range(lower + lane(), upper, team_size()):
        v = order[base + p]
        b = int64(coarse_part[coarse_base + cluster[v]])
        there = int64(STRAY)
        if first <= b and b < last:
            there = int64(b >= middle)
        side[base + p] = int8(there)
    team_sync()
    return 0


@device
def connection_to_side1(v, base, lower, upper, shift, offsets, targets, weights, place, side):
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
    """Put strays on the side that they are better connected to."""
    for p in range(lower + lane(), upper, team_size()):
        if side[base + p] == STRAY:
            v = order[base + p]
            moves[base + p] = int32(connection_to_side1(
                v, base, lower, upper, shift, offsets, targets, weights, place, side) > 0)
    team_sync()
    for p in range(lower + lane(), upper, team_size()):
        if side[base + p] == STRAY:
            side[base + p] = int8(moves[base + p])
    team_sync()
    return 0


@kernel
def inherit_side(
    i, split_first, split_middle, split_last, segment, offsets, targets, weights, vertex_weights,
    order, place, side, key, moves, tally, cluster, coarse_part, survivor, state,
):
    """Begin bisection i with the sides that the coarser graph has found."""
    n = state[VERTICES]
    k = state[BLOCKS]
    bits = state[KEY_BITS]
    c = i // state[WIDTH]
    split = state[FIRST_SPLIT] + i % state[WIDTH]
    base = c * n
    lower = segment[c * (k + 1) + split_first[split]]
    upper = segment[c * (k + 1) + split_last[split]]
    mask = hash_of(c, state[SEED]) & ((int64(1) << bits) - 1)
    take_sides(base, survivor[c] * state[COARSE_VERTICES], lower, upper, split_first[split],
               split_middle[split], split_last[split], order, side, cluster,
               coarse_part)
    settle_strays(base, lower, upper, state[WEIGHT_SHIFT], offsets, targets, weights, order,
                  place, side, moves)
    weight = int64(0)
    count = int64(0)
    cut = int64(0)
    for p in range(lower + lane(), upper, team_size()):
        cut += begin_key(p, base, base, lower, upper, mask, bits, state[WEIGHT_SHIFT], offsets, targets,
                         weights, order, place, side, key)
        if side[base + p] == 0:
            weight += value_or(vertex_weights, order[base + p], 1)
            count += 1
    weight = team_sum(weight)
    count = team_sum(count)
    cut = team_sum(cut)
    store_tally(tally, 4 * (c * k + split), weight, count, cut // 2)
