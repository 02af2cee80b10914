"""Refinement over several ranks, with the result of one device.

Every rank refines its own vertices by the kernels of one device.  Sums over the ranks and updates
of ghosts replace values that a single device has in its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from portpart.algorithms import refinement
from portpart.algorithms.coarsening.ranks import outside_of
from portpart.algorithms.objectives import Balance
from portpart.algorithms.refinement import project, work_arrays
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.algorithms.refinement.gains import GainSteps
from portpart.algorithms.refinement.incumbent import (
    Incumbent,
    IncumbentSteps,
    RefinementOutcome,
    set_touched,
)
from portpart.algorithms.refinement.ranks.ghosts import GhostSteps
from portpart.algorithms.refinement.ranks.line import layout_for, line_of
from portpart.algorithms.refinement.ranks.state import sent_for, totals_for
from portpart.algorithms.refinement.ranks.sums import RankRebalancingSteps, SumSteps
from portpart.backends import language as kl
from portpart.backends.communication import planned
from portpart.backends.programs import Array, Executable, Records
from portpart.graphs import Graph, Structure
from portpart.graphs.ranks import DistributedGraph, Route, ghost_rows
from portpart.primitives import Mail, MailLayout, lower_bound

# Projection from a coarser level: the blocks of all vertices of a rank, before it allocates
#
# Ranks of one process share the state of a level that one of them has refined for all.  Each notes
# the blocks of its vertices, so that the state is freed before any of them has work arrays for a
# finer level.  Of a level over ranks, owners of clusters send their blocks; nearly all clusters of
# a rank's vertices are its own.


class KnownClusters(kl.Record):
    """The state of the clusters of a rank's vertices.

    Attributes
    ----------
    own : Coarser
        The state of own clusters.
    foreign : Coarser
        The state of clusters of other ranks.
    names : array of int64
        The numbers of these, ascending.
    first, last : int
        The own clusters are ``first ... last - 1``.
    num_foreign : int
    """

    own: refinement.Coarser
    foreign: refinement.Coarser
    names: Array
    first: int = kl.word()
    last: int = kl.word()
    num_foreign: int = kl.word()


def known_clusters(coarser: DistributedGraph, known: refinement.Coarser,
                   cluster: Array) -> KnownClusters:
    """Return the state of the clusters of all vertices and ghosts of a rank.

    All ranks call it, since other ranks own some of the clusters.

    Parameters
    ----------
    coarser : DistributedGraph
        The graph of the clusters.
    known : Coarser
        The state of this rank's clusters.
    cluster : array of int64
        The number of the cluster of each vertex and each ghost, among all ranks.
    """
    space, own = coarser.space, coarser.local.num_vertices
    first = int(coarser.first[coarser.comm.rank])
    route = Route(coarser, outside_of(space, cluster, first, first + own))
    touched = space.empty(own, np.int8)
    space.parallel_for(own, note_touched, known, touched)
    foreign = refinement.Coarser(*route.fetch([known.best, touched]))
    words = KnownClusters.own_words.of(first=first, last=first + own, num_foreign=len(route.names))
    return KnownClusters(known, foreign, route.names).over(
        KnownClusters.own_words(space.asarray(np.array(words.array))))


@kl.kernel
def note_touched(c, known: refinement.Coarser, touched):
    """touched[c] = whether c may be on a boundary of its best partition."""
    touched[c] = refinement.may_touch(known.flags[c], kl.value_or(known.is_dirty, c, 0))


@kl.device
def note_start(v, c, known: refinement.Coarser, starts: refinement.Coarser):
    """Note the block of cluster c as that of v, and whether it may be on a boundary."""
    starts.best[v] = known.best[c]
    starts.flags[v] = refinement.may_touch(known.flags[c], kl.value_or(known.is_dirty, c, 0))


@kl.kernel
def start_from_all(v, cluster, known: refinement.Coarser, starts: refinement.Coarser):
    """Note the state of v's cluster, if this rank knows all clusters."""
    note_start(v, kl.int64(cluster[v]), known, starts)


@kl.kernel
def start_from_known(v, cluster, clusters: KnownClusters, starts: refinement.Coarser):
    """Note the state of v's cluster."""
    c = kl.int64(cluster[v])
    if c >= clusters.first and c < clusters.last:
        note_start(v, c - clusters.first, clusters.own, starts)
    else:
        note_start(v, lower_bound(clusters.names, 0, clusters.num_foreign, c), clusters.foreign,
                   starts)


# Refinement over several ranks, with the result of one device ----------------------------------
#
# Every rank refines its own vertices by the kernels of one device.  Sums over the ranks and updates
# of ghosts replace values that a single device has in its memory.


RANK_JET: tuple[refinement.Piece, ...] = (
    IncumbentSteps(), SumSteps(), GainSteps(), GhostSteps(), RankRebalancingSteps(),
    refinement.PropagationSteps(), refinement.AccountingSteps())
"""Jet over ranks: ghosts are updated before moves are accounted for."""

ONE_RANK_JET = tuple(piece for piece in RANK_JET if not isinstance(piece, GhostSteps))
"""The same for a single rank, which has no ghosts."""


def moved_jet(layout: MailLayout) -> tuple[refinement.Piece, ...]:
    """Return the pieces of Jet over ranks for vertices that have moved to other ranks."""
    return tuple(replace(piece, layout=layout) if isinstance(piece, RankRebalancingSteps) else piece
                 for piece in RANK_JET)


WORDS_OF_GAIN = 4
"""Number of words of the longest item, a gain: a place, a block, and 64 bits."""

AnyPart = DistributedGraph | Graph


@kl.kernel
def touch(ghost, first, incumbent: Incumbent):
    """Mark a ghost as possibly on a boundary."""
    set_touched(first + ghost, 1, incumbent)


def num_held(graph: AnyPart) -> int:
    """Return the number of vertices of a graph that a rank holds: its own and ghosts, or all."""
    if isinstance(graph, Graph):
        return graph.num_vertices
    return graph.local.num_vertices + graph.num_ghosts


def rows_of(graph: AnyPart) -> Graph:
    """Return the rows of a graph that a rank refines: its own, or all."""
    return graph if isinstance(graph, Graph) else graph.rows


class RankRefiner(refinement.Refiner):
    """Work arrays of one rank for a hierarchy over several ranks.

    Levels of which every rank has the whole graph are refined by each rank as on one device.

    Parameters
    ----------
    graphs : sequence of DistributedGraph or Graph
        Graphs of the levels, finest first; the finest belongs to several ranks.
    balance : Balance
    options : RefinementOptions
    seed : int
    finest_options : RefinementOptions, optional
        Options for the finest graph, if they differ.
    """

    def __init__(self, graphs: Sequence[AnyPart], balance: Balance,
                 options: refinement.RefinementOptions,
                 seed: int, finest_options: refinement.RefinementOptions | None = None) -> None:
        finest = graphs[0]
        assert isinstance(finest, DistributedGraph)
        self.comm = finest.comm
        self._vertices = max(map(num_held, graphs))
        self._arcs = max(rows_of(each).num_arcs for each in graphs)
        super().__init__(finest.space, finest.rows, balance, options, seed, finest_options)
        self._totals = totals_for(self.space, self.sizes, self.comm.size)
        self._graph: DistributedGraph | None = None
        self._graph_records: dict[str, kl.Record | kl.Words] | None = None
        self._found: refinement.Coarser | None = None

    def take(self, other: RankRefiner, known: refinement.Coarser) -> None:
        """Adopt the best partition of another refiner of the same hierarchy, or of this one.

        Parameters
        ----------
        other : RankRefiner
        known : Coarser
            Its arrays with the partition. If this is the other refiner, it drops all arrays per
            vertex: those for the vertices of a rank may be shorter.
        """
        self._found = known
        if other is self:
            self._shorten()
        else:
            self.run = work_arrays.taking(self.run, other.run, other.sizes)

    @property
    def coarser(self) -> refinement.Coarser:
        """The best partition, as a level that is projected; the arrays may be longer."""
        run = self.run
        return refinement.Coarser(run.incumbent.best, run.active.flags, run.cache.is_dirty)

    def _sizes_for(self, finest: Structure) -> refinement.RefinementSizes:
        return refinement.RefinementSizes(self._vertices, self._arcs, self.balance.num_blocks,
                                          finest.whole.num_vertices)

    def project(self, graph: Any, cluster: Array) -> None:
        """Project the best partition of the coarser graph onto `graph` and its ghosts."""
        if isinstance(graph, Graph):
            super().project(graph, cluster)
            return
        coarser, self._graph_records = self._graph, None
        known: Any = self._found or self.coarser
        self._found, self._limits_of = None, (None, None)
        if coarser is not None:
            known = known_clusters(coarser, known, cluster)
        of_clusters = start_from_all if coarser is None else start_from_known
        given = [cluster, known]
        del coarser, known, cluster
        starts = [planned(self.comm, partial(self._starts, graph, of_clusters, given))]
        planned(self.comm, partial(self._start_from, graph, starts))
        self._at_best = True

    def _starts(self, graph: DistributedGraph, of_clusters: Any,
                given: list[Any]) -> refinement.Coarser:
        """Return the blocks that the vertices and ghosts of a rank start in; `given` is dropped."""
        known, cluster, count = given.pop(), given.pop(), num_held(graph)
        starts = refinement.Coarser(*self.space.allocate([
            (count, np.dtype(np.int32)), (count, np.dtype(np.int8))]))
        self.space.parallel_for(count, of_clusters, cluster, known, starts)
        return starts

    def _start_from(self, graph: DistributedGraph, starts: list[refinement.Coarser]) -> None:
        """Allocate and fill the work arrays; `starts` is dropped before other ranks do so."""
        self._hold(graph)
        self.space.parallel_for(num_held(graph), project, None, starts.pop(), self.run.moves,
                                self.run.incumbent)

    def slack_on(self, graph: Any) -> int:
        """Return the weight that blocks of `graph` may have above their limits."""
        return super().slack_on(rows_of(graph))

    def start(self, graph: Any, part: Array) -> None:
        """Start with a partition of `graph`: of own vertices and ghosts if it is distributed."""
        if isinstance(graph, Graph):
            super().start(graph, part)
            return
        own, held = graph.local.num_vertices, num_held(graph)
        for blocks in (self.run.moves.part, self.run.incumbent.best):
            blocks[own:held] = part[own:]
        super().start(graph.rows, part[:own])
        self.space.parallel_for(held - own, touch, own, self.run.incumbent)

    def restart(self, graph: Any) -> None:
        """Return to the best partition of `graph`, which ghosts have as well."""
        run = self.run
        self.space.parallel_for(num_held(graph), refinement.revert_to_best, run.moves, run.cache,
                                run.active, run.incumbent)
        self._at_best = True

    def refine(self, graph: Any, filter_ratio: float = 0.0, fixed: Array | None = None,
               variant: refinement.Variant | None = None) -> RefinementOutcome:
        """Refine the current partition of `graph` in place; all ranks get the same result."""
        assert variant is None, "only refinement on one device has variants"
        return super().refine(rows_of(graph), filter_ratio, fixed)

    def _hold(self, graph: DistributedGraph) -> None:
        """Allocate work arrays for a level over ranks, which is refined next."""
        self._graph = graph
        # memory that these take to build is freed before the work arrays grow
        sent, changed = sent_for(graph)
        self._graph_records = {"ghost_rows": ghost_rows(graph), "sent": sent, "changed": changed}
        if graph.are_moved:
            self._graph_records["line"], self._graph_records["line_mail"] = line_of(graph)
        self._lengthen(num_held(graph))

    def _pieces_for(self, graph: Structure) -> tuple[refinement.Piece, ...]:
        if graph.whole is graph:
            return self.pieces
        assert self._graph is not None
        if self._graph.is_alone:
            return ONE_RANK_JET
        return moved_jet(layout_for(self._graph)) if self._graph.are_moved else RANK_JET

    def _records_of(self, graph: Structure) -> dict[str, kl.Record | kl.Words]:
        if self._graph_records is None:
            return {}
        assert self._graph is not None
        totals = self._totals.for_level(self.balance.num_blocks, self._sub_buckets_on(graph))
        return {**self._graph_records, "mail": Mail(), "owners": self._graph.owners,
                "halo": self._graph.halo, "totals": totals}

    def _run_on(self, graph: Structure, filter_ratio: float, fixed: Array | None,
                previous_blocks: PreviousBlocks | None) -> refinement.Run:
        run = super()._run_on(graph, filter_ratio, fixed, previous_blocks)
        lengths = None if self._graph_records is None else self._totals.lengths
        return run.replaced(active=run.active.replaced(lengths=lengths))

    def _start(self, executable: Executable, records: Records, size: int) -> None:
        if self._graph is None:
            super()._start(executable, records, size)
        else:
            executable.run({**records, "comm": self.comm}, size,
                           self._graph.mail_sizes(WORDS_OF_GAIN))
