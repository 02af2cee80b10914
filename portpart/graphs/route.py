"""Questions about vertices of any ranks that the host puts together: names once, values often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.runs import Runs
from portpart.primitives.basic import gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.ship import exchanged, sent
from portpart.primitives.sort import sort_keys


class Route:
    """The way between vertices that this rank has named and their owners.

    All ranks make one and use it together: first they `ask`.

    Parameters
    ----------
    graph : DistributedGraph
    names : array of int64
        Global ids, in any order and as often as they come.

    Attributes
    ----------
    names : array of int64
        The same in ascending order, each once.
    total : int
        Number of names of all ranks.
    asked : array of int32
        Own vertices that ranks have asked for, those of rank 0 first.
    """

    def __init__(self, graph: DistributedGraph, names: Array) -> None:
        space, size = graph.space, graph.comm.size
        ordered, _ = sort_keys(space, names)
        self._graph, self.names = graph, Runs(space, ordered).first_of(ordered)
        bounds = space.empty(size + 1, np.int64)
        space.parallel_for(size + 1, find_bound, self.names, len(self.names), graph.owners.first,
                           bounds)
        self._there = np.diff(space.to_host(bounds))
        everything = np.full(size, len(self.names))
        came = exchanged(graph.comm, np.stack([self._there, everything], axis=1))
        self._here, self.total = came[:, 0], int(came[:, 1].sum())

    def ask(self, columns: Sequence[Array] = ()) -> list[Array]:
        """Send the names, and at most three columns beside them, as `give` does."""
        graph, space = self._graph, self._graph.space
        names, *given = self.give([self.names, *columns])
        self.asked = space.empty(len(names), np.int32)
        space.parallel_for(len(names), number_own, names, int(graph.first[graph.comm.rank]),
                           self.asked)
        return given

    def give(self, columns: Sequence[Array]) -> list[Array]:
        """Columns with an element for each name, as the owners get them, for each vertex asked."""
        return sent(self._graph.comm, self._graph.space, columns, self._there, self._here)

    def answer(self, columns: Sequence[Array]) -> list[Array]:
        """Columns with an element for each vertex asked, as ranks get them, for each name."""
        return sent(self._graph.comm, self._graph.space, columns, self._here, self._there)

    def fetch(self, arrays: Sequence[Array]) -> list[Array]:
        """Ask, and get the values of arrays with an element for each own vertex."""
        self.ask()
        return self.answer([gather(self._graph.space, each, self.asked) for each in arrays])


@kl.kernel
def find_bound(rank, names, count, firsts, bounds):
    """bounds[rank] = the first name of a vertex of the rank, or of one behind it."""
    bounds[rank] = lower_bound(names, 0, count, firsts[rank])


@kl.kernel
def number_own(i, names, first, result):
    """result[i] = the local number of an own vertex."""
    result[i] = kl.int32(names[i] - first)
