"""Own neighbours of ghosts, and values of ghosts from their owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import distinct, tails
from portpart.graphs.ranks.halo import border_targets
from portpart.graphs.ranks.rank_rows import DistributedGraph

# The own neighbours of each ghost, found without a message -------------------------------------


class GhostRows(kl.Record):
    """Own neighbours of ghosts.

    Attributes
    ----------
    begin : array of int64, shape (ghosts + 1,)
        The neighbours of ghost i begin at ``begin[i]``; ghosts are counted from 0.
    neighbours : array of int32
        Own vertices.
    """

    begin: Array
    neighbours: Array


def ghost_rows(graph: DistributedGraph) -> GhostRows:
    """Return the own neighbours of each ghost, once for each arc."""
    space, local, halo = graph.space, graph.local, graph.halo
    own, border = local.num_vertices, halo.border.names[: halo.num_border]
    ghosts, first = border_targets(space, border, local.offsets, local.targets, own)
    ordered, order = primitives.sort_keys(space, ghosts)
    begin = primitives.lower_bounds(space, ordered, graph.num_ghosts + 1, 1, own)
    neighbours = primitives.gather(space, border, tails(space, first, len(ghosts)))
    return GhostRows(begin, primitives.gather(space, neighbours, order))


# Values of own vertices for their ghosts, in an order that both ranks know ---------------------


def values_for_ghosts(space: ExecutionSpace, halo: primitives.Halo, arrays: Sequence[Array],
                      kinds: Sequence[Any] | None = None) -> primitives.Part:
    """Return the values of own vertices, once for each rank that has them as ghosts.

    Parameters
    ----------
    space : ExecutionSpace
    halo : Halo
    arrays : sequence of array of integers
        With an element for each own vertex, and perhaps more.
    kinds : sequence of dtype, optional
        Types in the message; by default the types of the arrays.

    Returns
    -------
    Part
        The received parts have the values of all ghosts in their order.
    """
    size = len(halo.ghost_first) - 1
    counts = space.to_host(primitives.histogram(space, halo.ranks, size)).copy()
    firsts, columns = space.asarray(np.cumsum(counts) - counts), []
    for values in arrays:
        columns.append(space.empty(len(halo.ranks), values.dtype))
        space.parallel_for(halo.num_border, write_values, halo, values, firsts, columns[-1])
    return primitives.Part(columns, counts, kinds)


def with_ghost_values(space: ExecutionSpace, halo: primitives.Halo, arrays: Sequence[Array],
                      kinds: Sequence[Any] | None = None, words: Sequence[int] = (),
                      ) -> primitives.Talk[tuple[list[Array], np.ndarray]]:
    """Return arrays with the values of own vertices, then of ghosts, and the words of all ranks.

    Parameters
    ----------
    space : ExecutionSpace
    halo : Halo
    arrays : sequence of array of integers, shape (own vertices,)
    kinds : sequence of dtype, optional
        Types in the message; by default the types of the arrays.
    words : sequence of int
        Numbers that are sent to every rank with them.
    """
    received = yield primitives.Message([values_for_ghosts(space, halo, arrays, kinds)], words)
    found = []
    for each, arrived in zip(arrays, received.parts[0].columns):
        found.append(space.empty(len(each) + len(arrived), each.dtype))
        found[-1][: len(each)] = each
        found[-1][len(each) :] = arrived
    return found, received.words


@kl.kernel
def write_values(i, halo: primitives.Halo, values, firsts, result):
    """Write the value of vertex i of the border for each rank that has it as a ghost."""
    v = halo.border.names[i]
    for entry in range(halo.begin[i], halo.begin[i + 1]):
        result[firsts[halo.ranks[entry]] + halo.places[entry]] = values[v]


# Values of vertices of any ranks, from their owners --------------------------------------------


class Route:
    """The communication pattern between this rank and the owners of named vertices.

    Parameters
    ----------
    graph : DistributedGraph
    names : array of int64
        Names of vertices, in any order; repetitions are allowed.

    Attributes
    ----------
    names : array of int64
        The names in ascending order, each once.
    """

    def __init__(self, graph: DistributedGraph, names: Array) -> None:
        self._graph, self.names = graph, distinct(graph.space, names)

    def fetch(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the values of each name from at most four arrays of the owners.

        All ranks call it together.

        Parameters
        ----------
        arrays : sequence of array of integers
            With an element for each own vertex of this rank, and perhaps more.
        """
        return primitives.held(self._graph.comm, self._graph.space, self._fetched(arrays))

    def _fetched(self, arrays: Sequence[Array]) -> primitives.Talk[list[Array]]:
        graph, space = self._graph, self._graph.space
        _, counts = primitives.grouped(space, graph.owners.first, graph.comm.size, self.names)
        request = (yield primitives.Message([primitives.Part([self.names], counts)])).parts[0]
        places = owned(graph, request.columns[0])
        received = yield primitives.Message([primitives.Part(arrays, request.counts, order=places)])
        return list(received.parts[0].columns)


# Local numbers of own vertices ------------------------------------------------------------------


def owned(graph: DistributedGraph, names: Array) -> Array:
    """Return the local numbers of own vertices."""
    return local_numbers(graph.space, names, int(graph.first[graph.comm.rank]))


def local_numbers(space: ExecutionSpace, names: Array, first: int) -> Array:
    """Return the numbers of own vertices, counted from the first one."""
    result = space.empty(len(names), np.int32)
    space.parallel_for(len(names), number_own, names, first, result)
    return result


@kl.kernel
def number_own(i, names, first, result):
    """Set result[i] to the local number of an own vertex."""
    result[i] = kl.int32(names[i] - first)
