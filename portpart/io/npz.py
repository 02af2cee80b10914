"""NumPy ``.npz`` archives: our own layout, SciPy's ``save_npz`` and bare CSR arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.graph import Graph, as_graph
from portpart.ingest import csr_graph
from portpart.io.files import Source

OWN_NAMES = ("offsets", "targets", "weights", "vertex_weights")
BARE_NAMES = ("indptr", "indices", "weights", "vertex_weights")


def parse(source: Source, symmetrize: bool = False) -> Graph:
    """The graph of an archive: arrays offsets, targets[, weights][, vertex_weights]; the same with
    the names indptr, indices; or a sparse matrix that SciPy saved.
    """
    try:
        with np.load(io.BytesIO(source.data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as problem:
        raise GraphFormatError(f"{source.name}: no .npz archive of plain arrays: "
                               f"{problem}") from problem
    try:
        return _graph_of(source, arrays, symmetrize)
    except GraphFormatError:
        raise
    except InputError as problem:
        raise GraphFormatError(f"{source.name}: {problem}") from problem


def text(graph: Graph) -> Iterator[Any]:
    """The archive of a host graph in our own layout."""
    arrays = dict(zip(OWN_NAMES, (graph.offsets, graph.targets, graph.weights,
                                  graph.vertex_weights)))
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False,
             **{name: array for name, array in arrays.items() if array is not None})
    yield buffer.getbuffer()


def _graph_of(source: Source, arrays: dict[str, np.ndarray], symmetrize: bool) -> Graph:
    if "format" in arrays and "shape" in arrays:
        from scipy.sparse import load_npz

        return as_graph(load_npz(io.BytesIO(source.data)), symmetrize=symmetrize)
    for names in (OWN_NAMES, BARE_NAMES):
        if names[0] in arrays and names[1] in arrays:
            offsets, targets, weights, vertex_weights = map(arrays.get, names)
            return csr_graph(offsets, targets, weights, vertex_weights, symmetrize)
    raise GraphFormatError(
        f"{source.name}: holds {', '.join(arrays) or 'nothing'}; expected offsets and targets, "
        "indptr and indices, or a matrix saved by scipy.sparse.save_npz"
    )
