"""Matrix Market coordinate files as hypergraphs: the pattern of the matrix, by a model."""

from __future__ import annotations

import numpy as np

from portpart.errors import errors_of_file
from portpart.formats.matrix_market import SYNTAX, WIDTHS, check_entries, head_of, size_of
from portpart.formats.text import BY_PLACE, STRICT, EdgeRows, Source, read_rows
from portpart.graphs import Hypergraph, first_true, nets_hypergraph, nets_of_matrix


def parse(source: Source, model: str | None = None, diagonal: bool = False) -> Hypergraph:
    """The hypergraph of the entries of a matrix, of both triangles where the file holds one."""
    from scipy.sparse import coo_array

    (field, symmetry), begin, (line, words) = head_of(source)
    height, width, promised = size_of(source, line, words)
    shape = (height, width)
    if symmetry != b"general" and height != width:
        source.refuse(line, f"a {symmetry.decode()} matrix is {height} x {width}; it must be "
                            "square")
    source.refuse_size(line, max(shape))
    rows = read_rows(source, SYNTAX, begin, WIDTHS[field], BY_PLACE, False, STRICT)
    check_entries(source, line, promised, rows.count)
    ends = _checked_ends(source, rows, shape)
    if symmetry != b"general":
        ends = np.hstack([ends, ends[::-1]])
    matrix = coo_array((np.ones(ends.shape[1], np.int8), (ends[0], ends[1])), shape=shape)
    with errors_of_file(source.name):
        found = nets_of_matrix(matrix, model, diagonal)
    return nets_hypergraph(found.offsets, found.pins, found.num_vertices)


def _checked_ends(source: Source, rows: EdgeRows, shape: tuple[int, int]) -> np.ndarray:
    """Row and column of each entry, from 0."""
    ends = np.asarray(rows.ends, np.int64)
    limits = np.array(shape)[:, None]
    entry = first_true(((ends < 1) | (ends > limits)).any(axis=0))
    if entry is not None:
        source.refuse(rows.line_of(entry), f"entry ({ends[0, entry]}, {ends[1, entry]}) is "
                      f"outside of the matrix of {shape[0]} x {shape[1]}")
    return ends - 1
