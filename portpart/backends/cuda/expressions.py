"""Expressions of a typed function as CUDA C++.

Integer results are always 64 bits wide, as in Numba.  Signed sums and products use words that wrap
(signed overflow is undefined in C++), `//` and `%` use words that floor; all other operators are
infix, with operands converted to one type.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends.language import CASTS, Word, types
from portpart.backends.language.kernels import TypedFunction
from portpart.backends.language.parameters import is_of_words

NameOf = Callable[[str], str]
DeviceName = Callable[[TypedFunction], str]

TEAM_TEMPLATES = frozenset((
    "lane", "team_size", "team_sum", "team_max", "team_min", "team_scan", "team_last", "team_sync",
    "team_atomic_add", "team_atomic_cas", "subgroup_size", "subgroup_min", "subgroup_scan",
    "subgroup_last",
))
"""Words that are templates of the team's width in C++."""

_INFIX: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.And: "&&", ast.Or: "||",
}
_WRAPPING: dict[type, str] = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply"}
_TEMPLATES: dict[type, str] = {
    ast.FloorDiv: "floor_divide", ast.Mod: "floor_modulo", ast.LShift: "shift_left",
    ast.RShift: "shift_right",
}


def type_name(dtype: np.dtype | None) -> str:
    """Return the C++ name of a scalar type; the prelude defines these names."""
    return "void" if dtype is None else str(dtype)


def literal(value: bool | int | float, dtype: np.dtype) -> str:
    """Return the constant `value` as an expression of type `dtype`."""
    if dtype == types.BOOL:
        return "true" if value else "false"
    if dtype.kind == "f":
        return _float_literal(dtype.type(value), dtype)
    wrapped = int(np.array(int(value) & (2**64 - 1), np.uint64).astype(dtype))
    if dtype == types.UINT64:
        return f"{wrapped}ULL"
    if dtype != types.INT64:
        return f"{dtype}({wrapped})"
    if wrapped == -(2**63):
        return "(-9223372036854775807LL - 1)"
    return f"{wrapped}LL"


def _float_literal(value: Any, dtype: np.dtype) -> str:
    if not math.isfinite(value):
        sign = "-" if value < 0 else ""
        return f"{sign}pp::{'not_a_number' if math.isnan(value) else 'infinity'}<{dtype}>()"
    text = repr(float(value))
    return text if dtype == types.FLOAT64 else f"float32({text})"


@dataclass(frozen=True)
class Value:
    """A piece of C++ with its type and, if known, its value."""

    text: str
    dtype: np.dtype
    constant: bool | int | float | None = None

    def converted(self, dtype: np.dtype) -> str:
        """Return the value as an expression of exactly the type `dtype`."""
        if isinstance(self.constant, int) or (self.constant is not None and dtype.kind == "f"):
            return literal(self.constant, dtype)
        return self.text if self.dtype == dtype else f"{dtype}({self.text})"


class CudaExpressionWriter:
    """Writes the expressions of one typed function.

    Parameters
    ----------
    typed : TypedFunction
    name_of
        Returns the C++ name of a parameter or variable.
    device_name
        Returns the C++ name of a specialised device function.
    """

    def __init__(self, typed: TypedFunction, name_of: NameOf, device_name: DeviceName) -> None:
        self.typed = typed
        self.name_of = name_of
        self.device_name = device_name

    def type_of(self, node: ast.expr) -> np.dtype:
        """Return the type of an expression."""
        return self.typed.types[node]

    def write(self, node: ast.expr) -> str:
        """Return `node` as C++, of its inferred type."""
        if node in self.typed.constants:
            return literal(self.typed.constants[node], self.type_of(node))
        return str(getattr(self, type(node).__name__.lower())(node))

    def value(self, node: ast.expr) -> Value:
        """Return `node` with its type and known value."""
        return Value(self.write(node), self.type_of(node), self.typed.constants.get(node))

    def converted(self, node: ast.expr, dtype: np.dtype) -> str:
        """Return `node` as an expression of exactly the type `dtype`."""
        return self.value(node).converted(dtype)

    def operand(self, node: ast.expr) -> str:
        """Return `node` as an operand of an infix operator."""
        return grouped(self.write(node))

    def name(self, node: ast.Name) -> str:
        return self.name_of(node.id)

    def subscript(self, node: ast.Subscript) -> str:
        return f"{self.write(node.value)}[{self.write(node.slice)}]"

    def binop(self, node: ast.BinOp) -> str:
        return binary(node.op, self.value(node.left), self.value(node.right)).text

    def unaryop(self, node: ast.UnaryOp) -> str:
        operand, dtype = self.value(node.operand), self.type_of(node)
        if isinstance(node.op, ast.Not):
            return f"!{grouped(operand.text)}"
        if isinstance(node.op, ast.UAdd):
            return operand.converted(dtype)
        if dtype.kind == "f":
            return f"-({operand.text})"
        word = "negate" if isinstance(node.op, ast.USub) else "invert"
        narrow = f"pp::{word}<{operand.dtype}>({operand.text})"
        return Value(narrow, operand.dtype).converted(dtype)

    def boolop(self, node: ast.BoolOp) -> str:
        return f" {_INFIX[type(node.op)]} ".join(self.operand(value) for value in node.values)

    def compare(self, node: ast.Compare) -> str:
        left, right = self.value(node.left), self.value(node.comparators[0])
        common = types.compared_type(left.dtype, right.dtype, left.constant, right.constant)
        return _infix(_INFIX[type(node.ops[0])], left, right, common)

    def ifexp(self, node: ast.IfExp) -> str:
        if node.test in self.typed.constants:
            return self.write(node.body if self.typed.constants[node.test] else node.orelse)
        dtype = self.type_of(node)
        sides = (grouped(self.converted(side, dtype)) for side in (node.body, node.orelse))
        return f"{self.operand(node.test)} ? {' : '.join(sides)}"

    # calls --------------------------------------------------------------------------------

    def call(self, node: ast.expr) -> str:
        target, given = self.typed.called(node)
        if isinstance(target, Word):
            return self.word(target.name, given, node)
        return f"{self.device_name(target)}({', '.join(map(self.write, given))})"

    def word(self, name: str, given: list[ast.expr], node: ast.expr) -> str:
        if name in CASTS:
            return self.converted(given[0], np.dtype(name))
        if name == "value_or":
            return self.value_or(*given)
        if name in ("min", "max", "abs"):
            return self.fold(name, given, self.type_of(node))
        written = [self.write(argument) for argument in given]
        if "atomic" in name:
            element = self.typed.element_of(given[0])
            written[2:] = [self.converted(value, element) for value in given[2:]]
        if name == "atomic_next" and given[1] in self.typed.constants and is_of_words(written[0]):
            name = "atomic_next_word"
        template = "<TEAM>" if name in TEAM_TEMPLATES else ""
        return f"pp::{name}{template}({', '.join(written)})"

    def fold(self, name: str, given: list[ast.expr], dtype: np.dtype) -> str:
        """Return min, max or abs; more than two operands are processed from left to right."""
        text = self.converted(given[0], dtype)
        if name == "abs":
            return f"pp::abs<{dtype}>({text})"
        for argument in given[1:]:
            text = f"pp::{name}<{dtype}>({text}, {self.converted(argument, dtype)})"
        return text

    def value_or(self, array: ast.expr, index: ast.expr, default: ast.expr) -> str:
        assert isinstance(array, ast.Name)
        if self.typed.kind(array.id) is types.ABSENT:
            return self.converted(default, types.INT64)
        return f"int64({self.name_of(array.id)}[{self.write(index)}])"


def grouped(text: str) -> str:
    """Return `text`, in parentheses if it has an operator outside of all brackets."""
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == " " and depth == 0:
            return f"({text})"
    return text


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    """Return ``left op right`` in Numba's type of it."""
    dtype, kind = types.binary_type(op, left.dtype, right.dtype), type(op)
    if kind in _WRAPPING and dtype == types.INT64:
        return Value(f"pp::{_WRAPPING[kind]}({left.text}, {right.text})", dtype)
    if kind in _TEMPLATES:
        return Value(f"pp::{_TEMPLATES[kind]}<{dtype}>({left.text}, {right.text})", dtype)
    text = _infix(_INFIX[kind], left, right, dtype)
    return Value(f"bool({text})" if dtype == types.BOOL else text, dtype)


def _infix(symbol: str, left: Value, right: Value, common: np.dtype) -> str:
    """Convert the operands to the type `common`; C++ converts one if the other has it."""
    first, second = left.text, right.text
    if left.constant is not None:
        first = left.converted(common)
    elif right.constant is not None:
        second = right.converted(common)
    elif common not in (left.dtype, right.dtype):
        first = left.converted(common)
    return f"{grouped(first)} {symbol} {grouped(second)}"
