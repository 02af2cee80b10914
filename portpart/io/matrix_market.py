"""Matrix Market coordinate files, read as the graph of the pattern of A + transpose(A)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graph import Graph
from portpart.io.edge_rows import graph_of_rows, lower_edges, read_rows
from portpart.io.files import Source, is_count
from portpart.io.render import rendered_rows
from portpart.io.tokens import LineSyntax

BANNER = b"%%matrixmarket"

WIDTHS = {b"pattern": 2, b"integer": 3, b"real": 3, b"double": 3, b"complex": 4}
"""Words on the line of an entry, by field."""
MAX_SHOWN = 40
"""Characters of a wrong word that a message shows."""

SYMMETRIES = (b"general", b"symmetric", b"skew-symmetric", b"hermitian")


def parse(source: Source, weights: bool | None = None, symmetrize: bool = True) -> Graph:
    """The graph of a square matrix: vertices are rows, off-diagonal entries are edges.

    Parameters
    ----------
    source : Source
    weights : bool, optional
        Whether the values are edge weights (of two values a_ij and a_ji the larger); default:
        those of an integer matrix are, real ones are left out.
    """
    field, begin, size_line = _head(source)
    n, entries = _size(source, *size_line)
    if weights is None:
        weights = field == b"integer"
    if weights and field in (b"pattern", b"complex"):
        source.refuse(1, f"a {field.decode()} matrix has no values to use as weights")
    rows = read_rows(source, LineSyntax(comments=b"%"), begin, WIDTHS[field], weights)
    source.refuse_size(size_line[0], n)
    if rows.count != entries:
        source.refuse(size_line[0], f"{entries} entries promised, {rows.count} found")
    return graph_of_rows(source, rows, n, first=1)


def text(graph: Graph) -> Iterator[Any]:
    """The Matrix Market file of a host graph: its lower triangle, symmetric."""
    if graph.vertex_weights is not None:
        raise InputError("a Matrix Market file cannot hold vertex weights; write .graph or .npz")
    sources, targets, weights = lower_edges(graph)
    columns = [sources + 1, targets + 1] + ([] if weights is None else [weights])
    field = "pattern" if weights is None else "integer"
    yield f"%%MatrixMarket matrix coordinate {field} symmetric\n".encode()
    yield f"{graph.num_vertices} {graph.num_vertices} {len(sources)}\n".encode()
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield rendered_rows(values, np.arange(len(sources) + 1) * len(columns))


def _head(source: Source) -> tuple[bytes, int, tuple[int, list[bytes]]]:
    """Field of the banner, position after the size line, and the size line with its number."""
    field = b""
    for number, after, line in source.lines():
        if not field:
            field = _field(source, line)
        elif not line.startswith(b"%"):
            return field, after, (number, line.split())
    if not field:
        _field(source, b"")
    source.refuse(source.data.count(b"\n") + 1, "the line 'rows columns entries' is missing")


def _field(source: Source, banner: bytes) -> bytes:
    words = banner.lower().split()
    if len(words) != 5 or words[0] != BANNER or words[1] != b"matrix":
        source.refuse(1, "the first line must be '%%MatrixMarket matrix coordinate "
                         "<pattern|integer|real> <general|symmetric>'")
    if words[2] != b"coordinate":
        source.refuse(1, f"a {_shown(words[2])} matrix is dense; only coordinate matrices are "
                         "graphs")
    if words[3] not in WIDTHS or words[4] not in SYMMETRIES:
        source.refuse(1, f"unknown kind '{_shown(words[3])} {_shown(words[4])}'; known are "
                         f"{b', '.join(WIDTHS).decode()} and {b', '.join(SYMMETRIES).decode()}")
    return words[3]


def _shown(word: bytes) -> str:
    return word[:MAX_SHOWN].decode("utf-8", "replace")


def _size(source: Source, number: int, words: list[bytes]) -> tuple[int, int]:
    if len(words) != 3 or not all(map(is_count, words)):
        source.refuse(number, "expected 'rows columns entries'")
    rows, columns, entries = map(int, words)
    if rows != columns:
        source.refuse(number, f"the matrix is {rows} x {columns}; the matrix of a graph is square")
    return rows, entries
