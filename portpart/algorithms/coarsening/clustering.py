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

from typing import Any

import numpy as np

from portpart.algorithms.coarsening import two_hop_clusters as leftovers
from portpart.algorithms.coarsening.cluster_ratings import (
    MAX_NARROW,
    HashRows,
    wish_by_row,
    wish_for_cluster,
    wish_for_neighbour,
)
from portpart.algorithms.coarsening.cluster_rounds import (
    ISOLATED_KEYS,
    MAX_WARP,
    ClusterSizes,
    ListLengths,
    Rounds,
    VertexList,
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
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.sizes import FineSizes, sizes_of
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel, Record, Words, int32, int64
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for_all
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.scan import tiles_of

NO_LIMIT = 2**62
NO_DEGREE = 2**31

MAX_ROW = 192
"""Vertices of higher degree get the widest team for their hash row: it has room for longer rows."""


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
    n, sizes = graph.num_vertices, sizes_of(graph)
    clusters = Clusters.allocate(space, sizes, max_count=n)
    records = _records(graph, clusters.cluster, max_weight, seed, label)
    team = team_for_all(graph)
    executable = space.cached_executable(
        ("clustering", graph.type_key, sizes.sum_type, team, options, label is not None),
        lambda: _record(records, sizes, team, options, one_lane=space.widest_team == 1),
    )
    executable.run({**records, "count": clusters.count}, n + ISOLATED_KEYS, sizes)
    return clusters


def _records(graph: Graph, found: Array, max_weight: int, seed: int,
             label: Array | None) -> dict[str, Record | Words]:
    """What a clustering works on, but for what is all scratch."""
    n = graph.num_vertices
    return {
        "graph": graph.csr,
        "rounds": Rounds(seed=seed, max_weight=max_weight, label=label, cluster=found),
        "sizes": ClusterSizes.of(vertices=n, keys=n + ISOLATED_KEYS, tiles=tiles_of(n)),
    }


SCRATCH: dict[str, WorkRecord] = {
    "rows": HashRows(), "groups": leftovers.TwoHopGroups(), "list_0": VertexList(),
    "list_1": VertexList(),
}

CLUSTERING_WORK = Rounds, *map(type, SCRATCH.values())
"""What a clustering works on; work arrays have elements for keys of isolated vertices too."""


class _Recording:
    """A program that clusters.

    Where teams have one lane high degrees need no widest team, and one kernel less to compile.
    """

    def __init__(self, records: dict[str, Any], like: FineSizes, team: int,
                 one_lane: bool) -> None:
        self.team, self.one_lane = team, one_lane
        self.program = Program("clustering", sweeps=True, sizes=like)
        slots: dict[str, Any] = {
            name: self.program.record(name, record)
            for name, record in {**records, **SCRATCH}.items()}
        self.rounds, self.sizes, self.rows = slots["rounds"], slots["sizes"], slots["rows"]
        self.lists = slots["list_0"], slots["list_1"]
        self.lengths = [self.program.zeros(name, ListLengths)
                        for name in ("lengths_0", "lengths_1")]

    def launch(self, count: Any, kernel: Kernel, here: int = 0, team: int = 1,
               **given: Any) -> None:
        """Launch over the records named like the parameters; lists are those of turn `here`."""
        listed, lengths = self.lists[here], self.lengths[here]
        named = {
            "clusters": self.rounds, "listed": listed, "active": listed.active,
            "wide": listed.wide, "lengths": lengths, "next_listed": self.lists[1 - here],
            "next_lengths": self.lengths[1 - here],
        }
        self.program.launch(count, kernel, team=team, **{**named, **given})

    def wish(self, here: int, clusters: Rounds) -> None:
        """Every vertex on the list wishes for a cluster, with a team that suits its degree.

        Meanwhile the other list is emptied.
        """
        sum_type, lengths = self.rows.sums.dtype, self.lengths[here]
        element = int32 if sum_type == np.int32 else int64
        with self.program.side_by_side():
            ranges = [(32, MAX_NARROW, NO_DEGREE)]
            if not self.one_lane:
                ranges = [(256, MAX_ROW, NO_DEGREE), (32, MAX_NARROW, MAX_ROW)]
            for team, above, max_degree in ranges:
                by_row = wish_by_row(SLOTS[sum_type.itemsize][team], element)
                self.launch(lengths.wide, by_row, here, team, above=above, max_degree=max_degree,
                            clusters=clusters)
            self.launch(lengths.active, wish_for_cluster, here, min(self.team, 8),
                        clusters=clusters)
            self.launch(1, empty_lists, 1 - here)

    def admit(self, choose: Kernel, here: int, turn: int, then: Kernel | None) -> None:
        """Let those on the list join the clusters they wish for, as far as there is room.

        `then`, if given, fills the other list from this one or, at the end, from all vertices.
        """
        count = self.lengths[here].active
        for each in (choose, ask_for_room, choose_by_chance, join):
            self.launch(count, each, here, turn=turn)
        with self.program.side_by_side():
            self.launch(count, settle, here)
            if then is list_rest:
                self.launch(count, then, here)
            elif then is list_leftovers:
                self.launch(self.sizes.vertices, then, 1 - here)


def _record(records: dict[str, Any], like: FineSizes, team: int, options: ClusteringOptions,
            one_lane: bool) -> Program:
    recording = _Recording(records, like, team, one_lane)
    rounds, last = options.join_rounds, options.join_rounds + options.improve_rounds - 1
    here = 0
    for turn in range(rounds):
        here = turn % 2
        if turn == 0:
            _wish_first(recording)
        else:
            recording.wish(here, recording.rounds)
        then = list_rest if turn + 1 < rounds else list_leftovers if turn == last else None
        recording.admit(choose_by_depth, here, turn, then)
    for turn in range(options.improve_rounds):
        here = 0
        recording.launch(1, empty_lists)
        recording.launch(recording.sizes.vertices, list_movers, turn=turn)
        recording.wish(here, recording.rounds)
        recording.admit(choose_all, here, rounds + turn,
                        list_leftovers if rounds + turn == last else None)
    _group_leftovers(recording, options, 1 - here)
    found, sizes = recording.rounds, recording.sizes
    record_numbering(recording.program, found.cluster, found.moves, found.wish, found.asked,
                     recording.program.array("count", np.int64), sizes.vertices, sizes.tiles)
    return recording.program


def _wish_first(recording: _Recording) -> None:
    """The first round: all vertices are single, so that no arcs have to be added up."""
    vertices = recording.sizes.vertices
    with recording.program.side_by_side():
        recording.launch(vertices, begin_single)
        recording.launch(vertices, list_singles)
        recording.launch(vertices, wish_for_neighbour, team=recording.team, wide=None,
                         max_degree=MAX_WARP)
    recording.launch(recording.lengths[0].wide, wish_for_neighbour, team=256, max_degree=NO_DEGREE)


def _group_leftovers(recording: _Recording, options: ClusteringOptions, at: int) -> None:
    """Group those that are single, which a list holds, if they are many."""
    program, rounds, launch = recording.program, recording.rounds, recording.launch
    groups: Any = program.records["groups"]
    program.records["groups"] = groups.sharing(rounds, recording.lists[1 - at])
    launch(1, judge_leftovers, at, max_left=int(1000 * options.max_left))
    with program.if_nonzero(recording.sizes.too_many_left):
        recording.wish(at, rounds.replaced(max_weight=NO_LIMIT))
        launch(recording.sizes.keys, leftovers.clear_favourite)
        for each in (leftovers.count_favourite, leftovers.place_groups, leftovers.enter_group,
                     leftovers.choose_in_group, leftovers.join_group):
            launch(recording.lengths[at].active, each, at)
