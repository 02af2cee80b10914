"""All levels below a small graph, made by one program.

On a GPU a level of few vertices takes less time than the host needs to begin two programs and to
wait for the sizes of the next graph.  Here a loop of the program finds clusters and contracts the
graph, and the host waits once:

    present graph -> clusters -> coarse rows -> kept levels, and the next present graph

The clusters and graphs are the same as those that are made level by level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import HashRows
from portpart.algorithms.coarsening.cluster_rounds import (
    ISOLATED_KEYS,
    ClusterRounds,
    VertexList,
)
from portpart.algorithms.coarsening.clustering import (
    NO_LIMIT,
    SCRATCH,
    ArcProposals,
    ClusterRecording,
    record_clusters,
)
from portpart.algorithms.coarsening.clusters import Clusters, Members, Numbering
from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows
from portpart.algorithms.coarsening.contraction import Guess, record_contraction_parts
from portpart.algorithms.coarsening.hierarchy import MadeLevel
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes
from portpart.algorithms.coarsening.two_hop_clusters import TwoHopGroups
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Array, Program
from portpart.graphs import Csr, Graph
from portpart.primitives import SCAN_TILE

if TYPE_CHECKING:
    from portpart.backends.programs import Records

MAX_SIZES = {False: (2**14, 2**18), True: (2**17, 2**20)}
"""Maximum numbers of vertices and arcs of a small graph, by whether the space runs behind the host:
a CPU only saves the work of the host, and copies graphs.
"""

MAX_LEVELS = 24
"""Maximum number of levels that one run makes."""

def is_small(graph: Graph) -> bool:
    """Whether a graph is so small that all levels below it are made at once."""
    max_vertices, max_arcs = MAX_SIZES[graph.space.runs_behind]
    return graph.num_vertices <= max_vertices and graph.num_arcs <= max_arcs


LANES = 8
"""Lanes for each vertex and cluster, except those with many arcs."""

HIGHEST_SEED = 2**63 - 1

NO_MEMBERS = Members(None)

SIZES = 4
"""Numbers of a level that the host reads: vertices, arcs, highest degree, weight of all arcs."""


class ClusterLimit(kl.Record):
    """The maximum weight of a cluster on each level.

    On a level of n vertices it is ``product / max(n / shrink, least)``, rounded down, but from 1 to
    `highest`.

    Attributes
    ----------
    product, shrink, least : float
    highest : int
    """

    product: float
    shrink: float
    least: float
    highest: int

    def on(self, num_vertices: int) -> int:
        """Return the limit on a level of this many vertices."""
        limit = self.product / max(num_vertices / self.shrink, self.least)
        return max(1, int(limit)) if limit < float(self.highest) else self.highest


UNLIMITED = ClusterLimit(float("inf"), 1.0, 1.0, NO_LIMIT)


class PresentLevel(kl.Record):
    """The graph of the present level.

    Attributes
    ----------
    begin, end, targets, weights, vertex_weights, label : array
        The graph, and the label of each vertex.
    cluster : array of int32
        The cluster of each vertex.
    """

    begin: Array = kl.work(np.int32, "vertices")
    end: Array = kl.work(np.int32, "vertices")
    targets: Array = kl.work(np.int32, "arcs")
    weights: Array = kl.work("sum_type", "arcs")
    vertex_weights: Array = kl.work(np.int64, "vertices")
    label: Array = kl.work(np.int32, "vertices")
    cluster: Array = kl.work(np.int32, "vertices")

    goes_on: int = kl.word()  # whether there is another level
    is_kept: int = kl.word()  # whether there is space for the coarse graph
    number: int = kl.word()  # number of the level
    vertices: int = kl.word()
    seed: int = kl.word()
    max_weight: int = kl.word()  # of a cluster
    total: int = kl.word()  # weight of all arcs
    first_cluster: int = kl.word()  # places of this level among those that are kept
    first_vertex: int = kl.word()
    first_arc: int = kl.word()


class KeptLevels(kl.Record):
    """Coarse graphs, one behind the other, and the maps to them.

    Attributes
    ----------
    cluster : array of int32, shape (2 n,)
        Cluster of each vertex, of the n vertices of the first graph and those of coarse graphs.
    offsets, targets, weights, vertex_weights, label : array
        The coarse graphs; offsets begin with 0 in each.
    sizes : array of int64
        The number of levels, then `SIZES` numbers of each coarse graph.
    """

    cluster: Array = kl.work(np.int32, lambda sizes: 2 * sizes.vertices)
    offsets: Array = kl.work(np.int32, lambda sizes: sizes.vertices + MAX_LEVELS)
    targets: Array = kl.work(np.int32, "arcs")
    weights: Array = kl.work("sum_type", "arcs")
    vertex_weights: Array = kl.work(np.int64, "vertices")
    label: Array = kl.work(np.int32, "vertices")
    count: Array = kl.work(np.int64, lambda sizes: 1)
    sizes: Array = kl.work(np.int64, lambda sizes: 1 + SIZES * MAX_LEVELS)


class WhenToEnd(kl.Record):
    """Limits of a run: coarsening may go on from its last level.

    Attributes
    ----------
    stop_at : int
        The last level has at most this many vertices.
    max_kept : float
        The last level keeps more than this share of its vertices.
    levels, vertices, arcs : int
        Numbers of levels, vertices and arcs that there is space for.
    """

    stop_at: int
    max_kept: float
    levels: int
    vertices: int
    arcs: int


@dataclass(frozen=True)
class SmallLevels:
    """Makes all levels below a small graph.

    Attributes
    ----------
    limit : ClusterLimit
    options : ClusteringOptions
    proposal_rule : ArcProposals
    guess : callable
        A `Guess` of contractions.
    """

    limit: ClusterLimit
    options: ClusteringOptions
    proposal_rule: ArcProposals
    guess: Guess

    def below(self, graph: Graph, seed: int, stop_at: int, max_kept: float, weight_type: np.dtype,
              label: Array | None = None, max_levels: int = MAX_LEVELS) -> list[MadeLevel]:
        """Return the levels below a graph, down to one that ends coarsening.

        There may be fewer levels.

        Parameters
        ----------
        graph : Graph
            Must be small.
        seed : int
            Seed of the first clusters; each level adds one.
        stop_at : int
            Coarsening ends at a graph with at most this many vertices,
        max_kept : float
            or with more than this share of the vertices of the finer one.
        weight_type : dtype
            Type of the weights of coarse arcs.
        label : array of int32, shape (n,), optional
            Only vertices of equal label share a cluster.
        max_levels : int
        """
        space, n, arcs = graph.space, graph.num_vertices, graph.num_arcs
        sizes = FineSizes(n, arcs, n, np.dtype(weight_type))
        kept = KeptLevels.allocate(space, sizes, **({"label": None} if label is None else {}))
        end = WhenToEnd(stop_at, float(max_kept), min(max_levels, MAX_LEVELS), n, arcs)
        self._run(graph, sizes, kept, end, seed, label)
        found = space.read(kept.sizes, lambda: self._guess(graph, kept, end))
        return _made(graph, kept, found)

    def _run(self, graph: Graph, sizes: FineSizes, kept: KeptLevels, end: WhenToEnd, seed: int,
             label: Array | None) -> None:
        space, weighs = graph.space, self.proposal_rule.with_total
        absent: dict[str, Any] = {"label": None} if label is None else {}
        records: dict[str, Any] = {
            "source": graph.csr, "kept": kept, "limit": self.limit, "when": end,
            "members": NO_MEMBERS,
            "present": PresentLevel(**absent).with_words(
                goes_on=1, vertices=graph.num_vertices, seed=seed,
                total=graph.total_arc_weight if weighs else 0)}
        executable = space.cached_executable(
            ("small levels", self.proposal_rule, graph.type_key, sizes.sum_type, self.options,
             label is None, self.limit.highest < NO_LIMIT),
            lambda: record_levels(records, sizes, self, space.widest_team == 1))
        executable.run({**records, "count": kept.count, "label": label},
                       graph.num_vertices + ISOLATED_KEYS, sizes)

    def _guess(self, graph: Graph, kept: KeptLevels, end: WhenToEnd) -> list[int]:
        """Guess the sizes of all levels that there is space for."""
        sizes, coarse, goes_on = [0], graph, True
        while goes_on and sizes[0] < end.levels:
            before = coarse.num_vertices
            n, arcs, degree, weight = self.guess(coarse)
            n = min(n, before)
            arcs = min(arcs, n * n)
            if (n + sum(sizes[1::SIZES]) > end.vertices
                    or arcs + sum(sizes[2::SIZES]) > end.arcs):
                break
            sizes = [sizes[0] + 1, *sizes[1:], n, arcs, degree, weight]
            coarse = _made(graph, kept, sizes)[-1].coarse
            goes_on = end.stop_at < n <= end.max_kept * before
        return sizes


def _made(graph: Graph, kept: KeptLevels, sizes: list[int]) -> list[MadeLevel]:
    """Return the levels that are kept, whose sizes have been read."""
    levels, first_cluster, first, first_arc = list[MadeLevel](), 0, 0, 0
    before, total = graph.num_vertices, graph.total_vertex_weight
    for number in range(sizes[0]):
        place = 1 + SIZES * number
        n, arcs, max_degree, arc_weight = sizes[place : place + SIZES]
        end, arcs_end = first + n, first_arc + arcs
        known = {"vertex": total, "arc": arc_weight, "degree": max_degree, "parallel": 0}
        coarse = Graph(kept.offsets[first + number : end + number + 1],
                       kept.targets[first_arc:arcs_end], kept.weights[first_arc:arcs_end],
                       kept.vertex_weights[first:end], graph.space, known)
        clusters = Clusters(n, cluster=kept.cluster[first_cluster : first_cluster + before],
                            count=kept.sizes[place : place + 1])
        levels.append(MadeLevel(clusters, coarse,
                                None if kept.label is None else kept.label[first:end]))
        first_cluster, before, first, first_arc = first_cluster + before, n, end, arcs_end
    return levels


def record_levels(records: Records, like: FineSizes, rules: SmallLevels,
                  one_lane: bool) -> Program:
    """Return the program that makes levels until one ends coarsening."""
    program = Program("small levels", threads=MANY, sizes=like)
    total = 0 if rules.proposal_rule.with_total else None
    slots = program.declare({**records, **SCRATCH, "rounds": ClusterRounds(0, 0, None, total),
                             "numbering": Numbering(), "coarse_rows": CoarseRows()})
    present = slots["present"]
    with program.side_by_side():
        if present.label.dtype is not None:
            program.launch(present.vertices, copy_label, label=program.array("label", np.int32))
        program.launch(present.vertices, copy_graph, team=LANES)
    program.records["graph"] = Csr(present.begin, present.end, present.targets, present.weights,
                                   present.vertex_weights, None)
    rows = _share_scratch(program)
    with program.while_loop(present.goes_on):
        with program.side_by_side():
            program.launch(1, begin_clusters)
            program.launch(1, begin_members)
        record_clusters(ClusterRecording(program, present, LANES, one_lane), rules.options,
                        rules.proposal_rule, rules.limit.highest < NO_LIMIT)
        program.records["rows"] = rows
        record_contraction_parts(program, LANES, one_lane, heads=program.slots["count"])
        program.launch(1, check_level)
        with program.if_nonzero(present.is_kept):
            _record_keeping(program, present, rows)
        program.launch(1, go_on)
    return program


def _share_scratch(program: Program) -> Any:
    """Let clustering and contraction, which follow each other, share arrays; return coarse rows."""
    records: dict[str, Any] = program.records
    rounds, present, rows = records["rounds"], records["present"], records["coarse_rows"]
    one_list, other_list = records["list_0"].active, records["list_1"].active
    records["members"] = records["members"].replaced(
        cluster=present.cluster, count=rounds.others, num_arcs=rounds.requested,
        offsets=one_list, listed=other_list)
    records["rounds"] = rounds.replaced(cluster=present.cluster, label=present.label)
    records["rows"] = records["rows"].replaced(keys=rows.keys, sums=rows.sums)
    return rows.replaced(degrees=rounds.proposal, arc_sums=rounds.granted,
                         vertex_weights=rounds.cluster_weight)


def _record_keeping(program: Program, present: Any, rows: Any) -> None:
    """Record that a level is kept, and that its coarse graph becomes the present one."""
    has_label = present.label.dtype is not None
    with program.side_by_side():
        program.launch(present.vertices, keep_cluster)
        if has_label:
            program.launch(present.vertices, keep_label)
        program.launch(rows.clusters, keep_row, team=LANES)
    if has_label:
        program.launch(rows.clusters, take_label)


@kl.kernel
def copy_graph(v, source: Csr, present: PresentLevel, kept: KeptLevels):
    """Copy the row and the weight of vertex v."""
    begin = kl.int64(source.begin[v])
    end = kl.int64(source.end[v])
    for arc in range(begin + kl.lane(), end, kl.team_size()):
        present.targets[arc] = source.targets[arc]
        present.weights[arc] = kl.value_or(source.weights, arc, 1)
    if kl.lane() == 0:
        present.begin[v] = begin
        present.end[v] = end
        present.vertex_weights[v] = kl.value_or(source.vertex_weights, v, 1)
        if v == 0:
            kept.sizes[0] = 0


@kl.kernel
def copy_label(v, label, present: PresentLevel):
    """Copy the label of vertex v."""
    present.label[v] = label[v]


@kl.kernel
def begin_clusters(_, present: PresentLevel, limit: ClusterLimit, rounds: ClusterRounds,
                   rows: HashRows, list_0: VertexList, list_1: VertexList, groups: TwoHopGroups):
    """Set the limit of clusters, the numbers of vertices and keys, and all counters."""
    most = limit.product / max(kl.float64(present.vertices) / limit.shrink, limit.least)
    present.max_weight = limit.highest
    if most < kl.float64(limit.highest):
        present.max_weight = max(1, kl.int64(most))
    rounds.vertices = present.vertices
    rounds.keys = present.vertices + ISOLATED_KEYS
    rows.taken = 0
    list_0.length = 0
    list_0.wide_length = 0
    list_1.length = 0
    list_1.wide_length = 0
    groups.groups = 0


@kl.kernel
def begin_members(_, present: PresentLevel, numbering: Numbering, members: Members):
    """Set the numbers of vertices, and of wide clusters."""
    numbering.vertices = present.vertices
    numbering.tiles = max(1, (present.vertices + SCAN_TILE - 1) // SCAN_TILE)
    members.vertices = present.vertices
    members.num_wide = 0


@kl.kernel
def check_level(_, present: PresentLevel, rows: CoarseRows, when: WhenToEnd, kept: KeptLevels):
    """Store whether there is space for the coarse graph, whether it is the last, and its sizes."""
    n = rows.clusters
    fits = present.first_vertex + n <= when.vertices and present.first_arc + rows.arcs <= when.arcs
    present.is_kept = kl.int64(fits)
    present.goes_on = kl.int64(fits and n > when.stop_at and present.number + 1 < when.levels and (
        kl.float64(n) <= when.max_kept * kl.float64(present.vertices)))
    if fits:
        place = 1 + SIZES * present.number
        kept.sizes[place] = n
        kept.sizes[place + 1] = rows.arcs
        kept.sizes[place + 2] = rows.max_degree
        kept.sizes[place + 3] = rows.arc_weight
        kept.sizes[0] = present.number + 1


@kl.kernel
def keep_cluster(v, present: PresentLevel, kept: KeptLevels):
    """Keep the cluster of vertex v."""
    kept.cluster[present.first_cluster + v] = present.cluster[v]


@kl.kernel
def keep_label(v, present: PresentLevel, kept: KeptLevels):
    """Give v's cluster the label of v, which all of its vertices have."""
    kept.label[present.first_vertex + present.cluster[v]] = present.label[v]


@kl.kernel
def keep_row(c, rows: CoarseRows, present: PresentLevel, kept: KeptLevels):
    """Keep coarse vertex c, and make it a vertex of the present graph."""
    first = kl.int64(rows.offsets[c])
    end = kl.int64(rows.offsets[c + 1])
    row = kl.int64(rows.begin[c])
    for i in range(kl.lane(), end - first, kl.team_size()):
        present.targets[first + i] = rows.keys[row + i]
        present.weights[first + i] = rows.sums[row + i]
        kept.targets[present.first_arc + first + i] = rows.keys[row + i]
        kept.weights[present.first_arc + first + i] = rows.sums[row + i]
    if kl.lane() == 0:
        present.begin[c] = first
        present.end[c] = end
        present.vertex_weights[c] = rows.vertex_weights[c]
        kept.vertex_weights[present.first_vertex + c] = rows.vertex_weights[c]
        place = present.first_vertex + present.number + c
        kept.offsets[place] = first
        if c + 1 == rows.clusters:
            kept.offsets[place + 1] = end


@kl.kernel
def take_label(c, present: PresentLevel, kept: KeptLevels):
    """Give vertex c of the new present graph its label."""
    present.label[c] = kept.label[present.first_vertex + c]


@kl.kernel
def go_on(_, present: PresentLevel, rows: CoarseRows):
    """Go to the next level."""
    present.first_cluster += present.vertices
    present.first_vertex += rows.clusters
    present.first_arc += rows.arcs
    present.vertices = rows.clusters
    present.total = rows.arc_weight
    present.number += 1
    present.seed = (present.seed + 1) & HIGHEST_SEED
