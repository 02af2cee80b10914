"""The arrays of an edited graph or hypergraph in a file: its existing part, and its ids.

A file may come from another program, so rows and weights are checked like those of any input.  For
a hypergraph the file has the pins of nets; the nets of vertices are computed.  Marks and logs of
edits are not stored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from portpart.algorithms.edits.batch import MAX_IDS
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError, shown
from portpart.graphs import EitherGraph, Graph, Hypergraph, RowGrowth, csr_graph, nets_hypergraph

OF_GRAPH = {"indptr": "offsets", "indices": "targets", "edge_weights": "weights",
            "vertex_weights": "vertex_weights"}
OF_NETS = {name: name for name in ("net_offsets", "net_pins", "net_weights", "vertex_weights")}
"""Names of arrays in a file and in messages, and in the existing graph."""

ALIVE = "{}_alive"
"""Name of the array that says for each id of a kind whether it exists."""

SCALE = "weight_scale"

ARRAYS = frozenset({*OF_GRAPH, *OF_NETS, SCALE,
                    *(ALIVE.format(kind) for kind in ("vertices", "nets"))})


class Saved(dict[str, Any]):
    """Entries of a file by name; a missing entry raises `InputError`."""

    def __missing__(self, name: str) -> Any:
        raise InputError(f"{name} is missing")


def arrays_of(edited: EditableGraph | EditableHypergraph) -> dict[str, np.ndarray]:
    """Return the arrays for a file, on the host."""
    made: EitherGraph
    if isinstance(edited, EditableGraph):
        made, names = edited.graph(), OF_GRAPH
    else:
        made, names = edited.hypergraph(), OF_NETS
    host = edited.space.to_host
    arrays = {name: host(array) for name, own in names.items()
              if (array := made.arrays[own]) is not None}
    if isinstance(made, Graph):
        arrays[SCALE] = np.array(made.weight_scale, np.float64)
    for table in edited.tables:
        alive = np.zeros(table.count, bool)
        alive[table.ids()] = True
        arrays[ALIVE.format(table.name)] = alive
    return arrays


def existing_graph(arrays: Saved, space: ExecutionSpace) -> EitherGraph:
    """Return the existing graph of a file, numbered consecutively, checked and in a space.

    Raises
    ------
    InputError
        If an array is missing, or the arrays are not a graph.
    """
    if "net_offsets" not in arrays:
        made = csr_graph(arrays["indptr"], arrays["indices"], arrays.get("edge_weights"),
                         arrays.get("vertex_weights"), space=space)
        return replace(made, weight_scale=_scale(arrays[SCALE]))
    number = np.count_nonzero(_alive(arrays, "vertices"))
    return nets_hypergraph(arrays["net_offsets"], arrays["net_pins"], int(number),
                           arrays.get("net_weights"), arrays.get("vertex_weights"), space)


def edited_of(existing: EitherGraph, arrays: Saved,
              growth: RowGrowth) -> EditableGraph | EditableHypergraph:
    """Return the existing graph with the ids of the file.

    Parameters
    ----------
    existing : Graph or Hypergraph
        The result of `existing_graph`.
    arrays : Saved
    growth : RowGrowth
        The slack of rows.

    Raises
    ------
    InputError
        If the number of existing ids differs from the number of vertices or nets.
    """
    alive = [_alive(arrays, "vertices", existing.num_vertices)]
    edited: EditableGraph | EditableHypergraph
    if isinstance(existing, Graph):
        edited = EditableGraph(_graph_of_ids(existing, *alive), growth)
    else:
        alive.append(_alive(arrays, "nets", existing.num_nets))
        edited = EditableHypergraph(_hypergraph_of_ids(existing, *alive), growth)
    for kind, ids in zip(edited.tables, alive):
        kind.exclude(np.flatnonzero(~ids))
    return edited


def _alive(arrays: Saved, kind: str, number: int | None = None) -> np.ndarray:
    """Return a mask of existing ids; their number must be `number`, if given."""
    name = ALIVE.format(kind)
    alive: np.ndarray = arrays[name]
    if alive.dtype != bool or alive.ndim != 1 or len(alive) > MAX_IDS:
        raise InputError(f"{name} has shape {alive.shape} and type {alive.dtype}; up to {MAX_IDS} "
                         "truth values are needed, one for each id")
    found = int(np.count_nonzero(alive))
    if number not in (None, found):
        raise InputError(f"{name} holds {found} ids that are alive, but there are {number} {kind}")
    return alive


def _scale(array: np.ndarray) -> float:
    """Return the factor by which edge weights were multiplied before rounding."""
    if array.shape != () or array.dtype != np.float64 or not 0 < array < np.inf:
        raise InputError(f"{SCALE} is {shown(array.tolist())}; it must be a number above 0")
    return float(array)


def _graph_of_ids(existing: Graph, alive: np.ndarray) -> Graph:
    """Return a graph of all ids; the rows of deleted ids are empty."""
    if alive.all():
        return existing
    space = existing.space
    offsets, targets = _rows(existing.offsets, existing.targets, alive, alive, space)
    return replace(existing, offsets=offsets, targets=targets,
                   vertex_weights=_weights(existing.vertex_weights, alive, space), _totals={})


def _hypergraph_of_ids(existing: Hypergraph, vertices: np.ndarray, nets: np.ndarray) -> Hypergraph:
    """Return a hypergraph of all ids; the rows of deleted ids are empty."""
    if vertices.all() and nets.all():
        return existing
    space = existing.space
    net_offsets, net_pins = _rows(existing.net_offsets, existing.net_pins, nets, vertices, space)
    vertex_offsets, vertex_nets = _rows(existing.vertex_offsets, existing.vertex_nets, vertices,
                                        nets, space)
    return Hypergraph(net_offsets, net_pins, _weights(existing.net_weights, nets, space),
                      vertex_offsets, vertex_nets,
                      _weights(existing.vertex_weights, vertices, space), space)


def _rows(offsets: Array, elements: Array, alive: np.ndarray, names: np.ndarray,
          space: ExecutionSpace) -> tuple[Array, Array]:
    """Return rows of all ids with ids as elements, from rows of consecutive numbers."""
    begins = space.to_host(offsets)
    lengths = np.zeros(len(alive) + 1, begins.dtype)
    lengths[1:][alive] = np.diff(begins)
    ids = np.flatnonzero(names).astype(np.int32)
    return (space.asarray(np.cumsum(lengths, dtype=begins.dtype)),
            space.asarray(ids[space.to_host(elements)]))


def _weights(weights: Array | None, alive: np.ndarray, space: ExecutionSpace) -> Array | None:
    """Return weights of all ids; 0 for deleted ones."""
    if weights is None:
        return None
    result = np.zeros(len(alive), weights.dtype)
    result[alive] = space.to_host(weights)
    return space.asarray(result)
