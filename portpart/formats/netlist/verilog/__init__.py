"""Gate-level Verilog, as in the TAU contests and OpenTimer's benchmarks: gates, nets and names.

Understood: modules with ports of either style, ``input``, ``output``, ``inout``, ``wire`` and their
kin with ranges, instances connected by name or position, bits and parts of vectors, ``{}``,
constants, escaped names, ``assign`` of nets, Verilog's own gates; attributes, comments, parameters,
delays and ``specify`` blocks are stepped over.  Modules of the file are flattened.
"""

from __future__ import annotations

import numpy as np

from portpart.formats import NamedGraph
from portpart.formats.netlist import Netlist, read_areas
from portpart.formats.netlist.verilog.hierarchy import flatten, top_module
from portpart.formats.netlist.verilog.parser import parse_modules
from portpart.formats.netlist.verilog.tokens import Tokens
from portpart.formats.text import PathLike, Source


def parse_netlist(source: Source, top: str | None = None) -> Netlist:
    """The netlist in the text of a file.

    Gates are in the order of the file, those inside of instances of modules after them and named
    ``instance/gate``.  Constants are no nets: what is tied to one has a pin less.  A net that is
    named but never declared is a new one, as in Verilog.
    """
    tokens = Tokens(source)
    modules, labels = parse_modules(tokens)
    return flatten(tokens, modules, labels, top_module(tokens, modules, top))


def parse(source: Source, top: str | None = None, model: str = "star",
          max_fanout: int | None = None, areas: PathLike | None = None) -> NamedGraph:
    """The graph of the gates (see `Netlist.graph`) and their names."""
    netlist = parse_netlist(source, top)
    known = None if areas is None else read_areas(areas)
    return NamedGraph(netlist.graph(model, max_fanout=max_fanout, areas=known),
                      np.array(netlist.gate_names, object))
