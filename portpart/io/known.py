"""The formats of graphs: the module, the file suffixes and the options of each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from portpart.graphs.graph import Graph
from portpart.io.formats.edge_list import NamedGraph
from portpart.io.text.files import Source
from portpart.io.text.packed import bare_name
from portpart.io.text.rules import RULES, rules_of


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes
    ----------
    path : str
        Its module, which is imported when it is used.  The function ``parse(source, **options)``
        reads; ``text(graph)``, if there is one, writes.  Where `options` has those of rules,
        ``parse`` takes ``rules`` instead of them.
    suffixes : tuple of str
        What file names end in.
    options : tuple of str
        Reading options that apply.
    names : bool
        Whether ``text`` writes the names of vertices.
    """

    path: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...]
    names: bool = False

    @property
    def module(self) -> ModuleType:
        """The module."""
        return import_module(self.path)

    def parse(self, source: Source, given: dict[str, Any]) -> Graph | NamedGraph:
        """What the format's reader makes of a file; all options that are `given` must apply."""
        options = dict(given)
        if RULES[0] in self.options:
            options["rules"] = rules_of(**{name: options.pop(name, None) for name in RULES})
        result: Graph | NamedGraph = self.module.parse(source, **options)
        return result

    @property
    def is_writable(self) -> bool:
        """Whether graphs can be written so."""
        return hasattr(self.module, "text")


MESHIO = "meshio"
MESHIO_SUFFIXES = (
    ".msh", ".vtu", ".vtk", ".inp", ".xdmf", ".xmf", ".med", ".exo", ".ex2", ".cgns", ".nas",
    ".bdf", ".fem", ".su2", ".ugrid", ".vol", ".avs", ".mdpa", ".f3grid", ".h5m", ".hmf", ".meshb",
    ".stl", ".ply", ".obj", ".off")
"""Suffixes of meshio's formats that no other files have: not .dat, .xml or .e, for example."""

FORMATS = {
    "metis": Format("portpart.io.formats.metis", (".graph", ".metis", ".chaco"), RULES),
    "matrix-market": Format("portpart.io.formats.matrix_market", (".mtx", ".mm"), RULES),
    "edge-list": Format("portpart.io.formats.edge_list",
                        (".txt", ".el", ".tsv", ".csv", ".edges", ".edgelist"),
                        (*RULES, "relabel", "columns", "header"), names=True),
    "dimacs": Format("portpart.io.formats.dimacs", (".gr", ".dimacs", ".col"), RULES),
    "npz": Format("portpart.io.formats.npz", (".npz",), RULES, names=True),
    "parhip": Format("portpart.io.formats.parhip", (".parhip", ".bgf"), RULES),
    "dense": Format("portpart.io.formats.dense", (".npy",), RULES),
    "verilog": Format("portpart.io.netlist.verilog", (".v", ".vg"),
                      ("top", "model", "max_fanout", "areas")),
    "blif": Format("portpart.io.netlist.blif", (".blif",),
                   ("top", "model", "max_fanout", "areas")),
    "aiger": Format("portpart.io.netlist.aiger", (".aig", ".aag"),
                    ("model", "max_fanout", "areas")),
    "mpi-profile": Format("portpart.io.formats.mpi_profile", (".prof",), ()),
    "metis-mesh": Format("portpart.io.formats.mesh", (".mesh",), ("mesh", "common_nodes")),
    MESHIO: Format("portpart.io.formats.meshio_mesh", MESHIO_SUFFIXES, ("mesh", "common_nodes")),
}
"""Every format by its name."""

GRAPH_SUFFIXES = tuple(suffix for entry in FORMATS.values() for suffix in entry.suffixes)


def format_of_name(name: str) -> str | None:
    """Format that a file name's suffix stands for."""
    suffix = os.path.splitext(bare_name(name.lower()))[1]
    for format_name, entry in FORMATS.items():
        if suffix in entry.suffixes:
            return format_name
    return None
