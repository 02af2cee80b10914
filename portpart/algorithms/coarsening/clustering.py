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
from portpart.algorithms.coarsening.joining import (
    ACTIVE,
    GROUPS,
    KEYS,
    LEFT,
    MAX_WARP,
    SIZES,
    VERTICES,
    WIDE,
    ask_for_room,
    begin_single,
    choose_all,
    choose_by_chance,
    choose_by_depth,
    empty_lists,
    join,
    judge_leftovers,
    list_leftovers,
    list_movers,
    list_rest,
    list_singles,
    settle,
)
from portpart.algorithms.teams import team_for
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.program import Program
from portpart.errors import InputError
from portpart.graph import Graph

NO_LIMIT = 2**62
NO_DEGREE = 2**31


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
    Time O(n + m) per round.  Synchronises once, to read how many clusters there are.  Takes 55
    bytes per vertex, and if there are degrees above 16, 4 and the size
    of a sum of arc weights per arc.
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
    reused: dict[str, Any] = {
        "fans": "others", "fan_weight": "asked", "first_group": "first_fan",
        "group_of": "wish", "group_leader": "active_1", "group_weight": "chosen",
        "group_chosen": "cluster_weight", "vertices_at": VERTICES, "groups_at": GROUPS,
    }
    launch(1, empty_lists, at=0)
    launch(sizes[VERTICES], list_leftovers, at=0)
    launch(1, judge_leftovers, least=int(1000 * options.most_left))
    with recording.program.if_nonzero(sizes[LEFT]):
        recording.wish(0, max_weight=NO_LIMIT)
        launch(sizes[KEYS], leftovers.clear_marks, **reused)
        for each in (leftovers.count_fan, leftovers.place_groups, leftovers.enter_group,
                     leftovers.choose_in_group, leftovers.join_group):
            launch(sizes[ACTIVE], each, **reused)
