"""Graphs, hypergraphs and meshes to files, which are written completely or not at all."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Sequence

import numpy as np

from portpart import backends, graphs, inputs
from portpart.errors import InputError, errors_about, shown, typed_memory_errors
from portpart.formats import hmetis, mesh_text, meshio_module, points_and_cells, vtu_text
from portpart.formats.text import PathLike, bare_name, why_unwritable, write_chunks, write_together

# Graphs and hypergraphs to files, which are written completely or not at all -------------------


KEPT = ("portpart.io.write_named_partition(names, part, file) writes blocks with the names that "
        "the graph has in memory")


def write(graph: graphs.GraphLike, path: PathLike, format: str | None = None) -> None:
    """Write a graph file, compressed if the suffix says so; ``-`` writes to standard output.

    Parameters
    ----------
    graph : Graph or any other input of `as_graph`
        A graph on a GPU is copied to the host.
    path : str or PathLike
    format : str, optional
        As in :func:`read`; needed for ``-``.

    Raises
    ------
    InputError
        If the format cannot hold the graph's vertex weights, or the file cannot be written.

    Warns
    -----
    UserWarning
        If vertices have names and the format has none: edge lists and npz files keep them.

    Notes
    -----
    The file is written to a temporary name in the same folder and then renamed, so it is never
    incomplete. METIS, npz and ParHIP files keep parallel edges. For the other formats parallel
    edges without weights are written as one edge whose weight is their number, so cuts stay the
    same.

    An edge list has the names of the vertices. Readers number vertices in the order of occurrence,
    or by their names if these are integers. A vertex that would not occur in its order, for example
    one without an edge, is written as a loop of weight 0, which readers leave out.

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
    if inputs.is_hypergraph(graph):
        raise InputError("portpart.io.write_hypergraph writes hypergraphs")
    name = format or inputs.format_of_name(os.fspath(path))
    writable = {key: entry for key, entry in inputs.FORMATS.items() if entry.is_writable}
    if name not in writable:
        if format is not None:
            raise InputError(f"unknown format to write {shown(format)}; known are "
                             f"{', '.join(writable)}")
        suffixes = ", ".join(entry.suffixes[0] for entry in writable.values())
        raise InputError(f"no format to write is known for {os.fspath(path)!r}; end it with one of "
                         f"{suffixes}, or name the format")
    made = inputs.as_graph(graph, copy=False, space=backends.space("cpu"))
    _warn_of_names(made, name, stacklevel=3)
    write_chunks(path, inputs.FORMATS[name].module.chunks(made))


def _warn_of_names(graph: graphs.Graph, format: str, stacklevel: int) -> None:
    """Warn if vertices have names that a file of this format cannot hold."""
    names = graphs.told_names(graph.names)
    if names is None:
        return
    why = f"as {format} files hold none"
    if inputs.FORMATS[format].names:
        problem = why_unwritable(names) if format == "edge-list" else None
        if problem is None:
            return
        why = f"as an edge list cannot hold them: {problem}"
    keep = ", ".join(inputs.FORMATS[key].suffixes[0] for key in inputs.FORMATS
                     if inputs.FORMATS[key].names and key != format)
    warnings.warn(f"the names of {graph.num_vertices} vertices are not written, {why}; {keep} "
                  f"files keep names, and {KEPT}", UserWarning, stacklevel=stacklevel)


def write_hypergraph(hypergraph: graphs.GraphLike, path: PathLike) -> None:
    """Write an hMETIS file, compressed if the suffix says so; ``-`` writes to standard output.

    Parameters
    ----------
    hypergraph : Hypergraph or any other input of :func:`portpart.as_hypergraph`
        A hypergraph on a GPU is copied to the host.
    path : str or PathLike
        The file is written completely or not at all.  A suffix of another format is an error.

    Raises
    ------
    InputError
        If the hypergraph is malformed or the file cannot be written.

    Warns
    -----
    UserWarning
        If vertices have names: hMETIS files do not.

    Notes
    -----
    Pins are written in ascending order, each once. A net without pins or weight is a blank line,
    which other programs may not accept.

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
    other = inputs.net_format_of_name(file) or inputs.format_of_name(file)
    if other not in (None, "hmetis"):
        raise InputError(f"{file}: its suffix is that of {other} files; hypergraphs are written as "
                         "hMETIS files, .hgr")
    made = inputs.as_hypergraph(hypergraph, space=backends.space("cpu"))
    if graphs.told_names(made.names) is not None:
        warnings.warn(f"the names of {made.num_vertices} vertices are not written, as hMETIS files "
                      f"hold none: {KEPT}", UserWarning, stacklevel=2)
    write_chunks(path, hmetis.chunks(made))


# Meshes and sub-meshes to files, which are written completely or not at all --------------------


VTU, PVTU = ".vtu", ".pvtu"

GHOST_TYPE = "vtkGhostType"
"""VTK's name of the data that marks cells and points of other pieces."""

POINT_ARRAYS = (("Int32", "GlobalNodeId"), ("UInt8", GHOST_TYPE))
CELL_ARRAYS = (("Int32", "block"), ("Int32", "GlobalElementId"), ("UInt8", GHOST_TYPE))
"""Data of the pieces of a .pvtu file: types and names."""


@typed_memory_errors
def write_mesh(mesh: graphs.MeshLike, path: PathLike, part: graphs.Blocks | None = None, *,
               k: int | None = None) -> None:
    """Write a mesh as a METIS file or, with the blocks of a partition, as a VTK file.

    Parameters
    ----------
    mesh : Mesh or any other input of :func:`portpart.as_mesh`
        A VTK file has all data of a ``meshio.Mesh``.
    path : str or PathLike
        ``.mesh`` is a METIS file; ``-`` writes that to standard output.  ``.vtu`` is a file of VTK,
        for ParaView; it needs points, kinds of cells and ``pip install 'portpart[mesh]'``.  Both
        are compressed with a further suffix such as ``.gz``. Other suffixes are an error.
    part : array_like of int, shape (num_elements,), PartitionResult or Session, optional
        Block of each element: the cell data ``block`` of a VTK file, see
        :meth:`portpart.Mesh.cell_data`.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block plus one.

    Raises
    ------
    InputError
        If the suffix, the mesh or the part is invalid, the format does not support them, or the
        file cannot be written.

    Notes
    -----
    The file is written to a temporary name in the same folder and then renamed, so it is never
    incomplete.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> portpart.io.write_mesh(portpart.as_mesh([[0, 1, 2], [1, 2, 3]]), "two.mesh")
    >>> print(Path("two.mesh").read_text(), end="")
    2
    1 2 3
    2 3 4
    """
    file = os.fspath(path)
    suffix = mesh_suffix(file)
    made = inputs.as_mesh(mesh)
    if suffix == VTU:
        data = {} if part is None else {"block": made.cell_data(part, k)}
        whole = mesh if isinstance(mesh, meshio_module().Mesh) else made
        write_chunks(path, [_named(file, whole, data, {})])
        return
    if part is not None:
        raise InputError(f"{file}: METIS mesh files hold no blocks; .vtu files do, and "
                         "portpart.io.write_partition writes the blocks alone")
    write_chunks(path, mesh_text(made))


def mesh_suffix(file: str) -> str:
    """Return the suffix of a mesh file to write; no suffix means METIS's.

    Raises
    ------
    InputError
        If meshes cannot be written with it.
    """
    suffix = os.path.splitext(bare_name(file.lower()))[1]
    if suffix not in ("", VTU, *inputs.FORMATS["metis-mesh"].suffixes):
        hint = ("portpart.io.write_submeshes writes .pvtu files" if suffix == PVTU else
                "meshio writes other formats")
        raise InputError(f"{file}: meshes are written as METIS mesh files, whose names end in "
                         f".mesh, or as VTK files, .vtu; {hint}")
    return suffix


def refuse_unwritable(mesh: graphs.MeshLike, file: str) -> None:
    """Raise, before any work, if the `Mesh` of a file cannot be written as a VTK file."""
    with errors_about(file, InputError):
        if isinstance(mesh, graphs.Mesh):
            points_and_cells(mesh)


@typed_memory_errors
def write_submeshes(pieces: Sequence[graphs.Submesh[graphs.Mesh]], path: PathLike) -> list[str]:
    """Write sub-meshes as VTK files: one for each block, and one that names them.

    Parameters
    ----------
    pieces : sequence of Submesh
        As :meth:`portpart.Mesh.submeshes` returns them.
    path : str or PathLike
        The file that names the others, which ParaView opens; it ends in ``.pvtu``.  The piece of
        block 7 in ``wing.pvtu`` is ``wing_7.vtu``, in the same folder.

    Returns
    -------
    list of str
        The names of the files of the pieces.

    Raises
    ------
    InputError
        If the suffix is another, two pieces are of one block, the mesh has no points or no kinds of
        cells, or a file cannot be written.

    Notes
    -----
    Cells have ``block``, their owner, ``GlobalElementId``, their numbers in the whole mesh (-1 for
    cells of a lower dimension), and ``vtkGhostType``, 1 for ghosts. Points have ``GlobalNodeId``
    and ``vtkGhostType``. All files are written to a temporary folder in the same place and then
    renamed, so old files stay if one cannot be written.

    Examples
    --------
    >>> import portpart
    >>> mesh = portpart.as_mesh({"triangle": [[0, 1, 2], [1, 2, 3]]},
    ...                         points=[[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> portpart.io.write_submeshes(mesh.submeshes([0, 1]), "two.pvtu")
    ['two_0.vtu', 'two_1.vtu']
    """
    file = os.fspath(path)
    if not file.lower().endswith(PVTU):
        raise InputError(f"{file}: sub-meshes are written to a file that names their files, and "
                         f"ends in {PVTU}")
    if not all(isinstance(piece, graphs.Submesh) for piece in pieces):
        raise InputError("the pieces are no sub-meshes: mesh.submeshes(part) makes them")
    blocks = [piece.block for piece in pieces]
    if len(set(blocks)) < len(blocks):
        twice = next(block for block in blocks if blocks.count(block) > 1)
        raise InputError(f"two of the pieces are of block {twice}, and a block has one file")
    names = [f"{file[: -len(PVTU)]}_{piece.block}{VTU}" for piece in pieces]
    ghosts = any(len(piece.owners) for piece in pieces)
    inside = [os.path.basename(name) for name in names]
    texts = itertools.chain((_piece_text(file, piece) for piece in pieces),
                            [_pvtu(inside, int(ghosts)).encode(errors="surrogateescape")])
    write_together(path, zip([*inside, os.path.basename(file)], texts))
    return names


def _piece_text(file: str, piece: graphs.Submesh[graphs.Mesh]) -> bytes:
    """Return the file of a sub-mesh; errors name `file`."""
    elements, nodes = piece.ghost_types
    owners = np.full(len(piece.elements), piece.block, np.int32)
    owners[piece.num_own :] = piece.owners
    ends = np.cumsum([len(cells.nodes) for cells in piece.mesh.cells or ()])[:-1]
    lower = sum(map(len, piece.lower_cells.values()))
    cell_data = {"block": (owners, piece.block), "GlobalElementId": (piece.elements, -1),
                 GHOST_TYPE: (elements, 0)}
    return _named(file, piece.mesh,
                  {name: np.split(np.pad(each, (0, lower), constant_values=of_lower), ends)
                   for name, (each, of_lower) in cell_data.items()},
                  {"GlobalNodeId": piece.nodes, GHOST_TYPE: nodes})


def _named(file: str, mesh: graphs.MeshLike, cell_data: dict[str, list[np.ndarray]],
           point_data: dict[str, np.ndarray]) -> bytes:
    """Return the VTK file of a mesh; errors name `file`."""
    with errors_about(file, InputError):
        return vtu_text(mesh, cell_data, point_data)


def _pvtu(names: Sequence[str], ghosts: int) -> str:
    """Return the text of the file that names the pieces, in the same folder."""
    from html import escape  # only these files need it

    def arrays(what: str, each: Sequence[tuple[str, str]]) -> str:
        lines = "".join(f'      <PDataArray type="{kind}" Name="{name}"/>\n' for kind, name in each)
        return f"    <{what}>\n{lines}    </{what}>\n"

    pieces = "".join(f'    <Piece Source="{escape(name)}"/>\n' for name in names)
    return ('<?xml version="1.0"?>\n<VTKFile type="PUnstructuredGrid" version="0.1">\n'
            f'  <PUnstructuredGrid GhostLevel="{ghosts}">\n'
            + arrays("PPointData", POINT_ARRAYS) + arrays("PCellData", CELL_ARRAYS)
            + '    <PPoints>\n      <PDataArray type="Float64" NumberOfComponents="3"/>\n'
            f"    </PPoints>\n{pieces}  </PUnstructuredGrid>\n</VTKFile>\n")
