"""Graphs and partitions from and to files; ``-`` is standard input or output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from portpart.graph import Graph

STANDARD = "-"
STREAM_FORMAT = "metis"
"""Format of a graph on standard output unless the call says otherwise."""


def read_graph(name: str, file_format: str | None = None, symmetrize: bool = False) -> Graph:
    """Read the graph in file `name`; `file_format` None goes by the name, then by the content.

    `symmetrize` matters to the formats that store both directions of an edge; the others take
    edges without direction anyway.
    """
    from portpart import io

    known = io.FORMATS.get(file_format or io.format_of_name(name) or "")
    directed = known is None or "symmetrize" in known[2]
    return io.read(name, file_format, symmetrize=True if symmetrize and directed else None)


def write_graph(graph: Graph, name: str, file_format: str | None = None) -> None:
    """Write `graph` to file `name`; `file_format` None goes by the name."""
    from portpart import io

    standard = STREAM_FORMAT if name == STANDARD else None
    io.write(graph, name, file_format or standard)


def read_partition(name: str, num_vertices: int, free: bool = False) -> np.ndarray:
    """Read one block number a line from file `name`, which must hold `num_vertices` of them.

    With `free` -1 stands for a vertex that is in no block.
    """
    from portpart import io

    return io.read_partition(name, num_vertices, free=free)


def read_numbers(name: str) -> list[str]:
    """Read the numbers in file `name`, parted by white space or commas."""
    from portpart.io.files import read_source

    return bytes(read_source(name).data).decode(errors="replace").replace(",", " ").split()


def write_partition(part: Any, name: str) -> None:
    """Write one block number a line to file `name`."""
    from portpart import io

    io.write_partition(part, name)
