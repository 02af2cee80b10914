"""Kernels that tell which sectors of memory they touch.

A kernel is rewritten in its own language: every index of an array goes through `touching.touched`,
and every function gets the places of its arrays and the marks along.  So what is counted is what
the kernel does, and follows every change of it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from bench import touching
from portpart.backends.language import DeviceFunction, Kernel, Word, evaluation_order

TOUCHED, MARKS = "_touched", ("_marks", "_listed", "_counts")
"""Names that no kernel uses."""

BOTH = touching.READ | touching.WRITTEN
ACCESSES = {
    "value_or": touching.READ, "atomic_load": touching.READ,
    **dict.fromkeys(("atomic_add", "atomic_cas", "atomic_max", "atomic_min", "atomic_next",
                     "team_atomic_add", "team_atomic_cas"), BOTH),
}
"""How words of the kernel language access the element that their first two arguments name."""


@cache
def traced(kernel: Kernel) -> Kernel:
    """The kernel with a place behind it for each parameter, and marks, list and counts."""
    return _rewritten(kernel)


@contextmanager
def order_is_free() -> Iterator[None]:
    """Accept, on a CPU, calls that mark sectors in any order."""
    before = evaluation_order.check
    evaluation_order.check = lambda *_: None
    try:
        yield
    finally:
        evaluation_order.check = before


@cache
def _rewritten(function: Any) -> Any:
    result = copy.copy(function)
    result.__dict__.pop("fingerprint", None)
    result.references = {
        name: _rewritten(value) if isinstance(value, DeviceFunction) else value
        for name, value in function.references.items()
    } | {TOUCHED: touching.touched}  # fmt: skip
    given = function.parameters[1 if function.is_kernel else 0:]
    tree = _Rewriter(function.references, given).visit(copy.deepcopy(function.tree))
    tree.args.args += [ast.arg(name) for name in (*map(_place, given), *MARKS)]
    result.tree = ast.fix_missing_locations(tree)
    result._source = ast.unparse(tree)
    return result


def _place(name: str) -> str:
    return f"_place_of_{name}"


class _Rewriter(ast.NodeTransformer):
    """Marks all accesses, and passes places and marks to all functions."""

    def __init__(self, references: dict[str, Any], parameters: list[str]) -> None:
        self.references, self.placed = references, set(parameters)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        how = touching.READ if isinstance(node.ctx, ast.Load) else touching.WRITTEN
        return self._marked(node, how)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        node.value = self.visit(node.value)
        if isinstance(node.target, ast.Subscript):
            node.target = self._marked(node.target, BOTH)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        target = self.references.get(node.func.id)
        places = [self._place(argument) for argument in node.args]
        node.args = [self.visit(argument) for argument in node.args]
        if isinstance(target, DeviceFunction):
            node.args += [*places, *_marks()]
        elif isinstance(target, Word) and target.name in ACCESSES:
            node.args[1] = self._touched(places[0], node.args[1], ACCESSES[target.name])
        return node

    def _marked(self, node: ast.Subscript, how: int) -> ast.Subscript:
        node.slice = self._touched(self._place(node.value), self.visit(node.slice), how)
        return node

    def _place(self, array: ast.expr) -> ast.expr:
        if isinstance(array, ast.Name) and array.id in self.placed:
            return ast.Name(_place(array.id), ast.Load())
        return ast.Constant(touching.UNTRACED)

    def _touched(self, place: ast.expr, index: ast.expr, how: int) -> ast.expr:
        arguments = [place, index, ast.Constant(how), *_marks()]
        return ast.copy_location(ast.Call(ast.Name(TOUCHED, ast.Load()), arguments, []), index)


def _marks() -> list[ast.expr]:
    return [ast.Name(name, ast.Load()) for name in MARKS]
