"""Type inference for kernels: Numba's types for given argument types, or a refusal.

`infer` walks a checked kernel or device function once, in the order of the source, and finds the
type of every expression and variable and the specialisation of every device function it calls.  Both
compilers depend on it: the CUDA translator writes casts from it, and the CPU space calls it first, so
that a kernel which one of them would read differently is refused on both.

A variable has the type of its first assignment.
"""

from __future__ import annotations

import ast
import functools
import linecache
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from portpart.backends import evaluation_order
from portpart.backends.check import CheckedFunction
from portpart.backends.language import DeviceFunction, Word
from portpart.backends.result_types import (
    ABSENT,
    BOOL,
    INT64,
    ArgumentType,
    ArrayType,
    Refusal,
    binary_type,
    check_store,
    compared_type,
    is_integer,
    literal_type,
    range_type,
    type_of,
    unary_type,
    unified_type,
    widens,
)
from portpart.backends.word_types import PURE, word_type
from portpart.errors import KernelTypeError

__all__ = ["ABSENT", "ArrayType", "TypedFunction", "infer", "type_of"]

_FOLDED: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


@dataclass(eq=False)
class TypedFunction:
    """A kernel or device function with the types it has for one set of argument types.

    Attributes
    ----------
    function : CheckedFunction
    arguments : dict of str to ArgumentType
        Parameters in order, a kernel's work index included.
    variables : dict of str to numpy.dtype
        Local variables in the order of their first assignment.
    types : dict of ast.expr to numpy.dtype
        Type of each expression; for the call of range, of the loop variable.
    constants : dict of ast.expr to number
        Expressions whose value is known.
    calls : dict of ast.Call to TypedFunction
        The specialisation that each call of a device function reaches.
    returns : numpy.dtype or None
    has_effects : bool
        It stores, uses an atomic or a team word, itself or through a call.
    """

    function: CheckedFunction
    arguments: dict[str, ArgumentType]
    variables: dict[str, np.dtype] = field(default_factory=dict)
    types: dict[ast.expr, np.dtype] = field(default_factory=dict)
    constants: dict[ast.expr, Any] = field(default_factory=dict)
    calls: dict[ast.Call, TypedFunction] = field(default_factory=dict)
    returns: np.dtype | None = None
    has_effects: bool = False

    @property
    def devices(self) -> list[TypedFunction]:
        """Every specialisation this function needs, each after those that it calls."""
        found: dict[TypedFunction, None] = {}
        for callee in self.calls.values():
            found.update(dict.fromkeys([*callee.devices, callee]))
        return list(found)

    def live(self, statements: list[ast.stmt]) -> Iterator[ast.stmt]:
        """`statements` without branches that a constant condition rules out."""
        for statement in statements:
            if isinstance(statement, ast.If) and statement.test in self.constants:
                taken = self.constants[statement.test]
                yield from self.live(statement.body if taken else statement.orelse)
            else:
                yield statement


def infer(function: CheckedFunction, arguments: tuple[ArgumentType, ...]) -> TypedFunction:
    """Types of `function` for `arguments` (of a kernel: without the work index).

    Raises
    ------
    KernelTypeError
        Naming file and line, with the source marked and what would be right.
    """
    return _infer(function, tuple(arguments))


@functools.lru_cache(maxsize=4096)
def _infer(function: CheckedFunction, arguments: tuple[ArgumentType, ...]) -> TypedFunction:
    given = (INT64, *arguments) if function.is_kernel else arguments
    names = function.parameters
    if len(names) != len(given):
        hidden = len(given) - len(arguments)
        refuse(function, function.tree, f"{function.name} takes {len(names) - hidden} arguments, "
               f"not {len(arguments)}", "pass one for each parameter")
    typed = TypedFunction(function, dict(zip(names, given, strict=True)))
    _Walker(typed).run()
    return typed


def refuse(function: CheckedFunction, node: ast.AST, problem: str, remedy: str) -> NoReturn:
    """Raise the type error for `node` of `function`, with its source marked."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    text = linecache.getline(function.filename, line).rstrip()
    end = node.end_col_offset if getattr(node, "end_lineno", None) == line else len(text)
    marked = f"    {text}\n    {' ' * column}{'^' * max(1, (end or 0) - column)}"
    raise KernelTypeError(
        f"{function.filename}:{line}: {problem} (in {function.name}); {remedy}\n{marked}"
    )


class _Walker:
    """One pass over one function."""

    def __init__(self, typed: TypedFunction) -> None:
        self.typed = typed
        self.function = typed.function
        self.references = typed.function.references
        self.returned: list[tuple[ast.Return, np.dtype | None]] = []

    def run(self) -> None:
        body = self.function.tree.body
        self.block(body)
        if not self.returned:
            return
        kinds = {value is None for _, value in self.returned}
        if kinds == {False, True} or (kinds == {False} and not self.leaves(body)):
            self.refuse(self.function.tree, "some paths return a value and some do not",
                        "end every path with return value")
        for node, value in self.returned:
            self.returns(node, value)

    def refuse(self, node: ast.AST, problem: str, remedy: str) -> NoReturn:
        refuse(self.function, node, problem, remedy)

    def returns(self, node: ast.Return, value: np.dtype | None) -> None:
        sofar = self.typed.returns
        if sofar is None or value is None or widens(sofar, value):
            self.typed.returns = value
        elif not widens(value, sofar):
            self.refuse(node, f"returns {value} here and {sofar} above", f"cast it: {sofar}(x)")

    def leaves(self, statements: list[ast.stmt]) -> bool:
        """True if control cannot reach the end of `statements`."""
        return any(self.leaves_by(statement) for statement in self.typed.live(statements))

    def leaves_by(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            return self.leaves(node.body) and self.leaves(node.orelse)
        if isinstance(node, ast.While):
            return bool(self.typed.constants.get(node.test)) and not _has_break(node.body)
        return isinstance(node, ast.Return)

    # statements ---------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            try:
                self.statement(statement)
                evaluation_order.check(statement, self.has_effects)
            except Refusal as refusal:
                self.refuse(statement, refusal.problem, refusal.remedy)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            self.assign(node.targets[0], self.value(node.value), node)
        elif isinstance(node, ast.AugAssign):
            self.augmented(node)
        elif isinstance(node, ast.If):
            self.branch(node)
        elif isinstance(node, ast.While):
            self.condition(node.test)
            self.block(node.body)
        elif isinstance(node, ast.For):
            self.loop(node)
        elif isinstance(node, ast.Return):
            value = None if node.value is None else self.value(node.value)
            self.returned.append((node, value))
        elif isinstance(node, ast.Expr):
            assert isinstance(node.value, ast.Call)
            self.call(node.value)

    def branch(self, node: ast.If) -> None:
        self.condition(node.test)
        if node.test in self.typed.constants:
            self.block(list(self.typed.live([node])))
            return
        self.block(node.body)
        self.block(node.orelse)

    def loop(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call)
        counter = range_type([self.value(argument) for argument in node.iter.args])
        self.typed.types[node.iter] = counter
        self.assign(node.target, counter, node)
        self.block(node.body)

    def condition(self, node: ast.expr) -> None:
        if self.value(node) != BOOL:
            self.refuse(node, f"a condition of type {self.typed.types[node]}",
                        "compare it, as in x != 0")

    def augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self.typed.variables[node.target.id]
        else:
            before = self.value(node.target)
        self.assign(node.target, binary_type(node.op, before, self.value(node.value)), node)

    def assign(self, target: ast.expr, value: np.dtype, node: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            known = self.typed.variables.setdefault(target.id, value)
            if not widens(value, known):
                self.refuse(node, f"{target.id!r} is {known} above and would become {value} here",
                            f"cast the value, {known}(...), or start with {value}(...)")
        else:
            check_store(value, self.value(target))
            self.typed.has_effects = True

    # expressions --------------------------------------------------------------------------

    def value(self, node: ast.expr) -> np.dtype:
        """Type of an expression that must have a number as its value."""
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
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        return getattr(self, type(node).__name__.lower())(node)

    def constant(self, node: ast.expr, value: Any) -> np.dtype:
        self.typed.constants[node] = value
        return literal_type(value)

    def name(self, node: ast.Name) -> ArgumentType:
        if node.id in self.typed.arguments:
            return self.typed.arguments[node.id]
        if node.id in self.typed.variables:
            return self.typed.variables[node.id]
        if node.id not in self.references:
            self.refuse(node, f"{node.id!r} has no value on any path to here",
                        "assign it on every path first")
        return self.constant(node, self.references[node.id])

    def subscript(self, node: ast.Subscript) -> np.dtype:
        assert isinstance(node.value, ast.Name)
        array = self.typed.arguments[node.value.id]
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
        return self.folded(node, dtype, node.op, node.left, node.right)

    def unaryop(self, node: ast.UnaryOp) -> np.dtype:
        constant = self.smallest_integer(node)
        if constant is not None:
            return self.constant(node, constant)
        dtype = unary_type(node.op, self.value(node.operand))
        return self.folded(node, dtype, node.op, node.operand)

    def smallest_integer(self, node: ast.UnaryOp) -> int | None:
        """-2**63, which Python writes as the negative of a number that is no int64."""
        operand = node.operand
        smallest = isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant)
        return -(2**63) if smallest and operand.value == 2**63 else None

    def folded(
        self, node: ast.expr, dtype: np.dtype, op: ast.AST, *operands: ast.expr
    ) -> np.dtype:
        """`dtype`, after noting the value if it is known: Python folds it before Numba sees it."""
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
        return unified_type(self.value(node.body), self.value(node.orelse))

    def call(self, node: ast.Call) -> ArgumentType | None:
        assert isinstance(node.func, ast.Name)
        target = self.references[node.func.id]
        arguments = [self.argument(argument) for argument in node.args]
        if isinstance(target, Word):
            self.typed.has_effects |= target.name not in PURE
            return word_type(target.name, arguments)
        assert isinstance(target, DeviceFunction)
        if len(arguments) != len(target.parameters):
            raise Refusal(f"{target.name} with {len(arguments)} arguments",
                          f"it takes {len(target.parameters)}")
        callee = self.typed.calls[node] = infer(target, tuple(arguments))
        self.typed.has_effects |= callee.has_effects
        return callee.returns

    def argument(self, node: ast.expr) -> ArgumentType:
        """Type of a call's argument, which may be an array passed on."""
        if isinstance(node, ast.Name) and node.id in self.typed.arguments:
            passed = self.typed.arguments[node.id]
            if not isinstance(passed, np.dtype):
                return passed
        return self.value(node)

    def has_effects(self, node: ast.Call) -> bool:
        """True if the call of a word or a device function does more than return a value."""
        callee = self.typed.calls.get(node)
        if callee is not None:
            return callee.has_effects
        assert isinstance(node.func, ast.Name)
        return node.func.id != "range" and self.references[node.func.id].name not in PURE


def _has_break(statements: list[ast.stmt]) -> bool:
    """True if a break in `statements` leaves the loop around them."""
    for node in statements:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.If) and (_has_break(node.body) or _has_break(node.orelse)):
            return True
    return False
