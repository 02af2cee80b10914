"""Clustering: size-constrained label propagation in synchronous rounds, without sorting.

A cluster is named by its leader, a vertex that stays in it.  In a round every single vertex wishes
for the cluster around that it is most connected to.  The wishes of single vertices for each other
form trees; the vertices at odd depth move and those at even depth stay, so that nobody joins a
vertex that leaves.  A cluster that has no room for all who ask takes those whom a hash favours.
In the last rounds members that would be better off elsewhere move too.  The result does not depend
on the order of arcs or of threads.

After Meyerhenke, Sanders, Schulz: Partitioning complex networks via size-constrained clustering
(2016), which is sequential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.cluster_wishes import (
    MAX_NARROW,
    wish_for_cluster,
    wish_for_cluster_by_row,
    wish_for_neighbour,
)
from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_leaders
from portpart.algorithms.coarsening.leftovers import (
    ISOLATED_KEYS,
    choose_in_group,
    clear_group,
    clear_key,
    count_fan,
    enter_group,
    join_group,
    place_groups,
)
from portpart.algorithms.teams import team_for
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    atomic_add,
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    value_or,
)
from portpart.backends.program import Program
from portpart.graph import Graph
from portpart.primitives.hashing import hash_of, mixed

NOBODY = -1

# Words of `sizes`: lengths of lists (two of a kind), and of the arrays.
ACTIVE, WIDE, VERTICES = 0, 2, 4
KEYS, GROUPS, LEFT = 5, 6, 7
SIZES = 8

NO_LIMIT = 2**62

MAX_DEPTH = 32
"""Wishes are followed so far; chains of heavier and heavier edges can be longer."""

CHANCE = 0.5
"""Share of a cluster's room that is given away if too many ask: more would often be too many."""

ASKS, IS_CHOSEN = 1, 2


@dataclass(frozen=True)
class ClusteringOptions:
    """Parameters of the clustering.

    Parameters
    ----------
    join_rounds : int
        Rounds in which single vertices join clusters.
    improve_rounds : int
        Rounds after those in which half of the members, in turn, may move as well.
    """

    join_rounds: int = 4
    improve_rounds: int = 0
    left_share: float = 0.1


def cluster(space: ExecutionSpace, graph: Graph, max_weight: int, seed: int,
            options: ClusteringOptions, label: Array | None = None) -> Clusters:
    """Clusters of at most `max_weight`, of vertices close to each other.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph
    max_weight : int
        No cluster weighs more, but for one of a single vertex.
    seed : int
        Breaks ties.
    options : ClusteringOptions
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a cluster.

    Returns
    -------
    Clusters
        Numbered in the order of their leaders.  Synchronises once, to read how many they are.
    """
    n = graph.num_vertices
    bindings = _work_arrays(space, graph, label)
    bindings.update(max_weight=max_weight, seed=seed)
    team = team_for(graph.mean_degree)
    key = ("clustering", graph.type_key, bindings["sums"].dtype.name, team, options,
           label is not None)
    executable = space.cached_executable(key, lambda: _record(graph, bindings, team, options))
    executable.run(bindings, max(n, 1))
    return clusters_of_leaders(space, bindings["cluster"])


def _work_arrays(space: ExecutionSpace, graph: Graph, label: Array | None) -> dict[str, Any]:
    n, most_wide = graph.num_vertices, graph.num_arcs // (MAX_NARROW + 1)
    row_slots = graph.num_arcs if most_wide else 0
    sizes = np.zeros(SIZES, np.int64)
    sizes[VERTICES], sizes[KEYS] = n, n + ISOLATED_KEYS
    key_arrays = {"fans": np.int32, "fan_weight": np.int64, "first_fan": np.int32,
                  "first_group": np.int32}
    vertex_arrays = {
        "cluster": np.int32, "cluster_weight": np.int64, "others": np.int32, "wish": np.int32,
        "moves": np.int8, "asks": np.int8, "asked": np.int64, "chosen": np.int64,
        "active_0": np.int32, "active_1": np.int32,
        "group_of": np.int32, "group_leader": np.int32, "group_weight": np.int64,
        "group_chosen": np.int64,
    }
    return {
        **graph.arrays,
        **{name: space.empty(n, dtype) for name, dtype in vertex_arrays.items()},
        **{name: space.empty(n + ISOLATED_KEYS, dtype) for name, dtype in key_arrays.items()},
        "wide_0": space.empty(most_wide, np.int32), "wide_1": space.empty(most_wide, np.int32),
        "keys": space.empty(row_slots, np.int32),
        "sums": space.empty(row_slots, graph.weight_sum_dtype),
        "label": label,
        "sizes": space.asarray(sizes),
    }


def _record(graph: Graph, bindings: dict[str, Any], team: int,
            options: ClusteringOptions) -> Program:
    program = Program("clustering")
    graph.declare(program)
    for name, array in bindings.items():
        if name not in program.slots and name not in ("max_weight", "seed"):
            program.array(name, None if array is None else array.dtype)
    program.scalar("max_weight")
    program.scalar("seed")
    vertices = program.slots["sizes"][VERTICES]
    program.launch(vertices, begin_single)
    for turn in range(options.join_rounds + options.improve_rounds):
        here, there = turn % 2, 1 - turn % 2
        if turn == 0:
            program.launch(vertices, list_singles)
            program.launch(vertices, wish_for_neighbour, team=team)
        else:
            if turn >= options.join_rounds:
                _launch(program, 1, empty_lists, at=here)
                _launch(program, vertices, list_movers, here, at=here, turn=turn)
            _wish(program, here, team)
        choose = choose_by_depth if turn < options.join_rounds else choose_all
        _admit(program, choose, here, turn)
        if turn + 1 < options.join_rounds:
            _launch(program, 1, empty_lists, at=there)
            _launch(program, program.slots["sizes"][ACTIVE + here], list_rest, here, at=there)
    _group_leftovers(program, team, options)
    return program


def _group_leftovers(program: Program, team: int, options: ClusteringOptions) -> None:
    """Group those that are single, if they are many."""
    sizes = program.slots["sizes"]
    active = sizes[ACTIVE]
    at = {"vertices_at": VERTICES, "groups_at": GROUPS}
    _launch(program, 1, empty_lists, at=0)
    _launch(program, sizes[VERTICES], list_leftovers, at=0)
    _launch(program, 1, judge_leftovers, least=int(options.left_share * 1000))
    with program.if_nonzero(sizes[LEFT]):
        _launch(program, active, wish_for_cluster, team=min(team, 8), max_weight=NO_LIMIT)
        _launch(program, sizes[WIDE], wish_for_cluster_by_row, team=32, max_weight=NO_LIMIT)
        _launch(program, sizes[KEYS], clear_key)
        _launch(program, sizes[VERTICES], clear_group)
        _launch(program, active, count_fan, **at)
        _launch(program, active, place_groups, **at)
        _launch(program, active, enter_group, **at)
        _launch(program, active, choose_in_group)
        _launch(program, active, join_group)


def _wish(program: Program, here: int, team: int) -> None:
    sizes = program.slots["sizes"]
    _launch(program, sizes[ACTIVE + here], wish_for_cluster, here, team=min(team, 8))
    _launch(program, sizes[WIDE + here], wish_for_cluster_by_row, here, team=32)


def _admit(program: Program, choose: Kernel, here: int, turn: int) -> None:
    """Let those on the list join the clusters they wish for, as far as there is room."""
    count = program.slots["sizes"][ACTIVE + here]
    _launch(program, count, choose, here)
    _launch(program, count, ask_for_room, here)
    _launch(program, count, choose_by_chance, here, turn=turn)
    _launch(program, count, join, here)
    _launch(program, count, settle, here)


def _launch(program: Program, count: Any, kernel: Kernel, here: int = 0, team: int = 1,
            **constants: Any) -> None:
    """Launch with the slots that the parameters are named after, lists being those of `here`."""
    slots = program.slots
    lists = {"active": slots[f"active_{here}"], "wide": slots[f"wide_{here}"],
             "next_active": slots[f"active_{1 - here}"], "next_wide": slots[f"wide_{1 - here}"]}
    known = {**slots, **lists, **constants}
    program.parallel_for(count, kernel, *(known[name] for name in kernel.parameters[1:]),
                         team=team)


@kernel
def begin_single(v, vertex_weights, cluster, cluster_weight, others, moves, asks, asked, chosen):
    """Every vertex leads a cluster of itself."""
    weight = value_or(vertex_weights, v, 1)
    cluster[v] = int32(v)
    cluster_weight[v] = weight
    asked[v] = weight
    chosen[v] = weight
    others[v] = int32(0)
    moves[v] = int8(0)
    asks[v] = int8(0)


@device
def append(v, active, wide, offsets, sizes, at):
    """Put v on the lists; their order depends on the threads, no result depends on their order."""
    active[atomic_add(sizes, ACTIVE + at, 1)] = int32(v)
    if int64(offsets[v + 1]) - int64(offsets[v]) > MAX_NARROW:
        wide[atomic_add(sizes, WIDE + at, 1)] = int32(v)
    return v


@kernel
def list_singles(v, active_0, sizes):
    """All vertices are active."""
    active_0[v] = int32(v)
    if v == 0:
        sizes[ACTIVE] = sizes[VERTICES]


@kernel
def empty_lists(_, sizes, at):
    """Empty the lists that come next."""
    sizes[ACTIVE + at] = 0
    sizes[WIDE + at] = 0


@kernel
def list_rest(i, active, offsets, cluster, others, wish, next_active, next_wide, sizes, at):
    """Keep v active if it is single still and found somebody to wish for."""
    v = active[i]
    if wish[v] != NOBODY and cluster[v] == v and others[v] == 0:
        append(v, next_active, next_wide, offsets, sizes, at)


@kernel
def list_movers(v, offsets, cluster, others, active, wide, seed, turn, sizes, at):
    """Let v be active in this turn if a hash says so, unless it leads others."""
    if cluster[v] != v or others[v] == 0:
        if (hash_of(v, mixed(seed) ^ (turn // 2)) ^ turn) & 1 == 0:
            append(v, active, wide, offsets, sizes, at)


@kernel
def list_leftovers(v, offsets, cluster, others, active, wide, sizes, at):
    """List the vertices that are single still."""
    if cluster[v] == v and others[v] == 0:
        append(v, active, wide, offsets, sizes, at)


@kernel
def judge_leftovers(_, sizes, least):
    """Those that are left are many if they are more than so many thousandths of all."""
    sizes[LEFT] = int64(1000 * sizes[ACTIVE] > least * sizes[VERTICES])


@kernel
def choose_by_depth(i, active, wish, others, moves, seed):
    """Of the trees that the wishes of single vertices form, those at odd depth move.

    A root wishes for nobody, or is one of two vertices that wish for each other; what wishes for
    a cluster of several is at depth one.  Chains that are too long begin with a hash.
    """
    v = active[i]
    depth = int64(0)
    u = v
    following = True
    while following:
        c = wish[u]
        following = c != NOBODY
        if following and others[c] > 0:
            depth += 1
            following = False
        elif following and wish[c] == u and hash_of(u, seed) > hash_of(c, seed):
            following = False
        elif following:
            depth += 1
            u = c
            if depth >= MAX_DEPTH:
                depth += hash_of(u, seed) & 1
                following = False
    moves[v] = int8(depth & 1)


@kernel
def choose_all(i, active, cluster, wish, moves):
    """Whoever wishes for another cluster moves."""
    v = active[i]
    moves[v] = int8(wish[v] != NOBODY and wish[v] != cluster[v])


@kernel
def ask_for_room(i, active, vertex_weights, wish, moves, asks, asked):
    """If v moves and the leader it wishes for stays, ask for room there; atomic, order-free."""
    v = active[i]
    asks[v] = int8(0)
    if moves[v] != 0:
        c = wish[v]
        if moves[c] == 0:
            asks[v] = int8(ASKS)
            atomic_add(asked, c, value_or(vertex_weights, v, 1))


@kernel
def choose_by_chance(i, active, vertex_weights, wish, asks, asked, chosen, cluster_weight,
                     max_weight, seed, turn):
    """Where too many ask, choose about as many as fill half of the room; atomic, order-free."""
    v = active[i]
    if asks[v] != 0:
        c = wish[v]
        if asked[c] > max_weight:
            room = float64(max_weight - cluster_weight[c])
            chance = CHANCE * room / float64(asked[c] - cluster_weight[c])
            if float64(hash_of(v, mixed(seed) ^ turn) & 0x7FFFFFFF) < chance * 2147483648.0:
                asks[v] = int8(IS_CHOSEN)
                atomic_add(chosen, c, value_or(vertex_weights, v, 1))


@kernel
def join(i, active, vertex_weights, wish, asks, asked, chosen, cluster, cluster_weight, others,
         max_weight):
    """Move v if there is room for all who ask, or for all who are chosen; atomic, order-free."""
    v = active[i]
    if asks[v] != 0:
        c = wish[v]
        if asked[c] <= max_weight or (asks[v] == IS_CHOSEN and chosen[c] <= max_weight):
            weight = value_or(vertex_weights, v, 1)
            left = cluster[v]
            if left != v:
                atomic_add(others, left, -1)
                atomic_add(cluster_weight, left, -weight)
            atomic_add(others, c, 1)
            atomic_add(cluster_weight, c, weight)
            cluster[v] = c


@kernel
def settle(i, active, wish, moves, asks, cluster_weight, asked, chosen):
    """Make the marks of v and of the cluster it asked ready for the next round."""
    v = active[i]
    moves[v] = int8(0)
    if asks[v] != 0:
        c = wish[v]
        asked[c] = cluster_weight[c]
        chosen[c] = cluster_weight[c]
