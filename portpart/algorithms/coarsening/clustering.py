"""Clustering: size-constrained label propagation in synchronous rounds, without sorting.

A cluster is named by its leader, a vertex that stays in it.  In a round every single vertex wishes
for the cluster around with room that rates highest.  The wishes of single vertices for each other
form trees; the vertices at odd depth move and those at even depth stay, so that nobody joins a
vertex that leaves:

    a -> b -> c <-> d      d leads (the hash decides between c and d), c and a move, b stays

A cluster without room for all who ask takes those whom a hash favours.  In the rounds of
improvement members that would be better off elsewhere move too.  What is single in the end is
grouped (`leftovers.py`) if it is much.  Nothing depends on the order of arcs or of threads.

After Meyerhenke, Sanders, Schulz: Partitioning (hierarchically clustered) complex networks via
size-constrained graph clustering (2016), which is sequential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening import leftovers
from portpart.algorithms.coarsening.cluster_wishes import (
    MAX_NARROW,
    wish_for_cluster,
    wish_for_cluster_by_row,
    wish_for_neighbour,
    wish_of_hub,
)
from portpart.algorithms.coarsening.contraction import Clusters, clusters_of_leaders
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
from portpart.errors import InputError
from portpart.graph import Graph
from portpart.primitives.hashing import hash_of, mixed

NOBODY = -1
NO_LIMIT = 2**62
NO_DEGREE = 2**31

# Words of `sizes`: lengths of lists (two of a kind) and of the arrays, a counter, a flag.
ACTIVE, WIDE = 0, 2
VERTICES, KEYS = 4, 5
GROUPS, LEFT = 6, 7
SIZES = 8

MAX_WARP = 1024
"""Vertices of higher degree get the widest team: they must not hold up the others."""

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
    most_left : float
        If more than this share of the vertices is single after that, they are grouped.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    join_rounds: int = 3
    improve_rounds: int = 0
    most_left: float = 0.25

    def __post_init__(self) -> None:
        for name, least in (("join_rounds", 1), ("improve_rounds", 0), ("most_left", 0)):
            if not getattr(self, name) >= least:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least {least}")


def cluster(space: ExecutionSpace, graph: Graph, max_weight: int, seed: int,
            options: ClusteringOptions, label: Array | None = None) -> Clusters:
    """Clusters of at most `max_weight`, of vertices close to each other.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph
    max_weight : int
        No cluster of several vertices weighs more.
    seed : int
        Breaks ties.
    options : ClusteringOptions
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a cluster.

    Returns
    -------
    Clusters
        Numbered in the order of their leaders.  Connected, but for groups of what was left over
        and for clusters that a member left in a round of improvement.

    Notes
    -----
    Time O(n + m) per round.  Synchronises once, to read how many clusters there are.  Takes 54
    bytes per vertex, and 4 per arc and a sum of arc weights per arc if there are degrees above 16.
    """
    n = graph.num_vertices
    bindings = _work_arrays(space, graph, label)
    team = team_for(graph.mean_degree)
    key = ("clustering", graph.type_key, bindings["sums"].dtype.name, team, options,
           label is not None)
    executable = space.cached_executable(key, lambda: _record(graph, bindings, team, options))
    bindings.update(max_weight=max_weight, seed=seed)
    executable.run(bindings, n + leftovers.ISOLATED_KEYS)
    return clusters_of_leaders(space, bindings["cluster"][:n])


def _work_arrays(space: ExecutionSpace, graph: Graph, label: Array | None) -> dict[str, Any]:
    n, most_wide = graph.num_vertices, graph.num_arcs // (MAX_NARROW + 1)
    keys = n + leftovers.ISOLATED_KEYS
    row_slots = graph.num_arcs if most_wide else 0
    vertex_arrays = {
        "cluster": np.int32, "cluster_weight": np.int64, "others": np.int32, "wish": np.int32,
        "moves": np.int8, "asks": np.int8, "asked": np.int64, "chosen": np.int64,
        "active_0": np.int32, "active_1": np.int32, "first_fan": np.int32,
    }
    sizes = np.zeros(SIZES, np.int64)
    sizes[VERTICES], sizes[KEYS] = n, keys
    return {
        **graph.arrays,
        **{name: space.empty(keys, dtype) for name, dtype in vertex_arrays.items()},
        "wide_0": space.empty(most_wide, np.int32), "wide_1": space.empty(most_wide, np.int32),
        "keys": space.empty(row_slots, np.int32),
        "sums": space.empty(row_slots, graph.weight_sum_dtype),
        "label": label,
        "sizes": space.asarray(sizes),
    }


class _Recording:
    """A program whose launches find slots by the names of a kernel's parameters."""

    def __init__(self, graph: Graph, bindings: dict[str, Any], team: int) -> None:
        self.team = team
        self.program = Program("clustering")
        graph.declare(self.program)
        for name, array in bindings.items():
            if name not in self.program.slots:
                self.program.array(name, None if array is None else array.dtype)
        self.program.scalar("max_weight")
        self.program.scalar("seed")
        self.sizes = self.program.slots["sizes"]

    def launch(self, count: Any, kernel: Kernel, here: int = 0, team: int = 1,
               **given: Any) -> None:
        """Launch over the slots named like the parameters; lists are those of turn `here`.

        Parameters of the names in `given` get that constant, or the slot of that name.
        """
        slots, there = self.program.slots, 1 - here
        known = {"active": f"active_{here}", "wide": f"wide_{here}",
                 "next_active": f"active_{there}", "next_wide": f"wide_{there}", **given}
        values = (known.get(name, name) for name in kernel.parameters[1:])
        arguments = (slots[value] if isinstance(value, str) else value for value in values)
        self.program.parallel_for(count, kernel, *arguments, team=team)

    def wish(self, here: int, **given: Any) -> None:
        """Every vertex on the list wishes for a cluster, with a team that suits its degree."""
        wide = self.sizes[WIDE + here]
        self.launch(self.sizes[ACTIVE + here], wish_for_cluster, here, min(self.team, 8), **given)
        for team, above, most in ((32, MAX_NARROW, MAX_WARP), (256, MAX_WARP, NO_DEGREE)):
            self.launch(wide, wish_for_cluster_by_row, here, team, above=above, most=most, **given)

    def admit(self, choose: Kernel, here: int, turn: int) -> None:
        """Let those on the list join the clusters they wish for, as far as there is room."""
        count = self.sizes[ACTIVE + here]
        for each in (choose, ask_for_room, choose_by_chance, join, settle):
            self.launch(count, each, here, turn=turn)


def _record(graph: Graph, bindings: dict[str, Any], team: int,
            options: ClusteringOptions) -> Program:
    recording = _Recording(graph, bindings, team)
    _join_first(recording)
    for turn in range(1, options.join_rounds):
        here = turn % 2
        recording.launch(1, empty_lists, at=here)
        recording.launch(recording.sizes[ACTIVE + 1 - here], list_rest, 1 - here, at=here)
        recording.wish(here)
        recording.admit(choose_by_depth, here, turn)
    for turn in range(options.improve_rounds):
        recording.launch(1, empty_lists, at=0)
        recording.launch(recording.sizes[VERTICES], list_movers, turn=turn, at=0)
        recording.wish(0)
        recording.admit(choose_all, 0, options.join_rounds + turn)
    _group_leftovers(recording, options)
    return recording.program


def _join_first(recording: _Recording) -> None:
    """The first round: all vertices are single, so that no arcs have to be added up."""
    vertices = recording.sizes[VERTICES]
    recording.launch(vertices, begin_single)
    recording.launch(vertices, list_singles)
    recording.launch(vertices, wish_for_neighbour, team=recording.team, most=MAX_WARP)
    recording.launch(recording.sizes[WIDE], wish_of_hub, team=256)
    recording.admit(choose_by_depth, 0, 0)


def _group_leftovers(recording: _Recording, options: ClusteringOptions) -> None:
    """Group those that are single, if they are many."""
    sizes, launch = recording.sizes, recording.launch
    reused = {"fans": "others", "fan_weight": "asked", "first_group": "first_fan",
              "group_of": "wish", "group_leader": "active_1", "group_weight": "chosen",
              "group_chosen": "cluster_weight", "vertices_at": VERTICES, "groups_at": GROUPS}
    launch(1, empty_lists, at=0)
    launch(sizes[VERTICES], list_leftovers, at=0)
    launch(1, judge_leftovers, least=int(1000 * options.most_left))
    with recording.program.if_nonzero(sizes[LEFT]):
        recording.wish(0, max_weight=NO_LIMIT)
        launch(sizes[KEYS], leftovers.clear_marks, **reused)
        for each in (leftovers.count_fan, leftovers.place_groups, leftovers.enter_group,
                     leftovers.choose_in_group, leftovers.join_group):
            launch(sizes[ACTIVE], each, **reused)


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
def list_singles(v, offsets, active, wide, sizes):
    """All vertices are active; those of the highest degrees are wide."""
    active[v] = int32(v)
    if int64(offsets[v + 1]) - int64(offsets[v]) > MAX_WARP:
        wide[atomic_add(sizes, WIDE, 1)] = int32(v)
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
        if (hash_of(v, mixed(seed) ^ (turn >> 1)) ^ turn) & 1 == 0:
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
