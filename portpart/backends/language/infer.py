"""Type inference for kernels: Numba's types for given argument types, or an error.

`infer` walks a checked kernel or device function once, in the order of the source, and finds the
type of every expression and variable, and the specialisation of every device function that it
calls. Both writers, CUDA C++ (`cuda.translate`) and LLVM (`cpu.module`), take their conversions
from it, so that a kernel has the same meaning on both.

A variable has the type of its first assignment.
"""

from __future__ import annotations

import ast
import functools

import numpy as np

from portpart.backends.language import order_checks as evaluation_order, types
from portpart.backends.language.expression_types import ExpressionTyper
from portpart.backends.language.kernels import CheckedFunction, TypedFunction, refuse
from portpart.backends.language.source import call_parts


def infer(function: CheckedFunction, arguments: tuple[types.ArgumentType, ...]) -> TypedFunction:
    """Return the types of `function` for `arguments` (of a kernel, without the work index).

    Raises
    ------
    KernelTypeError
        With file and line, the marked source and the allowed form.
    """
    return _infer(function, tuple(arguments))


@functools.lru_cache(maxsize=4096)
def _infer(function: CheckedFunction, arguments: tuple[types.ArgumentType, ...]) -> TypedFunction:
    given = (types.INT64, *arguments) if function.is_kernel else arguments
    names = function.parameters
    if len(names) != len(given):
        hidden = len(given) - len(arguments)
        refuse(function, function.tree, f"{function.name} takes {len(names) - hidden} arguments, "
               f"not {len(arguments)}", "pass one for each parameter")
    stored = {name: kind.dtype for name, kind in zip(names, given, strict=True)
              if isinstance(kind, types.StoredType)}
    typed = TypedFunction(function, dict(zip(names, given, strict=True)) | stored,
                          stored=frozenset(stored))
    _Walker(typed).run()
    return typed


class _Walker(ExpressionTyper):
    """One pass over the statements of one function."""

    def __init__(self, typed: TypedFunction) -> None:
        super().__init__(typed, infer)
        self.arrays = set(typed.function.team_arrays) | {
            name for name, kind in typed.arguments.items() if isinstance(kind, types.ArrayType)
        }
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

    def returns(self, node: ast.Return, value: np.dtype | None) -> None:
        sofar = self.typed.returns
        if sofar is None or value is None or types.widens(sofar, value):
            self.typed.returns = value
        elif not types.widens(value, sofar):
            self.refuse(node, f"returns {value} here and {sofar} above", f"cast it: {sofar}(x)")

    def leaves(self, statements: list[ast.stmt]) -> bool:
        """Whether control cannot reach the end of `statements`."""
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
            effects = self.effects
            try:
                self.statement(statement)
                if self.effects > effects:
                    evaluation_order.check(statement, self.has_effects, self.arrays)
            except types.Refusal as refusal:
                self.refuse(statement, refusal.problem, refusal.remedy)

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            if self.typed.new_array(node) is None:
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
            self.call(node.value)

    def branch(self, node: ast.If) -> None:
        self.condition(node.test)
        if node.test in self.typed.constants:
            self.block(list(self.typed.live([node])))
            return
        self.block(node.body)
        self.block(node.orelse)

    def loop(self, node: ast.For) -> None:
        counter = types.range_type(list(map(self.value, call_parts(node.iter)[1])))
        self.typed.types[node.iter] = counter
        self.assign(node.target, counter, node)
        self.block(node.body)

    def augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self.typed.variables[node.target.id]
        else:
            before = self.value(node.target)
        self.assign(node.target, types.binary_type(node.op, before, self.value(node.value)), node)

    def assign(self, target: ast.expr, value: np.dtype, node: ast.stmt) -> None:
        if isinstance(target, ast.Name):
            known = self.typed.variables.setdefault(target.id, value)
            if not types.widens(value, known):
                self.refuse(node, f"{target.id!r} is {known} above and would become {value} here",
                            f"cast the value, {known}(...), or start with {value}(...)")
        else:
            types.check_store(value, self.value(target))
            self.typed.has_effects = True


def _has_break(statements: list[ast.stmt]) -> bool:
    """Whether a break in `statements` leaves the loop around them."""
    for node in statements:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.If) and (_has_break(node.body) or _has_break(node.orelse)):
            return True
    return False
