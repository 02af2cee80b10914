"""Contraction: the quotient graph of a vertex map, one row per cluster (Jet, algorithm 3.1).

A program (`contraction_program.py`) lists the members of the clusters, makes the rows (in
`contract_by_hashing.py` or in `contract_by_sorting.py`) and finds where each begins in the coarse
graph, whose size the host must know before the rows are copied there.  Rows that need much scratch
are made piece by piece (`row_pieces.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.clusters import Clusters, Members
from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows
from portpart.algorithms.coarsening.contract_by_sorting import way_for
from portpart.algorithms.coarsening.contraction_program import MEMBERS, ROWS, record_contraction
from portpart.algorithms.coarsening.options import FineSizes, sizes_of
from portpart.algorithms.coarsening.row_pieces import (
    Filling,
    cut,
    expected_arcs,
    is_one_piece,
    samples,
)
from portpart.backends.language import Record
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Graph, team_for
from portpart.primitives import tiles_of

Guess = Callable[[Graph], list[int]]
"""Estimates the sizes of a contraction from the graph, for a dry run: the numbers of clusters and
of arcs between them, the highest degree, and the weight of all arcs.
"""


def guess_of_clusters(graph: Graph) -> list[int]:
    """A guess of the totals, as clusters of meshes and of social networks have them.

    In networks hubs hold large clusters together, and rows that were short become long.
    """
    n, arcs, most = graph.num_vertices, graph.num_arcs, graph.max_degree
    if most > 32 * graph.mean_degree:
        sizes = [n // 6, 3 * arcs // 4, most // 2]
    elif graph.mean_degree > 32:
        sizes = [n // 3, arcs // 2, most // 2]
    else:
        sizes = [n // 3, 2 * arcs // 5, max(5 * most // 4, int(3.5 * graph.mean_degree))]
    return graph.space.guess("clusters", graph, [*sizes, graph.total_arc_weight])


def contract(
    space: ExecutionSpace, graph: Graph, clusters: Clusters,
    weight_type: np.dtype | None = None, way: str = "hash",
    guess: Guess = guess_of_clusters,
) -> Graph:
    """Quotient of `graph`: weights of parallel arcs add up, arcs inside a cluster vanish.

    Waits for the device once, to read the numbers of clusters and of coarse arcs, and what else the
    coarse graph knows of itself from the start: its highest degree and total weights.  Until then
    what has an element for each cluster has room for ``clusters.max_count``.  If rows are made
    piece by piece, it synchronises three times before and once for each piece.

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
    made = rows_of_clusters(graph, clusters, weight_type, way, guess)
    known = {"vertex": graph.total_vertex_weight, "arc": made.arc_weight,
             "degree": made.max_degree}
    return Graph(*made.arrays(), space, known)


def rows_of_clusters(
    graph: Graph, clusters: Clusters, weight_type: np.dtype | None = None,
    way: str = "hash", guess: Guess = guess_of_clusters,
) -> Filling:
    """The rows of `contract`; the map of clusters may go on behind the vertices, for heads."""
    making = Making(graph, clusters, way_for(graph) if way == "auto" else way, guess)
    sizes = sizes_of(graph, clusters.max_count, weight_type)
    return making.all_rows(sizes) if is_one_piece(sizes) else making.pieces(sizes)


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

    def all_rows(self, sizes: FineSizes) -> Filling:
        """The rows of all clusters, whose members are listed by the same program."""
        members = Members(self.clusters.cluster).with_words(vertices=self.graph.num_vertices)
        totals = self._empty_totals()
        rows = self._rows(members, sizes, (MEMBERS, ROWS), totals)
        count, arcs, *others = self._read(totals)
        made = Filling(self.graph.space, sizes._replace(clusters=count), arcs)
        made.add(rows, count, arcs, *others)
        return made

    def pieces(self, sizes: FineSizes) -> Filling:
        """The same piece by piece.

        Waits for the number of clusters, where to cut them, and about how many arcs there will be.
        """
        space = self.graph.space
        count, = space.read(self.clusters.count, lambda: [self._guess()[0]])
        sizes = sizes._replace(clusters=count)
        members = Members.allocate(space, sizes, cluster=self.clusters.cluster, wide=None)
        self._run((MEMBERS,), sizes,
                  members=members.with_words(vertices=self.graph.num_vertices))
        tiles = tiles_of(count)
        arcs = space.read(members.tile_sums, lambda: [sizes.arcs // tiles] * tiles)
        members = members.replaced(count=None, tile_sums=None)
        cuts = cut(sizes, arcs, lambda first, end: space.read(
            members.num_arcs[first:end], lambda: [sizes.arcs // count] * (end - first)))
        made = self._filled(members, sizes, cuts, self._room(members, sizes, arcs))
        return made if made.is_complete else self._filled(members, sizes, cuts, made.arcs)

    def _room(self, members: Members, sizes: FineSizes, arcs_of_tiles: list[int]) -> int:
        """Room for the arcs of the coarse graph, by the rows of some tiles."""
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
                room: int) -> Filling:
        """The rows of all pieces, if there is room for them; else they are only counted."""
        made, totals = Filling(self.graph.space, sizes, room), self._empty_totals()
        for first, piece in cuts:
            rows = self._piece(members, first, piece, totals)
            made.add(rows, *self._read(totals, [1 / len(cuts)]))
            del rows  # given back before there are others
        return made

    def _piece(self, members: Members, first: int, piece: FineSizes, totals: Array) -> CoarseRows:
        """Rows of clusters that follow each other."""
        of_piece = members.of_piece(self.graph.space, first, piece.clusters)
        return self._rows(of_piece, piece, (ROWS,), totals)

    def _rows(self, members: Members, sizes: FineSizes, parts: tuple[str, ...],
              totals: Array) -> CoarseRows:
        """Rows of clusters; their totals have their own array."""
        rows = CoarseRows.outliving(self.graph.space, sizes).over(CoarseRows.own_words(totals))
        self._run(parts, sizes, members=members, rows=rows)
        return rows

    def _empty_totals(self, count: int = 1) -> Array:
        """Words for the totals of this many pieces of rows."""
        return self.graph.space.empty(count * len(CoarseRows.own_words.indices), np.int64)

    def _read(self, totals: Array, shares: Sequence[float] = (1,)) -> list[int]:
        """Totals of rows; in a dry run, such shares of an estimate, and the highest degree."""
        def guess() -> list[int]:
            count, arcs, degree, weight = self._guess()
            return [each for share in shares for each in (
                int(share * count), int(share * arcs), degree, int(share * weight))]

        return self.graph.space.read(totals, guess)

    def _guess(self) -> tuple[int, int, int, int]:
        """What is guessed of the totals, of no more clusters than there may be."""
        count, arcs, degree, weight = self.guess(self.graph)
        count = min(count, self.clusters.max_count)
        return count, min(arcs, count * count), degree, weight

    def _run(self, parts: tuple[str, ...], sizes: FineSizes, **records: Record) -> None:
        """Run the program that makes these parts."""
        space, graph = self.graph.space, self.graph
        team = team_for(2 * graph.mean_degree)
        given: dict[str, Any] = {"graph": graph.csr, **records}
        executable = space.cached_executable(
            ("contraction", parts, graph.type_key, sizes.sum_type, team, self.way),
            lambda: record_contraction(given, sizes, team, space.widest_team == 1, self.way, parts))
        executable.run({**given, "count": self.clusters.count}, max(graph.num_vertices, 1), sizes)
