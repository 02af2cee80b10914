"""Graphs from files whose rows several ranks read, each its own."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import numpy as np

from portpart.backends.communication import (
    Communicator,
    calls_of,
    each_of_ranks,
    from_first_rank,
    planned,
    sum_over_ranks,
)
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import GraphFormatError, InputError, reading, shown
from portpart.formats.text import FIRST_BYTES, STREAM, PathLike, is_packed
from portpart.graphs import VERTEX_COST, Graph, Rows, balanced_borders, degrees_of
from portpart.graphs.ranks import RankGraph, graph_of_ranks
from portpart.inputs import FORMATS, format_of_name, read
from portpart.io.metis_pieces import open_metis_piece
from portpart.io.row_files import open_rows
from portpart.primitives import converted, offsets_from_counts, ship

BY_ROWS, BY_LINES, BY_ONE = "rows", "lines", "one"
"""Ways to read a file: ranges of rows, pieces of text, or the whole file on rank 0."""


def read_distributed(path: PathLike, format: str | None = None, *, comm: Any, device: str = "auto",
                     max_vertices: int | None = None, **options: Any) -> RankGraph:
    """Read a graph file on the ranks of a communicator.

    All ranks call it.  Each rank owns a range of vertices with about the same number of arcs and
    vertices.

    Parameters
    ----------
    path : str or PathLike
        A file, or a folder of ``.npy`` files, that all ranks can read.  ParHIP files, ``.npz``
        archives that are not compressed, such folders, and METIS files (``.graph``) that are not
        compressed are read in parallel.  Rank 0 reads all others and sends each rank its rows, with
        a warning.
    format : str, optional
        As in :func:`portpart.io.read`.
    comm : mpi4py.MPI.Intracomm or torch.distributed.ProcessGroup
        As in :func:`portpart.distributed_graph`.
    device : str, default "auto"
        As in :func:`portpart.distributed_graph`; ``"auto"`` is the CPU.
    max_vertices : int, optional
        As in :func:`portpart.io.read`.
    **options
        Other options of :func:`portpart.io.read`, with which rank 0 reads the file.

    Returns
    -------
    RankGraph

    Raises
    ------
    GraphFormatError
        On all ranks, if a rank finds a deviation from the format.
    InputError
        On all ranks, if a rank cannot read the file, an arc has no reverse arc, or some ranks work
        on GPUs and others do not.
    CommunicationError
        If `comm` is of another type, or this process is not one of its ranks.
    DeviceUnavailable
        If mpi4py is missing, or on all ranks, if one cannot use its device.
    OutOfMemory
        On all ranks, if one has too little memory.

    Warns
    -----
    UserWarning
        On rank 0, if it reads the whole file, or as in :func:`portpart.distributed_graph`.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import portpart
    >>> portpart.io.write(portpart.generators.grid_2d(30), "grid.parhip")
    >>> with portpart.read_distributed("grid.parhip", comm=MPI.COMM_SELF) as rows:
    ...     print(rows)
    <RankGraph: rank 0 of 1 with 900 of 900 vertices, 3,480 of 3,480 arcs>
    """
    said: list[str] = []

    def rows(comm: Communicator, space: ExecutionSpace) -> Rows:
        way = planned(comm, lambda: _way_to_read(path, format, options) if comm.rank == 0 else "")
        way = from_first_rank(comm, way)
        if way == BY_ROWS:
            return planned(comm, lambda: _own_range(comm, path, space))
        if way == BY_LINES:
            return _own_lines(comm, path, max_vertices, space)
        said.append("of ranks")
        whole = planned(comm, lambda: None if comm.rank else read(
            path, format, max_vertices=max_vertices, space=space, **options))
        return scattered(comm, space, whole)

    graph = graph_of_ranks(calls_of(comm), rows, device)
    if said and graph.rank == 0 and graph.size > 1:
        warnings.warn(f"rank 0 has read {os.fspath(path)} alone; ParHIP files, .npz archives that "
                      "are not compressed and METIS files are read in parallel: portpart convert "
                      "writes them", UserWarning, stacklevel=2)
    return graph


def _way_to_read(path: PathLike, file_format: str | None, options: dict[str, Any]) -> str:
    """Return how ranks read a file, by its format and its first bytes."""
    name = os.fspath(path)
    if file_format is not None and file_format not in FORMATS:
        raise InputError(f"unknown format {shown(file_format)}; graphs have {', '.join(FORMATS)}")
    if name == STREAM:
        raise InputError("ranks read files, not standard input")
    if os.path.isdir(name):
        return BY_ROWS
    if any(value is not None for value in options.values()):
        return BY_ONE
    with reading(name), open(name, "rb") as file:
        begin = file.read(FIRST_BYTES)
    known = file_format or format_of_name(name)
    if is_packed(begin):
        return BY_ONE
    if known == "metis" and b"\0" not in begin:
        return BY_LINES
    return BY_ROWS if known == "parhip" or _has_ranges(name) else BY_ONE


def _has_ranges(name: str) -> bool:
    """Whether ranges of rows of a file can be read."""
    try:
        open_rows(name).close()
    except GraphFormatError:  # a full read reports the error
        return False
    return True


def _own_range(comm: Communicator, path: PathLike, space: ExecutionSpace) -> Rows:
    """Return the rows of this rank from a file whose ranges can be read."""
    with open_rows(path) as file:
        borders = file.borders(comm.size)
        return file.rows(borders[comm.rank], borders[comm.rank + 1], space)


def _own_lines(comm: Communicator, path: PathLike, max_vertices: int | None,
               space: ExecutionSpace) -> Rows:
    """Return the rows of this rank from a METIS file."""
    piece = planned(comm, lambda: open_metis_piece(path, comm.rank, comm.size, max_vertices))
    before = int(each_of_ranks(comm, piece.num_lines)[: comm.rank].sum())
    rows = planned(comm, lambda: piece.rows(before, space))
    totals = sum_over_ranks(comm, [piece.num_lines, piece.num_words, rows.num_arcs]).tolist()
    planned(comm, lambda: piece.check_totals(*totals))
    return rows


def scattered(comm: Communicator, space: ExecutionSpace, graph: Graph | None) -> Rows:
    """Return the rows of this rank of a graph that rank 0 has. All ranks call it."""
    facts = from_first_rank(comm, json.dumps(_facts(graph, comm.size)) if graph else "")
    first, weight_type, has_masses = json.loads(facts)
    mine, n = slice(*first[comm.rank : comm.rank + 2]), first[-1]
    counts = np.diff(first) if graph else np.zeros(comm.size, np.int64)
    (degrees, masses), _ = ship(comm, space, [
        degrees_of(graph) if graph else space.empty(0, np.int64),
        _column(space, graph.vertex_weights if graph else None,
                np.int64 if has_masses else None)], counts)
    assert degrees is not None
    offsets = planned(comm, lambda: offsets_from_counts(space, degrees, np.int64))
    arcs = np.diff(space.to_host(graph.offsets)[first].astype(np.int64)) if graph else counts
    (targets, weights), _ = ship(comm, space, [
        _column(space, graph.targets if graph else None, np.int32),
        _column(space, graph.weights if graph else None, weight_type)], arcs)
    assert targets is not None
    return Rows(mine.start, n, offsets, targets, weights, masses, space)


def _facts(graph: Graph, size: int) -> list[Any]:
    """Return the borders of ranks, the type of arc weights, and whether vertices have weights."""
    offsets = graph.space.to_host(graph.offsets)
    first = balanced_borders(lambda v: int(offsets[v]), graph.num_vertices, graph.num_arcs, size,
                             VERTEX_COST)
    return [first, None if graph.weights is None else graph.weights.dtype.name,
            graph.vertex_weights is not None]


def _column(space: ExecutionSpace, values: Array | None, kind: Any) -> Array | None:
    """Return an array of a type; None if it is absent on all ranks, empty if only on this one."""
    if kind is None:
        return None
    return space.empty(0, kind) if values is None else converted(space, values, np.dtype(kind))
