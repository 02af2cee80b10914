"""Carrying out the moves of an iteration: weights and cost first, then the partition itself."""

from __future__ import annotations

from portpart.algorithms.objectives.objective import Rules, Tables
from portpart.algorithms.refinement.active_sets import is_for, list_on_boundary
from portpart.algorithms.refinement.homes import pull_of
from portpart.algorithms.refinement.state import (
    CacheWords,
    GainCache,
    Incumbent,
    IncumbentWords,
    Run,
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
def mark_dirty(v, cache: GainCache, level: CacheWords):
    """Put v on the list of vertices to refresh, once."""
    if atomic_load(cache.dirty, v) == 0:
        if atomic_cas(cache.dirty, v, int32(0), int32(1)) == 0:
            cache.dirty_list[atomic_next(level, CacheWords.marked)] = int32(v)
    return v


@device
def list_unsaved(v, incumbent: Incumbent, level: IncumbentWords):
    """Put v on the list of vertices that have moved since the best partition, once."""
    if incumbent.unsaved[v] == 0:
        incumbent.unsaved[v] = int8(1)
        incumbent.unsaved_list[atomic_next(level, IncumbentWords.unsaved)] = int32(v)
    return v


@device
def weigh_vertex(v, graph: Csr, run: Run):
    """Account for what v weighs, and for its tie to home, as it goes to its target; list it.

    Order-free.
    """
    here = run.moves.part[v]
    there = run.moves.target[v]
    mark_dirty(v, run.cache, run.level)
    list_on_boundary(v, run.active, run.level)
    list_unsaved(v, run.incumbent, run.level)
    weight = value_or(graph.vertex_weights, v, 1)
    stripe = (int64(v) % run.level.weight_stripes) * run.level.blocks
    atomic_add(run.moves.weight_sums, stripe + here, -weight)
    atomic_add(run.moves.weight_sums, stripe + there, weight)
    change = pull_of(v, here, run.blocks) - pull_of(v, there, run.blocks)
    if change != 0:
        atomic_add(run.moves.cost_sums, int64(v) % STRIPES, 2 * change)
    return weight


@device
def weigh_move(v, graph: Csr, run: Run, tables: Tables, rules: Rules):
    """Account for the move of v to its target; the gains of its neighbours are out of date.

    An arc to a vertex that moves too is seen from both ends and counts half.  Atomic,
    order-free.
    """
    here = run.moves.part[v]
    there = run.moves.target[v]
    iteration = int32(run.level.iteration)
    change = int64(0)
    for arc in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        u = graph.targets[arc]
        weight = value_or(graph.weights, arc, 1)
        before = run.moves.part[u]
        after = before
        if run.moves.moved_in[u] == iteration:
            after = run.moves.target[u]
        else:
            weight *= 2
        farther = rules.distance(there, after, tables) - rules.distance(here, before, tables)
        change += weight * farther
        mark_dirty(u, run.cache, run.level)
    change = team_sum(change)
    if lane() == 0:
        weigh_vertex(v, graph, run)
        if change != 0:
            atomic_add(run.moves.cost_sums, int64(v) % STRIPES, change)
    return change


@kernel
def weigh_moves(i, graph: Csr, run: Run, tables: Tables, one_lane, rules: Rules):
    """Account for a move, unless a hub makes it."""
    v = run.moves.listed[i]
    is_hub = degree_of(v, graph) > run.level.hub_degree
    if is_for(one_lane, run.level.moves, run.level) and not is_hub:
        weigh_move(v, graph, run, tables, rules)


@kernel
def weigh_moves_of_hubs(i, graph: Csr, run: Run, tables: Tables, rules: Rules):
    """Account for the move of a hub, if it moves."""
    v = run.active.hubs[i]
    if int64(run.moves.moved_in[v]) == run.level.iteration:
        weigh_move(v, graph, run, tables, rules)


@kernel
def move_vertex(i, run: Run):
    """Carry out a move."""
    v = run.moves.listed[i]
    run.moves.part[v] = run.moves.target[v]


@device
def save_vertex(i, run: Run):
    """Keep vertex i of those that have moved since the best partition, and return it."""
    v = run.incumbent.unsaved_list[i]
    run.incumbent.best[v] = run.moves.part[v]
    run.incumbent.unsaved[v] = int8(0)
    return v


@device
def save_block(i, run: Run):
    """Keep the weight of block i if this partition is the best; the list of moves is done with."""
    if i < run.level.saved_blocks:
        run.incumbent.best_weight[i] = run.blocks.weight[i]
    if i == 0:
        run.level.moves = 0
    return i


@kernel
def save_best(i, run: Run):
    """Keep vertex and block i if this partition is the best."""
    if i < run.level.saved_vertices:
        save_vertex(i, run)
    save_block(i, run)
