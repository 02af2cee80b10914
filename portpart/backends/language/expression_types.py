"""Types of expressions: one method per kind of syntax node.

The rules are in `types` (operators) and `word_types` (words); this module walks the tree, records
types and constants, and reports errors with their places in the source.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from portpart.backends.language.kernels import DeviceFunction, TypedFunction, refuse
from portpart.backends.language.source import call_parts
from portpart.backends.language.types import (
    ABSENT,
    BOOL,
    ArgumentType,
    ArrayType,
    Refusal,
    binary_type,
    compared_type,
    is_integer,
    literal_type,
    unary_type,
    unified_type,
)
from portpart.backends.language.word_types import PURE, word_type
from portpart.backends.language.words import Word

Infer = Callable[[DeviceFunction, tuple[ArgumentType, ...]], TypedFunction]

_FOLDED: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


class ExpressionTyper:
    """Finds the types of expressions of one function; `infer` does so for the device functions it
    calls.
    """

    def __init__(self, typed: TypedFunction, infer: Infer) -> None:
        self.typed = typed
        self.function = typed.function
        self.references = typed.function.references
        self.infer = infer
        self.effects = 0
        """Calls found so far that do more than return a value."""

    def refuse(self, node: ast.AST, problem: str, remedy: str) -> NoReturn:
        """Raise the type error for `node`."""
        refuse(self.function, node, problem, remedy)

    def condition(self, node: ast.expr) -> None:
        """Find the types of an expression that must be a bool."""
        if self.value(node) != BOOL:
            self.refuse(node, f"a condition of type {self.typed.types[node]}",
                        "compare it, as in x != 0")

    def value(self, node: ast.expr) -> np.dtype:
        """Return the type of an expression that must have a number as its value."""
        try:
            dtype = self.expression(node)
        except Refusal as refusal:
            self.refuse(node, refusal.problem, refusal.remedy)
        if not isinstance(dtype, np.dtype):
            what = "nothing" if dtype is None else f"{dtype}"
            self.refuse(node, f"a number is needed, this is {what}", "index the array: array[i]")
        self.typed.types[node] = dtype
        return dtype

    def expression(self, node: ast.expr) -> ArgumentType | None:
        if isinstance(node, ast.Constant):
            return self.constant(node, node.value)
        return getattr(self, type(node).__name__.lower())(node)

    def constant(self, node: ast.expr, value: Any) -> np.dtype:
        self.typed.constants[node] = value
        return literal_type(value)

    def name(self, node: ast.Name) -> ArgumentType:
        kind = self.typed.kind(node.id)
        if kind is not None:
            return kind
        if node.id in self.typed.variables:
            return self.typed.variables[node.id]
        if node.id not in self.references:
            self.refuse(node, f"{node.id!r} has no value on any path to here",
                        "assign it on every path first")
        return self.constant(node, self.references[node.id])

    def subscript(self, node: ast.Subscript) -> np.dtype:
        assert isinstance(node.value, ast.Name)
        array = self.typed.kind(node.value.id)
        if array is ABSENT:
            raise Refusal(f"array {node.value.id!r} is absent (None)", "read it with value_or")
        if not isinstance(array, ArrayType):
            raise Refusal(f"{node.value.id!r} is a number, not an array", "pass an array")
        index = self.value(node.slice)
        if not is_integer(index):
            raise Refusal(f"an index of type {index}", "index with an integer")
        if self.typed.constants.get(node.slice, 0) < 0:
            raise Refusal("a negative index", "count from the start: arrays do not wrap around")
        return array.dtype

    def binop(self, node: ast.BinOp) -> np.dtype:
        dtype = binary_type(node.op, self.value(node.left), self.value(node.right))
        return self.fold(node, dtype, node.op, node.left, node.right)

    def unaryop(self, node: ast.UnaryOp) -> np.dtype:
        constant = self.smallest_integer(node)
        if constant is not None:
            return self.constant(node, constant)
        dtype = unary_type(node.op, self.value(node.operand))
        return self.fold(node, dtype, node.op, node.operand)

    def smallest_integer(self, node: ast.UnaryOp) -> int | None:
        """Return -2**63, which Python parses as the negative of a number too large for int64."""
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return -(2**63) if node.operand.value == 2**63 else None
        return None

    def fold(self, node: ast.expr, dtype: np.dtype, op: ast.AST, *operands: ast.expr) -> np.dtype:
        """Return `dtype`, and record a known value: Python evaluates it before Numba does."""
        values = [self.typed.constants.get(operand) for operand in operands]
        if type(op) not in _FOLDED or any(type(value) is not int for value in values):
            return dtype
        try:
            value = _FOLDED[type(op)](*values)
        except (ArithmeticError, ValueError) as error:
            raise Refusal(f"constant expression: {error}", "use other constants") from None
        if not -(2**63) <= value < 2**64 or literal_type(value) != dtype:
            raise Refusal(f"a constant expression beyond {dtype}", "cast a constant: uint64(1)")
        return self.constant(node, value)

    def boolop(self, node: ast.BoolOp) -> np.dtype:
        for value in node.values:
            self.condition(value)
        return BOOL

    def compare(self, node: ast.Compare) -> np.dtype:
        left, right = node.left, node.comparators[0]
        known = self.typed.constants
        types = self.value(left), self.value(right)
        compared_type(*types, known.get(left), known.get(right))
        return BOOL

    def ifexp(self, node: ast.IfExp) -> np.dtype:
        self.condition(node.test)
        if node.test in self.typed.constants:
            return self.value(node.body if self.typed.constants[node.test] else node.orelse)
        sides = self.value(node.body), self.value(node.orelse)
        # Numba drops a side that a comparison of constants excludes, and with it its type.
        if sides[0] != sides[1] and any(map(self.compares_constants, ast.walk(node.test))):
            raise Refusal(f"constants choose between {sides[0]} and {sides[1]}", "cast one side")
        return unified_type(*sides)

    def compares_constants(self, node: ast.AST) -> bool:
        """Whether the node is a comparison whose two sides are known."""
        if not isinstance(node, ast.Compare):
            return False
        return all(side in self.typed.constants for side in (node.left, *node.comparators))

    def call(self, node: ast.expr) -> ArgumentType | None:
        name, given = call_parts(node)
        assert name is not None
        target, arguments = self.references[name.id], [self.argument(each) for each in given]
        if isinstance(target, Word):
            returns = word_type(target.name, arguments)
        else:
            assert isinstance(target, DeviceFunction)
            if len(arguments) != len(target.parameters):
                raise Refusal(f"{target.name} with {len(arguments)} arguments",
                              f"it takes {len(target.parameters)}")
            self.typed.calls[node] = self.infer(target, tuple(arguments))
            returns = self.typed.calls[node].returns
        if self.has_effects(node):
            self.typed.has_effects = True
            self.effects += 1
        return returns

    def argument(self, node: ast.expr) -> ArgumentType:
        """Return the type of a call's argument, which may be an array."""
        passed = self.typed.kind(node.id) if isinstance(node, ast.Name) else None
        if passed is not None and not isinstance(passed, np.dtype):
            return passed
        return self.value(node)

    def has_effects(self, node: ast.AST) -> bool:
        """True for the call of a word or a device function that does more than return a value."""
        name, _ = call_parts(node)
        target = None if name is None else self.references.get(name.id)
        if isinstance(target, Word):
            return target.name not in PURE
        return isinstance(node, ast.expr) and node in self.typed.calls and (
            self.typed.calls[node].has_effects)
