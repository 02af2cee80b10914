"""Applying moves, judging the partition they make, and keeping the best one (Jet, algorithm 4.1)."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.state import STRIPES
from portpart.algorithms.teams import team_for
from portpart.backends.interface import Array
from portpart.backends.language import (
    atomic_add,
    float64,
    int64,
    kernel,
    lane,
    team_max,
    team_size,
    team_sum,
    value_or,
)
from portpart.graph import Graph
from portpart.primitives.reduce import sum_of

ACTIVE = at.ACTIVE
BALANCED = at.BALANCED
BEST_CUT = at.BEST_CUT
BEST_IS_BALANCED = at.BEST_IS_BALANCED
BEST_MAX_WEIGHT = at.BEST_MAX_WEIGHT
BLOCKS = at.BLOCKS
CUT = at.CUT
ITERATION = at.ITERATION
ITERATION_LIMIT = at.ITERATION_LIMIT
LAST_PROPAGATION = at.LAST_PROPAGATION
MAX_BLOCK_WEIGHT = at.MAX_BLOCK_WEIGHT
MOVES = at.MOVES
REBALANCINGS = at.REBALANCINGS
RUNNING = at.RUNNING
SAVED_BLOCKS = at.SAVED_BLOCKS
SAVES = at.SAVES
STALLED = at.STALLED
STALL_LIMIT = at.STALL_LIMIT
STRONG = at.STRONG
VERTICES = at.VERTICES
WEAK_LIMIT = at.WEAK_LIMIT
WEIGHT_STRIPES = at.WEIGHT_STRIPES


def cut_of(graph: Graph, part: Array) -> int:
    """Weight of the edges between blocks, each edge once.  Synchronises."""
    space = graph.space
    cut_twice = space.zeros(STRIPES, np.int64)
    space.parallel_for(graph.num_vertices, add_outside_arcs, graph.offsets, graph.targets,
                       graph.weights, part, cut_twice, team=team_for(graph.mean_degree))
    return sum_of(space, cut_twice) // 2


@kernel
def add_outside_arcs(v, offsets, targets, weights, part, cut_twice):
    """Add v's arcs into other blocks to the cut; atomic, order-free."""
    outside = int64(0)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        if part[targets[arc]] != part[v]:
            outside += value_or(weights, arc, 1)
    outside = team_sum(outside)
    if lane() == 0 and outside > 0:
        atomic_add(cut_twice, v % STRIPES, outside)


@kernel
def add_vertex_weight(v, vertex_weights, part, weight_sums, state):
    """Add v to the weight of its block; atomic, order-free."""
    stripe = v % state[WEIGHT_STRIPES]
    atomic_add(weight_sums, stripe * state[BLOCKS] + part[v], value_or(vertex_weights, v, 1))


@kernel
def restore_block(b, best_weight, weight_sums, state):
    """Set the weight of block b to that of the best partition."""
    weight_sums[b] = best_weight[b]
    for stripe in range(1, state[WEIGHT_STRIPES]):
        weight_sums[stripe * state[BLOCKS] + b] = 0


@kernel
def restore_cut(stripe, cut_twice, state):
    """Set the cut to that of the best partition."""
    cut_twice[stripe] = 2 * state[BEST_CUT] if stripe == 0 else 0


@kernel
def apply_move(i, move_list, vertex_weights, part, wish, weight_sums, state):
    """Move v to its wish and its weight with it; atomic, order-free."""
    v = move_list[i]
    weight = value_or(vertex_weights, v, 1)
    row = (v % state[WEIGHT_STRIPES]) * state[BLOCKS]
    atomic_add(weight_sums, row + part[v], -weight)
    atomic_add(weight_sums, row + wish[v], weight)
    part[v] = wish[v]


@kernel
def judge(_, weight_sums, cut_twice, block_weight, state, tolerance):
    """Sum up weights and cut; decide what is best so far, and what to do next.  One team.

    Iteration -1 judges the partition that refinement starts from, which is the best so far.
    """
    twice = int64(0)
    for stripe in range(lane(), STRIPES, team_size()):
        twice += cut_twice[stripe]
    cut = team_sum(twice) // 2
    heaviest = int64(0)
    for b in range(lane(), state[BLOCKS], team_size()):
        weight = int64(0)
        for stripe in range(state[WEIGHT_STRIPES]):
            weight += weight_sums[stripe * state[BLOCKS] + b]
        block_weight[b] = weight
        heaviest = max(heaviest, weight)
    heaviest = team_max(heaviest)
    if lane() == 0:
        balanced = heaviest <= state[MAX_BLOCK_WEIGHT]
        iteration = state[ITERATION]
        if iteration >= 0:
            if state[BALANCED] != 0:
                state[LAST_PROPAGATION] = iteration
                state[REBALANCINGS] = 0
            else:
                state[REBALANCINGS] += 1
        better = iteration < 0
        much_better = iteration < 0
        if balanced and iteration >= 0:
            first = state[BEST_IS_BALANCED] == 0
            better = first or cut < state[BEST_CUT]
            much_better = first or float64(cut) < tolerance * float64(state[BEST_CUT])
        if not balanced and iteration >= 0 and state[BEST_IS_BALANCED] == 0:
            better = heaviest < state[BEST_MAX_WEIGHT]
            much_better = better
        state[SAVES] = 0
        state[SAVED_BLOCKS] = 0
        if better:
            state[BEST_CUT] = cut
            state[BEST_MAX_WEIGHT] = heaviest
            state[BEST_IS_BALANCED] = int64(balanced)
            state[SAVES] = state[VERTICES]
            state[SAVED_BLOCKS] = state[BLOCKS]
        state[STALLED] = 0 if much_better else state[STALLED] + 1
        state[CUT] = cut
        state[ITERATION] = iteration + 1
        state[BALANCED] = int64(balanced)
        state[STRONG] = int64(state[REBALANCINGS] >= state[WEAK_LIMIT])
        state[RUNNING] = int64(
            state[STALLED] < state[STALL_LIMIT] and iteration + 1 < state[ITERATION_LIMIT]
        )
        state[ACTIVE] = 0
        state[MOVES] = 0


@kernel
def save_best(v, part, best):
    """best[v] = part[v]."""
    best[v] = part[v]


@kernel
def save_weight(b, block_weight, best_weight):
    """best_weight[b] = block_weight[b]."""
    best_weight[b] = block_weight[b]


@kernel
def project(v, cluster, coarse_best, part):
    """A vertex starts in the block of its cluster."""
    part[v] = coarse_best[cluster[v]]
