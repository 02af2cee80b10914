"""Clustering: size-constrained label propagation in synchronous rounds, without sorting.

A cluster is named by its leader, a vertex that stays in it.  In a round every single vertex wishes
for the cluster around with room that rates highest.  The wishes of single vertices for each other
form trees; the vertices at odd depth move and those at even depth stay, so that nobody joins a
vertex that leaves:

    a -> b -> c <-> d      d leads (the hash decides between c and d), c and a move, b stays

A cluster without room for all who ask takes those whom a hash favours.  In the rounds of
improvement members that would be better off elsewhere move too.  What is single in the end is
grouped (`two_hop_clusters.py`) if it is much.  Nothing depends on the order of arcs or of threads.

After Meyerhenke, Sanders, Schulz: Partitioning (hierarchically clustered) complex networks via
size-constrained graph clustering (2016), which is sequential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening import two_hop_clusters as leftovers
from portpart.algorithms.coarsening.cluster_ratings import (
    MAX_NARROW,
    wish_by_row,
    wish_for_cluster,
    wish_for_neighbour,
    wish_of_hub,
)
from portpart.algorithms.coarsening.cluster_rounds import (
    ACTIVE,
    GROUPS,
    KEYS,
    LEFT,
    MAX_WARP,
    SIZES,
    TILES,
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
from portpart.algorithms.coarsening.contraction import Clusters, record_numbering
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel, int32, int64
from portpart.backends.program import Program
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for_all
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.scan import tiles_of

NO_LIMIT = 2**62
NO_DEGREE = 2**31

MAX_ROW = 192
"""Vertices of higher degree get the widest team for their hash row: it has room for longer rows."""


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
    Time O(n + m) per round.  Waits for nothing, unless the highest degree is not known.  Takes 50
    bytes per vertex, and if there are degrees above 16, 4 and the size of a sum of arc weights per
    arc, of which only vertices of hundreds of arcs use theirs.
    """
    n, sum_type = graph.num_vertices, graph.weight_sum_dtype
    found, count = space.empty(n, np.int32), space.zeros(1, np.int64)
    sizes = [0] * SIZES
    sizes[VERTICES], sizes[KEYS], sizes[TILES] = n, n + leftovers.ISOLATED_KEYS, tiles_of(n)
    team = team_for_all(graph)
    executable = space.cached_executable(
        ("clustering", graph.type_key, sum_type, team, options, label is not None),
        lambda: _record(graph, sum_type, team, options, label is not None,
                        lone=space.widest_team == 1),
    )
    executable.run({**graph.arrays, "cluster": found, "count": count, "label": label,
                    **_scratch(graph), "sizes": sizes, "max_weight": max_weight, "seed": seed},
                   n + leftovers.ISOLATED_KEYS)
    return Clusters(found, count, n)


VERTEX_ARRAYS = {
    "cluster_weight": np.int64, "others": np.int32, "wish": np.int32, "moves": np.int8,
    "asks": np.int8, "asked": np.int64, "chosen": np.int64, "active_0": np.int32,
    "active_1": np.int32, "first_fan": np.int32,
}
"""Work arrays with an element for every vertex and every key of isolated ones."""


def _scratch(graph: Graph) -> dict[str, int]:
    """Lengths of the work arrays."""
    most_wide = graph.num_arcs // (MAX_NARROW + 1)
    row_slots = graph.num_arcs if most_wide else 0
    return {
        **dict.fromkeys(VERTEX_ARRAYS, graph.num_vertices + leftovers.ISOLATED_KEYS),
        "wide_0": most_wide, "wide_1": most_wide, "keys": row_slots, "sums": row_slots,
    }


class _Recording:
    """A program whose launches find slots by the names of a kernel's parameters.

    Where lanes are alone (`lone`) high degrees need no widest team, and one kernel less to compile.
    """

    def __init__(self, graph: Graph, sum_type: np.dtype[Any], team: int, labelled: bool,
                 lone: bool) -> None:
        self.team, self.sum_type, self.lone = team, sum_type, lone
        self.program = program = Program("clustering", sweeps=True)
        graph.declare(program)
        program.array("cluster", np.int32)
        program.array("count", np.int64)
        program.array("label", np.int32 if labelled else None)
        for name, dtype in {**VERTEX_ARRAYS, "wide_0": np.int32, "wide_1": np.int32,
                            "keys": np.int32, "sums": sum_type}.items():
            program.scratch(name, dtype)
        for name in ("max_weight", "seed"):
            program.scalar(name)
        self.sizes = program.words("sizes", SIZES)

    def launch(self, count: Any, kernel: Kernel, here: int = 0, team: int = 1,
               **given: Any) -> None:
        """Launch over the slots named like the parameters; lists are those of turn `here`.

        Parameters of the names in `given` get that constant, or the slot of that name.
        """
        there = 1 - here
        lists = {"active": f"active_{here}", "wide": f"wide_{here}",
                 "next_active": f"active_{there}", "next_wide": f"wide_{there}"}
        self.program.launch(count, kernel, team=team, **{**lists, **given})

    def wish(self, here: int, **given: Any) -> None:
        """Every vertex on the list wishes for a cluster, with a team that suits its degree.

        Meanwhile the other list is emptied.
        """
        wide = self.sizes[WIDE + here]
        element = int32 if self.sum_type == np.int32 else int64
        with self.program.side_by_side():
            ranges = [(32, MAX_NARROW, NO_DEGREE)]
            if not self.lone:
                ranges = [(256, MAX_ROW, NO_DEGREE), (32, MAX_NARROW, MAX_ROW)]
            for team, above, most in ranges:
                by_row = wish_by_row(SLOTS[self.sum_type.itemsize][team], element)
                self.launch(wide, by_row, here, team, above=above, most=most, **given)
            self.launch(self.sizes[ACTIVE + here], wish_for_cluster, here, min(self.team, 8),
                        **given)
            self.launch(1, empty_lists, at=1 - here)

    def admit(self, choose: Kernel, here: int, turn: int, then: Kernel | None) -> None:
        """Let those on the list join the clusters they wish for, as far as there is room.

        `then`, if given, fills the other list from this one or, at the end, from all vertices.
        """
        count = self.sizes[ACTIVE + here]
        for each in (choose, ask_for_room, choose_by_chance, join):
            self.launch(count, each, here, turn=turn)
        with self.program.side_by_side():
            self.launch(count, settle, here)
            if then is list_rest:
                self.launch(count, then, here, at=1 - here)
            elif then is list_leftovers:
                self.launch(self.sizes[VERTICES], then, 1 - here, at=1 - here)


def _record(graph: Graph, sum_type: np.dtype[Any], team: int, options: ClusteringOptions,
            labelled: bool, lone: bool) -> Program:
    recording = _Recording(graph, sum_type, team, labelled, lone)
    rounds, last = options.join_rounds, options.join_rounds + options.improve_rounds - 1
    here = 0
    for turn in range(rounds):
        here = turn % 2
        if turn == 0:
            _wish_first(recording)
        else:
            recording.wish(here)
        then = list_rest if turn + 1 < rounds else list_leftovers if turn == last else None
        recording.admit(choose_by_depth, here, turn, then)
    for turn in range(options.improve_rounds):
        here = 0
        recording.launch(1, empty_lists, at=here)
        recording.launch(recording.sizes[VERTICES], list_movers, turn=turn, at=here)
        recording.wish(here)
        recording.admit(choose_all, here, rounds + turn,
                        list_leftovers if rounds + turn == last else None)
    _group_leftovers(recording, options, 1 - here)
    slot, sizes = recording.program.slots, recording.sizes
    record_numbering(recording.program, slot["cluster"], slot["moves"], slot["wish"],
                     slot["asked"], slot["count"], sizes[VERTICES], sizes[TILES])
    return recording.program


def _wish_first(recording: _Recording) -> None:
    """The first round: all vertices are single, so that no arcs have to be added up."""
    vertices = recording.sizes[VERTICES]
    with recording.program.side_by_side():
        recording.launch(vertices, begin_single)
        recording.launch(vertices, list_singles)
        recording.launch(vertices, wish_for_neighbour, team=recording.team, most=MAX_WARP)
    recording.launch(recording.sizes[WIDE], wish_of_hub, team=256)


def _group_leftovers(recording: _Recording, options: ClusteringOptions, at: int) -> None:
    """Group those that are single, which a list holds, if they are many."""
    sizes, launch = recording.sizes, recording.launch
    reused: dict[str, Any] = {
        "fans": "others", "fan_weight": "asked", "first_group": "first_fan",
        "group_of": "wish", "group_leader": f"active_{1 - at}", "group_weight": "chosen",
        "group_chosen": "cluster_weight", "vertices_at": VERTICES, "groups_at": GROUPS,
    }
    launch(1, judge_leftovers, least=int(1000 * options.most_left), at=at)
    with recording.program.if_nonzero(sizes[LEFT]):
        recording.wish(at, max_weight=NO_LIMIT)
        launch(sizes[KEYS], leftovers.clear_marks, **reused)
        for each in (leftovers.count_fan, leftovers.place_groups, leftovers.enter_group,
                     leftovers.choose_in_group, leftovers.join_group):
            launch(sizes[ACTIVE + at], each, at, **reused)
