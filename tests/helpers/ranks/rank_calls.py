"""Public calls of several ranks in one process, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from portpart.backends.communication import Communicator, Local
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.from_ranks import graph_of_ranks, rows_of_arrays
from portpart.graphs.ranks.rank_graph import RankGraph

Result = TypeVar("Result")


class LocalCalls:
    """Calls of the ranks of `Local`, which take turns as it is."""

    def __init__(self, comm: Communicator) -> None:
        self._comm, self.rank, self.size, self.mpi = comm, comm.rank, comm.size, None

    def run(self, main: Callable[[Communicator], Result]) -> Result:
        return main(self._comm)

    def leave(self, problem: BaseException) -> None:
        pass

    def free(self) -> None:
        pass


def rank_graph(comm: Communicator, graph: Graph, first: list[int]) -> RankGraph:
    """The graph of ranks that have the rows between borders, as `distributed_graph` makes it."""
    begin, end = first[comm.rank], first[comm.rank + 1]
    offsets = np.asarray(graph.offsets[begin : end + 1]).astype(np.int64)
    arcs = slice(offsets[0], offsets[-1])
    arrays = (offsets - offsets[0], graph.targets[arcs],
              None if graph.weights is None else graph.weights[arcs],
              None if graph.vertex_weights is None else graph.vertex_weights[begin:end])
    return graph_of_ranks(LocalCalls(comm), rows_of_arrays(*arrays))


def on_ranks(graph: Graph, first: list[int], main: Callable[[RankGraph], Any]) -> list[Any]:
    """What a function returns on each of so many ranks as there are ranges."""
    return Local(len(first) - 1).run(lambda comm: main(rank_graph(comm, graph, first)))
