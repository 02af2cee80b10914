"""Contraction: the quotient graph of a vertex map, one row per cluster (Jet, algorithm 3.1).

A program lists the members of the clusters, makes the rows (in `contract_by_hashing.py` or in
`contract_by_sorting.py`) and finds where each begins in the coarse graph, whose size the host
must know before the rows are copied there.  Rows that need much scratch are made piece by piece
(`row_pieces.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.cluster_members import (
    Members,
    clear_clusters,
    count_member,
    place_member,
)
from portpart.algorithms.coarsening.contract_by_hashing import (
    ANY_ROW,
    WIDE_TEAM,
    CoarseRows,
    RowScratch,
    copy_row,
    fill_row,
    wide_row,
)
from portpart.algorithms.coarsening.contract_by_sorting import merge_row, way_for
from portpart.algorithms.coarsening.row_pieces import Piece, cut, is_one_piece, joined
from portpart.algorithms.coarsening.sizes import FineSizes, of_vertices, sizes_of
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.backends.program import Program, Slot
from portpart.backends.work import WorkRecord
from portpart.graphs.graph import Graph
from portpart.graphs.limits import MAX_INT32_ARCS
from portpart.graphs.teams import team_for, team_for_longest
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.scan import (
    TEAM,
    TILE,
    record_scan,
    record_scans,
    record_scans_of_tiles,
    tiles_of,
)


class Clusters(WorkRecord):
    """A map from vertices to clusters 0 ... count-1.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
    count : array of int64, shape (1,)
        In the space too: who made the clusters need not wait to know how many there are.
    max_count : int
        There are no more than so many.
    """

    max_count: int
    cluster: Array = work(np.int32, of_vertices)
    count: Array = work(np.int64, lambda sizes: 1, zeros=True)


class Numbering(WorkRecord):
    """Which of n vertices lead clusters, and how many of those before each do."""

    flags: Array = work(np.int8, of_vertices)
    number: Array = work(np.int32, lambda sizes: sizes.vertices + 1)
    tile_sums: Array = work(np.int64, lambda sizes: tiles_of(sizes.vertices))

    vertices: int = kl.word()
    tiles: int = kl.word()  # tiles of them

    @classmethod
    def of(cls, n: int) -> Numbering:
        """Of so many vertices."""
        return cls().with_words(vertices=n, tiles=tiles_of(n))


NUMBERING_WORK = Numbering,
CONTRACTION_WORK = Members, CoarseRows
"""What programs work on."""


def clusters_of_matching(space: ExecutionSpace, mate: Array) -> Clusters:
    """Number the pairs and the single vertices in the order of their smaller vertex."""
    n, sizes = len(mate), FineSizes(len(mate))
    clusters = Clusters.allocate(space, sizes, max_count=n)
    executable = space.cached_executable("clusters of matching", _record_clusters_of_matching)
    executable.run({"mate": mate, "leader": clusters.cluster, "count": clusters.count,
                    "numbering": Numbering.of(n)}, n, sizes)
    return clusters


def record_numbering(program: Program, leader: Slot) -> None:
    """Record that clusters are numbered in the order of their leaders, and counted in ``count``.

    Parameters
    ----------
    program : Program
        With the record ``numbering``.
    leader : array of int32, shape (n,)
        A vertex of each vertex's cluster, the same for all of them; becomes its number.
    """
    found: Any = program.records["numbering"]
    program.array("count", np.int64)
    program.launch(found.vertices, flag_leader, leader=leader)
    record_scan(program, found.flags, found.number, found.tile_sums, found.vertices, found.tiles)
    program.launch(found.vertices, number_cluster, leader=leader)


def _record_clusters_of_matching() -> Program:
    program = Program("clusters of matching")
    program.array("mate", np.int32)
    leader = program.array("leader", np.int32)
    numbering = program.record("numbering", Numbering.of(0))
    program.launch(numbering.vertices, lead_pair)
    record_numbering(program, leader)
    return program


Guess = Callable[[Graph], list[int]]
"""From a graph what its contraction may come to where nothing runs: the numbers of clusters and of
arcs between them, the highest degree, and the weight of all arcs."""


def guess_of_clusters(graph: Graph) -> list[int]:
    """A guess of the totals, as clusters of meshes and of social networks have them.

    In networks hubs hold large clusters together, and rows that were short become long.
    """
    n, arcs, most = graph.num_vertices, graph.num_arcs, graph.max_degree
    if most > 32 * graph.mean_degree:
        return [n // 6, 3 * arcs // 4, most // 2, graph.total_arc_weight]
    if graph.mean_degree > 32:
        return [n // 3, arcs // 2, most // 2, graph.total_arc_weight]
    longer = max(5 * most // 4, int(3.5 * graph.mean_degree))
    return [n // 3, 2 * arcs // 5, longer, graph.total_arc_weight]


def contract(
    space: ExecutionSpace, graph: Graph, clusters: Clusters,
    weight_type: np.dtype[Any] | None = None, way: str = "hash",
    guess: Guess = guess_of_clusters,
) -> Graph:
    """Quotient of `graph`: weights of parallel arcs add up, arcs inside a cluster vanish.

    Synchronises once, to read the numbers of clusters and of coarse arcs, and what else the coarse
    graph knows of itself from the start: its highest degree and total weights.  Until then what
    has an element for each cluster has room for ``clusters.max_count``.  If rows are made piece by
    piece, it synchronises twice before and once for each piece.

    Parameters
    ----------
    graph : Graph
    clusters : Clusters
    weight_type : dtype, optional
        Type of the coarse arc weights, if it is known; else `graph.weight_sum_dtype`.
    way : {"hash", "sort", "auto"}
        How the arcs of a cluster are added up: in a hash row; sorted, and equal ones merged; or as
        `way_for` says.
    guess : callable
        A `Guess`.

    Returns
    -------
    Graph
        With arc weights (int32 while the total fits, else int64) and vertex weights.  Rows are
        ascending if they were sorted; else the order in a row may differ from run to run on a GPU.
    """
    making = Making(graph, clusters, way_for(graph) if way == "auto" else way, guess)
    sizes = sizes_of(graph, clusters.max_count, weight_type)
    pieces = [making.all_rows(sizes)] if is_one_piece(sizes) else making.pieces(sizes)
    made = joined(space, pieces)
    known = {"vertex": graph.total_vertex_weight, "arc": made.arc_weight,
             "degree": made.max_degree}
    return Graph(made.offsets, made.targets, made.weights, made.vertex_weights, space, known)


MEMBERS, ROWS = "members", "rows"
"""What a program makes: lists of members, rows, or both."""


@dataclass(frozen=True)
class Making:
    """The rows of a coarse graph in the making.

    Attributes
    ----------
    graph : Graph
    clusters : Clusters
    way : {"hash", "sort"}
    guess : callable
        A `Guess`.
    """

    graph: Graph
    clusters: Clusters
    way: str
    guess: Guess

    def all_rows(self, sizes: FineSizes) -> Piece:
        """The rows of all clusters, whose members are listed by the same program."""
        members = Members(self.clusters.cluster).with_words(vertices=self.graph.num_vertices)
        return self._rows(members, sizes, (MEMBERS, ROWS))

    def pieces(self, sizes: FineSizes) -> list[Piece]:
        """The same piece by piece.  Waits for the number of clusters, and where to cut them."""
        space = self.graph.space
        count, = space.read(self.clusters.count, lambda: self.guess(self.graph)[:1])
        sizes = sizes._replace(clusters=count)
        members = Members.allocate(space, sizes, cluster=self.clusters.cluster, wide=None)
        self._run((MEMBERS,), sizes,
                  members=members.with_words(vertices=self.graph.num_vertices))
        tiles = tiles_of(count)
        arcs = space.read(members.tile_sums, lambda: [sizes.arcs // tiles] * tiles)
        members = members.replaced(count=None, tile_sums=None)
        cuts = cut(sizes, arcs, lambda first, end: space.read(
            members.num_arcs[first:end], lambda: [sizes.arcs // count] * (end - first)))
        of_piece = members.of_piece
        return [self._rows(of_piece(space, first, piece.clusters), piece, (ROWS,), len(cuts))
                for first, piece in cuts]

    def _rows(self, members: Members, sizes: FineSizes, parts: tuple[str, ...],
              pieces: int = 1) -> Piece:
        """Rows of clusters; where nothing runs, one of so many pieces."""
        space = self.graph.space
        totals = CoarseRows.own_words(space.empty(len(CoarseRows.own_words.indices), np.int64))
        rows = CoarseRows.outliving(space, sizes).over(totals)
        self._run(parts, sizes, members=members, rows=rows)
        count, num_arcs, max_degree, arc_weight = space.read(
            totals.array, lambda: [each // pieces for each in self.guess(self.graph)])
        offsets = space.empty(count + 1,
                              np.int32 if num_arcs <= MAX_INT32_ARCS else rows.begin.dtype)
        arrays = (offsets, space.empty(num_arcs, np.int32), space.empty(num_arcs, sizes.sum_type),
                  space.empty(count, np.int64))
        space.parallel_for(
            count + 1, copy_row, count, rows, *arrays,
            team=team_for_longest(count, num_arcs / max(1, count), max_degree))
        return Piece(*arrays, max_degree, arc_weight)

    def _run(self, parts: tuple[str, ...], sizes: FineSizes, **records: Record) -> None:
        """Run the program that makes these parts."""
        space, graph = self.graph.space, self.graph
        team = team_for(2 * graph.mean_degree)
        given: dict[str, Any] = {"graph": graph.csr, **records}
        executable = space.cached_executable(
            ("contraction", parts, graph.type_key, sizes.sum_type, team, self.way),
            lambda: _record(given, sizes, team, space.widest_team == 1, self.way, parts))
        executable.run({**given, "count": self.clusters.count}, max(graph.num_vertices, 1), sizes)


def _record(records: dict[str, Any], like: FineSizes, team: int, one_lane: bool,
            way: str = "hash", parts: tuple[str, ...] = (MEMBERS, ROWS)) -> Program:
    """List the members of the clusters, fill a row for each, and find where coarse rows start.

    One part without the other is for rows that are made piece by piece.
    """
    program, scans = Program("contraction", sweeps=True, sizes=like), []
    slots = program.declare(records)
    members: Any = slots["members"]
    rows: Any = slots.get("rows")
    program.array("count", np.int64)
    if MEMBERS in parts:
        program.launch(1, take_sizes)
        program.launch(members.tiles, clear_clusters, team=TEAM)
        program.launch(members.vertices, count_member)
        scans.append((members.count, members.offsets, members.tile_sums))
    if ROWS in parts:
        scans.append((members.num_arcs, rows.begin, rows.tile_sums))
    record_scans(program, scans, members.clusters, members.tiles)
    with program.side_by_side():
        if MEMBERS in parts:
            program.launch(members.vertices, place_member)
        if ROWS in parts:
            program.launch(1, begin_totals)
            program.launch(members.clusters, list_wide,
                           max_arcs=wide_row(team, rows.sums.dtype.itemsize))
    if ROWS not in parts:
        program.launch(members.tiles, sum_arcs, team=TEAM)
        return program
    _record_rows(program, rows, members, team, one_lane, way)
    program.launch(members.tiles, survey_tile, team=TEAM)
    record_scans_of_tiles(program, [(rows.degrees, rows.offsets, rows.tile_sums)],
                          members.clusters, members.tiles)
    return program


def _record_rows(program: Program, rows: CoarseRows, members: Members, team: int,
                 one_lane: bool, way: str) -> None:
    """Rows of clusters with many arcs first, by wide teams, beside them those of the others.

    Where teams have one lane there is no wide team, and one kernel less to compile.
    """
    weight_type = rows.sums.dtype
    sum_type = kl.int32 if weight_type == np.int32 else kl.int64
    wide: tuple[Any, ...] = (members.num_wide, WIDE_TEAM,
                             {"wide": members.wide, "max_arcs": ANY_ROW})
    most = ANY_ROW if one_lane else wide_row(team, weight_type.itemsize)
    others = (members.clusters, team, {"wide": None, "max_arcs": most})
    with program.side_by_side():
        for count, width, given in ([] if one_lane else [wide]) + [others]:
            scratch = RowScratch(SLOTS[weight_type.itemsize][width], width, sum_type)
            filler = merge_row if way == "sort" else fill_row.bound(scratch=scratch)
            program.launch(count, filler, team=width, **given)


@kl.kernel
def lead_pair(v, mate, leader):
    """The smaller vertex of a pair, and a single vertex, lead."""
    leader[v] = kl.int32(v) if mate[v] < 0 else min(kl.int32(v), mate[v])


@kl.kernel
def flag_leader(v, leader, numbering: Numbering):
    """flags[v] = v leads its cluster."""
    numbering.flags[v] = leader[v] == v


@kl.kernel
def number_cluster(v, leader, numbering: Numbering, count):
    """Replace v's leader by the number of its cluster; the first vertex writes their number."""
    leader[v] = numbering.number[leader[v]]
    if v == 0:
        count[0] = numbering.number[numbering.vertices]


@kl.kernel
def take_sizes(_, count, members: Members):
    """Take over the number of clusters."""
    members.clusters = count[0]
    members.tiles = max(kl.int64(1), (count[0] + TILE - 1) // TILE)


@kl.kernel
def begin_totals(_, members: Members, rows: CoarseRows):
    """Nothing has been counted in all."""
    rows.clusters = members.clusters
    rows.arcs = 0
    rows.max_degree = 0
    rows.arc_weight = 0


@kl.kernel
def list_wide(c, members: Members, max_arcs):
    """List cluster c if it has many arcs; atomic, the order of the list is free."""
    if members.num_arcs[c] > max_arcs:
        members.wide[kl.atomic_next(members, Members.num_wide)] = kl.int32(c)


@kl.kernel
def sum_arcs(tile, members: Members):
    """tile_sums[tile] = arcs that leave the members of its clusters."""
    arcs = kl.int64(0)
    end = min((tile + 1) * TILE, members.clusters)
    for c in range(tile * TILE + kl.lane(), end, kl.team_size()):
        arcs += members.num_arcs[c]
    arcs = kl.team_sum(arcs)
    if kl.lane() == 0:
        members.tile_sums[tile] = arcs


@kl.kernel
def survey_tile(tile, members: Members, rows: CoarseRows):
    """Add up and compare the coarse vertices of a tile; atomic, order-free."""
    arcs = kl.int64(0)
    max_degree = kl.int64(0)
    weight = kl.int64(0)
    end = min((tile + 1) * TILE, members.clusters)
    for c in range(tile * TILE + kl.lane(), end, kl.team_size()):
        arcs += rows.degrees[c]
        max_degree = max(max_degree, kl.int64(rows.degrees[c]))
        weight += rows.arc_sums[c]
    arcs = kl.team_sum(arcs)
    max_degree = kl.team_max(max_degree)
    weight = kl.team_sum(weight)
    if kl.lane() == 0:
        rows.tile_sums[tile] = arcs
        kl.atomic_add(rows, CoarseRows.arcs, arcs)
        kl.atomic_max(rows, CoarseRows.max_degree, max_degree)
        kl.atomic_add(rows, CoarseRows.arc_weight, weight)
