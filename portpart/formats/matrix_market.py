"""Matrix Market coordinate files: the graph of the entries off the diagonal, or a hypergraph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from portpart import graphs
from portpart.errors import errors_about
from portpart.formats import text

BANNER = b"%%matrixmarket"
SYNTAX = text.LineSyntax(comments=b"%")

WIDTHS = {b"pattern": 2, b"integer": 3, b"real": 3, b"double": 3, b"complex": 4}
"""Number of words on the line of an entry, by field."""
MAX_SHOWN = 40
"""Maximum characters of a wrong word in a message."""

SYMMETRIES = (b"general", b"symmetric", b"skew-symmetric", b"hermitian")


def parse(source: text.Source, rules: text.ReadingRules = text.STRICT) -> graphs.Graph:
    """Return the graph of a square matrix: vertices are rows, off-diagonal entries are edges.

    Values are weights if the matrix has integers, or if the rules require weights. A general matrix
    may hold both directions of an edge; an entry of a symmetric one means both.
    """
    (field, symmetry), begin, size_line = head_of(source)
    n, columns, entries = size_of(source, *size_line)
    if n != columns:
        source.refuse(size_line[0], f"the matrix is {n} x {columns}; the matrix of a graph is "
                                    'square; portpart.as_hypergraph(file, model="row-net") '
                                    "(--model row-net) makes a hypergraph whose nets are the rows")
    weighted = rules.reads_weights(field == b"integer")
    if weighted:
        _check_values(source, field, symmetry, rules)
    rows = text.read_rows(source, SYNTAX, begin, WIDTHS[field], text.BY_PLACE, weighted, rules)
    source.refuse_size(size_line[0], n)
    check_entries(source, size_line[0], entries, rows.count)
    if symmetry != b"general" and rules.symmetrize == graphs.SUM:  # entries above the diagonal, too
        weights = None if rows.weights is None else np.tile(rows.weights, 2)
        rows = replace(rows, ends=np.hstack([rows.ends, rows.ends[::-1]]), weights=weights)
    return text.graph_of_rows(source, rows, n, 1, rules)


def _check_values(source: text.Source, field: bytes, symmetry: bytes,
                  rules: text.ReadingRules) -> None:
    """Raise if values cannot be weights."""
    if field in (b"pattern", b"complex"):
        source.refuse(1, f"a {field.decode()} matrix has no values to use as weights")
    if symmetry == b"skew-symmetric" and rules.weights != graphs.ABS:
        source.refuse(1, "a skew-symmetric matrix holds each value and its negative: "
                         'weights="abs" takes absolute values, weights="ignore" leaves them out')


def chunks(graph: graphs.Graph) -> Iterator[Any]:
    """Yield the Matrix Market file of a host graph: its lower triangle, symmetric."""
    sources, targets, weights = text.lower_edges(graph, "a Matrix Market file")
    columns = [sources + 1, targets + 1] + ([] if weights is None else [weights])
    field = "pattern" if weights is None else "integer"
    yield f"%%MatrixMarket matrix coordinate {field} symmetric\n".encode()
    yield f"{graph.num_vertices} {graph.num_vertices} {len(sources)}\n".encode()
    values = np.stack(columns, axis=1).astype(np.int64).reshape(-1)
    yield text.rendered_rows(values, np.arange(len(sources) + 1) * len(columns))


def head_of(source: text.Source) -> tuple[tuple[bytes, bytes], int, tuple[int, list[bytes]]]:
    """Return field and symmetry of the banner, the position after the size line, and that line with
    its number.
    """
    kind = None
    for number, after, line in source.lines():
        if kind is None:
            kind = _kind(source, line)
        elif not line.startswith(b"%"):
            return kind, after, (number, line.split())
    if kind is None:
        _kind(source, b"")
    source.refuse(source.data.count(b"\n") + 1, "the line 'rows columns entries' is missing")


def _kind(source: text.Source, banner: bytes) -> tuple[bytes, bytes]:
    words = banner.lower().split()
    if len(words) != 5 or words[0] != BANNER or words[1] != b"matrix":
        source.refuse(1, "the first line must be '%%MatrixMarket matrix coordinate "
                         "<pattern|integer|real> <general|symmetric>'")
    if words[2] != b"coordinate":
        source.refuse(1, f"the matrix is dense ({_shown(words[2])}); only coordinate matrices are "
                         "graphs")
    if words[3] not in WIDTHS or words[4] not in SYMMETRIES:
        source.refuse(1, f"unknown kind '{_shown(words[3])} {_shown(words[4])}'; known are "
                         f"{b', '.join(WIDTHS).decode()} and {b', '.join(SYMMETRIES).decode()}")
    return words[3], words[4]


def _shown(word: bytes) -> str:
    return word[:MAX_SHOWN].decode("utf-8", "replace")


def size_of(source: text.Source, number: int, words: list[bytes]) -> tuple[int, int, int]:
    """Return rows, columns and entries from the words of their line."""
    if len(words) != 3 or not all(map(text.is_count, words)):
        source.refuse(number, "expected 'rows columns entries'")
    rows, columns, entries = map(int, words)
    return rows, columns, entries


def check_entries(source: text.Source, line: int, promised: int, found: int) -> None:
    """Raise unless the number of entries is as stated."""
    if found != promised:
        source.refuse(line, f"{promised} entries promised, {found} found")


# The pattern of a matrix as a hypergraph, by a model ------------------------------------------


def parse_nets(source: text.Source, model: str | None = None,
               diagonal: bool = False) -> graphs.Hypergraph:
    """Return the hypergraph of the entries of a matrix, of both triangles if the file has one."""
    from scipy.sparse import coo_array

    (field, symmetry), begin, (line, words) = head_of(source)
    height, width, promised = size_of(source, line, words)
    shape = (height, width)
    if symmetry != b"general" and height != width:
        source.refuse(line, f"a {symmetry.decode()} matrix is {height} x {width}; it must be "
                            "square")
    source.refuse_size(line, max(shape))
    rows = text.read_rows(source, SYNTAX, begin, WIDTHS[field], text.BY_PLACE, False, text.STRICT)
    check_entries(source, line, promised, rows.count)
    ends = _checked_ends(source, rows, shape)
    if symmetry != b"general":
        ends = np.hstack([ends, ends[::-1]])
    matrix = coo_array((np.ones(ends.shape[1], np.int8), (ends[0], ends[1])), shape=shape)
    with errors_about(source.name):
        found = graphs.nets_of_matrix(matrix, model, diagonal)
    return graphs.nets_hypergraph(found.offsets, found.pins, found.num_vertices)


def _checked_ends(source: text.Source, rows: text.EdgeRows, shape: tuple[int, int]) -> np.ndarray:
    """Return row and column of each entry, counted from 0."""
    ends = np.asarray(rows.ends, np.int64)
    limits = np.array(shape)[:, None]
    entry = graphs.first_true(((ends < 1) | (ends > limits)).any(axis=0))
    if entry is not None:
        source.refuse(rows.line_of(entry), f"entry ({ends[0, entry]}, {ends[1, entry]}) is "
                      f"outside of the matrix of {shape[0]} x {shape[1]}")
    return ends - 1
