"""Refuses expressions whose value depends on the order in which their parts are evaluated.

Python and Numba evaluate operands from left to right, C++ in any order.  The two agree unless one
operand has an effect that another can see: two calls with effects, or such a call beside a load from
an array that was passed to it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from portpart.backends.result_types import Refusal

HasEffects = Callable[[ast.Call], bool]


def check(statement: ast.stmt, has_effects: HasEffects) -> None:
    """Refuse `statement` if evaluating an expression of its own in C++ could differ.

    Statements inside it are not looked at.
    """
    for expression in _expressions(statement):
        for node in ast.walk(expression):
            _check_siblings(_unordered(node), has_effects)
    if isinstance(statement, ast.AugAssign):
        _check_siblings([statement.target, statement.value], has_effects)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child


def _unordered(node: ast.AST) -> list[ast.expr]:
    """Operands of `node` that C++ may evaluate in any order."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call):
        return node.args
    return []


def _check_siblings(operands: list[ast.expr], has_effects: HasEffects) -> None:
    for operand in operands:
        for call in _calls_with_effects(operand, has_effects):
            touched = {name.id for name in call.args if isinstance(name, ast.Name)}
            for other in operands:
                if other is not operand and _depends(other, touched, has_effects):
                    raise Refusal("the order of evaluation matters here",
                                  "assign the first value to a name of its own")


def _calls_with_effects(node: ast.expr, has_effects: HasEffects) -> Iterator[ast.Call]:
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and has_effects(child):
            yield child


def _depends(node: ast.expr, touched: set[str], has_effects: HasEffects) -> bool:
    """True if `node` has an effect of its own or reads one of the arrays `touched`."""
    if any(True for _ in _calls_with_effects(node, has_effects)):
        return True
    return any(
        isinstance(child, ast.Subscript)
        and isinstance(child.value, ast.Name)
        and child.value.id in touched
        for child in ast.walk(node)
    )
