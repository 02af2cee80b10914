"""Graphs and hypergraphs to files, which are complete or not there."""

from __future__ import annotations

import os
import warnings
from typing import Any

from portpart import backends
from portpart.errors import InputError
from portpart.graphs.by_name import told_names
from portpart.graphs.convert import as_graph
from portpart.graphs.convert_nets import as_hypergraph, is_hypergraph
from portpart.graphs.graph import Graph
from portpart.io.formats import hmetis
from portpart.io.hypergraphs import net_format_of_name
from portpart.io.known import FORMATS, format_of_name
from portpart.io.text.files import PathLike, write_chunks
from portpart.io.text.named_edges import why_unwritable
from portpart.options import shown

KEPT = ("portpart.io.write_named_partition(names, part, file) writes blocks with the names that "
        "the graph has in memory")


def write(graph: Any, path: PathLike, format: str | None = None) -> None:
    """Write a graph file, packed if the suffix says so; ``-`` writes to standard output.

    Parameters
    ----------
    graph : Graph or whatever `as_graph` takes
        A graph on a GPU is copied to the host.
    path : str or PathLike
    format : str, optional
        As for :func:`read`; needed for ``-``.

    Raises
    ------
    InputError
        If the format cannot hold the graph's vertex weights, or the file cannot be written.

    Warns
    -----
    UserWarning
        If vertices have names that the file will not have: edge lists and npz files keep them.

    Notes
    -----
    The file is written under a temporary name in the same folder and then renamed: it is complete
    or not there.  METIS, npz and ParHIP files keep parallel edges.  The other formats merge them
    when they are read, weights adding up: parallel edges without weights are written as one whose
    weight is their number, so every partition keeps its cut.

    An edge list of a graph with names has these.  Readers number vertices as they occur, or by
    their names if these are integers.  A vertex that would not occur in its turn, as it has no edge
    for example, stands there as a loop of weight 0, which readers leave out.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> portpart.io.write(portpart.generators.grid_2d(2), "square.graph")
    >>> print(Path("square.graph").read_text(), end="")
    4 4
    2 3
    1 4
    1 4
    2 3
    """
    if is_hypergraph(graph):
        raise InputError("portpart.io.write_hypergraph writes hypergraphs")
    name = format or format_of_name(os.fspath(path))
    writable = {key: entry for key, entry in FORMATS.items() if entry.is_writable}
    if name not in writable:
        if format is not None:
            raise InputError(f"unknown format to write {shown(format)}; known are "
                             f"{', '.join(writable)}")
        suffixes = ", ".join(entry.suffixes[0] for entry in writable.values())
        raise InputError(f"no format to write is known for {os.fspath(path)!r}; end it with one of "
                         f"{suffixes}, or name the format")
    made = as_graph(graph, copy=False, space=backends.space("cpu"))
    _warn_of_names(made, name, stacklevel=3)
    write_chunks(path, FORMATS[name].module.text(made))


def _warn_of_names(graph: Graph, format: str, stacklevel: int) -> None:
    """Warn if vertices have names that a file of this format will not have."""
    names = told_names(graph.names)
    if names is None:
        return
    why = f"as {format} files hold none"
    if FORMATS[format].names:
        problem = why_unwritable(names) if format == "edge-list" else None
        if problem is None:
            return
        why = f"as an edge list cannot hold them: {problem}"
    keep = ", ".join(FORMATS[key].suffixes[0] for key in FORMATS
                     if FORMATS[key].names and key != format)
    warnings.warn(f"the names of {graph.num_vertices} vertices are not written, {why}; {keep} "
                  f"files keep names, and {KEPT}", UserWarning, stacklevel=stacklevel)


def write_hypergraph(hypergraph: Any, path: PathLike) -> None:
    """Write an hMETIS file, packed if the suffix says so; ``-`` writes to standard output.

    Parameters
    ----------
    hypergraph : Hypergraph or whatever :func:`portpart.as_hypergraph` takes
        A hypergraph on a GPU is copied to the host.
    path : str or PathLike
        The file is complete or not there.  A suffix of another format is refused.

    Raises
    ------
    InputError
        If the hypergraph is malformed or the file cannot be written.

    Warns
    -----
    UserWarning
        If vertices have names, which hMETIS files have not.

    Notes
    -----
    Pins are written ascending, each once.  A net without pins or weight is a blank line, which
    :func:`read_hypergraph` reads; other programs may not.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> portpart.io.write_hypergraph(portpart.as_hypergraph([[0, 1, 2], [2, 3]]), "two.hgr")
    >>> print(Path("two.hgr").read_text(), end="")
    2 4
    1 2 3
    3 4
    """
    file = os.fspath(path)
    other = net_format_of_name(file) or format_of_name(file)
    if other not in (None, "hmetis"):
        raise InputError(f"{file}: its suffix is that of {other} files; hypergraphs are written as "
                         "hMETIS files, .hgr")
    made = as_hypergraph(hypergraph, space=backends.space("cpu"))
    if told_names(made.names) is not None:
        warnings.warn(f"the names of {made.num_vertices} vertices are not written, as hMETIS files "
                      f"hold none: {KEPT}", UserWarning, stacklevel=2)
    write_chunks(path, hmetis.text(made))
