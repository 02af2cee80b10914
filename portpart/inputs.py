"""Recognise what holds a graph and turn it into a checked `Graph` (see `graph.as_graph`)."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.arrays import owned
from portpart.build_graph import directions_of
from portpart.check_weights import ABS, IGNORE, ROUND, checked_mode, converted, total_of
from portpart.errors import InputError
from portpart.exact import shown
from portpart.frames import graph_of_frame, is_frame
from portpart.graph import Graph
from portpart.ingest import Reading, checked_again, csr_graph, with_vertex_weights
from portpart.networks import (
    graph_of_igraph,
    graph_of_networkx,
    is_igraph,
    is_networkit,
    is_networkx,
)
from portpart.rows import graph_of_rows

if TYPE_CHECKING:
    from portpart.backends.interface import ExecutionSpace


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
    how = reading_of(symmetrize, weights, weight_scale, copy, edge_weights)
    if isinstance(obj, (str, os.PathLike)):
        from portpart import io  # upwards on purpose: a path is one more thing that holds a graph

        if edge_weights is None:
            obj = io.read(obj, symmetrize=symmetrize or None, weights=weights,
                          weight_scale=weight_scale, space=space)
            how = Reading()
        else:  # those are what the options are about
            obj = io.read(obj, symmetrize=symmetrize or None, space=space)
    if isinstance(obj, Graph):
        _refuse_attributes(obj, vertex_weights=vertex_weights, edge_weights=edge_weights)
        return _changed(obj, vertex_weights, edge_weights, how, space)
    for is_kind, made in ((is_networkx, graph_of_networkx), (is_igraph, graph_of_igraph),
                          (is_frame, graph_of_frame)):
        if is_kind(obj):
            return made(obj, vertex_weights, edge_weights, how, space)
    if is_networkit(obj):
        raise InputError("networkit graphs go through networkit.nxadapter.nk2nx(graph)")
    _refuse_attributes(obj, vertex_weights=vertex_weights, edge_weights=edge_weights)
    if hasattr(obj, "tocsr"):
        parts = _parts_of_sparse(obj, how.mode)
    elif isinstance(obj, tuple):
        parts = _parts_of_tuple(obj)
    else:
        return graph_of_rows(obj, vertex_weights, edge_weights, how, space)
    offsets, targets, values = parts
    values = values if edge_weights is None else edge_weights
    return csr_graph(offsets, targets, values, vertex_weights, space=space, **how.options())


def _refuse_attributes(obj: Any, **options: Any) -> None:
    """Raise if an option names an attribute, which `obj` has not."""
    for name, value in options.items():
        if isinstance(value, str):
            raise InputError(f"{name}={shown(value)} names an attribute, but a "
                             f"{type(obj).__name__} has none (NetworkX and igraph graphs and "
                             "frames do); pass an array")


def reading_of(symmetrize: Any, weights: Any, weight_scale: Any, copy: bool,
               edge_weights: Any) -> Reading:
    """The options of `as_graph` that say how to read arcs, checked."""
    directions_of(symmetrize)
    if not isinstance(copy, (bool, np.bool_)):
        raise InputError(f"copy is {shown(copy)}; it must be True or False")
    how = Reading(symmetrize, checked_mode(weights, weight_scale), weight_scale, copy)
    if how.mode == IGNORE and edge_weights is not None:
        raise InputError("edge_weights are given, and weights says to ignore them; pass one of "
                         "the two")
    return how


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


def _parts_of_sparse(matrix: Any, mode: str) -> tuple[Any, Any, Any]:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the matrix has shape {tuple(matrix.shape)}; an adjacency matrix is "
                         "square")
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


def _parts_of_tuple(parts: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    if len(parts) not in (2, 3):
        raise InputError(f"a tuple of {len(parts)} items is no graph; (indptr, indices) or "
                         "(indptr, indices, weights) is expected, or edges as a list or array")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else None
