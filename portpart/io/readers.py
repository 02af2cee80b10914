"""The reading functions of `portpart.io`."""

from __future__ import annotations

from portpart.formats import NamedGraph as NamedGraph, read_edge_list as read_edge_list
from portpart.formats.netlist import Netlist as Netlist, NetlistEdits as NetlistEdits
from portpart.inputs import (
    FORMATS as FORMATS,
    read as read,
    read_hypergraph as read_hypergraph,
    read_mesh as read_mesh,
    read_named as read_named,
    read_netlist as read_netlist,
)
