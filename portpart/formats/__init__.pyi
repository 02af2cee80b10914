from .arrays import ARRAY_BEGINS as ARRAY_BEGINS, read_array as read_array
from .edge_list import NamedGraph as NamedGraph, read_edge_list as read_edge_list
from .mesh import mesh_of as mesh_of, mesh_text as mesh_text
from .meshio_mesh import (
    mesh_of_foreign as mesh_of_foreign,
    meshio_module as meshio_module,
    points_and_cells as points_and_cells,
    read_foreign as read_foreign,
    vtu_text as vtu_text,
)
from .metis import (
    SYNTAX as SYNTAX,
    Body as Body,
    MetisHeader as MetisHeader,
    header_of as header_of,
    lines_of as lines_of,
)
from .npz import BARE_NAMES as BARE_NAMES, OWN_NAMES as OWN_NAMES
from .number_lines import NumberLines as NumberLines
from .parhip import HEADER_BYTES as HEADER_BYTES
from .stored import (
    StoredRows as StoredRows,
    rows_of_folder as rows_of_folder,
    rows_of_npz as rows_of_npz,
    rows_of_parhip as rows_of_parhip,
)
