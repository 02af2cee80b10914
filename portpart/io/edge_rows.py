"""What the formats with one edge per line share: rows of two ends and perhaps a weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from portpart.build_graph import tails
from portpart.errors import GraphFormatError, InputError
from portpart.graph import Graph
from portpart.ingest import edges_graph
from portpart.io.files import Source
from portpart.io.tokens import LineSyntax, read_table


@dataclass(frozen=True)
class EdgeRows:
    """Ends and weights of the edges of a file, numbered as there."""

    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None
    syntax: LineSyntax
    begin: int

    @property
    def largest(self) -> int:
        """The largest end; -1 without rows."""
        return max(int(self.sources.max(initial=-1)), int(self.targets.max(initial=-1)))

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.sources)

    def line(self, source: Source, row: int) -> int:
        """Line of the file that holds a row."""
        return source.line_of_row(self.syntax, self.begin, row)


WIDTHS = (2, 3)
WEIGHTED_WIDTH = 3
"""Columns of edges, of edges with weights."""


class UnequalRows(GraphFormatError):
    """Lines of a file hold different numbers of words, where each was to be an edge."""


def read_rows(source: Source, syntax: LineSyntax, begin: int, width: int,
              weighted: bool) -> EdgeRows:
    """Rows from byte `begin` on: two ends and, if `weighted`, a weight, then what is left out.

    Every line must have `width` words.
    """
    table = read_table(source.data, syntax, begin, width, (0, 1, 2)[: 2 + weighted])
    if table.odd_byte is not None:
        _refuse_row(source, syntax, table.odd_byte, width)
    if table.bad_byte is not None:
        source.refuse_word(table.bad_byte)
    sources, targets, *weights = table.columns
    return EdgeRows(sources, targets, weights[0] if weighted else None, syntax, begin)


def _refuse_row(source: Source, syntax: LineSyntax, position: int, width: int) -> NoReturn:
    """Raise for a line that has not as many words as the first one."""
    words = source.words_at(position)
    found = len(words) - (words[0] in (letter.encode() for letter in syntax.words.decode()))
    what = {2: "the two ends of an edge", 3: "two ends and a weight"}.get(width, f"{width} words")
    raise UnequalRows(
        f"{source.name}:{source.line_at(position)}: {found} words, expected {what} as on the lines "
        "before; METIS graphs are read with --format metis, lists of neighbours are to be written "
        "as one edge a line")


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
