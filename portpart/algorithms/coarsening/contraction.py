"""Contraction: the quotient graph of a vertex map, one row per cluster (Jet, algorithm 3.1).

A program lists the members of the clusters, makes the rows (`contract_by_hashing.py`) and computes
where each begins in the coarse graph.  The host must know the size of that graph before rows are
copied there.  Rows that need much scratch are made piece by piece (`row_pieces.py`).  The widest
team processes clusters with many arcs, at the same time as the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.coarsening.clusters import (
    Clusters,
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
    fill_row,
    fill_short_row,
    wide_row,
)
from portpart.algorithms.coarsening.options import FineSizes, sizes_of
from portpart.algorithms.coarsening.row_pieces import (
    Filling,
    cut,
    expected_arcs,
    is_one_piece,
    samples,
)
from portpart.backends import language as kl
from portpart.backends.language import Record
from portpart.backends.programs import MANY, Array, Program, Slot
from portpart.graphs import Graph, team_for
from portpart.primitives import (
    SCAN_TILE,
    SLOTS,
    TEAM,
    record_scans,
    record_scans_of_tiles,
    tiles_of,
)

if TYPE_CHECKING:
    from portpart.backends.programs import Records

Guess = Callable[[Graph], list[int]]
"""Estimates the sizes of a contraction from the graph, for a dry run: the numbers of clusters and
of arcs between them, the highest degree, and the weight of all arcs.
"""


def guess_of_clusters(graph: Graph) -> list[int]:
    """Guess the totals from those of meshes and of social networks.

    In networks hubs connect large clusters, and short rows become long.
    """
    n, arcs, most = graph.num_vertices, graph.num_arcs, graph.max_degree
    if most > 32 * graph.mean_degree:
        sizes = [n // 6, 3 * arcs // 4, most // 2]
    elif graph.mean_degree > 32:
        sizes = [n // 3, arcs // 2, most // 2]
    else:
        sizes = [n // 3, 2 * arcs // 5, max(5 * most // 4, int(3.5 * graph.mean_degree))]
    return graph.space.guess("clusters", graph, [*sizes, graph.total_arc_weight])


def contract(graph: Graph, clusters: Clusters, weight_type: np.dtype | None = None,
             guess: Guess = guess_of_clusters) -> Graph:
    """Return the quotient of `graph`: parallel arcs are added, arcs inside a cluster are removed.

    Waits for the device once, to read the numbers of clusters and of coarse arcs, the highest
    degree and the total weight of arcs.  Until then arrays with an element for each cluster have
    ``clusters.max_count`` elements.  If rows are made piece by piece, it waits three times before
    and once for each piece.

    Parameters
    ----------
    graph : Graph
    clusters : Clusters
    weight_type : dtype, optional
        Type of the coarse arc weights, by default `graph.weight_sum_dtype`.
    guess : callable
        A `Guess`.

    Returns
    -------
    Graph
        With arc weights (int32 while the total fits, else int64) and vertex weights.  The order in
        a row may differ from run to run on a GPU.
    """
    made = rows_of_clusters(graph, clusters, weight_type, guess)
    known = {"vertex": graph.total_vertex_weight, "arc": made.arc_weight, "degree": made.max_degree,
             "parallel": 0}
    return Graph(*made.arrays(), graph.space, known)


def rows_of_clusters(
    graph: Graph, clusters: Clusters, weight_type: np.dtype | None = None,
    guess: Guess = guess_of_clusters,
) -> Filling:
    """Return the rows of `contract`; the cluster map may have more entries, for further heads."""
    making = Making(graph, clusters, guess)
    sizes = sizes_of(graph, clusters.max_count, weight_type)
    return making.all_rows(sizes) if is_one_piece(sizes) else making.pieces(sizes)


@dataclass(frozen=True)
class Making:
    """A contraction: its inputs, and the steps that make rows.

    Attributes
    ----------
    graph : Graph
    clusters : Clusters
    guess : callable
        A `Guess`.
    """

    graph: Graph
    clusters: Clusters
    guess: Guess

    def all_rows(self, sizes: FineSizes) -> Filling:
        """Return the rows of all clusters; the same program lists their members."""
        members = Members(self.clusters.cluster).with_words(vertices=self.graph.num_vertices)
        totals = self._empty_totals()
        rows = self._rows(members, sizes, (MEMBERS, ROWS), totals)
        count, arcs, *others = self._read(totals)
        made = Filling(self.graph.space, sizes._replace(clusters=count), arcs)
        made.add(rows, count, arcs, *others)
        return made

    def pieces(self, sizes: FineSizes) -> Filling:
        """Return the rows of all clusters, made piece by piece.

        Waits for the number of clusters, their arcs, and an estimate of the coarse arcs.
        """
        space = self.graph.space
        count, = space.read(self.clusters.count, lambda: [self._guess()[0]])
        sizes = sizes._replace(clusters=count)
        members = Members.allocate(space, sizes, cluster=self.clusters.cluster, wide=None)
        self._run((MEMBERS,), sizes, members=members.with_words(vertices=self.graph.num_vertices))
        arcs = space.read_all(members.tile_sums, sizes.arcs // tiles_of(count))
        members = members.replaced(count=None, tile_sums=None)
        cuts = cut(sizes, arcs, lambda first, end: space.read_all(
            members.num_arcs[first:end], sizes.arcs // count))
        made = self._filled(members, sizes, cuts, self._capacity(members, sizes, arcs))
        return made if made.is_complete else self._filled(members, sizes, cuts, made.arcs)

    def _capacity(self, members: Members, sizes: FineSizes, arcs_of_tiles: np.ndarray) -> int:
        """Return the number of arcs to allocate for the coarse graph, by the rows of some tiles."""
        chosen = samples(sizes, arcs_of_tiles)
        if not chosen:
            return 0
        words = len(CoarseRows.own_words.indices)
        totals = self._empty_totals(len(chosen))
        for number, (_, first, tile) in enumerate(chosen):
            self._piece(members, first, tile, totals[words * number : words * (number + 1)])
        found = self._read(totals, [tile.arcs / sizes.arcs for *_, tile in chosen])
        return expected_arcs(sizes, chosen, found[CoarseRows.own_words.indices["arcs"] :: words])

    def _filled(self, members: Members, sizes: FineSizes, cuts: list[tuple[int, FineSizes]],
                capacity: int) -> Filling:
        """Return the rows of all pieces; if they exceed the capacity, they are only counted."""
        made, totals = Filling(self.graph.space, sizes, capacity), self._empty_totals()
        for first, piece in cuts:
            rows = self._piece(members, first, piece, totals)
            made.add(rows, *self._read(totals, [1 / len(cuts)]))
            del rows  # freed before the next ones are allocated
        return made

    def _piece(self, members: Members, first: int, piece: FineSizes, totals: Array) -> CoarseRows:
        """Return the rows of consecutive clusters."""
        of_piece = members.of_piece(self.graph.space, first, piece.clusters)
        return self._rows(of_piece, piece, (ROWS,), totals)

    def _rows(self, members: Members, sizes: FineSizes, parts: tuple[str, ...],
              totals: Array) -> CoarseRows:
        """Return rows of clusters; their totals are in an array that is given."""
        rows = CoarseRows.outliving(self.graph.space, sizes).over(CoarseRows.own_words(totals))
        self._run(parts, sizes, members=members, rows=rows)
        return rows

    def _empty_totals(self, count: int = 1) -> Array:
        """Return words for the totals of `count` pieces of rows."""
        return self.graph.space.empty(count * len(CoarseRows.own_words.indices), np.int64)

    def _read(self, totals: Array, shares: Sequence[float] = (1,)) -> list[int]:
        """Return totals of rows; in a dry run, shares of an estimate, and the highest degree."""
        def guess() -> list[int]:
            count, arcs, degree, weight = self._guess()
            return [each for share in shares for each in (
                int(share * count), int(share * arcs), degree, int(share * weight))]

        return self.graph.space.read(totals, guess)

    def _guess(self) -> tuple[int, int, int, int]:
        """Guess the totals, with at most the maximum number of clusters."""
        count, arcs, degree, weight = self.guess(self.graph)
        count = min(count, self.clusters.max_count)
        return count, min(arcs, count * count), degree, weight

    def _run(self, parts: tuple[str, ...], sizes: FineSizes, **records: Record) -> None:
        """Run the program that makes these parts."""
        space, graph = self.graph.space, self.graph
        team = team_of_rows(graph, sizes)
        given: dict[str, Any] = {"graph": graph.csr, **records}
        counts = {name: array for name, array in (
            ("count", self.clusters.count), ("heads", self.clusters.heads)) if array is not None}
        executable = space.cached_executable(
            ("contraction", parts, graph.type_key, sizes.sum_type, team, len(counts)),
            lambda: record_contraction(given, sizes, team, space.widest_team == 1, parts,
                                       list(counts)))
        executable.run({**given, **counts}, max(graph.num_vertices, 1), sizes)


MEAN_OF_SHORT_ROWS, MANY_ROWS = 16, 1 << 19
"""If rows of clusters have few arcs and there are many, a lane of a GPU fills one."""


def team_of_rows(graph: Graph, sizes: FineSizes) -> int:
    """Return the team width for rows of clusters, which have about two members."""
    arcs = 2 * graph.mean_degree
    lone = arcs <= MEAN_OF_SHORT_ROWS and sizes.clusters >= MANY_ROWS
    return 1 if lone else team_for(arcs)


MEMBERS, ROWS = "members", "rows"
"""What a program makes: lists of members, rows, or both."""


def record_contraction(records: Records, like: FineSizes, team: int, one_lane: bool,
                       parts: tuple[str, ...] = (MEMBERS, ROWS),
                       counts: Sequence[str] = ("count",)) -> Program:
    """Return the program that lists members, fills a row per cluster, and computes offsets of rows.

    Rows that are made piece by piece need one part without the other. The last one of `counts` is
    the number of clusters that arcs lead to.
    """
    program = Program("contraction", threads=MANY, sizes=like)
    program.declare(records)
    for each in counts:
        program.array(each, np.int64)
    record_contraction_parts(program, team, one_lane, parts, heads=program.slots[counts[-1]])
    return program


def record_contraction_parts(program: Program, team: int, one_lane: bool,
                             parts: tuple[str, ...] = (MEMBERS, ROWS), *, heads: Slot) -> None:
    """Record the same, with records that are declared."""
    records = program.records
    members: Any = records["members"]
    rows: Any = records["rows"] if ROWS in parts else None
    scans = []
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
        return
    _record_rows(program, rows, members, team, one_lane, heads)
    program.launch(members.tiles, survey_tile, team=TEAM)
    record_scans_of_tiles(program, [(rows.degrees, rows.offsets, rows.tile_sums)],
                          members.clusters, members.tiles)


def _record_rows(program: Program, rows: CoarseRows, members: Members, team: int,
                 one_lane: bool, heads: Slot) -> None:
    """Record rows: those of clusters with many arcs by wide teams, at the same time as the others.

    If teams have one lane, there is no wide team: one kernel less is compiled.
    """
    weight_type = rows.sums.dtype
    sum_type = kl.int32 if weight_type == np.int32 else kl.int64
    wide: tuple[Any, ...] = (members.num_wide, WIDE_TEAM,
                             {"wide": members.wide, "max_arcs": ANY_ROW})
    most = ANY_ROW if one_lane else wide_row(team, weight_type.itemsize)
    others = (members.clusters, team, {"wide": None, "max_arcs": most})
    is_lone = team == 1 and not one_lane
    with program.side_by_side():
        for count, width, given in [wide] * (not one_lane) + [others] * (not is_lone):
            scratch = RowScratch(SLOTS[weight_type.itemsize][width], width, sum_type)
            program.launch(count, fill_row.bound(scratch=scratch), team=width, count=heads, **given)
        if is_lone:
            program.launch(members.clusters, fill_short_row.bound(sum_type=sum_type))


@kl.kernel
def take_sizes(_, count, members: Members):
    """Store the numbers of clusters and of their tiles."""
    members.clusters = count[0]
    members.tiles = max(kl.int64(1), (count[0] + SCAN_TILE - 1) // SCAN_TILE)


@kl.kernel
def begin_totals(_, members: Members, rows: CoarseRows):
    """Store the number of clusters, and set the other totals to 0."""
    rows.clusters = members.clusters
    rows.arcs = 0
    rows.max_degree = 0
    rows.arc_weight = 0


@kl.kernel
def list_wide(c, members: Members, max_arcs):
    """List cluster c if it has many arcs.  Atomic; the list has any order."""
    if members.num_arcs[c] > max_arcs:
        members.wide[kl.atomic_next(members, Members.num_wide)] = kl.int32(c)


@kl.kernel
def sum_arcs(tile, members: Members):
    """tile_sums[tile] = number of arcs of the members of its clusters."""
    arcs = kl.int64(0)
    end = min((tile + 1) * SCAN_TILE, members.clusters)
    for c in range(tile * SCAN_TILE + kl.lane(), end, kl.team_size()):
        arcs += members.num_arcs[c]
    arcs = kl.team_sum(arcs)
    if kl.lane() == 0:
        members.tile_sums[tile] = arcs


@kl.kernel
def survey_tile(tile, members: Members, rows: CoarseRows):
    """Add the arcs of a tile of clusters to the totals, and update the highest degree.

    Atomic; the result does not depend on the order.
    """
    arcs = kl.int64(0)
    max_degree = kl.int64(0)
    weight = kl.int64(0)
    end = min((tile + 1) * SCAN_TILE, members.clusters)
    for c in range(tile * SCAN_TILE + kl.lane(), end, kl.team_size()):
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
