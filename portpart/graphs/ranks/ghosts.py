"""Ghosts: the rows that have arcs to them, and their values from the owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, distinct, tails
from portpart.graphs.ranks.halo import foreign_targets
from portpart.graphs.ranks.rank_rows import DistributedGraph

# For each ghost the own vertices that it has arcs to: none has to be asked for them ------------


class GhostRows(kl.Record):
    """Own neighbours of ghosts.

    Attributes
    ----------
    begin : array of int64, shape (ghosts + 1,)
        Neighbours of ghost i, counted from the first one, stand from ``begin[i]`` on.
    neighbours : array of int32
        Own vertices.
    """

    begin: Array
    neighbours: Array


def ghost_rows(graph: DistributedGraph) -> GhostRows:
    """The own neighbours of each ghost, as often as there are arcs between them."""
    space, local = graph.space, graph.local
    own = local.num_vertices
    counts = space.empty(own, np.int32)
    space.parallel_for(own, count_crossing, local.csr, graph.halo, own, counts)
    ghosts, first = foreign_targets(space, local.offsets, local.targets, 0, own, counts)
    ordered, order = primitives.sort_keys(space, ghosts)
    begin = primitives.lower_bounds(space, ordered, graph.num_ghosts + 1, 1, own)
    return GhostRows(begin, primitives.gather(space, tails(space, first, len(ghosts)), order))


@kl.kernel
def count_crossing(v, graph: Csr, halo: primitives.Halo, own, counts):
    """counts[v] = arcs of v to ghosts: a vertex that is no ghost elsewhere has none."""
    count = kl.int64(0)
    if halo.begin[v] < halo.begin[v + 1]:
        for arc in range(graph.begin[v], graph.end[v]):
            if graph.targets[arc] >= own:
                count += 1
    counts[v] = kl.int32(count)


# Values of all own vertices on their way to ghosts: in an order that both sides know -----------


def values_for_ghosts(space: ExecutionSpace, halo: primitives.Halo, arrays: Sequence[Array],
                      kinds: Sequence[Any] | None = None) -> primitives.Part:
    """The values of own vertices, once for each rank that has them as ghosts.

    Parameters
    ----------
    space : ExecutionSpace
    halo : Halo
    arrays : sequence of array of integers
        With an element for each own vertex, and perhaps more.
    kinds : sequence of dtype, optional
        On the way; by default those of the arrays.

    Returns
    -------
    Part
        What arrives of it has the values of all ghosts in their order.
    """
    size, own = len(halo.ghost_first) - 1, len(halo.begin) - 1
    counts = space.to_host(primitives.histogram(space, halo.ranks, size)).copy()
    firsts, columns = space.asarray(np.cumsum(counts) - counts), []
    for values in arrays:
        columns.append(space.empty(len(halo.ranks), values.dtype))
        space.parallel_for(own if len(columns[-1]) else 0, write_values, halo, values, firsts,
                           columns[-1])
    return primitives.Part(columns, counts, kinds)


@kl.kernel
def write_values(v, halo: primitives.Halo, values, firsts, result):
    """Put the value of v to its place among those for each rank that has it as a ghost."""
    for entry in range(halo.begin[v], halo.begin[v + 1]):
        result[firsts[halo.ranks[entry]] + halo.places[entry]] = values[v]


# Values of vertices of any ranks, from their owners --------------------------------------------


class Route:
    """The way between vertices that this rank has named and their owners.

    Parameters
    ----------
    graph : DistributedGraph
    names : array of int64
        Of vertices, in any order and as often as they come.

    Attributes
    ----------
    names : array of int64
        The same in ascending order, each once.
    """

    def __init__(self, graph: DistributedGraph, names: Array) -> None:
        self._graph, self.names = graph, distinct(graph.space, names)

    def fetch(self, arrays: Sequence[Array]) -> list[Array]:
        """The values for each name of at most four arrays that owners have.

        All ranks call it together.

        Parameters
        ----------
        arrays : sequence of array of integers
            With an element for each own vertex of this rank, and perhaps more.
        """
        return primitives.held(self._graph.comm, self._graph.space, self._fetched(arrays))

    def _fetched(self, arrays: Sequence[Array]) -> primitives.Talk[list[Array]]:
        graph, space = self._graph, self._graph.space
        _, counts = primitives.grouped(space, graph.owners, graph.comm.size, self.names)
        asked = (yield primitives.Message([primitives.Part([self.names], counts)])).parts[0]
        places = owned(graph, asked.columns[0])
        received = yield primitives.Message([primitives.Part([primitives.gather(space, each, places)
                                                              for each in arrays],
                                                             np.asarray(asked.counts))])
        return list(received.parts[0].columns)


# Local numbers of own vertices ------------------------------------------------------------------


def owned(graph: DistributedGraph, names: Array) -> Array:
    """The local numbers of own vertices."""
    return local_numbers(graph.space, names, int(graph.first[graph.comm.rank]))


def local_numbers(space: ExecutionSpace, names: Array, first: int) -> Array:
    """The numbers of vertices that count from the first own vertex on."""
    result = space.empty(len(names), np.int32)
    space.parallel_for(len(names), number_own, names, first, result)
    return result


@kl.kernel
def number_own(i, names, first, result):
    """result[i] = the local number of an own vertex."""
    result[i] = kl.int32(names[i] - first)
