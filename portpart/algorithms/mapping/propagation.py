"""Label propagation on the communication cost: which moves are made, and what they change.

As Jet does on the cut (section 4.2 of the paper on GPU-IM, algorithm 4): wishes, an afterburner
that grants those that still pay, and a lock for one propagation on whoever has moved.
"""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.distances import DISTANCE_BY_ARRAYS as DISTANCE
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import eager_vertex, is_for, list_vertex
from portpart.algorithms.refinement.connectivity import degree_of
from portpart.algorithms.refinement.label_propagation import wants_to_move
from portpart.algorithms.refinement.moves import list_unsaved, mark_dirty
from portpart.algorithms.refinement.state import STRIPES
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    atomic_add,
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


@cache
def move_if_it_pays(kind: str) -> DeviceFunction:
    """The afterburner for a kind of distance."""
    distance = DISTANCE[kind]

    @device
    def move_if_it_pays(
        v, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish, move_list,
        codes, shifts, lengths, state,
    ):
        """Move v unless it loses once better wishes are granted.

        A neighbour's wish is granted if its gain is larger, or equal and its id smaller.  Whoever
        asks meanwhile whether a vertex that moves is locked for this propagation gets the same
        answer before and after.
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
            saved = distance(here, block, codes, shifts, lengths)
            saved -= distance(there, block, codes, shifts, lengths)
            total += value_or(weights, arc, 1) * saved
        total = team_sum(total)
        if lane() == 0 and total >= 0:
            moved_in[v] = int32(state[at.ITERATION])
            locked_in[v] = int32(state[at.ITERATION])
            wish[v] = there
            move_list[atomic_next(state, at.MOVES)] = int32(v)
        return total

    return move_if_it_pays


@cache
def keep_paying_moves(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    move = move_if_it_pays(kind)

    @kernel
    def keep_paying_moves(
        i, eager_list, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish,
        move_list, codes, shifts, lengths, state, lone,
    ):
        """Move eager vertex i if it wants to and still gains, unless it is a hub."""
        if is_for(lone, state[at.EAGER], state):
            v = eager_vertex(i, eager_list, state)
            is_hub = degree_of(v, offsets) > state[at.HUB_DEGREE]
            if not is_hub and wants_to_move(v, cached, locked_in, state):
                move(v, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish,
                     move_list, codes, shifts, lengths, state)

    return keep_paying_moves


@cache
def keep_paying_moves_of_hubs(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    move = move_if_it_pays(kind)

    @kernel
    def keep_paying_moves_of_hubs(
        i, hubs, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish,
        move_list, codes, shifts, lengths, state,
    ):
        """Move a hub that wants to and still gains."""
        v = hubs[i]
        if wants_to_move(v, cached, locked_in, state):
            move(v, offsets, targets, weights, part, cached, gain, moved_in, locked_in, wish,
                 move_list, codes, shifts, lengths, state)

    return keep_paying_moves_of_hubs


@cache
def weigh_move(kind: str) -> DeviceFunction:
    """The device function for a kind of distance."""
    distance = DISTANCE[kind]

    @device
    def weigh_move(
        v, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty, dirty_list,
        listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice, codes, shifts, lengths,
        state,
    ):
        """Account for the move of v to its wish; its neighbours are to be refreshed.

        An arc to a vertex that moves too is seen from both ends and counts half.  Atomic,
        order-free.
        """
        here = part[v]
        there = wish[v]
        change = int64(0)
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            u = targets[arc]
            weight = value_or(weights, arc, 1)
            before = part[u]
            after = before
            if int64(moved_in[u]) == state[at.ITERATION]:
                after = wish[u]
            else:
                weight *= 2
            change += weight * distance(there, after, codes, shifts, lengths)
            change -= weight * distance(here, before, codes, shifts, lengths)
            mark_dirty(u, dirty, dirty_list, state)
        change = team_sum(change)
        if lane() == 0:
            mark_dirty(v, dirty, dirty_list, state)
            list_vertex(v, listed, boundary, state)
            list_unsaved(v, unsaved, unsaved_list, state)
            heavy = value_or(vertex_weights, v, 1)
            stripe = (int64(v) % state[at.WEIGHT_STRIPES]) * state[at.BLOCKS]
            atomic_add(weight_sums, stripe + here, -heavy)
            atomic_add(weight_sums, stripe + there, heavy)
            atomic_add(cut_twice, int64(v) % STRIPES, change)
        return change

    return weigh_move


@cache
def weigh_moves(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    weigh = weigh_move(kind)

    @kernel
    def weigh_moves(
        i, move_list, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
        dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice, codes, shifts,
        lengths, state, lone,
    ):
        """Account for a move, unless a hub makes it."""
        v = move_list[i]
        if is_for(lone, state[at.MOVES], state) and degree_of(v, offsets) <= state[at.HUB_DEGREE]:
            weigh(v, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
                  dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice,
                  codes, shifts, lengths, state)

    return weigh_moves


@cache
def weigh_moves_of_hubs(kind: str) -> Kernel:
    """The kernel for a kind of distance."""
    weigh = weigh_move(kind)

    @kernel
    def weigh_moves_of_hubs(
        i, hubs, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
        dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice, codes, shifts,
        lengths, state,
    ):
        """Account for the move of a hub, if it moves."""
        v = hubs[i]
        if int64(moved_in[v]) == state[at.ITERATION]:
            weigh(v, offsets, targets, weights, vertex_weights, part, wish, moved_in, dirty,
                  dirty_list, listed, boundary, unsaved, unsaved_list, weight_sums, cut_twice,
                  codes, shifts, lengths, state)

    return weigh_moves_of_hubs
