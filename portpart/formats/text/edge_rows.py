"""Rows of two ends and an optional weight, shared by formats with one edge per line."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.formats.text.files import Source
from portpart.formats.text.fractions import fractions_at, refuse_number
from portpart.formats.text.rules import Columns, ReadingRules
from portpart.formats.text.tokens import LineSyntax, read_table
from portpart.graphs import LOW_HALF, MAX_INT32, Graph, edges_graph, tails

BY_PLACE = Columns((0, 1), 2)
"""Columns of formats without titles."""

NUMBERED_EDGE = re.compile(r"edge \((\d+), (\d+)\)")


@dataclass
class EdgeRows:
    """Ends and weights of the edges of a file, with its numbers of vertices.

    Attributes
    ----------
    ends : ndarray of int, shape (2, rows)
    weights : ndarray of int64 or float64, shape (rows,), or None
    line_of : callable
        Returns the line of a row in the file.
    """

    ends: np.ndarray
    weights: np.ndarray | None
    line_of: Callable[[int], int]

    @property
    def largest(self) -> int:
        """The largest end; -1 without rows."""
        return int(self.ends.max(initial=-1))

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.ends.shape[1]


TO_ROUND = 'weights="round" scales and rounds weights, weights="ignore" leaves them out'
"""Advice for fractions."""


def read_rows(source: Source, syntax: LineSyntax, begin: int, width: int, columns: Columns,
              weighted: bool, rules: ReadingRules) -> EdgeRows:
    """Return the rows from byte `begin` on, all of which must have `width` words.

    Weights are integers, unless the rules allow fractions and there are some.
    """
    places, line_of = columns.places(weighted), partial(source.line_of_row, syntax, begin)
    table = read_table(source.data, syntax, begin, width, places)
    if table.odd_byte is not None:
        _refuse_row(source, syntax, table.odd_byte, width)
    if table.bad_byte is not None and weighted and rules.takes_fractions:
        table = read_table(source.data, syntax, begin, width, places, located=places[2:])
        if table.bad_byte is None:
            return EdgeRows(table.columns[:2], fractions_at(source, table.columns[2]), line_of)
    if table.bad_byte is not None:
        refuse_number(source, table.bad_byte, TO_ROUND)
    weights = table.columns[2].copy() if weighted else None  # the table need not be kept
    return EdgeRows(table.columns[:2], weights, line_of)


def _refuse_row(source: Source, syntax: LineSyntax, position: int, width: int) -> NoReturn:
    """Raise an error for a line whose number of words differs from that of the first line."""
    words = source.words_at(position)
    found = len(words) - (words[0] in (letter.encode() for letter in syntax.words.decode()))
    what = {2: "the two ends of an edge", 3: "two ends and a weight"}.get(width, f"{width} words")
    problem = GraphFormatError(
        f"{source.name}:{source.line_at(position)}: {found} words, expected {what} as on the lines "
        "before; METIS graphs are read with --format metis, lists of neighbours must be written "
        "as one edge a line")
    problem.unequal_rows = True
    raise problem


def graph_of_rows(source: Source, rows: EdgeRows, n: int, first: int, rules: ReadingRules,
                  names: Sequence[Hashable] | None = None) -> Graph:
    """Return the undirected graph of rows whose vertices are numbered first ... first + n - 1.

    The ends are overwritten with new numbers. `names` are the names of vertices in messages.
    """
    if rows.count and (int(rows.ends.min()) < first or rows.largest >= first + n):
        wrong = (rows.ends < first) | (rows.ends >= first + n)
        row = int(wrong.any(axis=0).argmax())
        end = rows.ends[int(wrong[:, row].argmax()), row]
        source.refuse(rows.line_of(row),
                      f"{end} is not a vertex; vertices are {first} ... {first + n - 1}")
    if first:
        rows.ends -= first
    if n <= MAX_INT32 and rows.ends.dtype != np.int32:
        rows.ends = rows.ends.astype(np.int32)
    try:
        return edges_graph(n, rows.ends[0], rows.ends[1], rows.weights, **rules.of_edges())
    except InputError as problem:
        _refuse_edge(source, rows, problem, range(first, n + first) if names is None else names)


def _refuse_edge(source: Source, rows: EdgeRows, problem: InputError,
                 names: Sequence[Hashable]) -> NoReturn:
    """Raise an error with the line of the problem, and the names of vertices as in the file."""
    if problem.entry is not None and rows.weights is not None:
        row = problem.entry % rows.count
        reason = str(problem).partition("; ")[2]
        source.refuse(rows.line_of(row), f"weight {rows.weights[row]}; {reason}")
    if problem.edge is not None:
        ends = np.sort(np.array(problem.edge))
        row = int((np.sort(rows.ends, axis=0) == ends[:, None]).all(axis=0).argmax())
        source.refuse(rows.line_of(row), NUMBERED_EDGE.sub(
            lambda edge: f"edge ({names[int(edge[1])]}, {names[int(edge[2])]})", str(problem)))
    raise GraphFormatError(f"{source.name}: {problem}") from problem


def lower_edges(graph: Graph, file: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return each undirected edge of a host graph once, the larger end first, for a kind of `file`.

    Readers merge rows of the same ends, and count them once if there are no weights. So that no cut
    changes, parallel edges without weights become one whose weight is their number.
    """
    if graph.vertex_weights is not None:
        raise InputError(f"{file} cannot hold vertex weights; write .graph or .npz")
    sources = tails(graph.space, graph.offsets, graph.num_arcs)
    lower = sources > graph.targets
    sources, targets = sources[lower], graph.targets[lower]
    if graph.weights is not None:
        return sources, targets, graph.weights[lower]
    keys = sources.astype(np.int64) << 32 | targets
    if (keys[1:] > keys[:-1]).all():
        return sources, targets, None
    distinct, counts = np.unique(keys, return_counts=True)
    if len(distinct) == len(keys):
        return sources, targets, None
    return ((distinct >> 32).astype(np.int32), (distinct & LOW_HALF).astype(np.int32),
            counts.astype(np.int64))
