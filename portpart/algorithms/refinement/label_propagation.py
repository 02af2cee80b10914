"""Jetlp: unconstrained label propagation with the vertex afterburner (Jet, algorithm 4.2)."""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import eager_vertex, is_for
from portpart.algorithms.refinement.connectivity import degree_of
from portpart.backends.language import (
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
    value_or,
)


@device
def wants_to_move(v, cached, locked_in, state):
    """Whether v has a destination, and did not move in the last propagation."""
    result = cached[v] >= 0
    if result:
        result = int64(locked_in[v]) != state[at.LAST_PROPAGATION]
    return result


@device
def move_if_it_pays(
    v, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish, move_list, state
):
    """The afterburner: v moves if it still does not lose once better wishes are granted.

    A neighbour's wish is granted if its gain is larger, or equal and its id smaller
    (equation 4.1).  Vertices that move are locked for the next propagation: nobody who asks
    meanwhile whether one of them is locked for this one gets a different answer.
    """
    here = part[v]
    there = cached[v]
    own_gain = gain[v]
    total = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        block = part[u]
        other_gain = gain[u]
        if other_gain > own_gain or (other_gain == own_gain and u < v):
            if wants_to_move(u, cached, locked_in, state):
                block = cached[u]
        if block == there:
            total += value_or(weights, arc, 1)
        elif block == here:
            total -= value_or(weights, arc, 1)
    total = team_sum(total)
    if lane() == 0 and total >= 0:
        moved_in[v] = int32(state[at.ITERATION])
        locked_in[v] = int32(state[at.ITERATION])
        wish[v] = there
        move_list[atomic_next(state, at.MOVES)] = int32(v)
    return total


@kernel
def keep_paying_moves(
    i, eager_list, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish,
    move_list, state, lone,
):
    """Move eager vertex i if it wants to and still gains, unless it is a hub."""
    if is_for(lone, state[at.EAGER], state):
        v = eager_vertex(i, eager_list, state)
        is_hub = degree_of(v, offsets) > state[at.HUB_DEGREE]
        if not is_hub and wants_to_move(v, cached, locked_in, state):
            move_if_it_pays(v, offsets, targets, weights, part, cached, gain, moved_in, locked_in,
                            wish, move_list, state)


@kernel
def keep_paying_moves_of_hubs(
    i, hubs, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish, move_list,
    state,
):
    """Move a hub that wants to and still gains."""
    v = hubs[i]
    if wants_to_move(v, cached, locked_in, state):
        move_if_it_pays(v, offsets, targets, weights, part, cached, gain, moved_in, locked_in,
                        wish, move_list, state)
