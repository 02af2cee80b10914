"""Edge lists, as SNAP publishes them: two vertex names per line, perhaps a weight.

Numbers are separated by blanks, tabs, commas or semicolons; ``#`` and ``%`` begin comments, and a
first line of words (column names) is left out.  Edges have no direction here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from portpart.errors import InputError
from portpart.graph import Graph
from portpart.io.edge_rows import graph_of_rows, lower_edges, read_rows
from portpart.io.files import PathLike, Source, read_source
from portpart.io.render import rendered_rows
from portpart.io.tokens import LineSyntax

COMMENTS = b"#%"

VERTICES_COMMENT = re.compile(rb"#\s*portpart: vertices (\d+)")
"""Our own files say how many vertices there are, so that isolated ones survive."""

SEPARATORS = re.compile(rb"[\s,;]+")

TABLE_SLACK = 4
"""A table over all names up to the largest is used while it is at most so much longer than the
list of ends; sorting finds the distinct names otherwise."""


class NamedGraph(NamedTuple):
    """A graph and the names that its vertices had in the file."""

    graph: Graph
    names: np.ndarray


def read_edge_list(
    path: PathLike, *, relabel: bool | None = None, weights: bool | None = None
) -> NamedGraph:
    """Read an edge list and keep the names of the vertices.

    Parameters
    ----------
    path : str or PathLike
        ``-`` reads standard input.
    relabel : bool, optional
        True: vertices are the names that occur, in ascending order (any integers).  False: names
        are the vertex numbers, counted from 0.  Default: True, unless the file was written by
        portpart.
    weights : bool, optional
        Whether the third column holds edge weights; default: if there is one.

    Returns
    -------
    NamedGraph
        ``graph`` and ``names``, int64, shape (n,): the name of each vertex.
    """
    return parse(read_source(path), relabel=relabel, weights=weights)


def parse(
    source: Source, relabel: bool | None = None, weights: bool | None = None
) -> NamedGraph:
    """The graph of an edge list and its vertex names."""
    begin, columns, num_vertices = _head(source)
    weighted = columns >= 3 if weights is None else weights
    syntax = LineSyntax(comments=COMMENTS, columns=3 if weighted else 2)
    rows = read_rows(source, syntax, begin, weighted)
    if relabel is None:
        relabel = num_vertices is None
    if relabel:
        names, ends = distinct(np.concatenate([rows.sources, rows.targets]))
        rows = type(rows)(ends[: rows.count], ends[rows.count :], rows.weights, syntax, begin)
        return NamedGraph(graph_of_rows(source, rows, len(names), first=0), names)
    if num_vertices is None:
        num_vertices = 1 + int(max(rows.sources.max(initial=-1), rows.targets.max(initial=-1)))
    graph = graph_of_rows(source, rows, num_vertices, first=0)
    return NamedGraph(graph, np.arange(num_vertices))


def distinct(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct integers in ascending order, and the place of each element among them."""
    if len(names) == 0:
        return names, names
    low, high = int(names.min()), int(names.max())
    if high - low >= TABLE_SLACK * len(names):
        values, places = np.unique(names, return_inverse=True)
        return values, places
    occurs = np.zeros(high - low + 1, bool)
    occurs[names - low] = True
    place = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs) + low, place[names - low]


def text(graph: Graph) -> Iterator[Any]:
    """The edge list of a host graph, each edge once."""
    if graph.vertex_weights is not None:
        raise InputError("an edge list cannot hold vertex weights; write .graph or .npz")
    sources, targets, weights = lower_edges(graph)
    columns = [targets, sources] + ([] if weights is None else [weights])
    yield f"# portpart: vertices {graph.num_vertices} edges {graph.num_edges}\n".encode()
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield rendered_rows(values, np.arange(len(sources) + 1) * len(columns))


def _head(source: Source) -> tuple[int, int, int | None]:
    """Position of the first edge, numbers on its line, and the vertices we wrote ourselves."""
    begin, num_vertices = 0, None
    for _, after, line in source.lines():
        if line[:1] in (b"#", b"%", b""):
            note = VERTICES_COMMENT.match(line)
            num_vertices = int(note[1]) if note else num_vertices
        else:
            words = [word for word in SEPARATORS.split(line) if word]
            if not re.search(rb"[A-Za-z_]{2}", line) or begin:
                return begin, len(words), num_vertices
            begin = after
    return begin, 2, num_vertices
