"""Meshes of files: METIS's, and the formats of meshio."""

from __future__ import annotations

import os
import re
from typing import Any

from portpart.errors import typed_memory_errors
from portpart.graphs.mesh import Mesh
from portpart.io.formats.mesh import mesh_of
from portpart.io.formats.meshio_mesh import mesh_of_foreign, read_foreign
from portpart.io.known import FORMATS, MESHIO_SUFFIXES
from portpart.io.text.files import PathLike, Source, read_source
from portpart.io.text.packed import bare_name

TETGEN = (".ele", ".node")

AMBIGUOUS = (".dat", ".tec", ".xml", ".e", ".post", ".dato", ".wkt")
"""Suffixes of meshio's formats that other files have, too."""

METIS_BEGINS = re.compile(rb"\s*[%\d]")
MEDIT = re.compile(rb"\s*(#[^\n]*\n\s*)*MeshVersionFormatted")


@typed_memory_errors
def read_mesh(path: PathLike, *, max_vertices: int | None = None) -> Mesh:
    r"""Read a mesh file: one of METIS (``.mesh``), or of a format that meshio reads.

    Parameters
    ----------
    path : str or PathLike
        Suffixes of meshio, such as ``.msh``, ``.vtu`` or ``.inp``, are those of its formats, which
        need ``pip install 'portpart[mesh]'``.  Files of METIS are plain or packed, as for
        :func:`portpart.io.read`; ``-`` reads one from standard input.
    max_vertices : int, optional
        Refuse meshes of more nodes; default: of more than 2^22 and 16 for each byte of text.

    Returns
    -------
    Mesh
        Elements and nodes are numbered from 0.  A mesh of meshio has its points and cells.

    Raises
    ------
    GraphFormatError
        Naming file and line of the first deviation and what would be right; for files of meshio
        what it says.
    InputError
        If the file cannot be read, if meshio is not installed, or if cells are of unknown kinds or
        mixed dimensions.

    Notes
    -----
    Files of METIS 4, whose header gives a kind of element instead of a number of weights, are
    read after that number is taken out.

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
    """The mesh of a file, and what meshio has made of it, with all data; the mesh if METIS's."""
    name = os.fspath(path)
    suffix = os.path.splitext(bare_name(name.lower()))[1]
    file_format = None
    if suffix not in (*MESHIO_SUFFIXES, *TETGEN):
        source = read_source(path, max_vertices, FORMATS["metis-mesh"].suffixes)
        if MEDIT.match(source.data):
            file_format = "medit"
        elif suffix not in AMBIGUOUS or METIS_BEGINS.match(source.data):
            made = mesh_of(source)
            return made, made
    read = read_foreign(path, file_format)
    made = mesh_of_foreign(read, name)
    Source(name, b"", max_vertices).refuse_size(None, made.num_nodes, os.path.getsize(name))
    return made, read
