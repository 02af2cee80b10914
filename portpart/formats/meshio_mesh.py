"""Meshes in the formats that meshio reads, and VTK files of them.

meshio is imported when it is used; ``pip install 'portpart[mesh]'`` installs it.
"""

from __future__ import annotations

import io
import os
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, InputError, errors_about, reading
from portpart.formats.mesh import graph_of_mesh
from portpart.formats.text import STREAM, PathLike, Source, bare_name
from portpart.graphs import Graph, Mesh, mesh_from


def parse(source: Source, mesh: str = "dual", common_nodes: int | str | None = None) -> Graph:
    """Return the dual or the nodal graph of a mesh file; see `graph_of_mesh`."""
    made = mesh_of_foreign(read_foreign(source.name), source.name)
    source.refuse_size(None, made.num_nodes, os.path.getsize(source.name))
    return graph_of_mesh(made, mesh, common_nodes)


def meshio_module() -> Any:
    """Return the package meshio.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import meshio
    except ImportError as problem:
        raise InputError("mesh files other than METIS's need meshio: pip install 'portpart[mesh]'"
                         f" ({problem})") from problem
    return meshio


def read_foreign(path: PathLike, file_format: str | None = None) -> Any:
    """Return the mesh of a file as meshio reads it. Text that meshio prints becomes a warning or an
    error.

    Raises
    ------
    GraphFormatError
        If meshio raises any error.
    InputError
        If the file cannot be read, or meshio is not installed.
    """
    name, meshio = os.fspath(path), meshio_module()
    if name == STREAM:
        raise InputError("meshio reads files, not standard input")
    with reading(name), open(name, "rb"):
        pass
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            found = meshio.read(name, file_format)
    except MemoryError:
        raise
    except (Exception, SystemExit) as problem:  # it ends the process if no format matches
        why = " ".join(said.getvalue().split()) or f"{type(problem).__name__}: {problem}"
        packed = "; unpack it first" if bare_name(name) != name else ""
        raise GraphFormatError(f"{name}: meshio cannot read it: {why}{packed}") from problem
    if said.getvalue().strip():
        warnings.warn(f"{name}: meshio says: {' '.join(said.getvalue().split())}", UserWarning,
                      stacklevel=3)
    return found


def mesh_of_foreign(read: Any, name: str) -> Mesh:
    """Return the mesh that meshio has read; errors name the file."""
    with errors_about(name):
        return mesh_from(read, None, None)


def vtu_text(mesh: Any, cell_data: dict[str, list[np.ndarray]],
             point_data: dict[str, np.ndarray]) -> bytes:
    """Return the VTK file (``.vtu``) of a `Mesh`, or of a mesh of meshio with its data.

    Raises
    ------
    InputError
        If the mesh has no points, or cells that VTK files cannot have.
    """
    meshio = meshio_module()
    if isinstance(mesh, Mesh):
        points, cells = points_and_cells(mesh)
        kept: tuple[dict[str, Any], ...] = ({}, {}, {}, {}, {})
    else:
        points, cells = np.asarray(mesh.points), [(each.type, each.data) for each in mesh.cells]
        kept = (mesh.point_data, mesh.cell_data, mesh.field_data, mesh.point_sets, mesh.cell_sets)
    points = points if points.dtype.kind == "f" else points.astype(np.float64)
    points = np.pad(points, [(0, 0), (0, 3 - points.shape[1])])
    cell_data = {**kept[1], **cell_data}
    filled = [at for at, (_, nodes) in enumerate(cells) if len(nodes)]  # it writes no empty one
    if filled:
        cells = [cells[at] for at in filled]
        cell_data = {name: [each[at] for at in filled] for name, each in cell_data.items()}
    else:
        cells = [("vertex", np.empty((0, 1), np.int32))]
        cell_data = {name: [np.concatenate(each)] for name, each in cell_data.items()}
    data = ({**kept[0], **point_data}, cell_data, *kept[2:])
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(said), redirect_stderr(said):
        file = os.path.join(folder, "mesh.vtu")
        try:
            meshio.Mesh(points, cells, *data).write(file)
        except MemoryError:
            raise
        except Exception as problem:  # any error: an unknown kind is a KeyError, for example
            kinds = ", ".join(dict.fromkeys(kind for kind, _ in cells))
            raise InputError(f"meshio writes no .vtu file of this mesh ({problem}), whose cells "
                             f"are {kinds}; its other formats may have them: set cell_data['block']"
                             " = mesh.cell_data(part) of the mesh that meshio has read, and write "
                             "that") from problem
        with open(file, "rb") as written:
            return written.read()


def points_and_cells(mesh: Mesh) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """Return the points and cells of a VTK file."""
    if mesh.points is None:
        raise InputError("the mesh has no points, which .vtu files have: as_mesh(..., points=) "
                         "takes the coordinates of the nodes")
    if mesh.cells is None:
        raise InputError("the mesh has no kinds of cells, which .vtu files have: "
                         "as_mesh({'tetra': elements}) for example says what the elements are")
    if any(cells.kind.startswith("polyhedron") for cells in mesh.cells):
        raise InputError("a Mesh has no faces of polyhedra, which VTK files have; a .vtu file of "
                         "all cells with their blocks is written of a meshio.Mesh that has "
                         "them: portpart.io.write_mesh(meshio.read(file), 'blocks.vtu', part)")
    return mesh.points, [(cells.kind, cells.nodes) for cells in mesh.cells]
