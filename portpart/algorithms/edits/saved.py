"""Files of graphs and hypergraphs that are edited: the living, their ids, and how many there were.

A file is written under another name and then renamed, so that it is complete or the old one.
Marks and what they could undo are not kept.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from portpart.algorithms.edits.editable import EditableGraph
from portpart.algorithms.edits.editable_nets import EditableHypergraph
from portpart.algorithms.edits.living import Living
from portpart.backends.interface import ExecutionSpace
from portpart.errors import GraphFormatError
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.row_store import Growth
from portpart.io.text.files import PathLike, read_source, write_chunks
from portpart.io.text.packed import DAMAGE, ZIP_MEMBER

GROWTH = "percent", "least", "unit", "spare"

Arrays = dict[str, Any]


def save(edited: EditableGraph | EditableHypergraph, path: PathLike, more: Arrays) -> None:
    """Write what is edited to an .npz file, and more arrays of the host."""
    made = edited.graph() if isinstance(edited, EditableGraph) else edited.hypergraph()
    host = edited.space.to_host
    arrays = {name: host(array) for name, array in made.arrays.items() if array is not None}
    for living in edited.living:
        arrays[f"{living.name}_ids"] = living.ids()
        arrays[f"{living.name}_count"] = np.array(living.count)
    growth = edited.sides[0].store.growth
    arrays["growth"] = np.array([getattr(growth, name) for name in GROWTH])
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays, **more)
    write_chunks(path, [buffer.getbuffer()])


def load(path: PathLike, space: ExecutionSpace) -> tuple[
        EditableGraph | EditableHypergraph, Arrays]:
    """Read what `save` has written, into a space; and all arrays of the file.

    Raises
    ------
    GraphFormatError
        If the file is damaged, or no such file.
    """
    source = read_source(path)
    if not source.data.startswith(ZIP_MEMBER):
        raise GraphFormatError(f"{source.name}: no file of a session, nor any .npz file")
    try:
        with np.load(io.BytesIO(source.data), allow_pickle=False) as archive:
            arrays = dict(archive)
        make = _hypergraph if "nets_ids" in arrays else _graph
        edited = make(arrays, space, Growth(*(int(number) for number in arrays["growth"])))
    except (KeyError, IndexError, *DAMAGE) as problem:  # type: ignore[misc]
        raise GraphFormatError(f"{source.name}: no file of an edited graph: {problem}") from problem
    for living in edited.living:
        _let_die(living, arrays)
    return edited, arrays


def _graph(arrays: Arrays, space: ExecutionSpace, growth: Growth) -> EditableGraph:
    ids = arrays["vertices_ids"]
    weights = arrays.get("weights")
    return EditableGraph(Graph(
        *_rows(arrays, "vertices", "offsets", "targets", ids, space),
        None if weights is None else space.asarray(weights),
        _weights(arrays, "vertices", "vertex_weights", space), space), growth)


def _hypergraph(arrays: Arrays, space: ExecutionSpace, growth: Growth) -> EditableHypergraph:
    vertices, nets = arrays["vertices_ids"], arrays["nets_ids"]
    return EditableHypergraph(Hypergraph(
        *_rows(arrays, "nets", "net_offsets", "net_pins", vertices, space),
        _weights(arrays, "nets", "net_weights", space),
        *_rows(arrays, "vertices", "vertex_offsets", "vertex_nets", nets, space),
        _weights(arrays, "vertices", "vertex_weights", space), space), growth)


def _rows(arrays: Arrays, kind: str, offsets: str, elements: str, names: np.ndarray,
          space: ExecutionSpace) -> tuple[Any, Any]:
    """Rows of all ids, those of the dead empty, with ids in them."""
    begins = arrays[offsets]
    lengths = np.zeros(int(arrays[f"{kind}_count"]) + 1, begins.dtype)
    lengths[1:][arrays[f"{kind}_ids"]] = np.diff(begins)
    all_begins = np.cumsum(lengths, dtype=begins.dtype)
    return space.asarray(all_begins), space.asarray(names[arrays[elements]], np.int32)


def _weights(arrays: Arrays, kind: str, name: str, space: ExecutionSpace) -> Any:
    """Weights of all ids; the dead weigh nothing."""
    if name not in arrays:
        return None
    weights = np.zeros(int(arrays[f"{kind}_count"]), arrays[name].dtype)
    weights[arrays[f"{kind}_ids"]] = arrays[name]
    return space.asarray(weights)


def _let_die(living: Living, arrays: Arrays) -> None:
    """Leave those ids alive that were."""
    ids = arrays[f"{living.name}_ids"]
    dead = np.full(living.count, True)
    dead[ids] = False
    living.bury(np.flatnonzero(dead))
