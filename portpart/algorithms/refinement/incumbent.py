"""Judging a partition, planning the next iteration, and keeping the best (Jet, algorithm 4.1)."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import is_crowded, plan_gathering, turn_eager
from portpart.algorithms.refinement.loss_buckets import SLIGHT_SHARE
from portpart.algorithms.refinement.rebalance import list_destinations
from portpart.algorithms.refinement.state import STRIPES
from portpart.backends.interface import Array
from portpart.backends.language import (
    atomic_add,
    device,
    float64,
    int8,
    int64,
    kernel,
    lane,
    team_array,
    team_max,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for_all
from portpart.primitives.reduce import sum_of

NOT_BETTER, BETTER, MUCH_BETTER = 0, 1, 2
LOWEST = -(2**63)

ENOUGH_GROUPS = 2048
"""Teams to look through a list at the same time: more would take turns on a GPU."""


def cut_of(graph: Graph, part: Array) -> int:
    """Weight of the edges between blocks, each edge once.  Synchronises."""
    space = graph.space
    cut_twice = space.zeros(STRIPES, np.int64)
    space.parallel_for(graph.num_vertices, add_outside_arcs, graph.offsets, graph.targets,
                       graph.weights, part, cut_twice, team=team_for_all(graph))
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
    stripe = v % state[at.WEIGHT_STRIPES]
    atomic_add(weight_sums, stripe * state[at.BLOCKS] + part[v], value_or(vertex_weights, v, 1))


@kernel
def restore_block(b, best_weight, weight_sums, state):
    """Set the weight of block b to that of the best partition."""
    weight_sums[b] = best_weight[b]
    for stripe in range(1, state[at.WEIGHT_STRIPES]):
        weight_sums[stripe * state[at.BLOCKS] + b] = 0


@kernel
def restore_cut(stripe, cut_twice, before):
    """Set the cut to that of the best partition of the run before."""
    cut_twice[stripe] = 2 * before[at.BEST_CUT] if stripe == 0 else 0


@device
def compare_with_best(cut, overload, state, tolerance):
    """How the partition compares with the best: NOT_BETTER, BETTER or MUCH_BETTER.

    Iteration -1 judges the partition that refinement starts from, which is the best so far.
    """
    result = int64(NOT_BETTER)
    best_cut = state[at.BEST_CUT]
    if state[at.ITERATION] < 0:
        result = int64(MUCH_BETTER)
    elif state[at.BEST_IS_BALANCED] == 0:
        if overload < state[at.BEST_OVERLOAD]:
            result = int64(MUCH_BETTER)
    elif overload <= 0 and cut < best_cut:
        result = int64(BETTER)
        if float64(cut) < tolerance * float64(best_cut):
            result = int64(MUCH_BETTER)
    return result


@device
def keep_if_better(improvement, cut, overload, state):
    """Record the values of a new best partition, and what is to be copied."""
    state[at.SAVED_VERTICES] = 0
    state[at.SAVED_BLOCKS] = 0
    if improvement != NOT_BETTER:
        state[at.BEST_CUT] = cut
        state[at.BEST_OVERLOAD] = overload
        state[at.BEST_IS_BALANCED] = int64(overload <= 0)
        state[at.SAVED_VERTICES] = state[at.UNSAVED]
        state[at.UNSAVED] = 0
        state[at.SAVED_BLOCKS] = state[at.BLOCKS]
    return improvement


@device
def plan_next(improvement, balanced, state):
    """Count what was done and set the flags of the next iteration."""
    iteration = state[at.ITERATION]
    if iteration >= 0 and state[at.BALANCED] != 0:
        state[at.LAST_PROPAGATION] = iteration
        state[at.REBALANCINGS] = 0
        turn_eager(state)
    elif iteration >= 0:
        state[at.REBALANCINGS] += 1
        state[at.SHORT] = 0
        state[at.WIDE] = state[at.NEXT_WIDE]
        state[at.NEXT_WIDE] = 0
    state[at.STALLED] = 0 if improvement == MUCH_BETTER else state[at.STALLED] + 1
    state[at.ITERATION] = iteration + 1
    state[at.BALANCED] = int64(balanced)
    state[at.OVERLOADED] = 1 - int64(balanced)
    state[at.CROWDED] = int64(is_crowded(state))
    plan_gathering(state)
    state[at.STRONG] = int64(not balanced and state[at.REBALANCINGS] >= state[at.WEAK_LIMIT])
    state[at.RUNNING] = int64(
        state[at.STALLED] < state[at.STALL_LIMIT] and iteration + 1 < state[at.ITERATION_LIMIT]
    )
    return iteration


@device
def plan_work(far, state):
    """Set the work sizes of what follows; `far` tells of a block that is far too heavy."""
    state[at.SAVES] = max(1, max(state[at.SAVED_VERTICES], state[at.SAVED_BLOCKS]))
    state[at.DIRTY] = state[at.MARKED]
    state[at.GROUP] = max(1, min(state[at.MOST_IN_GROUP], state[at.MARKED] // ENOUGH_GROUPS))
    state[at.DIRTY_GROUPS] = (state[at.MARKED] + state[at.GROUP] - 1) // state[at.GROUP]
    state[at.MARKED] = 0
    state[at.LEAVERS] = 0
    state[at.RATED] = 0
    state[at.UNRATED] = 0
    state[at.UNRATED_HUBS] = 0
    state[at.FAR_VERTICES] = max(far, state[at.STRONG]) * state[at.VERTICES]
    return state[at.SAVES]


@kernel
def judge(
    _, weight_sums, cut_twice, block_weight, limits, means, open_below, destinations, room, state,
    tolerance,
):
    """Sum up weights and cut, then decide what is best so far and what to do next.  One team.

    The overload is the most by which a block exceeds its limit.  The state is read and written as
    a whole: one word after the other would wait for memory each time.
    """
    words = team_array(int64, at.SIZE)
    for word in range(lane(), at.SIZE, team_size()):
        words[word] = state[word]
    twice = int64(0)
    for stripe in range(lane(), STRIPES, team_size()):
        twice += cut_twice[stripe]
    twice = team_sum(twice)
    overload = int64(LOWEST)
    far = int64(0)
    for b in range(lane(), state[at.BLOCKS], team_size()):
        weight = int64(0)
        for stripe in range(state[at.WEIGHT_STRIPES]):
            weight += weight_sums[stripe * state[at.BLOCKS] + b]
        block_weight[b] = weight
        overload = max(overload, weight - limits[b] - state[at.SLACK])
        if weight > limits[b] + state[at.SLACK] and weight - means[b] > limits[b] // SLIGHT_SHARE:
            far = int64(1)
    overload = team_max(overload)
    far = team_max(far)
    team_sync()
    if overload > 0:
        list_destinations(block_weight, open_below, destinations, room, words)
    if lane() == 0:
        improvement = compare_with_best(twice // 2, overload, words, tolerance)
        keep_if_better(improvement, twice // 2, overload, words)
        plan_next(improvement, overload <= 0, words)
        plan_work(far, words)
    team_sync()
    for word in range(lane(), at.SIZE, team_size()):
        state[word] = words[word]


@device
def may_touch(v, listed, dirty):
    """Whether v may be on a boundary of the best partition: all others are surely not.

    The last moves may be the best ones, and what they have changed is not listed yet.
    """
    return int8(listed[v] != 0 or dirty[v] != 0)


@kernel
def project(v, cluster, best, part, listed, dirty, touched):
    """A vertex starts in the block of its cluster, and inside it if that was."""
    part[v] = best[cluster[v]]
    touched[v] = may_touch(cluster[v], listed, dirty)


@kernel
def go_back(v, best, part, listed, dirty, touched):
    """A vertex starts in its best block."""
    part[v] = best[v]
    touched[v] = may_touch(v, listed, dirty)
