"""Dense square tables of who sends how much to whom: text with any separators, or ``.npy``.

An entry that is not zero is an edge, its value the weight; what stands on the diagonal is left out.
"""

from __future__ import annotations

import io

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.graph import Graph
from portpart.ingest import csr_graph
from portpart.io.arrays import ARRAY_BEGINS, read_array
from portpart.io.files import Source
from portpart.io.tokens import LineSyntax, read_lines

SYNTAX = LineSyntax(comments=b"#%")


def parse(source: Source, symmetrize: bool = False) -> Graph:
    """The graph of a table.

    Raises
    ------
    GraphFormatError
        If the table is not square, holds what is no integer or negative, or is not equal to its
        transpose (unless `symmetrize`).
    """
    binary = source.data.startswith(ARRAY_BEGINS)
    table = _array(source) if binary else _table(source)
    rows, columns = np.nonzero(table)
    offsets = np.searchsorted(rows, np.arange(len(table) + 1))
    try:
        return csr_graph(offsets, columns, table[rows, columns], None, symmetrize)
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


def _table(source: Source) -> np.ndarray:
    lines = read_lines(source.data, SYNTAX)
    if lines.bad_byte is not None:
        source.refuse_word(lines.bad_byte)
    size = len(lines.starts) - 1
    odd = np.diff(lines.starts) != size
    if odd.any() or size == 0:
        row = int(odd.argmax()) if size else 0
        found = int(lines.starts[row + 1] - lines.starts[row]) if size else 0
        source.refuse(source.line_of_row(SYNTAX, 0, row), f"{found} numbers in one of {size} "
                      "lines; a dense matrix has as many lines as columns")
    return lines.values.reshape(size, size)
