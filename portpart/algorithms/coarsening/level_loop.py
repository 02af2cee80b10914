"""The program that makes all levels below a small graph, in a loop.

present graph -> clusters -> coarse rows -> kept levels, and the next present graph
"""

from __future__ import annotations

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
from portpart.algorithms.coarsening.clusters import Members, Numbering
from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows
from portpart.algorithms.coarsening.contraction import record_contraction_parts
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes
from portpart.algorithms.coarsening.two_hop_clusters import TwoHopGroups
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Array, Program
from portpart.graphs import Csr
from portpart.primitives import SCAN_TILE

if TYPE_CHECKING:
    from portpart.backends.programs import Records

MAX_LEVELS = 24
"""Maximum number of levels that one run makes."""

LANES = 8
"""Lanes for each vertex without many arcs."""

ROW_LANES = 32
"""Lanes for each cluster: with 32, clustering and contraction have team arrays of the same sizes,
and others would not fit into the memory of a block together.
"""

HIGHEST_SEED = 2**63 - 1

SIZES = 4
"""Numbers of a level that the host reads: vertices, arcs, highest degree, weight of all arcs."""


class ClusterLimit(kl.Record):
    """The maximum weight of a cluster on each level.

    On a level of n vertices it is ``product / max(n / shrink, least)``, rounded down, but from 1 to
    `highest`, which is at least 1.

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

    begin: Array = kl.work(np.int32, "vertices", outlives=True)
    end: Array = kl.work(np.int32, "vertices", outlives=True)
    targets: Array = kl.work(np.int32, "arcs", outlives=True)
    weights: Array = kl.work("sum_type", "arcs", outlives=True)
    vertex_weights: Array = kl.work(np.int64, "vertices", outlives=True)
    cluster: Array = kl.work(np.int32, "vertices")
    label: Array = kl.absent()

    goes_on: int = kl.word()  # whether there is another level
    is_kept: int = kl.word()  # whether there is space for the coarse graph
    number: int = kl.word()  # number of the level
    vertices: int = kl.word()
    seed: int = kl.word()
    max_weight: int = kl.word()  # of a cluster
    total: int = kl.word()  # weight of all arcs
    first_cluster: int = kl.word()  # places of this level in the kept ones
    first_vertex: int = kl.word()
    first_arc: int = kl.word()


def kept_arcs(sizes: FineSizes) -> int:
    """Return the number of arcs that there is space for in all coarse graphs together."""
    return 5 * sizes.arcs // 4


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
    targets: Array = kl.work(np.int32, kept_arcs)
    weights: Array = kl.work("sum_type", kept_arcs)
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


def record_levels(records: Records, like: FineSizes, options: ClusteringOptions,
                  proposal_rule: ArcProposals, limited: bool, one_lane: bool) -> Program:
    """Return the program that makes levels until one ends coarsening."""
    program = Program("small levels", threads=MANY, sizes=like)
    total = 0 if proposal_rule.with_total else None
    slots = program.declare({**records, **SCRATCH, "rounds": ClusterRounds(0, 0, None, total),
                             "numbering": Numbering(), "coarse_rows": CoarseRows()})
    present = slots["present"]
    program.records["graph"] = Csr(present.begin, present.end, present.targets, present.weights,
                                   present.vertex_weights, None)
    rows = _share_scratch(program)
    with program.while_loop(present.goes_on):
        with program.side_by_side():
            program.launch(1, begin_clusters)
            program.launch(1, begin_members)
        record_clusters(ClusterRecording(program, present, LANES, one_lane), options,
                        proposal_rule, limited)
        program.records["rows"] = rows
        record_contraction_parts(program, ROW_LANES, one_lane, heads=program.slots["count"])
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
        program.launch(rows.clusters, keep_row, team=ROW_LANES)
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
