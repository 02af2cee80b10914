"""Clustering: size-constrained label propagation in synchronous rounds, without sorting.

The name of a cluster is its leader, a vertex that stays in it.  In a round every single vertex
proposes the best rated adjacent cluster with free capacity.  Proposals of single vertices form
trees.  Vertices at odd depth move and the others stay, so that no vertex joins one that leaves:

    a -> b -> c <-> d      d leads (the hash decides between c and d), c and a move, b stays

A cluster without capacity for all requests grants some by a hash.  In rounds of improvement,
members with a better rated cluster also move.  If many vertices are single in the end, they are
grouped (`two_hop_clusters.py`).  Nothing depends on the order of arcs or of threads.

After Meyerhenke, Sanders, Schulz: Partitioning (hierarchically clustered) complex networks via
size-constrained graph clustering (2016), which is sequential.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from portpart.algorithms.coarsening import cluster_rounds, two_hop_clusters as unclustered
from portpart.algorithms.coarsening.cluster_ratings import (
    HEAVY_EDGE,
    MAX_NARROW,
    MAX_ROW,
    HashRows,
    Rating,
    RowRating,
    propose_cluster,
    propose_cluster_by_row,
    propose_neighbour,
)
from portpart.algorithms.coarsening.clusters import Clusters, Numbering, record_numbering
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes, sizes_of
from portpart.backends.language import Kernel, Record, Words, int32, int64
from portpart.backends.programs import MANY, Array, ExecutionSpace, Program
from portpart.graphs import Graph, Hypergraph, team_for_all
from portpart.primitives import SLOTS, rows_above

if TYPE_CHECKING:
    from portpart.backends.programs import Records

SCRATCH: dict[str, Record] = {
    "rows": HashRows(), "groups": unclustered.TwoHopGroups(), "list_0": cluster_rounds.VertexList(),
    "list_1": cluster_rounds.VertexList(),
}


class ClusteringInputs(NamedTuple):
    """Inputs of a clustering that depend on the proposal rule.

    Attributes
    ----------
    records : dict
        Records of the program.  ``graph`` has the weights of vertices, and as their degrees the
        numbers of arcs or pins that they examine.
    sizes : FineSizes
        Of hypergraphs, `arcs` are the slots of hash rows in main memory.
    team : int
        Lanes for a vertex of usual degree.
    scratch : mapping
        Records that replace those of `SCRATCH`.
    total : int or None
        Factor of some ratings and scores.
    lanes : int
        Lanes per vertex if all vertices propose.
    """

    records: dict[str, Record | Words]
    sizes: FineSizes
    team: int
    scratch: Mapping[str, Record] = MappingProxyType({})
    total: int | None = None
    lanes: int = 1


class RoundLimits(Words):
    """Numbers of a clustering: the fields of `ClusterRounds` with these names."""

    seed: int
    max_weight: int
    total: int


class ProposalRule(Protocol):
    """How vertices find the cluster to propose; hashable, because programs are cached by it."""

    def around(self, graph: Any, seed: int) -> ClusteringInputs:
        """Return the arcs or pins that the vertices of a graph examine."""

    def among_single(self, recording: ClusterRecording) -> None:
        """Record the first round: all vertices are single, and put on the list of turn 0."""

    def among_clusters(self, recording: ClusterRecording, here: int,
                       clusters: cluster_rounds.ClusterRounds) -> None:
        """Record proposals of the vertices listed for turn `here`, and empty the other list."""


class ClusterRecording:
    """Part of a program that computes clusters, whose records are declared.

    If teams have one lane, high degrees need no widest team: one kernel less is compiled.

    Parameters
    ----------
    program : Program
    limits : RoundLimits
        Words that replace fields of ``rounds``: launches read them when they start.
    team : int
        Lanes for a vertex of usual degree.
    one_lane : bool
    """

    def __init__(self, program: Program, limits: RoundLimits, team: int, one_lane: bool) -> None:
        self.program, self.team, self.one_lane = program, team, one_lane
        records: dict[str, Any] = program.records
        rounds = records["rounds"]
        records["rounds"] = self.rounds = rounds.replaced(
            seed=limits.seed, max_weight=limits.max_weight,
            total=None if rounds.total is None else limits.total)
        self.rows, self.lists = records["rows"], (records["list_0"], records["list_1"])

    def grant_all(self) -> None:
        """Keep no weights of granted requests: all requests fit, so these are not read."""
        self.rounds = self.rounds.replaced(granted=self.rounds.requested)
        self.program.records["rounds"] = self.rounds

    def launch(self, count: Any, kernel: Kernel, here: int = 0, team: int = 1,
               **given: Any) -> None:
        """Launch a kernel on the records that its parameters name; lists are those of `here`."""
        listed = self.lists[here]
        named = {"proposals": self.rounds, "clusters": self.rounds, "listed": listed,
                 "active": listed.active, "wide": listed.wide, "next_listed": self.lists[1 - here]}
        self.program.launch(count, kernel, team=team, **{**named, **given})

    def admit(self, choose: Kernel, here: int, turn: int, then: Kernel | None) -> None:
        """Record that listed vertices join the clusters that they propose, up to their capacity.

        `then`, if given, fills the other list from this one or, at the end, from all vertices.
        """
        count = self.lists[here].length
        for each in (choose, cluster_rounds.request_join, cluster_rounds.grant_random,
                     cluster_rounds.join):
            self.launch(count, each, here, turn=turn)
        with self.program.side_by_side():
            self.launch(count, cluster_rounds.reset_requests, here)
            if then is cluster_rounds.list_rest:
                self.launch(count, then, here)
            elif then is cluster_rounds.list_single:
                self.launch(self.rounds.vertices, then, 1 - here)


NO_DEGREE = 2**31

MAX_UNCOUNTED = 2**26
"""Up to this many arcs, hash rows have a slot for each: that is faster than waiting for a count."""


@dataclass(frozen=True)
class ArcProposals:
    """Proposals along arcs.

    Attributes
    ----------
    by : Rating
    with_total : bool
        Whether ratings use the weight of all arcs.
    """

    by: Rating = HEAVY_EDGE
    with_total: bool = False

    def around(self, graph: Graph, seed: int) -> ClusteringInputs:
        """Return the arcs of the graph."""
        sizes = sizes_of(graph)._replace(max_degree=graph.max_degree, slots=slots_for(graph))
        return ClusteringInputs({"graph": graph.csr}, sizes, team_for_all(graph),
                                total=graph.whole.total_arc_weight if self.with_total else None)

    def among_single(self, recording: ClusterRecording) -> None:
        """Record proposals of neighbours, without adding up arcs."""
        vertices = recording.rounds.vertices
        proposal = propose_neighbour.bound(by=self.by.of_neighbours)
        most = cluster_rounds.ARCS_OF_LANE * recording.team
        with recording.program.side_by_side():
            recording.launch(vertices, cluster_rounds.begin_single)
            recording.launch(vertices, cluster_rounds.list_singles, max_degree=most)
            recording.launch(vertices, proposal, team=recording.team, wide=None, max_degree=most)
        recording.launch(recording.lists[0].wide_length, proposal, team=256, max_degree=NO_DEGREE)

    def among_clusters(self, recording: ClusterRecording, here: int,
                       clusters: cluster_rounds.ClusterRounds) -> None:
        """Record proposals of the listed vertices, each by a team that suits its degree."""
        sum_type, listed = recording.rows.sums.dtype, recording.lists[here]
        element = int32 if sum_type == np.int32 else int64
        with recording.program.side_by_side():
            ranges = [(32, MAX_NARROW, NO_DEGREE)]
            if not recording.one_lane:
                ranges = [(256, MAX_ROW, NO_DEGREE), (32, MAX_NARROW, MAX_ROW)]
            for team, above, max_degree in ranges:
                by = RowRating(SLOTS[sum_type.itemsize][team], element, self.by)
                recording.launch(listed.wide_length, propose_cluster_by_row, here, team,
                                 above=above, max_degree=max_degree, clusters=clusters, by=by)
            recording.launch(listed.length, propose_cluster, here, min(recording.team, 8),
                             clusters=clusters, by=self.by)
            recording.launch(1, cluster_rounds.empty_lists, 1 - here)


def slots_for(graph: Graph) -> int | None:
    """Return the number of slots of hash rows in main memory, or None if it is not counted.

    Waits for the device if there are many arcs and a vertex of high degree.
    """
    if graph.num_arcs <= MAX_UNCOUNTED or graph.max_degree <= MAX_ROW:
        return None
    found = rows_above(graph.space, graph.offsets, MAX_ROW, counts_rows=False)
    return graph.space.read(found, lambda: graph.space.guess("slots", graph, [graph.num_arcs]))[0]


HEAVY_ARCS = ArcProposals()


NO_LIMIT = 2**62


def cluster(space: ExecutionSpace, graph: Graph | Hypergraph, max_weight: int, seed: int,
            options: ClusteringOptions, label: Array | None = None,
            proposal_rule: ProposalRule = HEAVY_ARCS) -> Clusters:
    """Return clusters of nearby vertices, of at most `max_weight`.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph or Hypergraph
    max_weight : int
        Maximum weight of a cluster of several vertices.
    seed : int
        Breaks ties.
    options : ClusteringOptions
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a cluster.
    proposal_rule : ProposalRule
        The rule by which vertices find their proposals.

    Returns
    -------
    Clusters
        Numbered in the order of their leaders.  They are connected, except two-hop groups and
        clusters that a member left in a round of improvement.

    Notes
    -----
    Time O(n + m) per round.  Memory: 50 bytes per vertex; with degrees above 16, also half a byte
    per arc; with degrees above 192, also 4 bytes and the size of a sum of arc weights per arc.  In
    graphs of more than 2^26 arcs the latter counts only arcs of such vertices.  Waits for
    the device to count these, or to read the highest degree if it is not known.
    """
    n, around = graph.num_vertices, proposal_rule.around(graph, seed)
    clusters = Clusters.allocate(space, around.sizes, max_count=n)
    records, limited = (_records(around, clusters.cluster, max_weight, seed, label),
                        max_weight < NO_LIMIT)
    executable = space.cached_executable(
        ("clustering", proposal_rule, graph.type_key, around.sizes.sum_type, around.team, options,
         label is not None, limited),
        lambda: _record(records, around, options, proposal_rule, space.widest_team == 1, limited),
    )
    executable.run({**records, "count": clusters.count},
                   around.lanes * (n + cluster_rounds.ISOLATED_KEYS),
                   around.sizes)
    return clusters


def _records(around: ClusteringInputs, found: Array, max_weight: int, seed: int,
             label: Array | None) -> dict[str, Record | Words]:
    """Return the records of a clustering, except pure scratch records."""
    n = around.sizes.vertices
    rounds = cluster_rounds.ClusterRounds(
        seed=seed, max_weight=max_weight, label=label, cluster=found, total=around.total)
    limits = RoundLimits.of(seed=seed, max_weight=max_weight, total=around.total or 0)
    return {**around.records, "numbering": Numbering.of(n), "limits": limits,
            "rounds": rounds.with_words(vertices=n, keys=cluster_rounds.of_keys(around.sizes))}


def _record(records: Records, around: ClusteringInputs, options: ClusteringOptions,
            proposal_rule: ProposalRule, one_lane: bool, limited: bool = True) -> Program:
    """Return the program of a clustering."""
    program = Program("clustering", threads=MANY, sizes=around.sizes)
    program.declare({**records, **SCRATCH, **around.scratch})
    limits = program.find("limits", RoundLimits)
    record_clusters(ClusterRecording(program, limits, around.team, one_lane), options,
                    proposal_rule, limited)
    return program


def record_clusters(recording: ClusterRecording, options: ClusteringOptions,
                    proposal_rule: ProposalRule, limited: bool = True) -> None:
    """Record a clustering.  Arrays for grants and for single vertices are allocated if needed."""
    grouping = options.max_left < 1
    rounds, last = options.join_rounds, options.join_rounds + options.improve_rounds - 1
    at_last = cluster_rounds.list_single if grouping else None
    if not (grouping or limited):
        recording.grant_all()
    here = 0
    for turn in range(rounds):
        here = turn % 2
        if turn == 0:
            proposal_rule.among_single(recording)
        else:
            proposal_rule.among_clusters(recording, here, recording.rounds)
        then = cluster_rounds.list_rest if turn + 1 < rounds else at_last if turn == last else None
        recording.admit(cluster_rounds.grant_odd_depth, here, turn, then)
    for turn in range(options.improve_rounds):
        here = 0
        recording.launch(1, cluster_rounds.empty_lists)
        recording.launch(recording.rounds.vertices, cluster_rounds.list_movers, turn=turn)
        proposal_rule.among_clusters(recording, here, recording.rounds)
        recording.admit(cluster_rounds.move_all, here, rounds + turn,
                        at_last if rounds + turn == last else None)
    if grouping:
        _group_single(recording, options, proposal_rule, 1 - here)
    program, found = recording.program, recording.rounds
    numbering = program.find("numbering", Numbering)
    program.records["numbering"] = numbering.replaced(flags=found.moves, number=found.proposal,
                                                      tile_sums=found.requested)
    record_numbering(program, found.cluster)


def _group_single(recording: ClusterRecording, options: ClusteringOptions,
                     proposal_rule: ProposalRule, at: int) -> None:
    """Record that the listed single vertices are grouped if there are too many."""
    program, rounds, launch = recording.program, recording.rounds, recording.launch
    groups: Any = program.records["groups"]
    program.records["groups"] = groups.sharing(rounds, recording.lists[1 - at])
    launch(1, cluster_rounds.check_single_share, at, max_left=int(1000 * options.max_left))
    with program.if_nonzero(rounds.too_many_left):
        proposal_rule.among_clusters(recording, at, rounds.replaced(max_weight=NO_LIMIT))
        launch(rounds.keys, unclustered.clear_preferred)
        for each in (unclustered.count_preferred, unclustered.place_groups, unclustered.enter_group,
                     unclustered.grant_in_group, unclustered.join_group):
            launch(recording.lists[at].length, each, at)
