"""What the formats with one edge per line share: rows of two ends and perhaps a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.build_graph import tails
from portpart.errors import GraphFormatError, InputError
from portpart.graph import Graph
from portpart.ingest import edges_graph
from portpart.io.files import Source
from portpart.io.tokens import LineSyntax, read_lines


@dataclass(frozen=True)
class EdgeRows:
    """Ends and weights of the edges of a file, numbered as there."""

    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None
    syntax: LineSyntax
    begin: int

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.sources)

    def line(self, source: Source, row: int) -> int:
        """Line of the file that holds a row."""
        return source.line_of_row(self.syntax, self.begin, row)


def read_rows(source: Source, syntax: LineSyntax, begin: int, weighted: bool) -> EdgeRows:
    """Rows from byte `begin` on; all must have two numbers, or three if `weighted`."""
    lines = read_lines(source.data, syntax, begin)
    if lines.bad_byte is not None:
        source.refuse_word(lines.bad_byte)
    columns = 3 if weighted else 2
    wrong = np.diff(lines.starts) != columns
    if wrong.any():
        row = int(wrong.argmax())
        what = "two ends and a weight" if weighted else "the two ends of an edge"
        source.refuse(source.line_of_row(syntax, begin, row), f"expected {what}")
    table = lines.values.reshape(-1, columns)
    return EdgeRows(table[:, 0], table[:, 1], table[:, 2] if weighted else None, syntax, begin)


def graph_of_rows(source: Source, rows: EdgeRows, n: int, first: int) -> Graph:
    """The undirected graph of rows whose vertices are numbered first ... first + n - 1."""
    for ends in (rows.sources, rows.targets):
        if rows.count and (int(ends.min()) < first or int(ends.max()) >= first + n):
            row = int(((ends < first) | (ends >= first + n)).argmax())
            source.refuse(rows.line(source, row), f"{ends[row]} is no vertex; vertices are "
                                                  f"{first} ... {first + n - 1}")
    weights = rows.weights
    if weights is not None and rows.count and int(weights.min()) < 0:
        row = int((weights < 0).argmax())
        source.refuse(rows.line(source, row), f"weight {weights[row]}; edge weights must be >= 0 "
                                              "(weights=False leaves them out)")
    try:
        return edges_graph(n, rows.sources - first, rows.targets - first, weights,
                           symmetrize="max")
    except InputError as problem:
        raise GraphFormatError(f"{source.name}: {problem}") from problem


def lower_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Each undirected edge of a host graph once, the larger end first."""
    sources = tails(graph.space, graph.offsets, graph.num_arcs)
    lower = sources > graph.targets
    weights = None if graph.weights is None else graph.weights[lower]
    return sources[lower], graph.targets[lower], weights
