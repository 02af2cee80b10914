"""Dense square tables of who sends how much to whom: text with any separators, or ``.npy``.

An entry that is not zero is an edge, its value the weight; what stands on the diagonal is left out.
"""

from __future__ import annotations

import io

import numpy as np

from portpart.check_weights import IGNORE
from portpart.errors import GraphFormatError, InputError
from portpart.graph import Graph
from portpart.ingest import csr_graph
from portpart.io.arrays import ARRAY_BEGINS, read_array
from portpart.io.edge_rows import refuse_number
from portpart.io.files import SEPARATORS, Source
from portpart.io.fractions import fractions_at
from portpart.io.rules import STRICT, Rules
from portpart.io.tokens import LineSyntax, read_table

SYNTAX = LineSyntax(comments=b"#%")


def parse(source: Source, rules: Rules = STRICT) -> Graph:
    """The graph of a table.

    Raises
    ------
    GraphFormatError
        If the table is not square, holds what is no integer or negative, or is not equal to its
        transpose (unless the rules say otherwise).
    """
    binary = source.data.startswith(ARRAY_BEGINS)
    table = _array(source) if binary else _table(source, rules)
    rows, columns = np.nonzero(table)
    offsets = np.searchsorted(rows, np.arange(len(table) + 1))
    try:
        return csr_graph(offsets, columns, table[rows, columns], None,
                         **rules.of_arcs())
    except InputError as problem:
        if problem.vertex is None or binary:
            raise GraphFormatError(f"{source.name}: {problem}") from problem
        source.refuse(source.line_of_row(SYNTAX, 0, problem.vertex),
                      f"{problem} (vertices numbered from 0)")


def _array(source: Source) -> np.ndarray:
    table = read_array(source.name, io.BytesIO(source.data), len(source.data))
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise GraphFormatError(f"{source.name}: holds an array of shape {table.shape}; a matrix of "
                               "who sends how much to whom is square (load an array of edges in "
                               "Python and pass it to portpart.partition)")
    return table


def _table(source: Source, rules: Rules) -> np.ndarray:
    """The numbers of a text."""
    size = _width(source)
    columns = tuple(range(size))
    table = read_table(source.data, SYNTAX, 0, size, columns)
    if table.odd_byte is not None:
        found = len(source.words_at(table.odd_byte))
        source.refuse(source.line_at(table.odd_byte), f"{found} numbers, where the first line has "
                                                      f"{size}")
    if table.columns.shape[1] != size:
        raise GraphFormatError(f"{source.name}: {table.columns.shape[1]} lines of {size} numbers; "
                               "a dense matrix has as many lines as columns")
    fractions = rules.takes_fractions or rules.weights == IGNORE
    if table.bad_byte is not None and fractions:
        places = read_table(source.data, SYNTAX, 0, size, columns, located=columns).columns
        return fractions_at(source, places.reshape(-1)).reshape(size, size).T
    if table.bad_byte is not None:
        refuse_number(source, table.bad_byte)
    return table.columns.T


def _width(source: Source) -> int:
    """Numbers on the first line."""
    for _, _, line in source.lines():
        if line[:1] not in (b"#", b"%"):
            return len([word for word in SEPARATORS.split(line) if word])
    raise GraphFormatError(f"{source.name}: holds no matrix")
