"""Graphs and meshes from files, whose format follows from content and suffix."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from portpart.backends.programs import ExecutionSpace
from portpart.errors import GraphFormatError, InputError, shown, typed_memory_errors
from portpart.formats import NamedGraph, hmetis, mesh_of, mesh_of_foreign, read_foreign
from portpart.formats.text import PathLike, Source, bare_name, read_source
from portpart.graphs import Graph, Mesh
from portpart.inputs import known

# Graphs from files, whose format follows from content and suffix -------------------------------


def read(
    path: PathLike,
    format: str | None = None,
    *,
    symmetrize: bool | str | None = None,
    weights: bool | str | None = None,
    weight_scale: float | None = None,
    relabel: bool | None = None,
    columns: str | Sequence[str | int] | None = None,
    header: bool | None = None,
    top: str | None = None,
    model: str | None = None,
    max_fanout: int | None = None,
    areas: PathLike | None = None,
    mesh: str | None = None,
    common_nodes: int | str | None = None,
    max_vertices: int | None = None,
    space: ExecutionSpace | None = None,
) -> Graph:
    """Read a graph file.

    Parameters
    ----------
    path : str or PathLike
        Plain or compressed with gzip, xz, bzip2 or zstd; the graph in a tar or zip file is also
        found.  ``-`` reads standard input.
    format : str, optional
        ``"metis"``, ``"matrix-market"``, ``"edge-list"``, ``"dimacs"``, ``"npz"``,
        ``"parhip"``, ``"dense"``, ``"verilog"``, ``"blif"``, ``"aiger"``, ``"mpi-profile"``,
        ``"metis-mesh"`` or ``"meshio"``.
        Default: the format of the content or, if several are possible, that of the suffix
        (``.graph``, ``.mtx``, ``.txt``, ``.gr``, ``.npz``, ``.parhip``, ``.npy``, ``.v``,
        ``.blif``, ``.aig``, ``.msh``, ``.vtu`` ..., before ``.gz``, ``.xz``, ``.bz2`` or ``.zst``).
    symmetrize : bool, "sum" or "max", optional
        As in :func:`portpart.as_graph`.  Matrix Market files, edge lists and DIMACS files list
        edges without direction: without "sum" or "max" they are read as with True.
    weights : {"keep", "ignore", "abs", "round"} or bool, optional
        Treatment of edge weights, as in :func:`portpart.as_graph`. Default: weights are kept,
        except the values of a real or complex matrix. Edge lists have weights in the third column.
    weight_scale : float, optional
        As in :func:`portpart.as_graph`.
    relabel : bool, optional
        Edge list: number the vertices that occur, integers in ascending order, text in the order of
        occurrence (default). False: names are the vertex numbers, counted from 0. The names are the
        graph's ``names``.
    columns : str or sequence, optional
        Edge list: the columns of the two ends and optionally of the weight, by titles or by numbers
        from 1, such as ``"source,target,weight"`` or ``"1,2"``. Default: those with such titles,
        else the first ones; with more than three columns this is an error.
    header : bool, optional
        Edge list: whether the first line has titles; default: if it looks like titles.
    top : str, optional
        Verilog and BLIF: the top module; default: the one that no other instantiates, for BLIF the
        first.
    model : {"star", "clique"}, optional
        Netlists: edges of a net, as in :meth:`portpart.io.Netlist.graph`; default: a star.
    max_fanout : int, optional
        Netlists: leave out nets that reach more gates, such as clock and reset; default: keep all.
    areas : str or PathLike, optional
        Netlists: a file with lines of a cell and its area, which are the weights of gates;
        default: each weighs 1.  Areas may be decimal numbers such as 0.798.  Then all are
        multiplied by the smallest power of ten that makes them integers.
    mesh : {"dual", "nodal"}, optional
        For meshes (METIS's, ``"metis-mesh"``, and formats of meshio): whether the vertices are
        the elements (default) or the nodes.
    common_nodes : int or "face", optional
        Meshes: minimum number of nodes that adjacent elements share, or ``"face"``, see
        :meth:`portpart.Mesh.dual_graph`; default: 1 for METIS files, ``"face"`` for others.
    max_vertices : int, optional
        Maximum number of vertices; default: 2^22, or 16 for each byte of text if that is more. With
        this option, compressed files may also expand to more than 64 MiB and 1000 times their size.
    space : ExecutionSpace, optional
        Space of the graph; default: the CPU.

    Returns
    -------
    Graph
        Self loops are left out. Parallel edges of METIS, npz and ParHIP files are kept, those of
        other files are merged: their weights are added. The two directions of an edge must have
        equal weights, except with `symmetrize`.

    Raises
    ------
    GraphFormatError
        For the first deviation from the format, with file and line; or if the content can be read
        in two formats, which the message names.
    InputError
        If the file cannot be read, or an option does not apply to the format.

    Notes
    -----
    Compiled code reads text in parallel, in O(bytes). It needs the size of the text plus about 20
    bytes per arc (METIS), 30 (edge lists) or 100 (with weights). Names that are not numbers, quoted
    words and netlists are read in Python, in some microseconds per line; see :func:`read_netlist`.

    Examples
    --------
    >>> import portpart
    >>> portpart.io.write(portpart.generators.grid_2d(3), "grid.mtx.gz")
    >>> portpart.io.read("grid.mtx.gz")
    <Graph: 9 vertices, 12 edges, on cpu>
    """
    given = {"symmetrize": symmetrize, "weights": weights, "weight_scale": weight_scale,
             "relabel": relabel, "columns": columns, "header": header, "top": top, "model": model,
             "max_fanout": max_fanout, "areas": areas, "max_vertices": max_vertices, "mesh": mesh,
             "common_nodes": common_nodes}
    result = _parsed(path, format, given)[1]
    graph: Graph = result.graph if isinstance(result, NamedGraph) else result
    return graph if space is None else graph.to(space)


def read_named(path: PathLike, format: str | None = None, **options: Any) -> NamedGraph:
    r"""Read a graph file that names its vertices: a netlist, an edge list, a table with titles.

    Parameters
    ----------
    path, format, **options
        As in :func:`read`.

    Returns
    -------
    NamedGraph
        ``graph``, in host memory, and ``names``, an array of the name of each vertex: text, or
        integers for an edge list.

    Raises
    ------
    InputError
        As in :func:`read`, and if the format has no names.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("friends.txt").write_text("ann bob\nbob carl\n")
    >>> portpart.io.read_named("friends.txt").names.tolist()
    ['ann', 'bob', 'carl']
    """
    name, result = _parsed(path, format, options)
    if isinstance(result, NamedGraph):
        return result
    if result.names is not None:
        return NamedGraph(result, np.array(result.names))
    which = "dense files without titles" if name == "dense" else f"{name} files"
    raise InputError(f"{which} do not name their vertices; edge-list, verilog, blif and aiger "
                     "files do, and npz files of a graph with names")


def _parsed(path: PathLike, format: str | None,
            given: dict[str, Any]) -> tuple[str, Graph | NamedGraph]:
    """Return the name of a file's format, and the result of its reader."""
    if format is not None and format not in known.FORMATS:
        raise InputError(f"unknown format {shown(format)}; known are {', '.join(known.FORMATS)}")
    limit = checked_limit(given.pop("max_vertices", None))
    options = {key: value for key, value in given.items() if value is not None}
    if (format or known.format_of_name(os.fspath(path))) == known.MESHIO:  # it reads files
        return known.MESHIO, _parsed_as(known.MESHIO, Source(os.fspath(path), b"", limit), options)
    source = read_source(path, limit, known.GRAPH_SUFFIXES)
    name = format or known.recognised(source, known.format_of_name(source.name))
    try:
        return name, _parsed_as(name, source, options)
    except GraphFormatError as problem:
        if format is None and name == "metis":
            _refuse_edges(source, problem)
        if format is None and (name == "metis" or problem.unequal_rows):
            _refuse_nets(source, problem)
        if format is not None or not problem.unequal_rows or not known.fits_metis(source):
            raise
    return "metis", _parsed_as("metis", source, options)


def _refuse_edges(source: Source, problem: GraphFormatError) -> None:
    """Raise if a file that is not a METIS graph looks like an edge list."""
    sample = known.sample_of(source)
    if sample.is_like_edges:
        nets = (f"; or of hMETIS, which {known.NETS_CALL} (--format hmetis) reads"
                if known.fits_hmetis(source, sample) else "")
        raise GraphFormatError(f"{problem}; all lines are as in an edge list, which format="
                               f"'edge-list' (--format edge-list) reads{nets}") from problem


def _refuse_nets(source: Source, problem: GraphFormatError) -> None:
    """Raise if a file that is not a graph and has no known suffix is valid hMETIS."""
    if known.format_of_name(source.name) is not None:
        return
    try:
        nets = None if known.fits_metis(source) else hmetis.parse(source)
    except (InputError, MemoryError):
        return
    if nets is not None:
        found = GraphFormatError(f"{problem}; as a hypergraph of hMETIS it can be read: "
                                 f"{known.NETS_CALL} (--format hmetis)")
        if nets.vertex_weights is not None:  # then an hMETIS file has more lines than a graph
            found.hypergraph = nets
        raise found from problem


def checked_limit(max_vertices: Any) -> int | None:
    """Return the option `max_vertices`, checked to be a number."""
    if max_vertices is None:
        return None
    if isinstance(max_vertices, Integral) and int(max_vertices) >= 0:
        return int(max_vertices)
    raise InputError(f"max_vertices is {shown(max_vertices)}; a number of vertices is needed")


def _parsed_as(name: str, source: Source, options: dict[str, Any]) -> Graph | NamedGraph:
    entry = known.FORMATS[name]
    return known.parsed(name, entry.options, source, options,
                        lambda: entry.parse(source, options), "graph")


# Meshes from files: METIS's, and the formats of meshio -----------------------------------------


TETGEN = (".ele", ".node")

AMBIGUOUS = (".dat", ".tec", ".xml", ".e", ".post", ".dato", ".wkt")
"""Suffixes of meshio's formats that other files also have."""

METIS_BEGINS = re.compile(rb"\s*[%\d]")
MEDIT = re.compile(rb"\s*(#[^\n]*\n\s*)*MeshVersionFormatted")


@typed_memory_errors
def read_mesh(path: PathLike, *, max_vertices: int | None = None) -> Mesh:
    r"""Read a mesh file: one of METIS (``.mesh``), or of a format that meshio reads.

    Parameters
    ----------
    path : str or PathLike
        Suffixes of meshio, such as ``.msh``, ``.vtu`` or ``.inp``, are those of its formats, which
        need ``pip install 'portpart[mesh]'``.  Files of METIS are plain or compressed, as for
        :func:`portpart.io.read`; ``-`` reads one from standard input.
    max_vertices : int, optional
        Maximum number of nodes; default: 2^22, or 16 for each byte of text if that is more.

    Returns
    -------
    Mesh
        Elements and nodes are numbered from 0.  A mesh of meshio has its points and cells.

    Raises
    ------
    GraphFormatError
        For the first deviation from the format, with file and line; for files of meshio with its
        message.
    InputError
        If the file cannot be read, if meshio is not installed, or if cells are of unknown kinds or
        mixed dimensions.

    Notes
    -----
    To read a file of METIS 4, whose header has a kind of element instead of a number of weights,
    remove that number.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("four.mesh").write_text("4\n1 2 5\n1 5 4\n2 3 6\n2 6 5\n")
    >>> portpart.io.read_mesh("four.mesh")
    <Mesh: 4 elements, 6 nodes>
    """
    return read_with_data(path, max_vertices)[0]


def read_with_data(path: PathLike, max_vertices: int | None = None) -> tuple[Mesh, Any]:
    """Return the mesh of a file, and meshio's object with all data; for METIS, the mesh again."""
    name = os.fspath(path)
    suffix = os.path.splitext(bare_name(name.lower()))[1]
    file_format = None
    if suffix not in (*known.MESHIO_SUFFIXES, *TETGEN):
        source = read_source(path, max_vertices, known.FORMATS["metis-mesh"].suffixes)
        if MEDIT.match(source.data):
            file_format = "medit"
        elif suffix not in AMBIGUOUS or METIS_BEGINS.match(source.data):
            made = mesh_of(source)
            return made, made
    read = read_foreign(path, file_format)
    made = mesh_of_foreign(read, name)
    Source(name, b"", max_vertices).refuse_size(None, made.num_nodes, os.path.getsize(name))
    return made, read
