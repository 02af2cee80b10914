"""Jetlp: unconstrained label propagation with the vertex afterburner (Jet, algorithm 4.2)."""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.backends.language import (
    atomic_add,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
)

NONE = -1
ACTIVE = at.ACTIVE
DIRTY = at.DIRTY
ITERATION = at.ITERATION
LAST_PROPAGATION = at.LAST_PROPAGATION
MOVES = at.MOVES


@kernel
def wish_to_move(v, fixed, cached, locked_in, wish, active_list, state):
    """Let v wish for its cached destination unless it is fixed or moved in the last propagation.

    The list of active vertices X is in any order; no result depends on it.
    """
    if v == 0:
        state[DIRTY] = 0
    destination = cached[v]
    if destination != NONE:
        if int64(locked_in[v]) == state[LAST_PROPAGATION] or value_or(fixed, v, NONE) != NONE:
            destination = int32(NONE)
    wish[v] = destination
    if destination != NONE:
        active_list[atomic_add(state, ACTIVE, 1)] = int32(v)


@kernel
def keep_paying_moves(
    i, active_list, offsets, targets, weights, part, wish, gain, moved_in, locked_in, move_list,
    state,
):
    """The afterburner: v moves if it still does not lose once better wishes are granted.

    A neighbour's wish is granted if its gain is larger, or equal and its id smaller
    (equation 4.1).  Vertices that move are locked for the next propagation.
    """
    v = active_list[i]
    here = part[v]
    there = wish[v]
    own_gain = gain[v]
    total = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        block = part[u]
        wanted = wish[u]
        if wanted != NONE:
            other_gain = gain[u]
            if other_gain > own_gain or (other_gain == own_gain and u < v):
                block = wanted
        if block == there:
            total += value_or(weights, arc, 1)
        elif block == here:
            total -= value_or(weights, arc, 1)
    total = team_sum(total)
    if lane() == 0 and total >= 0:
        moved_in[v] = int32(state[ITERATION])
        locked_in[v] = int32(state[ITERATION])
        move_list[atomic_add(state, MOVES, 1)] = v
