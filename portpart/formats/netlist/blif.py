"""BLIF, the Berkeley Logic Interchange Format, as SIS, ABC, VTR and yosys write it.

Gates are ``.names`` (a truth table), ``.latch``, ``.gate`` and ``.subckt``; their names are that of
the net they drive, or of ``.cname``, or their model and a number. A ``.subckt`` of a model in the
file is replaced by the model's contents. A truth table without inputs is a constant, and ``.conn``
joins two nets.  (University of California Berkeley, Berkeley Logic Interchange Format, 1992.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from portpart.errors import shown
from portpart.formats import NamedGraph
from portpart.formats.netlist.netlist import Netlist, named_graph
from portpart.formats.netlist.verilog.hierarchy import flatten, top_module
from portpart.formats.netlist.verilog.module import CONSTANT, Module
from portpart.formats.text import Source

TABLE_ROW = re.compile(r"[01-]+(\s+[01xn-]+)?", re.IGNORECASE)

PORTS = {".inputs": "input", ".outputs": "output", ".clock": "input"}

SKIPPED = frozenset((
    ".end", ".blackbox", ".attr", ".param", ".area", ".delay", ".wire_load_slope", ".wire",
    ".default_input_arrival", ".default_output_required", ".default_input_drive",
    ".default_output_load", ".input_arrival", ".output_required", ".input_drive", ".output_load",
    ".default_max_input_load", ".max_input_load", ".clock_event", ".cycle", ".latch_order",
))
"""Commands without gates and nets."""

LATCH_WORDS = (3, 4, 5, 6)
NO_CLOCK = "NIL"


def parse_netlist(source: Source, top: str | None = None) -> Netlist:
    """Return the netlist in the text of a file; of several models the first one, or `top`."""
    reader = BlifReader(source)
    modules = reader.modules()
    name = top or next(iter(modules), None)
    return flatten(reader, modules, list(reader.labels), top_module(reader, modules, name))


def parse(source: Source, top: str | None = None, **options: Any) -> NamedGraph:
    """Return the graph of the gates and their names, with the options of `named_graph`."""
    return named_graph(parse_netlist(source, top), **options)


class BlifReader:
    """The models of a file, read line by line; positions in them are numbers of lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.source_name = source.name
        self.labels: dict[str, int] = {}
        self._line = 1
        self._driven: set[int] = set()
        self._names: set[str] = set()
        self._in_table = False

    def refuse(self, problem: str, position: int | None = None) -> NoReturn:
        """Raise an error for a line, or for the current one."""
        self._source.refuse(self._line if position is None else position, problem)

    def modules(self) -> dict[str, Module]:
        """Return the models of the file by name."""
        found: dict[str, Module] = {}
        module, outside = None, False
        for words in self._lines():
            command = words[0]
            if command == ".model":
                module, outside = self._begin(words, found), False
            elif command == ".exdc":  # don't cares follow
                outside = True
            elif not outside:
                if module is None:  # the first model needs no name
                    module = self._begin([".model", "main"], found)
                self._read(module, words)
            if command == ".end":
                module, outside = None, False
        return found

    def _lines(self) -> Iterator[list[str]]:
        """Yield the words of each line that has some; continued lines are joined."""
        text = self._source.data.decode("utf-8", "surrogateescape")
        waiting: list[str] = []
        for number, line in enumerate(text.split("\n"), 1):
            if not waiting:
                self._line = number
            words = line.partition("#")[0].split()
            if words and words[-1].endswith("\\"):
                words[-1] = words[-1][:-1]
                waiting += filter(None, words)
                continue
            if waiting or words:
                yield waiting + words
            waiting = []
        if waiting:
            yield waiting

    def _begin(self, words: list[str], found: dict[str, Module]) -> Module:
        name = words[1] if len(words) > 1 else "main"
        if name in found:
            self.refuse(f"a second model {shown(name)}")
        found[name] = module = Module(name, self._line)
        self._driven, self._names, self._in_table = set(), set(), False
        return module

    def _read(self, module: Module, words: list[str]) -> None:
        """Read one line of a model."""
        command = words[0]
        table, self._in_table = self._in_table, command == ".names"
        if command == ".names":
            self._read_table(module, words[1:])
        elif command[0] != ".":
            if not (table and TABLE_ROW.fullmatch(" ".join(words))):
                self.refuse(f"{shown(command)} is neither a command nor a row of a truth table")
            self._in_table = True
        elif command in PORTS:
            self._declare(module, words[1:], PORTS[command])
        elif command == ".latch":
            self._read_latch(module, words)
        elif command in (".subckt", ".gate", ".mlatch"):
            self._read_instance(module, words)
        elif command == ".conn" and len(words) == 3:
            module.aliases.append((module.whole(words[1])[0], module.whole(words[2])[0]))
        elif command == ".cname" and len(words) == 2 and module.names:
            self._names.discard(module.names[-1])
            module.names[-1] = self._new_name(words[1])
        elif command not in SKIPPED:
            self.refuse(f"{shown(command)} is not understood here; .model, .inputs, .outputs, "
                        ".names, .latch, .gate and .subckt are")

    def _declare(self, module: Module, names: list[str], direction: str) -> None:
        for name in names:
            known = module.ports.setdefault(name, direction)
            if known != direction:  # a net from an input to an output
                module.ports[name] = "inout"
            module.whole(name)

    def _read_table(self, module: Module, nets: list[str]) -> None:
        if not nets:
            self.refuse("expected '.names [inputs] output'")
        if len(nets) == 1:
            net = self._driven_net(module, nets[0])
            module.aliases.append((CONSTANT, net))
            return
        self._driven_net(module, nets[-1])
        self._add(module, nets[-1], ".names", [*(("A", net) for net in nets[:-1]), ("Y", nets[-1])])

    def _read_latch(self, module: Module, words: list[str]) -> None:
        if len(words) not in LATCH_WORDS:
            self.refuse("expected '.latch input output [type clock] [value]'")
        self._driven_net(module, words[2])
        pins = [("D", words[1]), ("Q", words[2])]
        if len(words) > LATCH_WORDS[1] and words[4] != NO_CLOCK:
            pins.append(("CK", words[4]))
        self._add(module, words[2], ".latch", pins)

    def _read_instance(self, module: Module, words: list[str]) -> None:
        if len(words) < 2:
            self.refuse(f"expected '{words[0]} model port=net ...'")
        pins = []
        for word in words[2:]:
            port, equals, net = word.partition("=")
            if not equals:
                if words[0] == ".mlatch":  # its clock and value follow the ports
                    break
                self.refuse(f"expected port=net, found {shown(word)}")
            if port and net:
                pins.append((port, net))
        name = f"{words[1]}_{len(module.names) + 1}"
        self._add(module, name, words[1], pins)

    def _driven_net(self, module: Module, name: str) -> int:
        """Return the number of a net that gets a driver, which must be its only one."""
        net = module.whole(name)[0]
        if net in self._driven:
            self.refuse(f"a second table or latch drives {shown(name)}")
        self._driven.add(net)
        return net

    def _new_name(self, name: str) -> str:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def _add(self, module: Module, name: str, cell: str, pins: list[tuple[str, str]]) -> None:
        """Add an instance of a cell and its pins."""
        module.names.append(self._new_name(name))
        module.cells.append(cell)
        module.positions.append(self._line)
        for port, net in pins:
            module.labels.append(self.labels.setdefault(port, len(self.labels)))
            module.nets.append(module.whole(net)[0])
        module.starts.append(len(module.nets))
