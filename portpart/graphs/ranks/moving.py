"""Moves rows of a graph of several ranks to other ranks.

A vertex keeps its global id and gets a new name.  Values of vertices can be sent back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.communication import planned
from portpart.backends.programs import Array
from portpart.graphs import Graph, Rows, degrees_of, entries_in_order
from portpart.graphs.ranks.distribution import (
    rows_for_ranks,
    rows_from_ranks,
    short_offsets,
    with_ghosts,
)
from portpart.graphs.ranks.ghosts import local_numbers, values_for_ghosts
from portpart.graphs.ranks.halo import local_rows
from portpart.graphs.ranks.rank_rows import DistributedGraph

__all__ = ["Moved", "move_vertices"]

@dataclass(frozen=True, eq=False)
class Moved:
    """A graph whose vertices have moved.

    Attributes
    ----------
    graph : DistributedGraph
    order : array of int32
        The vertices that this rank had, in the order in which they were sent.
    left, arrived : numpy.ndarray of int64, shape (ranks,)
        Numbers of vertices sent to each rank, and received from each.
    places : array of int32
        Local numbers of the received vertices.
    """

    graph: DistributedGraph
    order: Array
    left: np.ndarray
    arrived: np.ndarray
    places: Array

    @property
    def count(self) -> int:
        """Number of vertices of this rank that are on other ranks now."""
        return int(self.left.sum() - self.left[self.graph.comm.rank])

    def taken_along(self, values: Array) -> Array:
        """Send values of the earlier vertices, and return those of own ones.  All ranks call it."""
        return self._sent(values, self.order, self.left, self.places)

    def brought_back(self, values: Array) -> Array:
        """Send values of own vertices back, and return those sent before.  All ranks call it."""
        return self._sent(values, self.places, self.arrived, self.order)

    def _sent(self, values: Array, order: Array, counts: np.ndarray, places: Array) -> Array:
        comm, space = self.graph.comm, self.graph.space
        sent = planned(comm, lambda: primitives.gather(space, values, order))
        (there,), _ = primitives.ship(comm, space, [sent], counts)
        return planned(comm, lambda: primitives.put_to(space, places, there))


class _Leaving(NamedTuple):
    """The plan of a move.

    Attributes
    ----------
    names : array of int32 or int64
        New names of own vertices and ghosts.
    order, places : array of int32
        Own vertices in the order in which they are sent, and the place of each in this order.
    counts : numpy.ndarray of int64, shape (ranks,)
        Number of vertices sent to each rank.
    first : numpy.ndarray of int64, shape (ranks + 1,)
        The ranges of the ranks afterwards, by new names.
    """

    names: Array
    order: Array
    places: Array
    counts: np.ndarray
    first: np.ndarray


def move_vertices(graph: DistributedGraph, groups: Array, first: np.ndarray) -> Moved:
    """Return the graph with its rows moved to other ranks.

    All ranks call it.

    Parameters
    ----------
    graph : DistributedGraph
        A graph whose vertices have not been moved.
    groups : array of int32
        The group of each own vertex.  New names are in the order of groups, then of global ids.
    first : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r gets the groups ``first[r] ... first[r + 1] - 1``.

    Raises
    ------
    OutOfMemory
        On all ranks, if one of them has too little memory.
    """
    comm, space = graph.comm, graph.space
    leaving, arrived, counts = primitives.held(comm, space, _announced(graph, groups, first))
    columns, leave = planned(comm, lambda: _arcs_in_order(graph, leaving))
    came, _ = primitives.ship(comm, space, columns, leave)
    del columns
    low = int(leaving.first[comm.rank])
    places = local_numbers(space, arrived[0], low)
    rows, ids = planned(comm, lambda: _placed(graph, low, places, arrived, came))
    for each in arrived, came:  # memory that is no longer needed
        each.clear()
    made = primitives.held(comm, space, _made(graph, rows, ids, leaving.first))
    return Moved(made, leaving.order, leaving.counts, counts, places)


def _announced(graph: DistributedGraph, groups: Array, first: np.ndarray
               ) -> primitives.Talk[tuple[_Leaving, list[Array], np.ndarray]]:
    """Return the plan, with new names also of ghosts, and the received vertices without rows."""
    space, local, size = graph.space, graph.local, graph.comm.size
    own = local.num_vertices
    mine = space.to_host(primitives.histogram(space, groups, int(first[-1])))
    received = yield primitives.Message([rows_for_ranks(space, np.tile(mine, (size, 1)))])
    reported = rows_from_ranks(space, received.parts[0])
    ends = np.concatenate([[0], np.cumsum(reported.sum(axis=0))])
    here = np.concatenate([[0], np.cumsum(reported[graph.comm.rank])])
    shifts = ends[:-1] + reported[: graph.comm.rank].sum(axis=0) - here[:-1]
    by_group, order = primitives.sort_keys(space, groups)
    names = space.empty(own + graph.num_ghosts, graph.names.dtype)
    places = space.empty(own, np.int32)
    space.parallel_for(own, rename, by_group, order, space.asarray(shifts), names, places)
    counts = np.diff(here[first])
    columns = [each for each in (names, graph.global_ids, degrees_of(local), local.vertex_weights)
               if each is not None]
    received = yield primitives.Message([values_for_ghosts(space, graph.halo, [names]),
                                         primitives.Part(columns, counts, order=order)])
    names[own:] = received.parts[0].columns[0]
    arrived = received.parts[1]
    return (_Leaving(names, order, places, counts, ends[first]), list(arrived.columns),
            np.asarray(arrived.counts))


def _arcs_in_order(graph: DistributedGraph, leaving: _Leaving
                   ) -> tuple[list[Array | None], np.ndarray]:
    """Return new names of heads, and weights, of the sent arcs, and their number for each rank."""
    space, local = graph.space, graph.local
    offsets = primitives.offsets_from_counts(
        space, primitives.put_to(space, leaving.places, degrees_of(local)))
    ends = np.concatenate([[0], np.cumsum(leaving.counts)])
    counts = np.diff(space.to_host(offsets)[ends])
    heads = entries_in_order(space, local.offsets, local.targets, leaving.places, offsets,
                             leaving.names)
    weights = local.weights
    if weights is not None:
        weights = entries_in_order(space, local.offsets, weights, leaving.places, offsets)
    return [heads, weights], counts


def _placed(graph: DistributedGraph, low: int, places: Array, arrived: list[Array],
            came: list[Array | None]) -> tuple[Rows, Array]:
    """Return the received rows in the order of their names, and their global ids."""
    space = graph.space
    _, ids, degrees, *masses = (primitives.put_to(space, places, each) for each in arrived)
    before, offsets = (primitives.offsets_from_counts(space, each)
                       for each in (arrived[2], degrees))
    heads, heavy = (None if each is None else entries_in_order(space, before, each, places, offsets)
                    for each in came)
    assert heads is not None
    return Rows(low, graph.totals.num_vertices, offsets, heads, heavy,
                masses[0] if masses else None, space), ids


def _made(graph: DistributedGraph, rows: Rows, ids: Array,
          first: np.ndarray) -> primitives.Talk[DistributedGraph]:
    """Return the graph of checked rows."""
    space = graph.space
    found = local_rows(rows, primitives.Owners(first=space.asarray(first)), graph.comm.size)
    names, (ids, *masses), _ = yield from with_ghosts(
        space, rows.first, found.halo, found.ghost_names,
        [ids] if rows.vertex_weights is None else [ids, rows.vertex_weights])
    local = Graph(short_offsets(space, rows), found.targets, rows.weights,
                  masses[0] if masses else None, space, global_ids=ids, totals=graph.totals)
    return DistributedGraph(graph.comm, first, local, found.ghost_names, found.halo, names)


@kl.kernel
def rename(i, by_group, order, shifts, names, places):
    """Store the new name of the i-th sent vertex, and its place in this order."""
    v = order[i]
    names[v] = i + shifts[by_group[i]]
    places[v] = kl.int32(i)
