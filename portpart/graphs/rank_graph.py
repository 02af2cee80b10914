"""A graph of several ranks, as the program of a rank holds it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from portpart.backends.communication.calls import Calls
from portpart.errors import InputError, memory_errors
from portpart.graphs.graph import Graph
from portpart.graphs.html import table

if TYPE_CHECKING:
    from portpart.backends.communication.protocol import Communicator
    from portpart.backends.interface import ExecutionSpace
    from portpart.graphs.distributed import DistributedGraph

Result = TypeVar("Result")


class RankGraph:
    """A graph whose rows belong to several ranks, as one of them holds it.

    Returned by :func:`portpart.distributed_graph` and :func:`portpart.read_distributed`.  Calls
    with it are made by all ranks together, in the same order, with the same options.  It is a
    context manager that ends with :meth:`free`.  Where an exception ends the block on a rank, the
    other ranks raise `RankFailed` in the call that they are in, or in their next one.

    Attributes
    ----------
    first, last : int
        The vertices ``first <= v < last`` belong to this rank.
    num_vertices, num_arcs : int
        Of the whole graph; an undirected edge has two arcs.
    borders : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r has the vertices ``borders[r] ... borders[r + 1] - 1``.
    num_ghosts : int
        Vertices of other ranks with a neighbour on this one.
    rank, size : int
        Of the communicator.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import portpart
    >>> grid = portpart.generators.grid_2d(30)
    >>> rows = portpart.distributed_graph(grid.offsets, grid.targets, comm=MPI.COMM_SELF)
    >>> rows
    <RankGraph: rank 0 of 1 with 900 of 900 vertices, 3,480 of 3,480 arcs>
    >>> portpart.partition(rows, 4).cut == portpart.partition(grid, 4).cut
    True
    >>> rows.free()
    """

    def __init__(self, calls: Calls, graph: DistributedGraph,
                 device_space: ExecutionSpace | None = None) -> None:
        self._calls: Calls | None = calls
        self._graph, self._home = graph, device_space
        self._gives_tensors = False
        self.rank, self.size = calls.rank, calls.size
        self.borders: np.ndarray = graph.first
        self.first, self.last = map(int, graph.first[calls.rank : calls.rank + 2])
        self.num_vertices: int = graph.totals.num_vertices
        self.num_arcs: int = graph.totals.num_arcs
        self.num_ghosts: int = graph.num_ghosts

    @property
    def num_edges(self) -> int:
        """Number of undirected edges of the whole graph."""
        return self.num_arcs // 2

    @property
    def space(self) -> ExecutionSpace:
        """Where the rows of this rank are."""
        return self._graph.space

    def give_tensors(self) -> RankGraph:
        """Let blocks be tensors of PyTorch from now on; returns itself."""
        self._gives_tensors = True
        return self

    def as_given(self, values: Any) -> Any:
        """Values in the memory that the arrays of this rank came in; tensors if those were some."""
        found = (self.space.to_host(values) if self._home is None else
                 self._home.asarray(values))
        return sys.modules["torch"].as_tensor(found) if self._gives_tensors else found

    @property
    def calls(self) -> Calls:
        """What makes calls on all ranks.

        Raises
        ------
        InputError
            If the graph has been freed.
        """
        if self._calls is None:
            raise InputError("the graph has been freed; make another one")
        return self._calls

    def call(self, main: Callable[[DistributedGraph], Result]) -> Result:
        """Run a function on each rank with the rank's part of the graph.

        Parameters
        ----------
        main : callable
            Gets the part, whose communicator is for this call alone.

        Returns
        -------
        object
            What it has returned on this rank.

        Raises
        ------
        PortpartError
            On all ranks, what the function has raised on one; the message begins with the rank.
        InputError
            If the graph has been freed.
        """
        def typed(comm: Communicator) -> Result:
            with memory_errors(), self.space.active():
                return main(replace(self._graph, comm=comm))

        return self.calls.run(typed)

    def gather(self) -> Graph:
        """The whole graph, on every rank.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If it has 2^31 vertices or more.
        OutOfMemory
            On all ranks, if one of them has too little memory.
        """
        return self.call(lambda graph: graph.gather())

    def free(self) -> None:
        """Give back the duplicate of the communicator.  All ranks call it."""
        calls, self._calls = self._calls, None
        if calls is not None:
            calls.free()

    def __enter__(self) -> RankGraph:
        return self

    def __exit__(self, kind: object, problem: BaseException | None, _: object) -> None:
        if problem is None:
            self.free()
        elif self._calls is not None:  # where one rank has failed, others do not come
            self._calls.leave(problem)

    def _repr_html_(self) -> str:
        return table("RankGraph", [
            ("rank", f"{self.rank} of {self.size}"), ("vertices", self.num_vertices),
            ("edges", self.num_edges), ("own vertices", self.last - self.first),
            ("ghosts", self.num_ghosts), ("memory of", self.space.name)])

    def __repr__(self) -> str:
        own = self._graph.local
        return (f"<RankGraph: rank {self.rank} of {self.size} with {own.num_vertices:,} of "
                f"{self.num_vertices:,} vertices, {own.num_arcs:,} of {self.num_arcs:,} arcs>")
