"""NumPy ``.npz`` archives: our own layout, SciPy's ``save_npz`` and bare CSR arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, InputError, errors_about, shown
from portpart.formats import text
from portpart.formats.arrays import ENDS, NAMES, names_of, packed_names, read_array
from portpart.formats.dense import graph_of_table
from portpart.graphs import Graph, csr_graph, parts_of_sparse, told_names

OWN_NAMES = ("offsets", "targets", "weights", "vertex_weights")
SCIPY_NAMES = ("format", "shape", "data", "indices", "indptr", "row", "col", "coords")
INDEX_NAMES = {"indices", "indptr", "row", "col", "coords", "offsets"}
LAYOUTS = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"),
           "bsr": ("data", "indices", "indptr"), "coo": ("data", "coords"),
           "dia": ("data", "offsets")}
"""Arrays of each of SciPy's formats."""

BARE_NAMES = ("indptr", "indices", "weights", "vertex_weights")
KNOWN = {*OWN_NAMES, *BARE_NAMES, *SCIPY_NAMES, NAMES, ENDS}

MORE_VERTICES = "if that is right, say max_vertices= (--max-vertices)"


def parse(source: text.Source, rules: text.ReadingRules = text.STRICT) -> Graph:
    """Return the graph of an archive: arrays offsets, targets[, weights][, vertex_weights]; the
    same with the names indptr, indices; a sparse matrix that SciPy saved; or a single square table.
    """
    arrays = arrays_of(source)
    if len(arrays) == 1 and not arrays.keys() & KNOWN:
        arrays = arrays_of(source, arrays.keys())
    with errors_about(source.name):
        return _graph_of(source, arrays, rules)


def chunks(graph: Graph) -> Iterator[Any]:
    """Yield the archive of a host graph in our own layout."""
    arrays = dict(zip(OWN_NAMES, (graph.offsets, graph.targets, graph.weights,
                                  graph.vertex_weights)))
    arrays |= packed_names(told_names(graph.names))
    yield packed({name: array for name, array in arrays.items() if array is not None})


def packed(arrays: Mapping[str, Any]) -> memoryview:
    """Return an archive of arrays of numbers. Older NumPy versions would add `allow_pickle=`."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getbuffer()


def arrays_of(source: text.Source, known: Collection[str] = KNOWN,
              remedy: str = MORE_VERTICES) -> dict[str, np.ndarray]:
    """Return the arrays of an archive with known names; others are listed, but empty.

    Parameters
    ----------
    source : Source
    known : collection of str
        Names of arrays to read.
    remedy : str
        Advice for an archive that unpacks to far more bytes than it has.

    Raises
    ------
    GraphFormatError
        If the file is not an archive, or an array is damaged, holds objects or is suspiciously
        large.
    """
    arrays = {}
    with text.undamaged(source.name), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            arrays[name] = np.empty(0)
            if name in known:
                refuse_bomb(source, entry, remedy)
                with archive.open(entry) as stream:
                    arrays[name] = read_array(f"{source.name}: {entry.filename}", stream,
                                              entry.file_size)
    return arrays


def refuse_bomb(source: text.Source, entry: zipfile.ZipInfo, remedy: str) -> None:
    """Raise if a member of an archive unpacks to far more bytes than it has."""
    if entry.file_size > max(text.UNCHECKED_BYTES, text.LARGEST_RATIO * entry.compress_size):
        if source.max_vertices is None:
            raise GraphFormatError(
                f"{source.name}: {entry.filename} unpacks to {entry.file_size} bytes, over "
                f"{text.LARGEST_RATIO} times its size; {remedy}")


def _graph_of(source: text.Source, arrays: dict[str, np.ndarray],
              rules: text.ReadingRules) -> Graph:
    if "format" in arrays and "shape" in arrays:
        how = rules.of_arcs()
        return csr_graph(*parts_of_sparse(_matrix(source, arrays), how["mode"]), **how)
    for names in (OWN_NAMES, BARE_NAMES):
        if names[0] in arrays and names[1] in arrays:
            offsets, targets, weights, vertex_weights = map(arrays.get, names)
            made = csr_graph(offsets, targets, weights, vertex_weights, **rules.of_arcs())
            return replace(made, names=names_of(arrays, made.num_vertices, source.name))
    for table in arrays.values():  # others are empty
        if table.ndim == 2 and table.shape[0] == table.shape[1]:
            return graph_of_table(table, rules)
    raise GraphFormatError(
        f"{source.name}: holds {', '.join(arrays) or 'nothing'}; expected offsets and targets, "
        "indptr and indices, a matrix saved by scipy.sparse.save_npz, or one square table"
    )


def _matrix(source: text.Source, arrays: dict[str, np.ndarray]) -> Any:
    """Return the matrix that SciPy saved, with its indices checked before SciPy uses them."""
    import scipy.sparse as sp

    try:
        kind = arrays["format"].item()
        kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        shape = arrays["shape"]
        if shape.dtype.kind not in "iu" or shape.shape != (2,):
            raise ValueError(f"its shape is {shape.tolist()!r:.60}")
        rows, columns = map(int, shape)
        if kind in LAYOUTS:
            for name in INDEX_NAMES & arrays.keys():
                if arrays[name].dtype.kind not in "iu":
                    raise ValueError(f"{name} is of type {arrays[name].dtype}")
            size = sum(array.nbytes for array in arrays.values())
            source.refuse_size(None, max(rows, columns), size)
            if kind == "coo":
                ends = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
                return sp.coo_array((arrays["data"], tuple(ends)), shape=(rows, columns))
            parts = [arrays[name] for name in LAYOUTS[kind]]
            made = getattr(sp, f"{kind}_array")(tuple(parts), shape=(rows, columns))
            if kind != "dia":
                made.check_format(full_check=True)
            return made
    except InputError:
        raise
    except KeyError as problem:
        raise GraphFormatError(f"{source.name}: no matrix saved by scipy.sparse.save_npz: array "
                               f"{problem} is missing") from problem
    except (ValueError, TypeError, IndexError, OverflowError) as problem:
        raise GraphFormatError(f"{source.name}: no matrix saved by scipy.sparse.save_npz: "
                               f"{problem}") from problem
    raise GraphFormatError(f"{source.name}: a sparse matrix of format {shown(kind)}; known are "
                           f"{', '.join(LAYOUTS)}")
