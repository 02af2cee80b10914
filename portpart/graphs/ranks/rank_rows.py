"""A graph of several ranks: each rank has the rows of a range of vertices, and ghosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from portpart.backends.communication import Communicator, keepers, once, planned
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs import (
    MAX_INT32,
    MAX_INT32_ARCS,
    Graph,
    GraphTotals,
    degrees_of,
    repeated,
    rows_in_order,
)
from portpart.primitives import (
    Halo,
    MailSizes,
    Owners,
    gather_one,
    offsets_from_counts,
    put_to,
    ship,
)


@dataclass(frozen=True, eq=False, repr=False)
class DistributedGraph:
    """The part of a graph that belongs to one rank.

    Created by `distributed` in `distribution.py`.  A vertex has a *name*, which determines
    its owner, and a global id, for hashes and orders.  These are the same, unless vertices have
    moved to other ranks.

    Attributes
    ----------
    comm : Communicator
    first : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r owns the vertices with the names ``first[r] ... first[r + 1] - 1``.
    local : Graph
        The rows of this rank.  Targets are local: own vertices from 0 on, then ghosts in the order
        of their names.  Vertex weights and global ids are those of own vertices and of ghosts.  Its
        sizes and sums are those of the rank; `local.whole` has those of the whole graph.
    ghost_names : array of int32 or int64
        The names of the ghosts.
    halo : Halo
        Which ranks have own vertices as ghosts.
    moved_names : array of int32 or int64, or None
        The names of own vertices and of ghosts, if they differ from global ids.
    """

    comm: Communicator
    first: np.ndarray
    local: Graph
    ghost_names: Array
    halo: Halo
    moved_names: Array | None = None

    @property
    def are_moved(self) -> bool:
        """Whether names differ from global ids."""
        return self.moved_names is not None

    @property
    def is_alone(self) -> bool:
        """Whether the places of vertices are their global ids: on a single rank, if none moved."""
        return self.comm.size == 1 and not self.are_moved

    @cached_property
    def rows(self) -> Graph:
        """The rows of this rank as kernels read them: without global ids if these are places."""
        return replace(self.local, global_ids=None) if self.is_alone else self.local

    @property
    def names(self) -> Array:
        """The names of own vertices and of ghosts."""
        return self.global_ids if self.moved_names is None else self.moved_names

    @property
    def global_ids(self) -> Array:
        """The numbers of own vertices and of ghosts in the whole graph."""
        assert self.local.global_ids is not None
        return self.local.global_ids

    @property
    def space(self) -> ExecutionSpace:
        """The space that owns the arrays."""
        return self.local.space

    @property
    def totals(self) -> GraphTotals:
        """Sizes of the whole graph, equal on all ranks."""
        return cast(GraphTotals, self.local.totals)

    @property
    def whole(self) -> GraphTotals:
        """The same as `totals`, by its name in plain graphs."""
        return self.totals

    @property
    def num_ghosts(self) -> int:
        """Number of ghosts."""
        return len(self.ghost_names)

    @cached_property
    def owners(self) -> Owners:
        """The owner of each vertex, for kernels."""
        return Owners(first=self.space.asarray(self.first)).with_words(
            size=self.comm.size, rank=self.comm.rank)

    def mail_sizes(self, words: int) -> MailSizes:
        """Return sizes of mail for pushing all own vertices, in items of this many words."""
        return MailSizes(self.comm.size, words * len(self.halo.ranks), words * self.num_ghosts)

    def gather(self) -> Graph:
        """Return the whole graph on every rank, as `gathered` does, and keep this one."""
        return gathered([self])
    def gather_values(self, values: Array) -> Array:
        """Return on every rank the values of all vertices in the order of global ids."""
        columns = planned(self.comm, lambda: self._times(self.comm.size, [
            values, self._moved_ids()]))
        (result, ids), _ = ship(self.comm, self.space, columns,
                                self.comm.size * [self.local.num_vertices])
        assert result is not None
        return result if ids is None else planned(
            self.comm, lambda: put_to(self.space, ids, result))

    def _moved_ids(self) -> Array | None:
        """Return the global ids of own vertices if vertices have moved, else None."""
        return self._own(self.local.global_ids) if self.are_moved else None

    def _own(self, values: Array | None) -> Array | None:
        return None if values is None else values[: self.local.num_vertices]

    def _times(self, count: int, columns: Sequence[Array | None]) -> list[Array | None]:
        """Return `count` copies of each column."""
        return [each if each is None or count == 1 else repeated(self.space, each, count)
                for each in columns]

    def _global_targets(self) -> Array:
        local, space = self.local, self.space
        targets = space.empty(local.num_arcs, np.int32)
        space.parallel_for(local.num_arcs, gather_one, local.global_ids, local.targets, targets)
        return targets

    def columns_of_all(self) -> list[Array | None]:
        """Return the degrees, vertex weights, moved ids, targets and arc weights of all ranks.

        Targets are global ids.  Ranks whose arrays another rank keeps get empty columns.
        """
        local, comm = self.local, self.comm
        to = np.array([rank == keeper for rank, keeper in enumerate(keepers(comm, self.space))])
        # separately, since copies of columns of arcs take much memory
        return [*self.shipped_to(to, local.num_vertices, lambda: [
            degrees_of(local), self._own(local.vertex_weights), self._moved_ids()]),
            *self.shipped_to(to, local.num_arcs, lambda: [self._global_targets()]),
            *self.shipped_to(to, local.num_arcs, lambda: [local.weights])]

    def shipped_to(self, receivers: np.ndarray, rows: int,
                   columns: Callable[[], list[Array | None]]) -> list[Array | None]:
        """Return the columns of all ranks on receivers, and empty ones on the other ranks.

        Parameters
        ----------
        receivers : numpy.ndarray of bool, shape (ranks,)
        rows : int
            Length of the columns of this rank.
        columns : callable
            Makes them.
        """
        sent = planned(self.comm, lambda: self._times(int(receivers.sum()), columns()))
        return ship(self.comm, self.space, sent, rows * receivers.astype(np.int64))[0]

    def __repr__(self) -> str:
        n, arcs = self.totals.num_vertices, self.totals.num_arcs
        return (f"<DistributedGraph: rank {self.comm.rank} of {self.comm.size} with "
                f"{self.local.num_vertices:,} of {n:,} vertices, {self.num_ghosts:,} ghosts, "
                f"{self.local.num_arcs:,} of {arcs:,} arcs, on {self.space.name}>")


def gathered(given: list[DistributedGraph]) -> Graph:
    """Return the whole graph on every rank, which all ranks call; errors as in `RankGraph.gather`.

    Parameters
    ----------
    given : list of DistributedGraph
        The graph, which is removed: a rank that waits for another one keeps it only if its caller
        does.

    Returns
    -------
    Graph
        Rows as given by the ranks, in the order of global ids.  Ranks whose arrays are in the
        same memory get the same graph.
    """
    graph = given.pop()
    space, comm = graph.space, graph.comm
    n, num_arcs = graph.totals.num_vertices, graph.totals.num_arcs
    if n > MAX_INT32:
        raise InputError(f"{n} vertices are too many for one rank; {MAX_INT32} are the most")
    degrees, masses, ids, targets, weights = graph.columns_of_all()
    del graph

    def whole() -> Graph:
        assert degrees is not None
        assert targets is not None
        offsets = offsets_from_counts(space, degrees, np.int32 if num_arcs <= MAX_INT32_ARCS
                                      else np.int64)
        found = Graph(offsets, targets, weights, masses, space)
        return found if ids is None else rows_in_order(found, ids)

    return once(comm, space, whole)
