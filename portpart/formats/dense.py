"""Dense square tables of weights: text with any separators, or ``.npy``.

An entry that is not zero is an edge, its value the weight; the diagonal is left out. A text may
have names of columns above the table, and names of rows before each row, as spreadsheets and pandas
write them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from portpart.errors import GraphFormatError, errors_about, shown
from portpart.formats import text
from portpart.formats.arrays import ARRAY_BEGINS, read_array
from portpart.graphs import IGNORE, Graph, csr_graph

SYNTAX = text.LineSyntax(comments=b"#%")


@dataclass(frozen=True)
class DenseLayout:
    """Layout of the numbers of a text.

    Attributes
    ----------
    size : int
        Number of rows and columns of the matrix.
    titles : tuple of bytes
        Names of the columns, on a separate line; none if empty.
    indexed : bool
        Whether each row begins with its name.
    corner : bool
        Whether the line of titles has one more title, for the column of names.
    """

    size: int
    titles: tuple[bytes, ...] = ()
    indexed: bool = False
    corner: bool = False

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of lines and words of such a text."""
        titled = bool(self.titles)
        return (self.size + titled, self.size * (self.size + self.indexed)
                + titled * (self.size + self.corner))


def layout_of(rows: Sequence[Sequence[bytes]]) -> DenseLayout | None:
    """Return the layout of a text from its first lines; None if they are not a table."""
    first, body = rows[0], rows[1:]
    widths = {len(row) for row in body}
    if len(widths) > 1:
        return None
    width = widths.pop() if widths else len(first)
    if all(map(text.FRACTION.fullmatch, first)) and width == len(first):
        return DenseLayout(len(first))
    for corner in (False, True):
        titles = tuple(first[corner:])
        if len(titles) == width - 1 and body and all(
                row[0] == title for row, title in zip(body, titles)):
            return DenseLayout(width - 1, titles, True, corner)
    return DenseLayout(width, tuple(first)) if width == len(first) else None


def parse(source: text.Source, rules: text.ReadingRules = text.STRICT) -> Graph:
    """Return the graph of a table.

    Raises
    ------
    GraphFormatError
        If the table is not square, has an entry that is negative or not an integer, or is not equal
        to its transpose (unless the rules allow it).
    """
    binary = source.data.startswith(ARRAY_BEGINS)
    layout = DenseLayout(0) if binary else _layout(source)
    table = _array(source) if binary else _table(source, layout, rules)
    titled = bool(layout.titles)
    with (errors_about(source.name) if binary else
          source.errors_at(lambda row: source.line_of_row(SYNTAX, 0, row + titled))):
        graph = graph_of_table(table, rules)
    names = [title.decode("utf-8", "surrogateescape") for title in layout.titles]
    return replace(graph, names=names or None)


def graph_of_table(table: np.ndarray, rules: text.ReadingRules) -> Graph:
    """Return the graph of a square table; its errors name the row."""
    rows, columns = np.nonzero(table)
    offsets = np.searchsorted(rows, np.arange(len(table) + 1))
    return csr_graph(offsets, columns, table[rows, columns], None, **rules.of_arcs())


def _array(source: text.Source) -> np.ndarray:
    table = read_array(source.name, io.BytesIO(source.data), len(source.data))
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise GraphFormatError(f"{source.name}: holds an array of shape {table.shape}; a matrix of "
                               "weights is square (load an array of edges in "
                               "Python and pass it to portpart.partition)")
    return table


def _layout(source: text.Source) -> DenseLayout:
    """Return the layout of a text, from its first two lines."""
    kept = (line for _, _, line in source.lines() if line[:1] not in (b"#", b"%"))
    rows = [[word for word in text.SEPARATORS.split(line) if word] for line in islice(kept, 2)]
    if not rows:
        raise GraphFormatError(f"{source.name}: holds no matrix")
    return layout_of(rows) or DenseLayout(len(rows[0]))


def _table(source: text.Source, layout: DenseLayout, rules: text.ReadingRules) -> np.ndarray:
    """Return the numbers of a text."""
    size, begin = layout.size, 0
    if layout.titles:
        begin = next(after for _, after, line in source.lines() if line[:1] not in (b"#", b"%"))
    width, columns = size + layout.indexed, tuple(range(layout.indexed, size + layout.indexed))
    table = text.read_table(source.data, SYNTAX, begin, width, columns)
    if table.odd_byte is not None:
        found = len(source.words_at(table.odd_byte))
        source.refuse(source.line_at(table.odd_byte), f"{found} words, where the lines above have "
                                                      f"{width}")
    if table.columns.shape[1] != size:
        raise GraphFormatError(f"{source.name}: {table.columns.shape[1]} lines of {size} numbers; "
                               "a dense matrix has as many lines as columns")
    if layout.indexed:
        _check_index(source, layout, text.read_table(source.data, SYNTAX, begin, width, (0,), (0,)))
    if table.bad_byte is not None and (rules.takes_fractions or rules.weights == IGNORE):
        places = text.read_table(source.data, SYNTAX, begin, width, columns,
                                 located=columns).columns
        return text.fractions_at(source, places.reshape(-1)).reshape(size, size).T
    if table.bad_byte is not None:
        text.refuse_number(source, table.bad_byte, text.TO_ROUND)
    return table.columns.T


def _check_index(source: text.Source, layout: DenseLayout, index: text.WordTable) -> None:
    """Raise unless rows have the names of the columns, in the same order."""
    for place, title in zip(index.columns[0].tolist(), layout.titles):
        name = source.words_at(place)[0]
        if name != title:
            row, column = (word.decode("utf-8", "replace") for word in (name, title))
            source.refuse(source.line_at(place), f"row {shown(row)}, where the columns have "
                          f"{shown(column)}; "
                          "rows and columns are the same vertices, in the same order")
