"""Graphs from rows of numbers: edge lists and lists of neighbours, which can look alike."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.errors import InputError, shown
from portpart.graphs.arrays import as_array, is_tensor, refuse_several_devices, space_of
from portpart.graphs.checks import survey
from portpart.graphs.csr import tails, undirected_rows
from portpart.graphs.from_arrays import ArcReading, csr_graph, edges_graph, refuse_few_of_many
from portpart.graphs.graph import Graph
from portpart.graphs.names import in_order
from portpart.graphs.weights import integral

if TYPE_CHECKING:
    from portpart.backends.programs import Array, ExecutionSpace
    from portpart.graphs.arrays import GraphLike, Numbers

ACCEPTED = (
    "a SciPy or CuPy sparse matrix, a tuple (indptr, indices[, weights]), an edge list of shape "
    "(m, 2) or (m, 3), a NetworkX or igraph graph, a frame of edges, a path or a portpart Graph"
)

NEIGHBOURS = "portpart.from_adjacency(rows) takes the neighbours of each vertex"
OR_PINS = f"{NEIGHBOURS}, portpart.as_hypergraph(rows) the pins of each net"

LISTS, MATRIX = "the neighbours of each vertex", "a square matrix"
"""Other readings of rows than edges."""


def graph_of_rows(obj: GraphLike, vertex_weights: Numbers | None, edge_weights: Numbers | None,
                  how: ArcReading, space: ExecutionSpace | None, num_vertices: int | None = None,
                  is_sure: bool = False) -> Graph:
    """Return the graph of an edge list; raise if it is ambiguous, unless `is_sure`."""
    if space is None:
        refuse_several_devices(edges=obj, edge_weights=edge_weights, vertex_weights=vertex_weights)
    here = space_of(obj)
    rows = _table(here, obj)
    ends = [integral(here, here.asarray(rows[:, side]), "vertices") for side in (0, 1)]
    n = 1 + max((int(side.max()) for side in ends if len(side)), default=-1)
    if num_vertices is not None:
        n = num_vertices
    elif vertex_weights is None:
        refuse_few_of_many(n, len(rows), "edges", "portpart.from_edges(edges, num_vertices={})")
    if vertex_weights is not None:
        vertex_weights = in_order(vertex_weights, None, "vertex_weights")
        vertex_weights = as_array(here, vertex_weights, "vertex_weights")
        n = max(n, vertex_weights.size) if num_vertices is None else n
    if not is_sure and edge_weights is None:
        _refuse_edge_index(obj, rows)
    weights = rows[:, 2] if edge_weights is None and rows.shape[1] == 3 else edge_weights
    may_be_other = not is_sure and edge_weights is None and (
        vertex_weights is None or vertex_weights.size == len(rows))
    others = _other_readings(here, obj, rows, how) if may_be_other else {}
    try:
        graph = edges_graph(n, ends[0], ends[1], weights, vertex_weights, here, **vars(how))
    except InputError as problem:
        if others:
            raise _two_readings(obj, rows, others) from problem
        raise
    if others and not all(_is_same(reading, here, rows, graph) for reading in others):
        raise _two_readings(obj, rows, others)
    return graph if space is None else graph.to(space)


def _table(space: ExecutionSpace, obj: GraphLike) -> Array:
    """Return the two or three columns of an edge list as an array."""
    if isinstance(obj, Mapping):
        raise InputError(f"{type(obj).__name__} is not a graph; {NEIGHBOURS} by vertex")
    if not (hasattr(obj, "__len__") or hasattr(obj, "__dlpack__")):
        raise InputError(f"{type(obj).__name__} is not a graph; accepted are {ACCEPTED}")
    _refuse_ragged(obj)
    try:
        rows = _rows_or_columns(space, obj)
    except InputError as problem:
        raise InputError(f"{problem}; accepted are {ACCEPTED}; {OR_PINS}") from problem
    if rows.ndim == 1 and len(rows) == 0:
        rows = rows.reshape(0, 2)
    if rows.ndim == 2 and rows.shape[1] in (2, 3):
        if rows.dtype.kind in "USO":
            raise InputError(f"the edge list is of type {rows.dtype}; names of vertices go through "
                             "networkx.Graph(rows) or a frame")
        return rows
    hint = OR_PINS
    if rows.ndim == 2 and rows.shape[0] == rows.shape[1]:
        hint = f"for a dense adjacency matrix pass scipy.sparse.csr_array(matrix); {hint}"
    elif rows.ndim == 2 and rows.shape[0] in (2, 3):
        hint = ("transpose an array of shape (2, m) or (3, m); portpart.compat.pyg.as_graph takes "
                "an edge_index")
    raise InputError(f"{type(obj).__name__} of shape {tuple(rows.shape)} is not a graph; accepted "
                     f"are {ACCEPTED}; {hint}")


def _rows_or_columns(space: ExecutionSpace, obj: Any) -> Array:
    """Return an edge list as an array; a transposed array of columns is not copied."""
    if getattr(obj, "ndim", 0) == 2:
        in_columns = (obj.T.is_contiguous() if is_tensor(obj)
                      else getattr(getattr(obj, "flags", None), "f_contiguous", False))
        if in_columns:
            return as_array(space, obj.T, "edges").T
    return as_array(space, obj, "edges")


def _refuse_ragged(obj: GraphLike) -> None:
    """Raise if Python rows have different lengths: rows of edges have equal ones."""
    if not isinstance(obj, (list, tuple)):
        return
    try:
        lengths = sorted({len(row) for row in obj})
    except TypeError:  # not all have a length
        return
    if len(lengths) > 1:
        raise InputError(f"rows of {lengths[0]} to {lengths[-1]} entries are not a list of edges, "
                         f"whose rows have 2, or 3 with weights; {OR_PINS}")


def _refuse_edge_index(obj: Any, rows: Array) -> None:
    """Raise if two rows of three numbers may be the ends of three edges; tuples may not.

    In a tensor, two rows of two numbers are also ambiguous.
    """
    if is_tensor(obj) and rows.shape == (2, 2) and bool((rows != rows.T).any()):
        raise InputError("a tensor of shape (2, 2) can be read as two edges or as an edge_index: "
                         "use portpart.from_edges(rows) or portpart.from_edges(rows.T)")
    if rows.shape != (2, 3) or (isinstance(obj, list) and isinstance(obj[0], tuple)):
        return
    whole = rows.dtype.kind in "iu" or bool((rows == rows.round()).all())
    if not whole or bool((rows < 0).any()):
        return
    turned = "rows.T" if hasattr(obj, "T") else "numpy.transpose(rows)"
    raise InputError(f"{type(obj).__name__} of shape (2, 3) can be read as two edges with weights "
                     "or as the ends of three edges, as in an edge_index: use "
                     f"portpart.from_edges(rows) or portpart.from_edges({turned})")


def _other_readings(space: ExecutionSpace, obj: GraphLike, rows: Array,
                    how: ArcReading) -> dict[str, str]:
    """Return the other possible readings of rows, and the call for each."""
    others = {}
    if _are_neighbours(space, rows):
        others[LISTS] = "portpart.from_adjacency(rows)"
    if _is_matrix(obj, rows, how):
        others[MATRIX] = "scipy.sparse.csr_array(rows)"
    return others


def _two_readings(obj: GraphLike, rows: Array, others: dict[str, str]) -> InputError:
    return InputError(
        f"{type(obj).__name__} of shape {tuple(rows.shape)} can be read as a list of edges or as "
        f"{' or '.join(others)}: use portpart.from_edges(rows) or {' or '.join(others.values())}")


def _is_same(reading: str, space: ExecutionSpace, rows: Array, edges: Graph) -> bool:
    """Whether another reading gives the same graph."""
    if reading == MATRIX:
        return _same_as_matrix(space.to_host(rows), edges)
    return _same_as_neighbours(space, rows, edges)


def _are_neighbours(space: ExecutionSpace, rows: Array) -> bool:
    """Whether rows may be lists of neighbours: all are vertices, and each pair is mutual."""
    m = len(rows)
    if m == 0 or not bool((rows >= 0).all()) or not bool(rows.max() == m - 1):
        return False
    if rows.dtype.kind == "f" and not bool((rows == rows.round()).all()):
        return False
    offsets, targets = _rows_of(space, rows)
    return survey(space, offsets, targets, None).symmetric


def _rows_of(space: ExecutionSpace, rows: Array) -> tuple[Array, Array]:
    m, width = rows.shape
    offsets = space.asarray(np.arange(m + 1, dtype=np.int64) * width)
    return offsets, space.asarray(rows.ravel()).astype(np.int64)


def _same_as_neighbours(space: ExecutionSpace, rows: Array, edges: Graph) -> bool:
    offsets, targets = _rows_of(space, rows)
    n, sources = len(offsets) - 1, tails(space, offsets, len(targets))
    if edges.weights is not None or edges.num_arcs != int((sources != targets).sum()):
        return False
    offsets, targets, _ = undirected_rows(space, n, sources, targets, None)
    return (len(targets) == edges.num_arcs and len(offsets) == len(edges.offsets)
            and bool((offsets == edges.offsets).all()) and bool((targets == edges.targets).all()))


def _is_matrix(obj: GraphLike, rows: Array, how: ArcReading) -> bool:
    """Whether rows may be a dense adjacency matrix; pairs in tuples are edges."""
    m, width = rows.shape
    if m != width or (isinstance(obj, list) and isinstance(obj[0], tuple)):
        return False
    if width == 2 and bool(rows[0, 0] or rows[1, 1]):
        return False
    return bool(how.symmetrize) or bool((rows == rows.T).all())


def _same_as_matrix(rows: np.ndarray, edges: Graph) -> bool:
    if edges.num_vertices != len(rows):
        return False
    difference = edges.to_scipy().toarray() - rows
    np.fill_diagonal(difference, 0)
    return not difference.any()


def adjacency_graph(rows: Any, vertex_weights: Numbers | None, edge_weights: Any, how: ArcReading,
                    space: ExecutionSpace | None) -> Graph:
    """Return the graph of lists of the neighbours of each vertex."""
    if hasattr(rows, "tocsr"):
        raise InputError("a sparse matrix is not a list of neighbours; as_graph(matrix) takes it")
    try:
        rows, names = _numbered(rows) if isinstance(rows, Mapping) else (list(rows), None)
        lists = [list(row) for row in rows]
    except TypeError as problem:
        raise InputError(f"neighbours cannot be read: {problem}; a sequence or mapping of "
                         "sequences is needed") from problem
    are_weighted = {isinstance(row, Mapping) for row in rows}
    if are_weighted == {True} and edge_weights is None:
        edge_weights = list(chain.from_iterable(row.values() for row in rows))
    elif len(are_weighted) > 1:
        raise InputError("some vertices have a mapping of neighbours to weights and others have "
                         "not; all need one")
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    host = backends.space("cpu")
    flat = list(chain.from_iterable(lists)) or np.empty(0, np.int64)
    targets = integral(host, as_array(host, flat, "neighbours"), "neighbours")
    vertex_weights = in_order(vertex_weights, names, "vertex_weights")
    made = csr_graph(offsets, targets, edge_weights, vertex_weights, space=space, **vars(how))
    return made if names is None else replace(made, names=names)


def _numbered(rows: Mapping[Any, Any]) -> tuple[list[Any], list[Hashable] | None]:
    """Return rows in the order of keys with neighbours as numbers, and the keys that are names."""
    n = len(rows)
    if all(isinstance(key, int) and 0 <= key < n for key in rows):
        return [rows[key] for key in range(n)], None
    names = list(rows)
    number = {name: i for i, name in enumerate(names)}
    numbered: list[Any] = []
    for name, row in rows.items():
        for other in row:
            if other not in number:
                raise InputError(f"{shown(other)}, a neighbour of {shown(name)}, is not a key: "
                                 "each vertex needs its own neighbours")
        numbers = [number[other] for other in row]
        numbered.append(dict(zip(numbers, row.values())) if isinstance(row, Mapping) else numbers)
    return numbered, names
