"""Values of vertices of any ranks, from their owners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.backends.interface import Array
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.handles import owned
from portpart.graphs.runs import distinct
from portpart.primitives.basic import gather
from portpart.primitives.messages import Message, Part, Talk, held
from portpart.primitives.ranks import grouped


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
        return held(self._graph.comm, self._graph.space, self._fetched(arrays))

    def _fetched(self, arrays: Sequence[Array]) -> Talk[list[Array]]:
        graph, space = self._graph, self._graph.space
        _, counts = grouped(space, graph.owners, graph.comm.size, self.names)
        asked = (yield Message([Part([self.names], counts)])).parts[0]
        places = owned(graph, asked.columns[0])
        received = yield Message([Part([gather(space, each, places) for each in arrays],
                                       np.asarray(asked.counts))])
        return list(received.parts[0].columns)
