"""The graph of several ranks for the program of a rank, and the device of the rank."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from portpart import backends
from portpart.backends import communication
from portpart.errors import InputError, memory_errors, shown
from portpart.graphs import Graph, gpu_space_of, table

if TYPE_CHECKING:
    from portpart.backends.programs import ExecutionSpace
    from portpart.graphs.ranks.rank_rows import DistributedGraph

# The graph of several ranks for the program of a rank ------------------------------------------


Result = TypeVar("Result")


class RankGraph:
    """The rows that one of several ranks has of a graph.

    Returned by :func:`portpart.distributed_graph` and :func:`portpart.read_distributed`.  All
    ranks must make the same calls with it, in the same order and with the same options.  It is a
    context manager that ends with :meth:`free`.  If an exception ends the ``with`` block on a rank,
    the other ranks raise `RankFailed` in their current or next call.

    Attributes
    ----------
    first, last : int
        The vertices ``first <= v < last`` belong to this rank.
    num_vertices, num_arcs : int
        Sizes of the whole graph; an undirected edge has two arcs.
    borders : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r has the vertices ``borders[r] ... borders[r + 1] - 1``.
    num_ghosts : int
        Number of vertices of other ranks that have a neighbour on this one.
    rank, size : int
        This rank and the number of ranks.

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

    def __init__(self, calls: communication.ProcessCalls, graph: DistributedGraph,
                 device_space: ExecutionSpace | None = None) -> None:
        self._calls: communication.ProcessCalls | None = calls
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
        """Space of the rows of this rank."""
        return self._graph.space

    def give_tensors(self) -> RankGraph:
        """Return blocks as tensors of PyTorch in later calls; return the graph."""
        self._gives_tensors = True
        return self

    def as_given(self, values: Any) -> Any:
        """Return values in the memory of the given arrays, as tensors if these were tensors."""
        found = self.space.to_host(values) if self._home is None else self._home.asarray(values)
        return sys.modules["torch"].as_tensor(found) if self._gives_tensors else found

    @property
    def calls(self) -> communication.ProcessCalls:
        """The object that makes calls on all ranks.

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
            Called with the part, whose communicator is for this call only.

        Returns
        -------
        object
            The result of the function on this rank.

        Raises
        ------
        PortpartError
            On all ranks, if the function raises it on one; the message begins with the rank.
        InputError
            If the graph has been freed.
        """
        def typed(comm: communication.Communicator) -> Result:
            with memory_errors(), self.space.active():
                return main(replace(self._graph, comm=comm))

        return self.calls.run(typed)

    def gather(self) -> Graph:
        """Return the whole graph on every rank.

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
        """Free the duplicate of the communicator.  All ranks call it."""
        calls, self._calls = self._calls, None
        if calls is not None:
            calls.free()

    def __enter__(self) -> RankGraph:
        return self

    def __exit__(self, kind: object, problem: BaseException | None, _: object) -> None:
        if problem is None:
            self.free()
        elif self._calls is not None:  # if a rank has failed, others do not call
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


# The device of each rank, and the way between devices ------------------------------------------


def space_of_rank(comm: communication.Communicator, device: Any,
                  arrays: Sequence[Any] = ()) -> ExecutionSpace:
    """Return the space of this rank, of the same kind on all ranks.  All ranks call it.

    Parameters
    ----------
    comm : Communicator
    device : str
        ``"cpu"``; ``"cuda"``, the GPU with the rank's number on its host, modulo the number of
        GPUs; ``"cuda:N"``; or ``"auto"``, the GPU of an array, else the CPU.
    arrays : sequence
        The arrays given to the rank.

    Raises
    ------
    InputError
        On all ranks, if there is no such device, or if some work on GPUs and others do not.
    DeviceUnavailable
        On all ranks, if one cannot use its device.
    """
    cores, number = communication.cores_of_rank(comm), communication.number_on_host(comm)
    space = communication.planned(comm, lambda: _space(device, arrays, cores, number))
    kinds = communication.each_of_ranks(comm, space.kind == "cuda")

    def check() -> None:
        if kinds[comm.rank] != kinds[0]:
            here, there = ("a GPU", "on the CPU") if kinds[comm.rank] else ("the CPU", "on a GPU")
            raise InputError(f"this rank works on {here}, and rank 0 {there}; give all ranks "
                             "arrays of the same kind, or device='cuda' or device='cpu'")

    communication.planned(comm, check)
    return space


def _space(device: Any, arrays: Sequence[Any], cores: int, number: int) -> ExecutionSpace:
    """Return the space of this rank, for its number of cores, and its number on the host."""
    if not isinstance(device, str):
        raise InputError(f"device is {shown(device)}; it must be 'auto', 'cpu', 'cuda' or "
                         "'cuda:N'")
    space_of_arrays = gpu_space_of(arrays) if device == "auto" else None
    if space_of_arrays is not None:
        return space_of_arrays
    if device in ("auto", "cpu", "cpu:0"):
        return backends.space("cpu", threads=cores)
    if device == "cuda":
        spaces = backends.gpus()
        return spaces[number % len(spaces)]
    return backends.space(device)


def calls_on(calls: Any, space: ExecutionSpace) -> tuple[Any, str]:
    """Return calls of ranks for a space, which replace `calls`.  All ranks call it.

    Returns
    -------
    calls : ProcessCalls
    problem : str
        The reason for exchange through host memory, if GPUs do so.
    """
    if space.kind == "cpu" or calls.size == 1:
        return calls, ""
    if calls.mpi is None:
        return calls, ("ranks of a process group exchange what is on their GPUs through the memory "
                       "of the host, which takes longer; those of an mpi4py communicator use NCCL")
    from portpart.backends.cuda import calls_between_gpus

    return calls_between_gpus(calls, space)
