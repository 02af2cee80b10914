"""Structural Verilog to modules: declarations, instances and ``assign``; behavioural code is an
error.
"""

from __future__ import annotations

from collections.abc import Callable

from portpart.errors import shown
from portpart.formats.netlist.verilog.expression import (
    fitted,
    nets_of_expression,
    nets_of_text,
    range_at,
)
from portpart.formats.netlist.verilog.module import CONSTANT, Module
from portpart.formats.netlist.verilog.tokens import KEYWORDS, PAIR, Tokens, identifier

DIRECTIONS = ("input", "output", "inout")
NET_TYPES = ("wire", "tri", "tri0", "tri1", "triand", "trior", "wand", "wor", "supply0", "supply1")
SUPPLIES = ("supply0", "supply1")

ONE_OUTPUT = ("and", "nand", "or", "nor", "xor", "xnor", "bufif0", "bufif1", "notif0", "notif1")
ONE_INPUT = ("buf", "not")
PRIMITIVES = frozenset(ONE_OUTPUT + ONE_INPUT)
"""Verilog's own gates: connected by position, outputs first; their instances need no name."""


def parse_modules(tokens: Tokens) -> tuple[dict[str, Module], list[str]]:
    """Return all modules of a file by name, and the names of the ports that labels number."""
    modules: dict[str, Module] = {}
    labels: dict[str, int] = {}
    while tokens.kind != "end":
        if tokens.text == "primitive":  # a truth table, used in models of cells
            tokens.skip_past("endprimitive")
            continue
        if tokens.text not in ("module", "macromodule"):
            tokens.refuse(f"expected 'module', found {tokens.shown()}")
        tokens.advance()
        position = tokens.position
        module = Module(tokens.name("the name of the module"), position, tokens.in_cell)
        if module.name in modules:
            tokens.refuse(f"a second module {shown(module.name)}", position)
        modules[module.name] = module
        try:
            ModuleParser(tokens, module, labels).parse()
        except RecursionError:
            tokens.refuse("braces are nested too deeply")
    return modules, list(labels)


class ModuleParser:
    """Fills one module from the tokens after its name."""

    def __init__(self, tokens: Tokens, module: Module, labels: dict[str, int]) -> None:
        self.tokens, self.module, self.labels = tokens, module, labels
        self.instance_names: set[str] = set()

    def parse(self) -> None:
        """Read to the end of ``endmodule``."""
        tokens = self.tokens
        self._skip_parameters()
        if tokens.take("(") and not tokens.take(")"):
            self._header_ports()
        tokens.expect(";")
        while not tokens.take("endmodule"):
            if tokens.kind == "end":
                tokens.refuse(f"module {shown(self.module.name)} is not ended by 'endmodule'")
            if not self.module.in_library:
                STATEMENTS.get(tokens.text, ModuleParser._instances)(self)
            elif tokens.text in DIRECTIONS:
                self._declaration()
            else:  # how a cell works is not needed
                tokens.advance()
        for port, direction in self.module.ports.items():
            if not direction:
                tokens.refuse(f"port {shown(port)} of module {shown(self.module.name)} is never "
                              "declared input, output or inout", self.module.position)

    def _header_ports(self) -> None:
        """Read the ports in the header, of either style, and the closing parenthesis."""
        tokens, module = self.tokens, self.module
        direction, span = "", None
        for _ in tokens.listed():
            if tokens.text in DIRECTIONS:
                direction, span = self._type_and_range()
            position = tokens.position
            name = tokens.name("a port's name")
            if name in module.ports:
                tokens.refuse(f"port {shown(name)} is repeated in the header", position)
            module.ports[name] = direction
            if direction:
                self._declare(name, span, position)
        tokens.expect(")")

    def _type_and_range(self) -> tuple[str, tuple[int, int] | None]:
        """Return the first word of a declaration and its range; skip the words between."""
        tokens = self.tokens
        kind = tokens.text
        tokens.advance()
        while tokens.text in NET_TYPES or tokens.text == "signed":
            tokens.advance()
        span = range_at(tokens) if tokens.text == "[" else None
        self._skip_parameters()  # a delay
        return kind, span

    def _declaration(self) -> None:
        """Read ``input [3:0] a, b;`` or ``wire c = d;``."""
        tokens, module = self.tokens, self.module
        kind, span = self._type_and_range()
        for _ in tokens.listed():
            position = tokens.position
            name = tokens.name("a net's name")
            if kind in DIRECTIONS:
                if name not in module.ports:
                    tokens.refuse(f"{shown(name)} is not in the header of module "
                                  f"{shown(module.name)}", position)
                module.ports[name] = kind
            self._declare(name, span, position)
            if kind in SUPPLIES:
                module.aliases += [(net, CONSTANT) for net in module.whole(name)]
            if tokens.take("="):
                self._alias(module.whole(name), position)
        tokens.expect(";")

    def _declare(self, name: str, span: tuple[int, int] | None, position: int) -> None:
        problem = self.module.declare(name, span)
        if problem:
            self.tokens.refuse(problem, position)

    def _assign(self) -> None:
        """Read ``assign a = b, {c, d} = e[1:0];``, which joins both sides."""
        tokens = self.tokens
        tokens.advance()
        self._skip_parameters()
        for _ in tokens.listed():
            position = tokens.position
            left = nets_of_expression(tokens, self.module)
            tokens.expect("=")
            self._alias(left, position)
        tokens.expect(";")

    def _alias(self, left: list[int], position: int) -> None:
        """Join `left` and the expression at the current token."""
        tokens = self.tokens
        right = nets_of_expression(tokens, self.module)
        if tokens.text not in (",", ";"):
            tokens.refuse(f"{tokens.shown()} computes something; only nets may be assigned here "
                          "(synthesise to gates first)")
        same = fitted(right, len(left))
        if same is None:
            tokens.refuse(f"{len(left)} bits are assigned {len(right)}", position)
        self.module.aliases += zip(left, same)

    def _instances(self) -> None:
        """Read ``NAND2 #(1) u1 (...), u2 (...);``: gates, or modules of the file."""
        tokens = self.tokens
        if tokens.kind != "name" or (tokens.text in KEYWORDS and tokens.text not in PRIMITIVES):
            tokens.refuse(f"{tokens.shown()} begins no statement that is understood: "
                          "declarations, instances and assign")
        cell = tokens.text
        tokens.advance()
        self._skip_parameters()
        for _ in tokens.listed():
            self._instance(cell)
        tokens.expect(";")

    def _instance(self, cell: str) -> None:
        tokens, module = self.tokens, self.module
        position = tokens.position
        if cell in PRIMITIVES and tokens.kind != "name":
            name = f"{cell}@{len(module.names)}"
        else:
            name = tokens.name(f"the name of the instance of {shown(cell)}")
        if name in self.instance_names:
            tokens.refuse(f"a second instance {shown(name)}", position)
        self.instance_names.add(name)
        if tokens.text == "[":
            tokens.refuse(f"{shown(name)} is an array of instances; write them one by one")
        if tokens.kind == "list":
            self._plain_connections(PAIR.findall(tokens.text))
        else:
            self._connections(cell)
        module.names.append(name)
        module.cells.append(cell)
        module.positions.append(position)
        module.starts.append(len(module.nets))

    def _plain_connections(self, pairs: list[tuple[str, str]]) -> None:
        """Read ``(.A(n1), .B(n2[3]))``, all in one token."""
        module, labels, bits = self.module, self.labels, self.module.bits
        if len(dict(pairs)) < len(pairs):
            ports = [port for port, _ in pairs]
            self._refuse_twice(next(port for port in ports if ports.count(port) > 1))
        for port, text in pairs:
            net = bits.get(text)
            label = labels.get(port)
            if net is None or label is None:
                self._connect(identifier(port), nets_of_text(self.tokens, module, text))
            else:
                module.labels.append(label)
                module.nets.append(net)
        self.tokens.advance()

    def _connections(self, cell: str) -> None:
        """Read connections of any form, by name or by position."""
        tokens = self.tokens
        tokens.expect("(")
        if tokens.text == ".":
            self._named_connections(cell)
        elif tokens.text != ")":
            self._positional_connections(cell)
        tokens.expect(")")

    def _named_connections(self, cell: str) -> None:
        tokens = self.tokens
        seen = set()
        for _ in tokens.listed():
            tokens.expect(".")
            port = tokens.name("a port's name")
            if port in seen:
                self._refuse_twice(port)
            seen.add(port)
            tokens.expect("(")
            if tokens.text == ")":
                self.module.open_ports.add((cell, port))
            else:
                self._connect(port, nets_of_expression(tokens, self.module))
            tokens.expect(")")

    def _positional_connections(self, cell: str) -> None:
        tokens = self.tokens
        found: list[list[int]] = []
        for _ in tokens.listed():
            blank = tokens.text in (",", ")")
            found.append([] if blank else nets_of_expression(tokens, self.module))
        outputs = len(found) - 1 if cell in ONE_INPUT else 1
        for place, nets in enumerate(found):
            port = f"#{place}"
            if cell in PRIMITIVES:
                port = f"Y{place}" if place < outputs else f"A{place}"
            self._connect(port, nets)

    def _connect(self, port: str, nets: list[int]) -> None:
        label = self.labels.setdefault(port, len(self.labels))
        self.module.labels.extend([label] * len(nets))
        self.module.nets.extend(nets)

    def _refuse_twice(self, port: str) -> None:
        self.tokens.refuse(f"port {shown(port)} is connected twice")

    def _skip_parameters(self) -> None:
        """Skip ``#(...)`` or ``#3``: parameters and delays do not change the structure."""
        tokens = self.tokens
        if not tokens.take("#"):
            return
        if tokens.text != "(":
            tokens.advance()  # a number, or the parenthesis in one token
            return
        depth, begin = 0, tokens.position
        while True:
            depth += (tokens.text == "(") - (tokens.text == ")")
            if tokens.kind == "end":
                tokens.refuse("the parenthesis is not closed", begin)
            tokens.advance()
            if depth == 0:
                return

    def _skip_statement(self) -> None:
        self.tokens.skip_past("endspecify" if self.tokens.text == "specify" else ";")


STATEMENTS: dict[str, Callable[[ModuleParser], None]] = {
    **dict.fromkeys(DIRECTIONS + NET_TYPES, ModuleParser._declaration),
    **dict.fromkeys(("parameter", "localparam", "defparam", "specify"),
                    ModuleParser._skip_statement),
    "assign": ModuleParser._assign,
}
"""Methods for the first word of a statement; any other word names a gate."""
