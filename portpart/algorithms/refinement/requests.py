"""Requests to move in one direction, in a buffer for each block (GP-metis, section III.C).

A vertex asks for the block it gains most with.  In one round only blocks of higher numbers are
asked for, in the next one only blocks of lower ones, so that two neighbours never change places.
If a block is asked for more than it has room for, the requests are sorted by vertex, by gain and by
block, each sort stable: a buffer for each block, best requests first.  A block takes requests as
long as all up to them fit; weight that leaves it in the same round does not count.

    request of     7  2  9  4  1        sorted     | 2  4  1 | 9  7 |
    for block      3  1  3  1  1    ->  block      | 1  1  1 | 3  3 |
    gain           2  5  4  5  0        weight to  | 1  2  3 | 1  2 |  from the buffer's beginning
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import best_prefix
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.best_prefix import (
    WIDEST,
    bits_of,
    declare_prefix,
    exceeds,
    record_order,
    shorten_list,
    try_all,
)
from portpart.backends.language import (
    atomic_add,
    atomic_max,
    atomic_next,
    int32,
    int64,
    kernel,
    value_or,
)
from portpart.backends.program import Program
from portpart.primitives import recorded_sort as sort
from portpart.primitives.scan import TILE, record_scan

NONE = -1


TOO_HEAVY, TOP_GAIN, ORDERING = best_prefix.TOO_HEAVY, best_prefix.TOP_GAIN, best_prefix.ORDERING
KEY, TILES = best_prefix.BY_GAIN, best_prefix.KEPT
"""Words of ``sequence`` with a meaning of their own here: by what requests are being sorted, and
how many tiles of requests there are."""

BY_VERTEX, BY_GAIN, BY_BLOCK = range(3)


def record_requests(program: Program) -> None:
    """Record how vertices with legal moves ask, and which requests are granted."""
    declare_prefix(program)
    program.array("buffer_begin", np.int64)
    slot = program.slots
    state, sequence = slot["state"], slot["sequence"]
    program.launch(state[at.NEXT_EAGER], request_move)
    program.launch(1, try_all, team=WIDEST)
    with program.if_nonzero(sequence[TOO_HEAVY]):
        record_order(program, fill_request_key, order_requests_next)
        program.launch(state[at.MOVES], lay_out_request)
        record_scan(program, slot["other_keys"], slot["position"], slot["tile_sums"],
                    state[at.MOVES], sequence[TILES])
        program.launch(state[at.MOVES], grant_request)
        program.launch(1, shorten_list)


@kernel
def request_move(i, eager_list, vertex_weights, part, legal, move_gain, moved_in, wish, move_list,
                 trial_sums, state, sequence):
    """Enter the legal move of a vertex if it goes in the direction of the round.

    Atomic; the order of the list is free.
    """
    v = eager_list[state[at.VERTICES] - state[at.EAGER_BEGIN] + i]
    there = legal[v]
    upwards = state[at.ITERATION] & 1 == 0
    if there != NONE and (there > part[v]) == upwards:
        moved_in[v] = int32(state[at.ITERATION])
        wish[v] = there
        move_list[atomic_next(state, at.MOVES)] = int32(v)
        atomic_max(sequence, TOP_GAIN, move_gain[v])
        stripe = int64(v) % state[at.WEIGHT_STRIPES] * state[at.BLOCKS]
        atomic_add(trial_sums, stripe + there, value_or(vertex_weights, v, 1))


@kernel
def fill_request_key(i, move_list, move_gain, wish, move_keys, sequence):
    """Key of a request: its vertex, how much less it gains than the best one, or its block."""
    v = move_list[i]
    key = int64(v)
    if sequence[KEY] == BY_GAIN:
        key = sequence[TOP_GAIN] - move_gain[v]
    elif sequence[KEY] == BY_BLOCK:
        key = int64(wish[v])
    move_keys[i] = key


@kernel
def order_requests_next(_, state, sequence, sorting):
    """After the vertices come the gains, then the blocks, and then the buffers are filled."""
    sequence[ORDERING] = int64(sequence[KEY] < BY_BLOCK)
    sequence[KEY] += 1
    highest = sequence[TOP_GAIN] if sequence[KEY] == BY_GAIN else state[at.BLOCKS]
    sorting[sort.BITS] = bits_of(highest)
    sequence[TILES] = max(int64(1), (state[at.MOVES] + TILE - 1) // TILE)
    sequence[best_prefix.MADE] = 0


@kernel
def lay_out_request(i, move_list, other_list, vertex_weights, wish, other_keys, buffer_begin):
    """Weight of a request; the first one for a block marks where the block's buffer begins."""
    v = move_list[i]
    other_list[i] = v
    other_keys[i] = value_or(vertex_weights, v, 1)
    begins = i == 0
    if not begins:
        begins = wish[move_list[i - 1]] != wish[v]
    if begins:
        buffer_begin[wish[v]] = i


@kernel
def grant_request(i, other_list, move_list, wish, position, buffer_begin, block_weight, limits,
                  moved_in, state, sequence):
    """List a request if its block has room for all up to it; the order of the list is free."""
    v = other_list[i]
    block = wish[v]
    offered = position[i + 1] - position[buffer_begin[block]]
    if exceeds(block_weight[block] + offered, block, limits, state) == 0:
        move_list[atomic_next(sequence, best_prefix.MADE)] = v
    else:
        moved_in[v] = int32(best_prefix.NEVER)
