"""Carrying out the moves of an iteration: weights and cost first, then the partition itself."""

from __future__ import annotations

from portpart.algorithms.objectives.objective import Rules, Tables
from portpart.algorithms.refinement.active_sets import is_for, list_on_boundary
from portpart.algorithms.refinement.homes import pull_of
from portpart.algorithms.refinement.scopes import Accounting
from portpart.algorithms.refinement.state import (
    ActiveSets,
    Blocks,
    Figures,
    GainCache,
    Incumbent,
    Moves,
)
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
from portpart.graphs.rows import Csr, degree_of
from portpart.primitives.reduce import STRIPES


@device
def mark_dirty(v, cache: GainCache):
    """Put v on the list of vertices to refresh, once."""
    if atomic_load(cache.is_dirty, v) == 0:
        if atomic_cas(cache.is_dirty, v, int32(0), int32(1)) == 0:
            cache.dirty_list[atomic_next(cache, GainCache.marked)] = int32(v)
    return v


@device
def list_unsaved(v, incumbent: Incumbent):
    """Put v on the list of vertices that have moved since the best partition, once."""
    if incumbent.is_unsaved[v] == 0:
        incumbent.is_unsaved[v] = int8(1)
        incumbent.unsaved_list[atomic_next(incumbent, Incumbent.unsaved)] = int32(v)
    return v


@device
def weigh_vertex(v, graph: Csr, moves: Moves, cache: GainCache, active: ActiveSets,
                 incumbent: Incumbent, blocks: Blocks, figures: Figures):
    """Account for what v weighs, and for its tie to home, as it goes to its target; list it.

    Order-free.
    """
    here = moves.part[v]
    there = moves.target[v]
    mark_dirty(v, cache)
    list_on_boundary(v, active)
    list_unsaved(v, incumbent)
    weight = value_or(graph.vertex_weights, v, 1)
    stripe = (int64(v) % moves.weight_stripes) * figures.blocks
    atomic_add(moves.weight_sums, stripe + here, -weight)
    atomic_add(moves.weight_sums, stripe + there, weight)
    change = pull_of(v, here, blocks) - pull_of(v, there, blocks)
    if change != 0:
        atomic_add(moves.cost_sums, int64(v) % STRIPES, 2 * change)
    return weight


@device
def weigh_move(v, graph: Csr, state: Accounting, tables: Tables, rules: Rules):
    """Account for the move of v to its target; the gains of its neighbours are out of date.

    An arc to a vertex that moves too is seen from both ends and counts half.  Atomic,
    order-free.
    """
    here = state.moves.part[v]
    there = state.moves.target[v]
    iteration = int32(state.figures.iteration)
    change = int64(0)
    for arc in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        u = graph.targets[arc]
        weight = value_or(graph.weights, arc, 1)
        before = state.moves.part[u]
        after = before
        if state.moves.moved_in[u] == iteration:
            after = state.moves.target[u]
        else:
            weight *= 2
        farther = rules.distance(there, after, tables) - rules.distance(here, before, tables)
        change += weight * farther
        mark_dirty(u, state.cache)
    change = team_sum(change)
    if lane() == 0:
        weigh_vertex(v, graph, state.moves, state.cache, state.active, state.incumbent,
                     state.blocks, state.figures)
        if change != 0:
            atomic_add(state.moves.cost_sums, int64(v) % STRIPES, change)
    return change


@kernel
def weigh_moves(i, graph: Csr, state: Accounting, tables: Tables, one_lane, rules: Rules):
    """Account for a move, unless a hub makes it."""
    v = state.moves.listed[i]
    is_hub = degree_of(v, graph) > state.figures.hub_degree
    if is_for(one_lane, state.moves.moves, state.figures) and not is_hub:
        weigh_move(v, graph, state, tables, rules)


@kernel
def weigh_moves_of_hubs(i, graph: Csr, state: Accounting, tables: Tables, rules: Rules):
    """Account for the move of a hub, if it moves."""
    v = state.active.hub_list[i]
    if int64(state.moves.moved_in[v]) == state.figures.iteration:
        weigh_move(v, graph, state, tables, rules)


@kernel
def move_vertex(i, moves: Moves):
    """Carry out a move."""
    v = moves.listed[i]
    moves.part[v] = moves.target[v]


@device
def save_vertex(i, moves: Moves, incumbent: Incumbent):
    """Keep vertex i of those that have moved since the best partition, and return it."""
    v = incumbent.unsaved_list[i]
    incumbent.best[v] = moves.part[v]
    incumbent.is_unsaved[v] = int8(0)
    return v


@device
def save_block(i, moves: Moves, incumbent: Incumbent, blocks: Blocks):
    """Keep the weight of block i if this partition is the best; the list of moves is done with."""
    if i < incumbent.saved_blocks:
        incumbent.best_weight[i] = blocks.weight[i]
    if i == 0:
        moves.moves = 0
    return i


@kernel
def save_best(i, moves: Moves, incumbent: Incumbent, blocks: Blocks):
    """Keep vertex and block i if this partition is the best."""
    if i < incumbent.saved_vertices:
        save_vertex(i, moves, incumbent)
    save_block(i, moves, incumbent, blocks)
