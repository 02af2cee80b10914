"""CSR arrays of sparse matrices and of tuples."""

from __future__ import annotations

from typing import Any

from portpart.errors import InputError
from portpart.graphs.weights import ABS, IGNORE


def parts_of_sparse(matrix: Any, mode: str) -> tuple[Any, Any, Any]:
    """Offsets, targets and values of a square matrix; complex values only where `mode` says how."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix has shape {tuple(matrix.shape)}; an adjacency matrix is "
                         "square: portpart.as_hypergraph(matrix) makes a hypergraph of it, whose "
                         "nets are the rows")
    try:
        rows = matrix.tocsr()
    except (TypeError, ValueError, IndexError, NotImplementedError) as problem:
        raise InputError(f"the matrix of {matrix.dtype} has no compressed rows: "
                         f"{problem}") from problem
    values = rows.data
    if values.dtype.kind == "c":
        if mode not in (ABS, IGNORE):
            raise InputError('the matrix is complex: weights="abs" takes absolute values, '
                             'weights="ignore" the pattern alone')
        values = abs(values)
    return rows.indptr, rows.indices, values


def parts_of_tuple(parts: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Offsets, targets and weights or None."""
    if len(parts) not in (2, 3):
        raise InputError(f"a tuple of {len(parts)} items is not a graph; (indptr, indices) or "
                         "(indptr, indices, weights) is expected, or edges as a list or array")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else None


def parts_of_tensor(matrix: Any) -> tuple[Any, Any, Any]:
    """Offsets, targets and values of a square sparse tensor of PyTorch."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the sparse tensor has shape {tuple(matrix.shape)}; an adjacency matrix "
                         "is square")
    try:
        rows = matrix if str(matrix.layout) == "torch.sparse_csr" else matrix.to_sparse_csr()
    except RuntimeError as problem:
        raise InputError(f"a sparse tensor of the layout {matrix.layout} is not supported; one of "
                         "torch.sparse_csr, sparse_csc or sparse_coo is needed") from problem
    return rows.crow_indices(), rows.col_indices(), rows.values()
