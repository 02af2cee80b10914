"""Graphs from frames of edges: columns are found by name, text becomes names of vertices."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from portpart import backends
from portpart.backends.programs import ExecutionSpace
from portpart.errors import InputError, listed, shown
from portpart.graphs.arrays import GraphLike, Numbers, as_array, first_true
from portpart.graphs.from_arrays import MAX_VERTICES, ArcReading
from portpart.graphs.from_networks import NamedEdges, graph_of_edges
from portpart.graphs.from_rows import graph_of_rows
from portpart.graphs.graph import Graph
from portpart.graphs.names import in_order

ENDS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"))
"""Names of the two columns of ends."""

WEIGHTS = ("weight", "w")
"""Names of a column of weights."""

NO_VALUE = ("NAType", "NaTType")
"""Types of pandas' missing values."""


def is_frame(obj: GraphLike) -> bool:
    """Whether `obj` has named columns, as in pandas, polars and pyarrow."""
    return hasattr(obj, "__getitem__") and (
        hasattr(obj, "column_names") or (hasattr(obj, "columns") and hasattr(obj, "shape")))


def graph_of_frame(frame: Any, vertex_weights: Numbers, edge_weights: Numbers, how: ArcReading,
                   space: ExecutionSpace | None) -> Graph:
    """Return the undirected graph of a frame with one edge per row."""
    if isinstance(vertex_weights, str):
        raise InputError(f"vertex_weights={shown(vertex_weights)}: a frame of edges has no "
                         "attributes of vertices; pass an array")
    columns = list(getattr(frame, "column_names", None) or frame.columns)
    if columns == list(range(len(columns))):  # a frame made from an array
        return graph_of_rows(np.asarray(frame.to_numpy()), vertex_weights, edge_weights, how, space)
    source, target, weight = _columns_of(columns, edge_weights)
    ends = [_values(frame, column) for column in (source, target)]
    weights = edge_weights
    if weight is not None:
        weights = _values(frame, weight)
    are_names = [side.dtype.kind not in "iuf" for side in ends]
    if are_names[0] != are_names[1]:
        raise InputError(f"one of the columns {shown(source)} and {shown(target)} holds numbers "
                         "and the other does not; both must hold names or both numbers")
    if are_names[0]:
        names, pairs = _named(ends)
        n = len(names)
    else:
        names, pairs = None, _numbers(ends, (source, target))
        n = 1 + int(pairs.max(initial=-1))
        if vertex_weights is not None:
            vertex_weights = in_order(vertex_weights, None, "vertex_weights")
            vertex_weights = as_array(backends.space("cpu"), vertex_weights, "vertex_weights")
            n = max(n, vertex_weights.size)
    found = NamedEdges(names, n, pairs, weights, is_directed=False)
    return graph_of_edges(found, vertex_weights, how, space)


def _columns_of(columns: list[Any], edge_weights: Numbers) -> tuple[Any, Any, Any]:
    """Return the columns of both ends and of the weights, or None."""
    by_name = {str(column).strip().lower(): column for column in columns}
    pairs = [pair for pair in ENDS if set(pair) <= set(by_name)]
    if len(pairs) != 1 or len(by_name) < len(columns):
        known = ", ".join(f"{a}/{b}" for a, b in ENDS)
        raise InputError(
            f"the frame has the columns {listed(columns)}; the two ends of an edge "
            f"must be named in one of these ways: {known} (frame.rename, or pass "
            "frame[[one, other]].to_numpy())")
    ends = [by_name[name] for name in pairs[0]]
    weights = [by_name[name] for name in WEIGHTS if name in by_name]
    if isinstance(edge_weights, str):
        if edge_weights not in columns:
            raise InputError(f"edge_weights={shown(edge_weights)} is not a column; there are "
                             f"{listed(columns)}")
        weights = [edge_weights]
    elif edge_weights is not None:
        weights = []
    if len(weights) > 1:
        raise InputError("the frame has two columns of weights, 'weight' and 'w'; pass "
                         "edge_weights=")
    return (*ends, weights[0] if weights else None)


def _values(frame: Any, column: Any) -> np.ndarray:
    """Return a column as an array of numbers or objects; raise if a value is missing."""
    series = frame[column]
    values = np.asarray(series.to_numpy())
    missing = np.array([is_missing(value) for value in values.tolist()], bool) if (
        values.dtype.kind == "O") else values != values
    if (row := first_true(missing)) is not None:
        raise InputError(f"column {shown(column)} has no value in row {row}")
    if values.dtype.kind == "O":
        values = _numbers_if_they_are(values)
    return values


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one."""
    if value is None or type(value).__name__ in NO_VALUE:
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def _numbers_if_they_are(values: np.ndarray) -> np.ndarray:
    """Return objects as numbers if all are numbers."""
    try:
        plain = np.array(values.tolist())
    except (TypeError, ValueError, OverflowError):
        return values
    return plain if plain.ndim == 1 and plain.dtype.kind in "iuf" else values


def _numbers(ends: list[np.ndarray], columns: tuple[Any, Any]) -> np.ndarray:
    """Return ends as integers: vertex numbers."""
    # half precision cannot hold the limits
    ends = [side.astype(np.float64) if side.dtype.kind == "f" else side for side in ends]
    for side, column in zip(ends, columns):
        row = first_true((side != np.rint(side)) | (side < 0) | (side > MAX_VERTICES))
        if row is not None:
            raise InputError(f"column {shown(column)} holds {side[row]} in row {row}; vertices are "
                             f"names (text), or numbers from 0 to {MAX_VERTICES}")
    return np.stack([side.astype(np.int64) for side in ends], axis=1)


def _named(ends: list[np.ndarray]) -> tuple[list[Hashable], np.ndarray]:
    """Return the names of vertices in order of occurrence, and ends as numbers."""
    number: dict[Hashable, int] = {}
    sides = [side.tolist() for side in ends]
    pairs = [(number.setdefault(u, len(number)), number.setdefault(v, len(number)))
             for u, v in zip(*sides)]
    return list(number), np.array(pairs, np.int64).reshape(-1, 2)
