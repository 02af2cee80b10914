"""Files in formats that are not read: a message that names the format and a remedy."""

from __future__ import annotations

import os
import re

from portpart.errors import GraphFormatError
from portpart.formats.text.files import Source
from portpart.formats.text.packed import bare_name

NETWORKX = "read it with networkx and pass the graph to portpart.partition"
UNPACK = "unpack it first"
SCIPY = "load it in Python and pass the SciPy matrix to portpart.partition"
NETS = "portpart.io.read_hypergraph reads it"
MESHIO = "portpart.io.read_mesh reads it by meshio, if its name has the suffix of its format"
EDGES = "write it as an edge list (.txt), METIS graph (.graph) or .npz"

XML = rb"\s*(<\?xml[^>]*>\s*)?(<!--(?s:.*?)-->\s*|<!doctype[^>]*>\s*)*"
"""Text that may precede the first element of an XML file."""

NUMBER = re.compile(rb"\s*\d+\s")
"""A beginning that no foreign format has: most files need no check of all of these, which takes 2
ms.
"""

FIRST_BYTES: tuple[tuple[bytes, str, str], ...] = (
    (rb"\x89HDF\r\n", "an HDF5 file (MATLAB 7.3 too)", SCIPY),
    (rb"MATLAB 5\.0", "a MATLAB file", "scipy.io.loadmat reads it; pass the matrix to "
                                       "portpart.partition"),
    (rb"PAR1", "a Parquet file", "read it with pandas and pass the two columns"),
    (rb"ARROW1", "an Arrow file", "read it with pandas and pass the two columns"),
    (rb"\x04\x22\x4d\x18", "packed with lz4", UNPACK),
    (rb"\x1f\x9d", "packed with compress", UNPACK),
    (rb"7z\xbc\xaf", "a 7-Zip archive", UNPACK),
    (rb"Rar!", "a RAR archive", UNPACK),
    (rb"\x80[\x02-\x05]", "a Python pickle", "load it in Python and pass the graph"),
    (rb"%PDF", "a PDF document", EDGES),
    (rb"\x89PNG|GIF8|\xff\xd8\xff", "a picture", EDGES),
    (rb"\x7fELF", "a program", EDGES),
    (rb"\s*<(!doctype\s+)?html", "a web page, as failed downloads leave", "download it again"),
    (XML + rb"<vtkfile\b[^>]*\btype=.P", "a VTK file that names others", "read these"),
    (XML + rb"<vtkfile\b", "a VTK file of XML", MESHIO),
    (XML + rb"<xdmf\b", "an XDMF file", MESHIO),
    (rb"\s*<(\?xml|graphml|gexf)", "an XML file (GraphML or GEXF)", NETWORKX),
    (rb"\s*((strict\s+)?(di)?graph\b[^\[{;]*\{)", "a DOT file", NETWORKX),
    (rb"\s*(creator\b.*\n\s*)?graph\s*\[", "a GML file", NETWORKX),
    (rb"\s*\*vertices\b", "a Pajek file", NETWORKX),
    (rb"\s*[\[{]", "a JSON file", NETWORKX),
    (rb"\s*(UCLA\s+nets\b|(RowBasedPlacement|PartProb)\s*:)", "a hypergraph (Bookshelf)", NETS),
    (rb"\s*UCLA\s", "a Bookshelf file without nets",
     "portpart.io.read_hypergraph reads the .aux file, or the .nets file and takes the .nodes "
     "file as areas="),
    (rb"\s*MeshVersionFormatted", "a Medit mesh", MESHIO),
    (rb"\$MeshFormat", "a Gmsh mesh", MESHIO),
    (rb"# vtk DataFile", "a VTK file", MESHIO),
    (rb"(\s*\*\*[^\n]*\n)*\s*\*(heading|preprint|part|node|include|parameter)\b",
     "an Abaqus mesh", MESHIO),
)
"""Beginning of the content, name of the format, remedy."""

SUFFIXES = {
    ".hgr": ("a hypergraph (hMETIS)", NETS),
    ".hmetis": ("a hypergraph (hMETIS)", NETS),
    ".u": ("a hypergraph (PaToH)", NETS),
    ".patoh": ("a hypergraph (PaToH)", NETS),
    ".netd": ("a hypergraph (ISPD98)", NETS),
    ".nets": ("a hypergraph (Bookshelf)", NETS),
    ".aux": ("a hypergraph (Bookshelf)", NETS),
    ".mat": ("a MATLAB file", "scipy.io.loadmat reads it; pass the matrix to portpart.partition"),
    ".gml": ("a GML file", NETWORKX),
    ".graphml": ("a GraphML file", NETWORKX),
    ".gexf": ("a GEXF file", NETWORKX),
    ".dot": ("a DOT file", NETWORKX),
    ".net": ("a Pajek file or a hypergraph (ISPD98)",
             f"networkx reads the one, {NETS.replace('reads it', 'the other')}"),
    ".json": ("a JSON file", NETWORKX),
    ".parquet": ("a Parquet file", "read it with pandas and pass the two columns"),
}
"""Suffixes of formats without recognisable content, or whose damaged files should be named."""

BINARY_SAMPLE = 1 << 12


def refuse_foreign(source: Source) -> None:
    """Raise if a file is in a format that is not read.

    Raises
    ------
    GraphFormatError
        With the format and a way to convert it.
    """
    begin = source.data[:BINARY_SAMPLE]
    if not NUMBER.match(begin):
        for pattern, what, remedy in FIRST_BYTES:
            if re.match(pattern, begin, re.IGNORECASE):
                raise GraphFormatError(f"{source.name}: is {what}: {remedy}")
    suffix = os.path.splitext(bare_name(source.name))[1].lower()
    if suffix in SUFFIXES:
        what, remedy = SUFFIXES[suffix]
        raise GraphFormatError(f"{source.name}: is {what} by its name: {remedy} (--format says "
                               "otherwise)")
    if b"\0" in begin:
        raise GraphFormatError(f"{source.name}: is binary, in no format that is read: {EDGES}")
