"""Graphs and hypergraphs from sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError, shown
from portpart.graphs.arrays import index_array, space_of
from portpart.graphs.csr import pack_pair, tails, unpacked
from portpart.graphs.from_nets import NetInput, check_rows
from portpart.graphs.weights import ABS, IGNORE
from portpart.primitives import sorted_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from portpart.backends.programs import Array, ExecutionSpace

# CSR arrays of sparse matrices and of tuples ---------------------------------------------------


def parts_of_sparse(matrix: Any, mode: str) -> tuple[Any, Any, Any]:
    """Return offsets, targets and values of a square matrix; complex only if `mode` allows it."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix has shape {tuple(matrix.shape)}; an adjacency matrix is "
                         "square: portpart.as_hypergraph(matrix) makes a hypergraph of it, whose "
                         "nets are the rows")
    rows = _compressed(matrix)
    values = rows.data
    if values.dtype.kind == "c":
        if mode not in (ABS, IGNORE):
            raise InputError('the matrix is complex: weights="abs" takes absolute values, '
                             'weights="ignore" the pattern alone')
        values = abs(values)
    return rows.indptr, rows.indices, values


def _compressed(matrix: Any, columns: bool = False) -> Any:
    """Return a sparse matrix in CSR or, by columns, in CSC form."""
    try:
        return matrix.tocsc() if columns else matrix.tocsr()
    except (TypeError, ValueError, IndexError, NotImplementedError) as problem:
        raise InputError(f"the matrix of {matrix.dtype} has no compressed rows: "
                         f"{problem}") from problem


def parts_of_tuple(parts: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Return offsets, targets and weights or None."""
    if len(parts) not in (2, 3):
        raise InputError(f"a tuple of {len(parts)} items is not a graph; (indptr, indices) or "
                         "(indptr, indices, weights) is expected, or edges as a list or array")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else None


def parts_of_tensor(matrix: Any) -> tuple[Any, Any, Any]:
    """Return offsets, targets and values of a square sparse tensor of PyTorch."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the sparse tensor has shape {tuple(matrix.shape)}; an adjacency matrix "
                         "is square")
    try:
        rows = matrix if str(matrix.layout) == "torch.sparse_csr" else matrix.to_sparse_csr()
    except RuntimeError as problem:
        raise InputError(f"a sparse tensor of the layout {matrix.layout} is not supported; one of "
                         "torch.sparse_csr, sparse_csc or sparse_coo is needed") from problem
    return rows.crow_indices(), rows.col_indices(), rows.values()


# Models of sparse matrices as hypergraphs (Catalyurek and Aykanat, 1999 and 2001) --------------


ROW_NET, COLUMN_NET, FINE_GRAIN = MODELS = ("row-net", "column-net", "fine-grain")
"""Models.  Vertices and nets are: columns and rows; rows and columns; entries and lines."""


def checked_model(model: Any) -> str:
    """Return the checked model; by default rows are nets."""
    if model is None:
        return ROW_NET
    if not isinstance(model, str) or model not in MODELS:
        raise InputError(f"unknown model {shown(model)}; known are {', '.join(MODELS)}")
    return str(model)


def nets_of_matrix(matrix: Any, model: str | None, diagonal: bool) -> NetInput:
    """Return the nets of the pattern of a sparse matrix; stored zeros are also pins."""
    model = checked_model(model)
    if len(matrix.shape) != 2:
        raise InputError(f"the matrix has shape {tuple(matrix.shape)}; two dimensions are needed")
    lines = _compressed(matrix, model == COLUMN_NET)
    across = int(matrix.shape[0 if model == COLUMN_NET else 1])
    if model == FINE_GRAIN:
        if diagonal:
            raise InputError("diagonal goes with the models row-net and column-net")
        return _of_entries(lines.indptr, lines.indices, across)
    found = NetInput(lines.indptr, lines.indices, across)
    return _with_diagonal(found) if diagonal else found


def _checked(offsets: ArrayLike, items: Any, limit: int) -> tuple[ExecutionSpace, Array, Array]:
    """Return the checked rows of a matrix, and their space."""
    space = space_of(offsets)
    rows = index_array(space, offsets, "rows"), index_array(space, items, "columns")
    check_rows(space, *rows, limit)
    return space, *rows


def _of_entries(offsets: ArrayLike, columns: Any, num_columns: int) -> NetInput:
    """Return the nets of the fine-grain model: rows, then columns; entries are vertices."""
    space, offsets, columns = _checked(offsets, columns, num_columns)
    m, entries = len(offsets) - 1, len(columns)
    numbers = space.asarray(np.arange(entries, dtype=np.int64))
    keys = space.empty(entries, np.int64)
    space.parallel_for(entries, pack_pair, columns, numbers, keys)
    keys = sorted_pairs(space, keys, num_columns, None)
    ends, turned, _ = unpacked(space, num_columns, keys, None)
    net_offsets = space.empty(m + num_columns + 1, np.int64)
    net_offsets[: m + 1] = offsets
    net_offsets[m + 1 :] = ends[1:]
    net_offsets[m + 1 :] += entries
    pins = space.empty(2 * entries, np.int32)
    pins[:entries] = numbers
    pins[entries:] = turned
    return NetInput(net_offsets, pins, entries)


def _with_diagonal(rows: NetInput) -> NetInput:
    """Return the nets with pin i added to net i."""
    m, n = len(rows.offsets) - 1, int(rows.num_vertices or 0)
    if m != n:
        raise InputError(f"{m} nets and {n} vertices: only a square matrix has a diagonal")
    space, offsets, pins = _checked(rows.offsets, rows.pins, n)
    nets = tails(space, offsets, len(pins))
    lacks = space.full(m, 1, np.int64)
    lacks[nets[pins == nets]] = 0
    added = space.zeros(m + 1, np.int64)
    added[1:] = lacks.cumsum()
    made = space.empty(len(pins) + int(added[-1]), np.int64)
    made[space.asarray(np.arange(len(pins))) + added[nets]] = pins
    made[(offsets[1:] + added[:-1])[lacks == 1]] = space.asarray(np.arange(m))[lacks == 1]
    return NetInput(offsets + added, made, m)
