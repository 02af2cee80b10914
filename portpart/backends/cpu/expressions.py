"""Expressions of a typed function as LLVM instructions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import numpy as np
from llvmlite import ir

from portpart.backends.cpu.values import BYTE, COMPARISONS, Arithmetic, literal
from portpart.backends.language import CASTS, Word
from portpart.backends.language.kernels import TypedFunction
from portpart.backends.language.types import ABSENT, BOOL, INT64, compared_type

ORDER = "seq_cst"
_FETCH = {"atomic_add": ("add", "add"), "atomic_next": ("add", "add"),
          "atomic_min": ("min", "umin"), "atomic_max": ("max", "umax")}
"""LLVM's operations on signed and on unsigned integers."""


class LlvmExpressionWriter:
    """Writes the expressions of one typed function.

    Parameters
    ----------
    typed : TypedFunction
    builder : llvmlite.ir.IRBuilder
    devices : mapping
        The LLVM function of each specialised device function.
    """

    def __init__(self, typed: TypedFunction, builder: ir.IRBuilder,
                 devices: Mapping[TypedFunction, ir.Function]) -> None:
        self.typed, self.builder, self.devices = typed, builder, devices
        self.arithmetic = Arithmetic(builder)
        self.parameters: dict[str, ir.Value] = {}
        """Values of parameters; of an array, including team arrays, the address of the first
        element.
        """
        self.variables: dict[str, ir.Value] = {}
        """Address of each variable."""

    def type_of(self, node: ast.expr) -> np.dtype:
        """Return the type of an expression."""
        return self.typed.types[node]

    def write(self, node: ast.expr) -> ir.Value:
        """Return `node` as a value of its inferred type."""
        if node in self.typed.constants:
            return literal(self.typed.constants[node], self.type_of(node))
        return getattr(self, type(node).__name__.lower())(node)

    def converted(self, node: ast.expr, dtype: np.dtype) -> ir.Value:
        """Return `node` as a value of the type `dtype`."""
        constant = self.typed.constants.get(node)
        if isinstance(constant, int):
            return literal(constant, dtype)
        return self.arithmetic.convert(self.write(node), self.type_of(node), dtype)

    def name(self, node: ast.Name) -> ir.Value:
        if node.id in self.variables:
            return self.builder.load(self.variables[node.id])
        return self.parameters[node.id]

    # arrays -------------------------------------------------------------------------------

    def place(self, array: ast.expr, index: ast.expr) -> tuple[ir.Value, np.dtype]:
        """Return the address of an element, and its type."""
        assert isinstance(array, ast.Name)
        at = self.converted(index, INT64)
        return self.builder.gep(self.parameters[array.id], [at]), self.typed.element_of(array)

    def load(self, address: ir.Value, dtype: np.dtype) -> ir.Value:
        """Return the element at `address`."""
        value = self.builder.load(address)
        if dtype == BOOL:
            return self.builder.icmp_unsigned("!=", value, ir.Constant(BYTE, 0))
        return value

    def store(self, value: ir.Value, address: ir.Value, dtype: np.dtype) -> None:
        """Write `value`, of type `dtype`, to `address`."""
        self.builder.store(self.builder.zext(value, BYTE) if dtype == BOOL else value, address)

    def subscript(self, node: ast.Subscript) -> ir.Value:
        return self.load(*self.place(node.value, node.slice))

    # operators ----------------------------------------------------------------------------

    def binop(self, node: ast.BinOp) -> ir.Value:
        left, right = self.write(node.left), self.write(node.right)
        return self.arithmetic.binary(
            node.op, left, self.type_of(node.left), right, self.type_of(node.right))[0]

    def unaryop(self, node: ast.UnaryOp) -> ir.Value:
        return self.arithmetic.unary(
            node.op, self.write(node.operand), self.type_of(node.operand), self.type_of(node))

    def compare(self, node: ast.Compare) -> ir.Value:
        left, right = node.left, node.comparators[0]
        known = self.typed.constants
        common = compared_type(
            self.type_of(left), self.type_of(right), known.get(left), known.get(right))
        symbol = COMPARISONS[type(node.ops[0])]
        first = self.converted(left, common)
        return self.arithmetic.compare(symbol, first, self.converted(right, common), common)

    def boolop(self, node: ast.BoolOp) -> ir.Value:
        """Evaluate operands from left to right, until one decides."""
        return self.until_decided(node.values, isinstance(node.op, ast.Or))

    def until_decided(self, operands: list[ast.expr], decides: bool) -> ir.Value:
        """Return `decides` if one of the operands has that value."""
        value = self.write(operands[0])
        if len(operands) == 1:
            return value
        sides: list[Callable[[], ir.Value]] = [
            lambda: literal(decides, BOOL),
            lambda: self.until_decided(operands[1:], decides),
        ]
        return self.choice(value, *(sides if decides else reversed(sides)))

    def ifexp(self, node: ast.IfExp) -> ir.Value:
        if node.test in self.typed.constants:
            return self.write(node.body if self.typed.constants[node.test] else node.orelse)
        dtype = self.type_of(node)
        return self.choice(self.write(node.test), lambda: self.converted(node.body, dtype),
                           lambda: self.converted(node.orelse, dtype))

    def choice(self, test: ir.Value, then: Callable[[], ir.Value],
               orelse: Callable[[], ir.Value]) -> ir.Value:
        """Return one of two values, of which only one is computed."""
        builder, ends = self.builder, []
        blocks = builder.append_basic_block(), builder.append_basic_block()
        after = builder.append_basic_block()
        builder.cbranch(test, *blocks)
        for block, side in zip(blocks, (then, orelse), strict=True):
            builder.position_at_end(block)
            value = side()
            ends.append((value, builder.block))
            builder.branch(after)
        builder.position_at_end(after)
        result = builder.phi(ends[0][0].type)
        for end in ends:
            result.add_incoming(*end)
        return result

    # calls --------------------------------------------------------------------------------

    def call(self, node: ast.expr) -> ir.Value:
        target, given = self.typed.called(node)
        if isinstance(target, Word):
            return self.word(target.name, given, node)
        return self.builder.call(self.devices[target], list(map(self.write, given)))

    def word(self, name: str, given: list[ast.expr], node: ast.expr) -> ir.Value:
        if name in CASTS:
            return self.converted(given[0], np.dtype(name))
        if "atomic" in name:
            return self.atomic(name, given)
        if name in ("lane", "team_size", "subgroup_size"):
            return literal(name != "lane", INT64)
        if name == "team_sync":
            return None
        if name.startswith(("team_", "subgroup_")):  # a team has one lane
            return self.write(given[0])
        if name == "value_or":
            return self.value_or(*given)
        if name in ("popcount", "ctz", "clz"):
            return self.bit_count(name, self.converted(given[0], INT64))
        return self.extreme(name, given, self.type_of(node))

    def value_or(self, array: ast.expr, index: ast.expr, default: ast.expr) -> ir.Value:
        assert isinstance(array, ast.Name)
        if self.typed.kind(array.id) is ABSENT:
            return self.converted(default, INT64)
        address, dtype = self.place(array, index)
        return self.arithmetic.convert(self.load(address, dtype), dtype, INT64)

    def bit_count(self, name: str, value: ir.Value) -> ir.Value:
        if name == "popcount":
            return self.builder.ctpop(value)
        count = self.builder.cttz if name == "ctz" else self.builder.ctlz
        return count(value, literal(False, BOOL))

    def extreme(self, name: str, given: list[ast.expr], dtype: np.dtype) -> ir.Value:
        """Return min, max or abs; more than two operands are processed from left to right."""
        value = self.converted(given[0], dtype)
        if name == "abs":
            return self.arithmetic.magnitude(value, dtype)
        for argument in given[1:]:
            other = self.converted(argument, dtype)
            value = self.arithmetic.extreme("<" if name == "min" else ">", value, other, dtype)
        return value

    def atomic(self, name: str, given: list[ast.expr]) -> ir.Value:
        """Return the element before the change; a team of one lane needs no atomic operation."""
        address, dtype = self.place(given[0], given[1])
        builder = self.builder
        values = [self.converted(value, dtype) for value in given[2:]]
        if name == "atomic_load":
            return builder.load_atomic(address, ORDER, dtype.itemsize)
        if name == "atomic_cas":
            pair = builder.cmpxchg(address, *values, ORDER, ORDER)
            return builder.extract_value(pair, 0)
        if name in _FETCH:
            operation = _FETCH[name][dtype.kind == "u"]
            return builder.atomic_rmw(operation, address, *(values or [literal(1, dtype)]), ORDER)
        old = builder.load(address)
        if name == "team_atomic_add":
            builder.store(builder.add(old, values[0]), address)
        else:
            same = builder.icmp_unsigned("==", old, values[0])
            builder.store(builder.select(same, values[1], old), address)
        return old
