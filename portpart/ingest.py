"""Recognise what holds a graph and turn it into a checked `Graph` (see `graph.as_graph`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.build_graph import (
    AGREE,
    SUM,
    directed_rows,
    directions_of,
    tails,
    undirected_rows,
    without_loops,
)
from portpart.check_graph import check_offsets, refuse_asymmetry, survey
from portpart.check_weights import (
    IGNORE,
    KEEP,
    NOT_NEGATIVE,
    ROUND,
    checked_mode,
    checked_vertex_weights,
    converted,
    integral,
    total_of,
)
from portpart.errors import InputError
from portpart.graph import MAX_INT32_ARCS, Graph

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace

MAX_VERTICES = 2**31 - 2

ACCEPTED = (
    "a SciPy or CuPy sparse matrix, a tuple (indptr, indices[, weights]), an edge list of shape "
    "(m, 2) or (m, 3), a NetworkX graph, a path or a portpart Graph"
)

CUDA_DLPACK_DEVICES = (2, 13)
"""DLPack's numbers of CUDA memory and CUDA managed memory."""


def graph_from(
    obj: Any,
    *,
    vertex_weights: Any,
    edge_weights: Any,
    symmetrize: bool | str,
    weights: bool | str | None,
    weight_scale: float | None,
    space: ExecutionSpace | None,
) -> Graph:
    """The work of `as_graph`: dispatch on the kind of `obj`."""
    directions_of(symmetrize)
    how = Reading(symmetrize, checked_mode(weights, weight_scale), weight_scale)
    if how.mode == IGNORE and edge_weights is not None:
        raise InputError("edge_weights are given, and weights says to ignore them; pass one of "
                         "the two")
    if isinstance(obj, (str, os.PathLike)):
        from portpart import io  # upwards on purpose: a path is one more thing that holds a graph

        obj = io.read(obj, space=space)
    if isinstance(obj, Graph):
        return _changed(obj, vertex_weights, edge_weights, how, space)
    if hasattr(obj, "adjacency") and hasattr(obj, "number_of_nodes"):
        return _from_networkx(obj, vertex_weights, edge_weights, how, space)
    for name, value in (("vertex_weights", vertex_weights), ("edge_weights", edge_weights)):
        if isinstance(value, str):
            raise InputError(f"{name}={value!r} names an attribute, but only NetworkX graphs "
                             "have attributes; pass an array")
    if hasattr(obj, "tocsr"):
        parts = _parts_of_sparse(obj)
    elif isinstance(obj, tuple):
        parts = _parts_of_tuple(obj)
    else:
        return _from_edge_list(obj, vertex_weights, edge_weights, how, space)
    offsets, targets, values = parts
    values = values if edge_weights is None else edge_weights
    return csr_graph(offsets, targets, values, vertex_weights, space=space, **how.options())


@dataclass(frozen=True)
class Reading:
    """How arcs and their weights are to be read."""

    symmetrize: bool | str = False
    mode: str = KEEP
    scale: float | None = None

    def options(self) -> dict[str, Any]:
        """The same as keywords of `csr_graph` and `edges_graph`."""
        return {"symmetrize": self.symmetrize, "mode": self.mode, "scale": self.scale}


def csr_graph(
    offsets: Any,
    targets: Any,
    weights: Any = None,
    vertex_weights: Any = None,
    symmetrize: bool | str = False,
    space: ExecutionSpace | None = None,
    mode: str = KEEP,
    scale: float | None = None,
) -> Graph:
    """A checked graph of CSR arrays of any kind, on `space` or where the arrays are.

    `mode` is one of `check_weights.MODES`, `scale` as in `check_weights.converted`.
    """
    here = space or space_of(targets)
    directions = directions_of(symmetrize)
    offsets = index_array(here, offsets, "indptr")
    targets = index_array(here, targets, "indices")
    check_offsets(here, offsets, len(targets))
    n = len(offsets) - 1
    if n > MAX_VERTICES:
        raise InputError(f"{n} vertices; at most 2**31 - 2 fit the 32-bit vertex numbers")
    weights, scale = _integer_weights(
        here, weights, lambda: tails(here, offsets, len(targets)), targets, "arcs", mode, scale)
    facts = survey(here, offsets, targets, weights)
    if facts.all_weights_one and directions != SUM:
        weights = None
    if directions == SUM or (directions and not facts.symmetric):
        sources = tails(here, offsets, len(targets))
        return _joined(here, n, sources, targets, weights, vertex_weights, directions, scale)
    if not facts.symmetric:
        refuse_asymmetry(here, offsets, targets, weights)
    if facts.num_loops:
        offsets, targets, weights = without_loops(here, offsets, targets, weights)
    return _finished(here, offsets, targets, weights, vertex_weights, facts.total_weight, scale)


def edges_graph(
    n: int, sources: Any, targets: Any, weights: Any = None, vertex_weights: Any = None,
    space: ExecutionSpace | None = None, symmetrize: bool | str = True, mode: str = KEEP,
    scale: float | None = None,
) -> Graph:
    """A checked graph of edges between vertices 0 ... n - 1, in any order.

    They have no direction, whether `symmetrize` is true or not; "sum" and "max" say what becomes
    of the weights of an edge that stands in both directions.
    """
    here = space or space_of(targets)
    sources = index_array(here, sources, "edge sources")
    targets = index_array(here, targets, "edge targets")
    if n > MAX_VERTICES:
        raise InputError(f"{n} vertices; at most 2**31 - 2 fit the 32-bit vertex numbers")
    for ends in (sources, targets):
        _check_ends(here, ends, n)
    weights, scale = _integer_weights(here, weights, lambda: sources, targets, "edges", mode, scale)
    if weights is not None and len(weights) and int(weights.min()) < 0:
        edge = int((weights < 0).argmax())
        u, v, w = (_item(here, array, edge) for array in (sources, targets, weights))
        error = InputError(f"edge {edge} ({u}, {v}) has weight {w}; {NOT_NEGATIVE}")
        error.entry = edge
        raise error
    directions = directions_of(symmetrize) or AGREE
    return _joined(here, n, sources, targets, weights, vertex_weights, directions, scale)


def _integer_weights(
    space: ExecutionSpace, weights: Any, tails_of: Callable[[], Array], heads: Array,
    of_what: str, mode: str, scale: float | None,
) -> tuple[Array | None, float]:
    """Weights of arcs or edges as integers, and their scale; those of loops become 0."""
    if weights is None or mode == IGNORE:
        return None, 1
    values = weight_array(space, weights, len(heads), of_what)
    if mode != KEEP or values.dtype.kind == "f" or of_what == "edges":
        loops = tails_of() == heads
        if bool(loops.any()):
            values = space.copy(values)
            values[loops] = 0
    return converted(space, values, mode, scale)


def _joined(
    space: ExecutionSpace, n: int, sources: Array, targets: Array, weights: Array | None,
    vertex_weights: Any, directions: str, scale: float,
) -> Graph:
    """The graph of arcs taken without direction."""
    offsets, targets, weights = undirected_rows(space, n, sources, targets, weights, directions)
    if weights is None:
        return _finished(space, offsets, targets, None, vertex_weights, len(targets), scale)
    total = total_of(weights, "arc weights")
    if len(weights) and int(weights.min()) == 1 == int(weights.max()):
        weights = None
    return _finished(space, offsets, targets, weights, vertex_weights, total, scale)


def space_of(values: Any) -> ExecutionSpace:
    """The execution space whose memory holds `values`."""
    if hasattr(values, "__cuda_array_interface__"):
        device = getattr(values, "device", None)
        number = getattr(device, "id", getattr(device, "index", None))
        return backends.space(f"cuda:{number or 0}")
    if hasattr(values, "__dlpack_device__") and not isinstance(values, np.ndarray):
        kind, number = values.__dlpack_device__()
        if int(kind) in CUDA_DLPACK_DEVICES:
            return backends.space(f"cuda:{number}")
    return backends.space("cpu")


def index_array(space: ExecutionSpace, values: Any, what: str) -> Array:
    """One-dimensional int32 or int64 array of `space`, sharing memory where it can."""
    array = as_array(space, values, what)
    if array.ndim != 1:
        raise InputError(f"{what} have shape {tuple(array.shape)}; a one-dimensional array is "
                         "needed")
    if array.dtype.kind not in "iu" and len(array):
        raise InputError(f"{what} are of type {array.dtype}; they must be integers")
    return integral(space, array, what)


def weight_array(space: ExecutionSpace, values: Any, count: int, of_what: str) -> Array:
    """Edge weights as array of `space`, of the right length."""
    array = as_array(space, values, "edge_weights")
    if array.ndim != 1 or len(array) != count:
        raise InputError(f"edge_weights have shape {tuple(array.shape)} for {count} {of_what}; "
                         f"shape ({count},) is needed")
    return array


def as_array(space: ExecutionSpace, values: Any, what: str) -> Array:
    """`values`, whatever holds them, as an array of `space`; shares memory where it can."""
    try:
        if space_of(values).kind == "cpu" and not isinstance(values, np.ndarray):
            values = host_array(values)
        if isinstance(values, np.ndarray) and not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if isinstance(values, np.ndarray) and values.dtype == np.longdouble:
            with np.errstate(over="ignore"):
                values = values.astype(np.float64)
        return space.asarray(values)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{what} cannot be read as an array: {problem}") from problem


def host_array(values: Any) -> np.ndarray:
    """NumPy array of `values`, sharing memory where it can; copies what lies on a GPU."""
    for method in ("get", "cpu"):  # of CuPy arrays, of torch tensors
        if hasattr(values, method) and hasattr(values, "__cuda_array_interface__"):
            values = getattr(values, method)()
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.from_dlpack(values)
    return np.asarray(values)


def _check_ends(space: ExecutionSpace, ends: Array, n: int) -> None:
    if len(ends) == 0 or (int(ends.min()) >= 0 and int(ends.max()) < n):
        return
    edge = int(((ends < 0) | (ends >= n)).argmax())
    raise InputError(f"edge {edge} has an end {_item(space, ends, edge)}, which is no vertex: "
                     f"vertices are 0 ... {n - 1}")


def _item(space: ExecutionSpace, array: Array, place: int) -> int:
    return int(space.to_host(array[place : place + 1])[0])


def _finished(
    space: ExecutionSpace, offsets: Array, targets: Array, weights: Array | None,
    vertex_weights: Any, total: int, scale: float,
) -> Graph:
    """The graph of checked rows, in the library's types; `total` is that of the arcs."""
    offset_type = np.int32 if len(targets) <= MAX_INT32_ARCS else np.int64
    graph = Graph(offsets.astype(offset_type, copy=False), targets.astype(np.int32, copy=False),
                  weights, None, space, {"arc": total}, scale)
    return graph if vertex_weights is None else with_vertex_weights(graph, vertex_weights)


def with_vertex_weights(graph: Graph, vertex_weights: Any) -> Graph:
    """`graph` with other vertex weights (checked)."""
    space = graph.space
    array = as_array(space, vertex_weights, "vertex_weights")
    checked, total = checked_vertex_weights(space, array, graph.num_vertices)
    totals = {**graph._totals, "vertex": total}
    return replace(graph, vertex_weights=checked, _totals=totals)


def _changed(
    graph: Graph, vertex_weights: Any, edge_weights: Any, how: Reading,
    space: ExecutionSpace | None,
) -> Graph:
    if space is not None:
        graph = graph.to(space)
    if edge_weights is not None:
        kept = graph.vertex_weights if vertex_weights is None else vertex_weights
        return csr_graph(graph.offsets, graph.targets, edge_weights, kept, space=graph.space,
                         **how.options())
    if how.mode == IGNORE:
        totals = {key: value for key, value in graph._totals.items() if key != "arc"}
        graph = replace(graph, weights=None, weight_scale=1, _totals=totals)
    elif how.mode == ROUND or how.scale is not None:
        values = graph.weights
        if values is None:
            values = graph.space.full(graph.num_arcs, 1, np.int32)
        made = csr_graph(graph.offsets, graph.targets, values, graph.vertex_weights, True,
                         graph.space, how.mode, how.scale)
        graph = replace(made, weight_scale=made.weight_scale * graph.weight_scale)
    return graph if vertex_weights is None else with_vertex_weights(graph, vertex_weights)


def _parts_of_sparse(matrix: Any) -> tuple[Any, Any, Any]:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix has shape {tuple(matrix.shape)}; an adjacency matrix is "
                         "square")
    rows = matrix.tocsr()
    values = rows.data
    if values.dtype.kind == "c":
        raise InputError("the matrix is complex; pass (matrix.indptr, matrix.indices) to use its "
                         "pattern alone")
    return rows.indptr, rows.indices, values


def _parts_of_tuple(parts: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if len(parts) not in (2, 3):
        raise InputError(f"a tuple of {len(parts)} items is no graph; (indptr, indices) or "
                         "(indptr, indices, weights) is expected")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else None


def _from_edge_list(
    obj: Any, vertex_weights: Any, edge_weights: Any, how: Reading,
    space: ExecutionSpace | None,
) -> Graph:
    if not (hasattr(obj, "__len__") or hasattr(obj, "__dlpack__")):
        raise InputError(f"{type(obj).__name__} is no graph; accepted are {ACCEPTED}")
    here = space_of(obj)
    try:
        rows = as_array(here, obj, "the edge list")
    except InputError as problem:
        raise InputError(f"{problem}; accepted are {ACCEPTED}") from problem
    if rows.ndim == 1 and len(rows) == 0:
        rows = rows.reshape(0, 2)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3):
        hint = ""
        if rows.ndim == 2 and rows.shape[0] == rows.shape[1]:
            hint = "; a dense adjacency matrix goes through scipy.sparse.csr_array(matrix)"
        elif rows.ndim == 2 and rows.shape[0] in (2, 3):
            hint = "; transpose an array of shape (2, m) or (3, m)"
        raise InputError(f"{type(obj).__name__} of shape {tuple(rows.shape)} is no graph; accepted "
                         f"are {ACCEPTED}{hint}")
    ends = [integral(here, here.asarray(rows[:, side]), "vertices") for side in (0, 1)]
    n = 1 + max((int(side.max()) for side in ends if len(side)), default=-1)
    if vertex_weights is not None:
        vertex_weights = as_array(here, vertex_weights, "vertex_weights")
        n = max(n, len(vertex_weights))
    if edge_weights is None and rows.shape[1] == 3:
        edge_weights = rows[:, 2]
    graph = edges_graph(n, ends[0], ends[1], edge_weights, vertex_weights, here, **how.options())
    return graph if space is None else graph.to(space)


def _from_networkx(
    graph: Any, vertex_weights: Any, edge_weights: Any, how: Reading,
    space: ExecutionSpace | None,
) -> Graph:
    number = {node: i for i, node in enumerate(graph.nodes)}
    if isinstance(vertex_weights, str):
        vertex_weights = [data.get(vertex_weights, 1) for _, data in graph.nodes(data=True)]
    name = edge_weights if isinstance(edge_weights, str) else "weight"
    edges = list(graph.edges(data=name))
    values = [value for _, _, value in edges]
    weights: Any = None
    if edge_weights is not None and not isinstance(edge_weights, str):
        weights = edge_weights
    elif graph.is_multigraph() or any(value is not None for value in values):
        weights = [1 if value is None else value for value in values]
    ends = np.array([(number[u], number[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    here = space or backends.space("cpu")
    if not graph.is_directed() or how.symmetrize:
        return edges_graph(len(number), ends[:, 0], ends[:, 1], weights, vertex_weights, here,
                           **how.options())
    tail, head = (index_array(here, ends[:, side], "edges") for side in (0, 1))
    weights, scale = _integer_weights(here, weights, lambda: tail, head, "edges", how.mode,
                                      how.scale)
    rows = directed_rows(here, len(number), tail, head, weights)
    return replace(csr_graph(*rows, vertex_weights, False, here), weight_scale=scale)
