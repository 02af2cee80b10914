"""Graphs, hypergraphs and partitions in files, packed or not: METIS, Matrix Market, edge lists,
DIMACS, npz, ParHIP; hMETIS, PaToH, ISPD98, Bookshelf; netlists in gate-level Verilog, BLIF and
AIGER, and traces of their edits.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from portpart.io.formats.edge_list import NamedGraph, read_edge_list
from portpart.io.hostfile import Host, expand_nodelist, read_hosts
from portpart.io.hypergraphs import read_hypergraph
from portpart.io.known import FORMATS
from portpart.io.meshes import read_mesh
from portpart.io.metis_pieces import MetisPiece, open_metis_piece
from portpart.io.partition_file import (
    read_named_partition,
    read_partition,
    write_named_partition,
    write_partition,
)
from portpart.io.rankfile import write_rankfile
from portpart.io.reading import read, read_named
from portpart.io.row_files import RowFile, open_rows
from portpart.io.writing import write, write_hypergraph
from portpart.io.writing_meshes import write_mesh, write_submeshes

if TYPE_CHECKING:
    from portpart.io.launchers import write_rank_order, write_slurm_hostfile
    from portpart.io.machine import Machine, read_machine
    from portpart.io.netlist.edits import NetlistEdits
    from portpart.io.netlist.netlist import Netlist
    from portpart.io.netlists import read_netlist
    from portpart.io.traces import read_edits

__all__ = [
    "FORMATS",
    "Host",
    "Machine",
    "MetisPiece",
    "NamedGraph",
    "Netlist",
    "NetlistEdits",
    "RowFile",
    "expand_nodelist",
    "open_metis_piece",
    "open_rows",
    "read",
    "read_edge_list",
    "read_edits",
    "read_hosts",
    "read_hypergraph",
    "read_machine",
    "read_mesh",
    "read_named",
    "read_named_partition",
    "read_netlist",
    "read_partition",
    "write",
    "write_hypergraph",
    "write_mesh",
    "write_named_partition",
    "write_partition",
    "write_rank_order",
    "write_rankfile",
    "write_slurm_hostfile",
    "write_submeshes",
]

_HOMES = {
    "Machine": "portpart.io.machine",
    "Netlist": "portpart.io.netlist.netlist",
    "NetlistEdits": "portpart.io.netlist.edits",
    "read_edits": "portpart.io.traces",
    "read_machine": "portpart.io.machine",
    "read_netlist": "portpart.io.netlists",
    "write_rank_order": "portpart.io.launchers",
    "write_slurm_hostfile": "portpart.io.launchers",
}


def __getattr__(name: str) -> Any:
    """Import what is about netlists and machines on first use: other readers need not wait."""
    if name not in _HOMES:
        raise AttributeError(f"module 'portpart.io' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
