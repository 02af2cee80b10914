"""Graphs from the arrays of several ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import graphs
from portpart.backends import communication
from portpart.errors import InputError, PortpartError, memory_errors
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.rank_graph import RankGraph, calls_on, space_of_rank
from portpart.graphs.ranks.reverse_arcs import check_reverse_arcs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs import Numbers, Rows
    from portpart.graphs.ranks.rank_rows import DistributedGraph

RowsOfRank = Callable[["communication.Communicator", "ExecutionSpace"], "Rows"]


def distributed_graph(offsets: ArrayLike, targets: ArrayLike, weights: ArrayLike | None = None,
                      vertex_weights: Numbers | None = None, *, comm: Any,
                      device: str = "auto") -> RankGraph:
    """Make a graph from the rows of all ranks of a communicator.

    All ranks call it.  The vertices of rank 0 come first, then those of rank 1, and so on.  A rank
    may have none.

    Parameters
    ----------
    offsets : array_like of int, shape (own + 1,)
        Arcs ``offsets[i] ... offsets[i + 1] - 1`` leave the i-th vertex of this rank.  They count
        from 0 on each rank.
    targets : array_like of int, shape (num_arcs,)
        Head of each arc, a vertex of the whole graph.  Each edge has two arcs, one in the row of
        each end, with equal weights.
    weights : array_like of int, shape (num_arcs,), optional
        Weight of each arc, zero allowed.  Either all ranks have them or none.
    vertex_weights : array_like of int, shape (own,), optional
        Zero allowed.  Either all ranks have them or none.
    comm : mpi4py.MPI.Intracomm or torch.distributed.ProcessGroup
        The ranks.  A communicator is duplicated, so its owner may use and free it; ranks of a
        group, also one for NCCL, make separate connections by gloo.
    device : str, default "auto"
        Device of the rank: ``"cpu"``, ``"cuda"`` or ``"cuda:N"``; ``"auto"`` is the GPU that has
        the arrays, else the CPU.  With ``"cuda"``, the first rank of a host gets GPU 0, the next
        one GPU 1, and so on, beginning again with 0 if there are more ranks.

    Returns
    -------
    RankGraph
        Without self loops.  Parallel edges are kept.

    Raises
    ------
    InputError
        On all ranks, if a rank has invalid arrays or an arc has no reverse arc, which the message
        names; or if some ranks work on GPUs and others do not.
    CommunicationError
        If `comm` is of another type, or this process is not one of its ranks.
    DeviceUnavailable
        If mpi4py is missing, or on all ranks, if one cannot use its device.
    OutOfMemory
        On all ranks, if one has too little memory.

    Warns
    -----
    UserWarning
        On rank 0, if GPUs exchange data through host memory, because ranks share a GPU, belong to a
        process group, or NCCL is missing.

    Notes
    -----
    Arrays of NumPy, CuPy, PyTorch and anything with ``__cuda_array_interface__`` or DLPack are
    accepted.  They are not copied if types and device allow; do not change them.

    Examples
    --------
    Rank 0 of 2 has the first two vertices of a path, ``mpiexec -n 2 python path.py``::

        from mpi4py import MPI
        import portpart

        comm = MPI.COMM_WORLD
        if comm.rank == 0:
            offsets, targets = [0, 1, 3], [1, 0, 2]
        else:
            offsets, targets = [0, 2, 3], [1, 3, 2]
        rows = portpart.distributed_graph(offsets, targets, comm=comm)

    >>> from mpi4py import MPI
    >>> import portpart
    >>> rows = portpart.distributed_graph([0, 1, 2], [1, 0], comm=MPI.COMM_SELF)
    >>> rows.num_vertices, rows.first, rows.last
    (2, 0, 2)
    >>> rows.free()
    """
    arrays = offsets, targets, weights, vertex_weights
    graph = graph_of_ranks(communication.calls_of(comm), rows_of_arrays(*arrays), device, arrays)
    return graph.give_tensors() if graphs.is_tensor(targets) else graph


def rows_of_arrays(offsets: ArrayLike, targets: ArrayLike, weights: Numbers | None = None,
                   vertex_weights: Numbers | None = None) -> RowsOfRank:
    """Return a function that makes rows of the arrays of a rank; see `distributed_graph`."""
    def rows(comm: communication.Communicator, space: ExecutionSpace) -> Rows:
        arrays = communication.planned(
            comm, lambda: _arrays(space, offsets, targets, weights, vertex_weights))
        counts = communication.each_of_ranks(comm, len(arrays[0]) - 1)
        first, n = int(counts[: comm.rank].sum()), int(counts.sum())
        return communication.planned(comm, lambda: graphs.checked_rows(first, n, *arrays, space))

    return rows


def graph_of_ranks(calls: communication.ProcessCalls, rows: RowsOfRank, device: Any = "auto",
                   arrays: Sequence[Any] = ()) -> RankGraph:
    """Return the graph of rows that a function makes on each rank; the graph then owns `calls`.

    Parameters
    ----------
    calls : ProcessCalls
    rows : callable
    device : str
        As in :func:`distributed_graph`.
    arrays : sequence
        The arrays given to the rank.
    """
    def made(comm: communication.Communicator) -> DistributedGraph:
        with memory_errors(), space.active():
            graph = distributed(comm, rows(comm, space))
            check_reverse_arcs(graph)
            return graph

    try:
        space = calls.run(lambda comm: space_of_rank(comm, device, arrays))
        calls, problem = calls_on(calls, space)
        graph = RankGraph(calls, calls.run(made), graphs.gpu_space_of(arrays))
    except PortpartError:
        calls.free()
        raise
    if problem and graph.rank == 0:
        warnings.warn(problem, UserWarning, stacklevel=3)
    return graph


def _arrays(space: ExecutionSpace, offsets: ArrayLike | None, targets: ArrayLike | None,
            weights: Numbers | None, vertex_weights: Numbers | None) -> tuple[Any, Any, Any, Any]:
    """Return the arrays of a rank in the library's types, after a check of their lengths."""
    starts = graphs.index_array(space, offsets, "offsets").astype(np.int64, copy=False)
    heads = graphs.index_array(space, targets, "targets")
    _check_offsets(space, starts, len(heads))
    if weights is not None:
        weights = graphs.weight_array(space, weights, len(heads), "arcs")
        weights = graphs.integral(space, weights, "edge_weights")
    if vertex_weights is not None:
        vertex_weights = graphs.index_array(space, vertex_weights, "vertex_weights")
        if len(vertex_weights) != len(starts) - 1:
            raise InputError(f"there are {len(vertex_weights)} vertex weights for "
                             f"{len(starts) - 1} vertices of this rank")
    return starts, heads, weights, vertex_weights


def _check_offsets(space: ExecutionSpace, offsets: Array, num_arcs: int) -> None:
    if not len(offsets):
        raise InputError("offsets are empty; a rank without vertices has the offsets [0]")
    *_, place, begin, end = graphs.inspected(space, offsets)
    if begin != 0 or end != num_arcs:
        raise InputError(f"offsets begin with {begin} and end with {end}; those of a "
                         f"rank begin with 0 and end with the number of its arcs, {num_arcs}")
    if place < len(offsets) - 1:
        pair = space.to_host(offsets[place : place + 2])
        raise InputError(f"offsets[{place}] is {pair[0]} and offsets[{place + 1}] is "
                         f"{pair[1]}; offsets must ascend")
