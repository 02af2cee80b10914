"""Gate-level Verilog, as in the TAU contests and OpenTimer's benchmarks: gates, nets and names.

Supported: modules with ports of either style, ``input``, ``output``, ``inout``, ``wire`` and
similar declarations with ranges, instances connected by name or position, bits and parts of
vectors, ``{}``, constants, escaped names, ``assign`` of nets, Verilog's own gates. Attributes,
comments, parameters, delays and ``specify`` blocks are skipped. Modules of the file are flattened.
"""

from __future__ import annotations

from typing import Any

from portpart.formats import NamedGraph
from portpart.formats.netlist import Netlist, named_graph
from portpart.formats.netlist.verilog.hierarchy import flatten, top_module
from portpart.formats.netlist.verilog.parser import parse_modules
from portpart.formats.netlist.verilog.tokens import Tokens
from portpart.formats.text import Source


def parse_netlist(source: Source, top: str | None = None) -> Netlist:
    """Return the netlist in the text of a file.

    Gates are in the order of the file, followed by those inside of instances of modules, named
    ``instance/gate``. Constants are not nets: a pin tied to one is left out. A net that is named
    but never declared is a new one, as in Verilog.
    """
    tokens = Tokens(source)
    modules, labels = parse_modules(tokens)
    return flatten(tokens, modules, labels, top_module(tokens, modules, top))


def parse(source: Source, top: str | None = None, **options: Any) -> NamedGraph:
    """Return the graph of the gates and their names, with the options of `named_graph`."""
    return named_graph(parse_netlist(source, top), **options)
