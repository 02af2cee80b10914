"""The functions that read, as `portpart.io` offers them."""

from __future__ import annotations

from portpart.formats import NamedGraph, read_edge_list
from portpart.formats.netlist import Netlist, NetlistEdits
from portpart.inputs import FORMATS, read, read_hypergraph, read_mesh, read_named, read_netlist

__all__ = [
    "FORMATS",
    "NamedGraph",
    "Netlist",
    "NetlistEdits",
    "read",
    "read_edge_list",
    "read_hypergraph",
    "read_mesh",
    "read_named",
    "read_netlist",
]
