"""Edge lists, as SNAP publishes them: two vertex names per line, perhaps a weight.

Numbers are separated by blanks, tabs, commas or semicolons; ``#`` and ``%`` begin comments, and a
first line of words (column names) is left out.  Edges have no direction here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.graph import MAX_INT32, Graph
from portpart.io.edge_rows import (
    WEIGHTED_WIDTH,
    WIDTHS,
    EdgeRows,
    graph_of_rows,
    lower_edges,
    read_rows,
)
from portpart.io.files import SEPARATORS, PathLike, Source, is_count, read_source
from portpart.io.render import rendered_rows
from portpart.io.rules import STRICT, Rules, rules_of
from portpart.io.tokens import LineSyntax

COMMENTS = b"#%"

VERTICES_COMMENT = re.compile(rb"#\s*portpart: vertices (\d+)")
"""Our own files say how many vertices there are, so that isolated ones survive."""

KONECT_COMMENT = re.compile(rb"%\s*(sym|asym|bip)\s+[a-z]+\s*$")
"""First line of a network of konect.cc, whose fourth column is a time."""

HEADER_WORD = re.compile(rb"[A-Za-z_]{2}")

KONECT_WIDTH = 4

TABLE_SLACK = 4
"""A table over all names up to the largest is used while it is at most so much longer than the
list of ends; sorting finds the distinct names otherwise."""


class NamedGraph(NamedTuple):
    """A graph and the names that its vertices had in the file."""

    graph: Graph
    names: np.ndarray


def read_edge_list(
    path: PathLike, *, relabel: bool | None = None, weights: bool | str | None = None,
    symmetrize: bool | str | None = None, weight_scale: float | None = None,
    max_vertices: int | None = None,
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
    weights, symmetrize, weight_scale, max_vertices : optional
        As in :func:`portpart.io.read`; the third column, if there is one, holds the weights.

    Returns
    -------
    NamedGraph
        ``graph`` and ``names``, int64, shape (n,): the name of each vertex.
    """
    rules = rules_of(symmetrize, weights, weight_scale)
    return parse(read_source(path, max_vertices), rules, relabel)


@dataclass(frozen=True)
class Head:
    """What precedes the first edge of a file, and what its line looks like.

    Attributes
    ----------
    begin : int
        Position of the first edge.
    width : int
        Words on its line; 0 if there is none.
    line : int
        Number of that line.
    num_vertices, vertices_line : int or None
        How many vertices we wrote ourselves, and the line that says so.
    titles : list of bytes
        Column names.
    konect : bytes
        The kind of a network of konect.cc.
    """

    begin: int = 0
    width: int = 0
    line: int = 1
    num_vertices: int | None = None
    vertices_line: int = 1
    titles: tuple[bytes, ...] = ()
    konect: bytes = b""


def parse(source: Source, rules: Rules = STRICT, relabel: bool | None = None) -> NamedGraph:
    """The graph of an edge list, whose edges have no direction, and its vertex names."""
    head = _head(source)
    _check_columns(source, head)
    if head.num_vertices is not None:
        source.refuse_size(head.vertices_line, head.num_vertices)
    rows = _rows(source, head, rules)
    relabel = head.num_vertices is None if relabel is None else relabel
    if relabel:
        names, rows.ends = distinct(rows.ends)
        graph = graph_of_rows(source, rows, len(names), 0, rules, names)
        return NamedGraph(replace(graph, names=cast(Sequence[Any], names)), names)
    num_vertices = head.num_vertices
    if num_vertices is None:
        num_vertices = 1 + rows.largest
        source.refuse_size(head.line, num_vertices)
    graph = graph_of_rows(source, rows, num_vertices, 0, rules)
    return NamedGraph(graph, np.arange(num_vertices))


def _rows(source: Source, head: Head, rules: Rules) -> EdgeRows:
    weighted = rules.wants_weights(head.width >= WEIGHTED_WIDTH)
    if weighted and head.width == min(WIDTHS):
        source.refuse(head.line, "expected two ends and a weight")
    width = head.width or min(WIDTHS)
    return read_rows(source, LineSyntax(COMMENTS), head.begin, width, weighted, rules)


def _check_columns(source: Source, head: Head) -> None:
    """Raise unless lines are two ends and perhaps a weight, and a time where that is known."""
    if head.konect == b"bip":
        source.refuse(1, "a bipartite network numbers its two sides apart; add the number of the "
                         "left ones to the right ones")
    if head.width == 0 and head.num_vertices is None:
        raise GraphFormatError(f"{source.name}: holds no edges")
    if head.width in (0, *WIDTHS) or (head.konect and head.width == KONECT_WIDTH):
        return
    shown = b", ".join(head.titles).decode("utf-8", "replace")
    columns = f"{head.width} columns" + (f" ({shown})" if shown else "")
    source.refuse(head.line, f"{columns}; an edge list has two, or three with weights: keep "
                             "those (a matrix has as many lines as columns: --format dense)")


def distinct(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct integers in ascending order, and the place of each element among them.

    `names` is used up.
    """
    if names.size == 0:
        return names.reshape(-1), names
    low, high = int(names.min()), int(names.max())
    if high - low >= TABLE_SLACK * names.size:
        values, places = np.unique(names, return_inverse=True)
        return values, places.reshape(names.shape)
    np.subtract(names, low, out=names)
    occurs = np.zeros(high - low + 1, bool)
    occurs[names] = True
    place = np.cumsum(occurs, dtype=np.int32 if len(occurs) <= MAX_INT32 else np.int64) - 1
    return np.flatnonzero(occurs) + low, place[names]


def text(graph: Graph) -> Iterator[Any]:
    """The edge list of a host graph, each edge once."""
    if graph.vertex_weights is not None:
        raise InputError("an edge list cannot hold vertex weights; write .graph or .npz")
    sources, targets, weights = lower_edges(graph)
    columns = [targets, sources] + ([] if weights is None else [weights])
    yield f"# portpart: vertices {graph.num_vertices} edges {graph.num_edges}\n".encode()
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield rendered_rows(values, np.arange(len(sources) + 1) * len(columns))


def _head(source: Source) -> Head:
    """Look at the lines up to the first edge."""
    head = Head()
    for number, after, line in source.lines():
        if line[:1] in (b"#", b"%", b""):
            if note := VERTICES_COMMENT.match(line):
                if not is_count(note[1]):
                    source.refuse(number, f"a number of {len(note[1])} digits is no number of "
                                          "vertices")
                head = replace(head, num_vertices=int(note[1]), vertices_line=number)
            if number == 1 and (note := KONECT_COMMENT.match(line)):
                head = replace(head, konect=note[1])
            continue
        words = tuple(word for word in SEPARATORS.split(line) if word)
        if head.titles or not HEADER_WORD.search(line):
            return replace(head, width=len(words), line=number)
        head = replace(head, begin=after, titles=words)
    return head
