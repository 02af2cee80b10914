"""Recognise what holds a graph and turn it into a checked `Graph` (see `graph.as_graph`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.arrays import (
    as_array,
    index_array,
    is_changeable,
    item_of,
    lent_arrays,
    owned,
    space_of,
    weight_array,
)
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
from portpart.graph import MAX_INT32_ARCS, Graph, read_only

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace

MAX_VERTICES = 2**31 - 2

ACCEPTED = (
    "a SciPy or CuPy sparse matrix, a tuple (indptr, indices[, weights]), an edge list of shape "
    "(m, 2) or (m, 3), a NetworkX graph, a path or a portpart Graph"
)


def graph_from(
    obj: Any,
    *,
    vertex_weights: Any,
    edge_weights: Any,
    symmetrize: bool | str,
    weights: bool | str | None,
    weight_scale: float | None,
    copy: bool,
    space: ExecutionSpace | None,
) -> Graph:
    """The work of `as_graph`: dispatch on the kind of `obj`."""
    directions_of(symmetrize)
    how = Reading(symmetrize, checked_mode(weights, weight_scale), weight_scale, copy)
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
    copy: bool = True

    def options(self) -> dict[str, Any]:
        """The same as keywords of `csr_graph` and `edges_graph`."""
        return {"symmetrize": self.symmetrize, "mode": self.mode, "scale": self.scale,
                "copy": self.copy}


def csr_graph(
    offsets: Any,
    targets: Any,
    weights: Any = None,
    vertex_weights: Any = None,
    symmetrize: bool | str = False,
    space: ExecutionSpace | None = None,
    mode: str = KEEP,
    scale: float | None = None,
    copy: bool | None = None,
) -> Graph:
    """A checked graph of CSR arrays of any kind, on `space` or where the arrays are.

    `mode` is one of `check_weights.MODES`, `scale` as in `check_weights.converted`, `copy` as in
    `arrays.owned`: None where the arrays are the library's own.
    """
    given = (offsets, targets, weights)
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
        return _joined(here, n, sources, targets, weights, vertex_weights, directions, scale, copy)
    if not facts.symmetric:
        refuse_asymmetry(here, offsets, targets, weights)
    if facts.num_loops:
        offsets, targets, weights = without_loops(here, offsets, targets, weights)
    offsets, targets = in_library_types(offsets, targets)
    lent = lent_arrays(*given)
    offsets, targets, weights = (owned(array, lent, copy) for array in (offsets, targets, weights))
    return _finished(Graph(offsets, targets, weights, None, here, {"arc": facts.total_weight},
                           scale), vertex_weights, copy)


def edges_graph(
    n: int, sources: Any, targets: Any, weights: Any = None, vertex_weights: Any = None,
    space: ExecutionSpace | None = None, symmetrize: bool | str = True, mode: str = KEEP,
    scale: float | None = None, copy: bool | None = None,
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
        u, v, w = (item_of(here, array, edge) for array in (sources, targets, weights))
        error = InputError(f"edge {edge} ({u}, {v}) has weight {w}; {NOT_NEGATIVE}")
        error.entry = edge
        raise error
    directions = directions_of(symmetrize) or AGREE
    return _joined(here, n, sources, targets, weights, vertex_weights, directions, scale, copy)


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
    vertex_weights: Any, directions: str, scale: float, copy: bool | None,
) -> Graph:
    """The graph of arcs taken without direction."""
    offsets, targets, weights = undirected_rows(space, n, sources, targets, weights, directions)
    total = len(targets) if weights is None else total_of(weights, "arc weights")
    if weights is not None and len(weights) and int(weights.min()) == 1 == int(weights.max()):
        weights = None
    read_only([offsets, targets, weights])
    return _finished(Graph(offsets, targets, weights, None, space, {"arc": total}, scale),
                     vertex_weights, copy)


def _check_ends(space: ExecutionSpace, ends: Array, n: int) -> None:
    if len(ends) == 0 or (int(ends.min()) >= 0 and int(ends.max()) < n):
        return
    edge = int(((ends < 0) | (ends >= n)).argmax())
    raise InputError(f"edge {edge} has an end {item_of(space, ends, edge)}, which is no vertex: "
                     f"vertices are 0 ... {n - 1}")


def in_library_types(offsets: Array, targets: Array) -> tuple[Array, Array]:
    """Offsets and targets in the types that a graph has them in."""
    offset_type = np.int32 if len(targets) <= MAX_INT32_ARCS else np.int64
    return offsets.astype(offset_type, copy=False), targets.astype(np.int32, copy=False)


def _finished(graph: Graph, vertex_weights: Any, copy: bool | None) -> Graph:
    """`graph` with vertex weights, if there are any."""
    return graph if vertex_weights is None else with_vertex_weights(graph, vertex_weights, copy)


def with_vertex_weights(graph: Graph, vertex_weights: Any, copy: bool | None) -> Graph:
    """`graph` with other vertex weights (checked)."""
    space = graph.space
    array = as_array(space, vertex_weights, "vertex_weights")
    checked, total = checked_vertex_weights(space, array, graph.num_vertices)
    checked = owned(checked, lent_arrays(vertex_weights), copy)
    return replace(graph, vertex_weights=checked, _totals={**graph._totals, "vertex": total})


def checked_again(graph: Graph, copy: bool) -> Graph:
    """`graph` itself, unless somebody else can change its arrays: then what they are now.

    They are checked again, in one pass, and copied if `copy` says so (on the host).
    """
    arrays = [graph.offsets, graph.targets, graph.weights, graph.vertex_weights]
    if not any(array is not None and is_changeable(array) for array in arrays):
        return graph
    try:
        check_offsets(graph.space, graph.offsets, graph.num_arcs)
        facts = survey(graph.space, graph.offsets, graph.targets, graph.weights)
        if not facts.symmetric:
            refuse_asymmetry(graph.space, graph.offsets, graph.targets, graph.weights)
        totals = {"arc": facts.total_weight}
        if graph.vertex_weights is not None:
            _, totals["vertex"] = checked_vertex_weights(graph.space, graph.vertex_weights,
                                                         graph.num_vertices)
    except InputError as problem:
        raise InputError(f"the arrays of this graph have changed since: {problem}") from problem
    if facts.num_loops:
        raise InputError(f"the arrays of this graph have changed since: {facts.num_loops} arcs are "
                         "self loops")
    kept = [None if array is None else owned(array, lent_arrays(array), copy) for array in arrays]
    offsets, targets, weights, vertex_weights = kept
    return replace(graph, offsets=offsets, targets=targets, weights=weights,
                   vertex_weights=vertex_weights, _totals=totals)


def _changed(
    graph: Graph, vertex_weights: Any, edge_weights: Any, how: Reading,
    space: ExecutionSpace | None,
) -> Graph:
    graph = checked_again(graph, how.copy)
    if space is not None:
        graph = graph.to(space)
    if edge_weights is not None:
        kept = graph.vertex_weights if vertex_weights is None else vertex_weights
        made = csr_graph(graph.offsets, graph.targets, edge_weights, kept, space=graph.space,
                         **how.options())
        return replace(made, names=graph.names)
    if how.mode == IGNORE:
        totals = {key: value for key, value in graph._totals.items() if key != "arc"}
        graph = replace(graph, weights=None, weight_scale=1, _totals=totals)
    elif how.mode == ROUND or how.scale is not None:
        graph = _rescaled(graph, how)
    return (graph if vertex_weights is None
            else with_vertex_weights(graph, vertex_weights, how.copy))


def _rescaled(graph: Graph, how: Reading) -> Graph:
    """`graph` with its weights multiplied and rounded (again)."""
    values = graph.weights
    if values is None:
        values = graph.space.full(graph.num_arcs, 1, np.int32)
    weights, scale = converted(graph.space, values, how.mode, how.scale)
    totals = {**graph._totals, "arc": total_of(weights, "arc weights")}
    return replace(graph, weights=owned(weights, [values], True), _totals=totals,
                   weight_scale=scale * graph.weight_scale)


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
