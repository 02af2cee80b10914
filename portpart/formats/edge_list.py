"""Edge lists, as SNAP publishes them: two vertex names per line, and optionally a weight.

Words are separated by blanks, tabs, commas or semicolons; ``#`` and ``%`` begin comments, and
titles of columns may precede the edges. Edges have no direction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.formats import text
from portpart.graphs import MAX_INT32, Graph, told_names
from portpart.options import checked_flag

COMMENTS = b"#%"

VERTICES_COMMENT = re.compile(rb"#\s*portpart: vertices (\d+)")
"""Our files state the number of vertices, so that isolated vertices are kept."""

KONECT_COMMENT = re.compile(rb"%\s*(sym|asym|bip)\s+[a-z]+\s*$")
"""First line of a network of konect.cc, whose fourth column is a time."""

KONECT_WIDTH = 4

TABLE_SLACK = 4
"""A table over all names up to the largest is used if it is at most this many times as long as the
list of ends; otherwise the distinct names are found by sorting.
"""


class NamedGraph(NamedTuple):
    r"""A graph and the names that its vertices had in the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("friends.txt").write_text("ann bob\nbob carl\n")
    >>> graph, names = portpart.io.read_named("friends.txt")
    >>> graph.num_vertices, names.tolist()
    (3, ['ann', 'bob', 'carl'])
    """

    graph: Graph
    names: np.ndarray


def read_edge_list(
    path: text.PathLike, *, relabel: bool | None = None, weights: bool | str | None = None,
    symmetrize: bool | str | None = None, weight_scale: float | None = None,
    columns: str | Sequence[str | int] | None = None, header: bool | None = None,
    max_vertices: int | None = None,
) -> NamedGraph:
    r"""Read an edge list and keep the names of the vertices.

    Parameters
    ----------
    path : str or PathLike
        ``-`` reads standard input.
    relabel : bool, optional
        True: vertices are the names that occur, integers in ascending order, text in the order of
        occurrence.  False: names are the vertex numbers, counted from 0.  Default: True, unless the
        file was written by portpart.
    weights, symmetrize, weight_scale, columns, header, max_vertices : optional
        As in :func:`portpart.io.read`.

    Returns
    -------
    NamedGraph
        ``graph`` and ``names``, shape (n,): the name of each vertex, int64 or text.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("trips.csv").write_text("from,to,weight\nBern,Basel,7\nBasel,Chur,2\n")
    >>> graph, names = portpart.io.read_edge_list("trips.csv")
    >>> graph.num_edges, graph.weights.tolist(), names.tolist()
    (2, [7, 7, 2, 2], ['Bern', 'Basel', 'Chur'])
    """
    rules = text.rules_of(symmetrize, weights, weight_scale)
    return parse(text.read_source(path, max_vertices), rules, relabel, columns, header)


@dataclass(frozen=True)
class EdgeListHeader:
    """Data before the first edge of a file, and the form of its line.

    Attributes
    ----------
    begin : int
        Position of the first edge.
    width : int
        Number of words on its line; 0 without edges.
    line : int
        Number of that line.
    num_vertices, vertices_line : int or None
        The number of vertices in our comment, and its line.
    titles : tuple of str
        Column names.
    named : bool
        Whether the file has words that are not numbers below the titles, or quotes.
    konect : bytes
        The kind of a network of konect.cc.
    """

    begin: int = 0
    width: int = 0
    line: int = 1
    num_vertices: int | None = None
    vertices_line: int = 1
    titles: tuple[str, ...] = ()
    named: bool = False
    konect: bytes = b""


def parse(source: text.Source, rules: text.ReadingRules = text.STRICT, relabel: bool | None = None,
          columns: Any = None, header: bool | None = None) -> NamedGraph:
    """Return the graph of an edge list, whose edges have no direction, and its vertex names."""
    relabel, header = (None if value is None else checked_flag(name, value)
                       for name, value in (("relabel", relabel), ("header", header)))
    head = _head(source, header)
    if head.num_vertices is not None:
        source.refuse_size(head.vertices_line, head.num_vertices)
    names: Any = None
    if head.named:
        names, rows = text.read_named_rows(source, rules, columns, header)
    else:
        rows = _rows(source, head, rules, columns)
    if names is not None and relabel is False:
        raise InputError(f"{source.name}: relabel=False takes names as numbers, but these are text")
    if names is None and (head.num_vertices is None if relabel is None else relabel):
        names, rows.ends = distinct(rows.ends)
    n = head.num_vertices if names is None else len(names)
    if n is None:
        n = 1 + rows.largest
        source.refuse_size(head.line, n)
    graph = text.graph_of_rows(source, rows, n, 0, rules, names)
    if names is None:
        return NamedGraph(graph, np.arange(n))
    array = names if isinstance(names, np.ndarray) else np.array(names, object)
    return NamedGraph(replace(graph, names=names), array)


def _rows(source: text.Source, head: EdgeListHeader, rules: text.ReadingRules,
          option: Any) -> text.EdgeRows:
    """Return rows of plain numbers."""
    if head.konect == b"bip":
        source.refuse(1, "a bipartite network numbers its two sides apart; add the number of the "
                         "left ones to the right ones")
    if head.width == 0 and head.num_vertices is None:
        raise GraphFormatError(f"{source.name}: holds no edges")
    width = head.width or min(text.WIDTHS)
    if head.konect and width == KONECT_WIDTH and option is None:
        columns = text.BY_PLACE
    else:
        columns = text.columns_of(source, head.line, head.titles, width, option,
                                  not rules.reads_weights(True))
    weighted = rules.reads_weights(columns.weight is not None)
    if weighted and columns.weight is None:
        source.refuse(head.line, "expected two ends and a weight")
    return text.read_rows(source, text.LineSyntax(COMMENTS), head.begin, width, columns, weighted,
                          rules)


def distinct(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct integers in ascending order, and the place of each element among them.

    `names` is overwritten.
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


def chunks(graph: Graph) -> Iterator[Any]:
    """Yield the edge list of a host graph, each edge once, with the names of vertices if it has
    names.
    """
    large, small, weights = text.lower_edges(graph, "an edge list")
    ends = small, large
    names = told_names(graph.names)
    if names is not None and text.why_unwritable(names) is None:
        yield f"# portpart: {graph.num_edges} edges by names of vertices\n".encode()
        if not text.are_integers(names):
            ends, weights = text.as_they_occur(graph.num_vertices, ends, weights)
            yield from text.named_lines(names, ends, weights)
            return
        ends, weights = text.with_alone(graph.num_vertices, ends, weights)
        numbers = np.array(names, np.int64)
        ends = numbers[ends[0]], numbers[ends[1]]
    else:
        yield f"# portpart: vertices {graph.num_vertices} edges {graph.num_edges}\n".encode()
    columns = [*ends] + ([] if weights is None else [weights])
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield text.rendered_rows(values, np.arange(len(ends[0]) + 1) * len(columns))


def _head(source: text.Source, header: bool | None) -> EdgeListHeader:
    """Read the lines up to the first edge."""
    head = EdgeListHeader()
    for number, after, line in source.lines():
        if line[:1] in (b"#", b"%"):
            head = _with_comment(source, head, number, line)
            continue
        words = [word for word in text.SEPARATORS.split(line) if word]
        plain = all(map(text.FRACTION.fullmatch, words))
        if not head.titles and header is not False and (header or not plain) and b'"' not in line:
            titles = tuple(word.decode("utf-8", "surrogateescape") for word in words)
            head = replace(head, begin=after, line=number, titles=titles)
        else:
            return replace(head, width=len(words), line=number, named=not plain)
    return replace(head, named=bool(head.titles))


def _with_comment(source: text.Source, head: EdgeListHeader, number: int,
                  line: bytes) -> EdgeListHeader:
    """Return the header with the data of a comment."""
    if note := VERTICES_COMMENT.match(line):
        if not text.is_count(note[1]):
            source.refuse(number, f"a number of {len(note[1])} digits is not a number of vertices")
        return replace(head, num_vertices=int(note[1]), vertices_line=number)
    if number == 1 and (note := KONECT_COMMENT.match(line)):
        return replace(head, konect=note[1])
    return head
