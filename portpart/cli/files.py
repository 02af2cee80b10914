"""Graphs and partitions from and to files; ``-`` is standard input or output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from portpart.graph import Graph

STANDARD = "-"
STREAM_FORMAT = "metis"
"""Format of a graph on standard input or output unless the call says otherwise."""


def read_graph(name: str, file_format: str | None = None, symmetrize: bool = False) -> Graph:
    """Read the graph in file `name`; `file_format` None goes by the name."""
    from portpart import io

    return io.read(name, format=_format(name, file_format), symmetrize=symmetrize)


def write_graph(graph: Graph, name: str, file_format: str | None = None) -> None:
    """Write `graph` to file `name`; `file_format` None goes by the name."""
    from portpart import io

    io.write(graph, name, format=_format(name, file_format))


def read_partition(name: str) -> np.ndarray:
    """Read one block number a line from file `name`."""
    from portpart import io

    return io.read_partition(name)


def write_partition(part: Any, name: str) -> None:
    """Write one block number a line to file `name`."""
    from portpart import io

    io.write_partition(part, name)


def _format(name: str, file_format: str | None) -> str | None:
    return STREAM_FORMAT if name == STANDARD and file_format is None else file_format
