"""Graphs and partitions in files, packed or not: METIS, Matrix Market, edge lists, DIMACS, npz, and
netlists in gate-level Verilog.
"""

from __future__ import annotations

import os
import re
from types import ModuleType
from typing import TYPE_CHECKING, Any

from portpart.errors import InputError
from portpart.graph import Graph, as_graph
from portpart.io import dimacs, edge_list, matrix_market, metis, npz, verilog
from portpart.io import mesh as metis_mesh
from portpart.io.edge_list import NamedGraph, read_edge_list
from portpart.io.files import COMPRESSIONS, PathLike, Source, read_source, write_chunks
from portpart.io.hostfile import Host, expand_nodelist, read_hosts
from portpart.io.mesh import read_mesh, write_mesh
from portpart.io.netlist import Netlist
from portpart.io.partition_file import (
    read_named_partition,
    read_partition,
    write_named_partition,
    write_partition,
)
from portpart.io.rankfile import write_rankfile
from portpart.io.verilog import read_netlist

if TYPE_CHECKING:
    from portpart.backends.interface import ExecutionSpace

__all__ = [
    "FORMATS",
    "Host",
    "NamedGraph",
    "Netlist",
    "expand_nodelist",
    "read",
    "read_edge_list",
    "read_hosts",
    "read_mesh",
    "read_named",
    "read_named_partition",
    "read_netlist",
    "read_partition",
    "write",
    "write_mesh",
    "write_named_partition",
    "write_partition",
    "write_rankfile",
]

FORMATS: dict[str, tuple[ModuleType, tuple[str, ...], tuple[str, ...]]] = {
    "metis": (metis, (".graph", ".metis", ".chaco"), ("symmetrize",)),
    "matrix-market": (matrix_market, (".mtx", ".mm"), ("weights",)),
    "edge-list": (
        edge_list,
        (".txt", ".el", ".tsv", ".csv", ".edges", ".edgelist"),
        ("weights", "relabel"),
    ),
    "dimacs": (dimacs, (".gr", ".dimacs", ".col"), ("weights",)),
    "npz": (npz, (".npz",), ("symmetrize",)),
    "verilog": (verilog, (".v", ".vg"), ("top", "model", "max_fanout")),
    "metis-mesh": (metis_mesh, (".mesh",), ("mesh", "common_nodes")),
}
"""Module, file suffixes and reading options of each format."""

VERILOG_BEGINS = re.compile(rb"\s*(//|/\*|\(\*|`[a-z]|(macro)?module\b)")


def read(
    path: PathLike,
    format: str | None = None,
    *,
    symmetrize: bool | None = None,
    weights: bool | None = None,
    relabel: bool | None = None,
    top: str | None = None,
    model: str | None = None,
    max_fanout: int | None = None,
    mesh: str | None = None,
    common_nodes: int | None = None,
    space: ExecutionSpace | None = None,
) -> Graph:
    """Read a graph file.

    Parameters
    ----------
    path : str or PathLike
        Plain or packed with gzip, xz or bzip2; ``-`` reads standard input.
    format : {"metis", "matrix-market", "edge-list", "dimacs", "npz", "verilog"}, optional
        Default: by the suffix (``.graph``, ``.mtx``, ``.txt``, ``.gr``, ``.npz``, ``.v`` ...,
        before ``.gz``, ``.xz`` or ``.bz2``), else by the first bytes.
    symmetrize : bool, optional
        METIS and npz: accept edges that stand in one direction only.  The other formats list
        edges without direction.
    weights : bool, optional
        Matrix Market, edge list and DIMACS: whether the third number of a line is the edge's
        weight.  Default: if there is one, but not in a real matrix.
    relabel : bool, optional
        Edge list: number the vertices that occur in ascending order (default), instead of
        taking names as numbers from 0.  :func:`read_edge_list` also returns the names.
    top : str, optional
        Verilog: the module to take; default: the one that no other instantiates.
    model : {"star", "clique"}, optional
        Verilog: what becomes of a net, as in :meth:`Netlist.graph`; default: a star.
    max_fanout : int, optional
        Verilog: leave out nets that reach more gates, as of clock and reset; default: keep all.
    mesh : {"dual", "nodal"}, optional
        METIS mesh (format ``"metis-mesh"``, ``.mesh``): whether the vertices are the elements
        (default) or the nodes.
    common_nodes : int, optional
        METIS mesh: least number of nodes that adjacent elements share, see
        :meth:`Mesh.dual_graph`; default: 1.
    space : ExecutionSpace, optional
        Where the graph is to live; default: the CPU.

    Returns
    -------
    Graph
        Self loops are left out.  METIS files keep parallel edges, the others merge them (weights
        of a repeated pair add up; of the two directions of an edge the larger weight counts).

    Raises
    ------
    GraphFormatError
        Naming file and line of the first deviation and what would be right.
    InputError
        If the file cannot be read, or an option does not apply to the format.

    Notes
    -----
    Text is read by compiled code in parallel, O(bytes); memory is about the size of the text plus
    16 bytes per arc.  Verilog is read in Python: see :func:`read_netlist`.
    """
    given = {"symmetrize": symmetrize, "weights": weights, "relabel": relabel, "top": top,
             "model": model, "max_fanout": max_fanout, "mesh": mesh, "common_nodes": common_nodes}
    result = _parsed(path, format, given)[1]
    graph: Graph = result.graph if isinstance(result, NamedGraph) else result
    return graph if space is None else graph.to(space)


def read_named(path: PathLike, format: str | None = None, **options: Any) -> NamedGraph:
    """Read a graph file that names its vertices: gate-level Verilog or an edge list.

    Parameters
    ----------
    path, format, **options
        As for :func:`read`.

    Returns
    -------
    NamedGraph
        ``graph``, in host memory, and ``names``, an array of the name of each vertex: text, or
        integers for an edge list.

    Raises
    ------
    InputError
        As for :func:`read`, and if the format has no names.
    """
    name, result = _parsed(path, format, options)
    if isinstance(result, NamedGraph):
        return result
    raise InputError(f"{name} files do not name their vertices; edge-list and verilog files do")


def _parsed(
    path: PathLike, format: str | None, given: dict[str, Any]
) -> tuple[str, Graph | NamedGraph]:
    """Name of the format of a file, and what its reader makes of it."""
    source = read_source(path)
    name = format or format_of_name(source.name) or format_of_bytes(source)
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; known are {', '.join(FORMATS)}")
    module, _, applicable = FORMATS[name]
    options = {key: value for key, value in given.items() if value is not None}
    for option in options:
        if option not in applicable:
            raise InputError(f"{option} does not apply to {name} files")
    return name, module.parse(source, **options)


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

    Notes
    -----
    The file is written under a temporary name in the same folder and then renamed: it is complete
    or not there.  METIS and npz files keep parallel edges; the other formats list them, but reading
    merges them.
    """
    from portpart import backends

    name = format or format_of_name(os.fspath(path))
    writable = {key: entry for key, entry in FORMATS.items() if hasattr(entry[0], "text")}
    if name not in writable:
        suffixes = ", ".join(suffix for _, many, _ in writable.values() for suffix in many[:1])
        raise InputError(f"no format to write is known for {os.fspath(path)!r}; end it with one of "
                         f"{suffixes}, or name the format")
    made = as_graph(graph, space=backends.space("cpu"))
    write_chunks(path, FORMATS[name][0].text(made))


def format_of_name(name: str) -> str | None:
    """Format that a file name's suffix stands for."""
    stem, suffix = os.path.splitext(name.lower())
    if suffix in COMPRESSIONS:
        suffix = os.path.splitext(stem)[1]
    for format_name, (_, suffixes, _) in FORMATS.items():
        if suffix in suffixes:
            return format_name
    return None


def format_of_bytes(source: Source) -> str:
    """Format that the first bytes of a file look like (standard input, unknown suffixes)."""
    if source.data.startswith(b"PK"):
        return "npz"
    if source.data[:14].lower() == matrix_market.BANNER:
        return "matrix-market"
    if VERILOG_BEGINS.match(source.data):
        return "verilog"
    first = source.data[:1]
    if first == b"#":
        return "edge-list"
    return "dimacs" if first in (b"c", b"p", b"a", b"e") else "metis"
