"""Carrying out the moves of an iteration: weights and cut first, then the partition itself."""

from __future__ import annotations

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import is_for, list_vertex
from portpart.algorithms.refinement.connectivity import degree_of
from portpart.algorithms.refinement.state import STRIPES
from portpart.backends.language import (
    atomic_add,
    atomic_cas,
    atomic_load,
    atomic_next,
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


@device
def mark_dirty(v, dirty, dirty_list, state):
    """Put v on the list of vertices to refresh, once."""
    if atomic_load(dirty, v) == 0:
        if atomic_cas(dirty, v, int32(0), int32(1)) == 0:
            dirty_list[atomic_next(state, at.MARKED)] = int32(v)
    return v


@device
def list_unsaved(v, unsaved, unsaved_list, state):
    """Put v on the list of vertices that have moved since the best partition, once."""
    if unsaved[v] == 0:
        unsaved[v] = int8(1)
        unsaved_list[atomic_next(state, at.UNSAVED)] = int32(v)
    return v


@device
def weigh_move(
    v, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty, dirty_list, listed,
    boundary, unsaved, unsaved_list, weight_sums, cut_twice, state,
):
    """Account for the move of v to its wish; its neighbours are to be refreshed.

    An arc to a vertex that moves too is seen from both ends and counts half.  Atomic, order-free.
    """
    here = part[v]
    there = wish[v]
    iteration = int32(state[at.ITERATION])
    change = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        weight = value_or(weights, arc, 1)
        before = part[u]
        after = before
        if moved_in[u] == iteration:
            after = wish[u]
        else:
            weight *= 2
        change += weight if before == here else 0
        change -= weight if after == there else 0
        mark_dirty(u, dirty, dirty_list, state)
    change = team_sum(change)
    if lane() == 0:
        mark_dirty(v, dirty, dirty_list, state)
        list_vertex(v, listed, boundary, state)
        list_unsaved(v, unsaved, unsaved_list, state)
        weight = value_or(vertex_weights, v, 1)
        stripe = (int64(v) % state[at.WEIGHT_STRIPES]) * state[at.BLOCKS]
        atomic_add(weight_sums, stripe + here, -weight)
        atomic_add(weight_sums, stripe + there, weight)
        if change != 0:
            atomic_add(cut_twice, int64(v) % STRIPES, change)
    return change


@kernel
def weigh_moves(
    i, move_list, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
    dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice, state, lone,
):
    """Account for a move, unless a hub makes it."""
    v = move_list[i]
    if is_for(lone, state[at.MOVES], state) and degree_of(v, offsets) <= state[at.HUB_DEGREE]:
        weigh_move(v, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
                   dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums,
                   cut_twice, state)


@kernel
def weigh_moves_of_hubs(
    i, hubs, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty, dirty_list,
    listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice, state,
):
    """Account for the move of a hub, if it moves."""
    v = hubs[i]
    if int64(moved_in[v]) == state[at.ITERATION]:
        weigh_move(v, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
                   dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums,
                   cut_twice, state)


@kernel
def move_vertex(i, move_list, part, wish):
    """Carry out a move."""
    v = move_list[i]
    part[v] = wish[v]


@kernel
def save_best(i, unsaved, unsaved_list, part, best, block_weight, best_weight, state):
    """Keep vertex and block i if this partition is the best; the list of moves is done with."""
    if i < state[at.SAVED_VERTICES]:
        v = unsaved_list[i]
        best[v] = part[v]
        unsaved[v] = int8(0)
    if i < state[at.SAVED_BLOCKS]:
        best_weight[i] = block_weight[i]
    if i == 0:
        state[at.MOVES] = 0
