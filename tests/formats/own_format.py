"""A format that portpart has not: the number of vertices, then two ends of an edge on each line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from portpart.formats.text.edge_rows import lower_edges
from portpart.formats.text.files import Source
from portpart.graphs.graph import Graph
from portpart.inputs.constructors import from_edges


def parse(source: Source) -> Graph:
    """The graph of a file."""
    try:
        numbers = np.array(source.data.split(), np.int64)
    except ValueError:
        source.refuse(1, "expected integers")
    if len(numbers) % 2 != 1:
        source.refuse(1, "expected the number of vertices and pairs of ends")
    source.refuse_size(1, int(numbers[0]))
    return from_edges(numbers[1:].reshape(-1, 2), num_vertices=int(numbers[0]))


def chunks(graph: Graph) -> Iterator[bytes]:
    """A file of the graph."""
    sources, targets, _ = lower_edges(graph, "a list of pairs")
    yield f"{graph.num_vertices}\n".encode()
    for u, v in zip(sources.tolist(), targets.tolist(), strict=True):
        yield f"{u} {v}\n".encode()
