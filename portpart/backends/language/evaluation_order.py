"""Refuses expressions whose value depends on the order in which their parts are evaluated.

Python and Numba evaluate operands from left to right, C++ in any order.  The two agree unless
one operand has an effect that another can see: two calls with effects, or such a call next to a
load from an array that was passed to it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from portpart.backends.language.trees import nodes_of
from portpart.backends.language.types import Refusal

HasEffects = Callable[[ast.Call], bool]


def check(statement: ast.stmt, has_effects: HasEffects, arrays: set[str]) -> None:
    """Refuse `statement` if evaluating one of its expressions in C++ could differ.

    Statements inside it are not examined.  `arrays` names the parameters that are arrays and the
    team arrays; two of them are taken to be different arrays.
    """
    if not any(_calls_with_effects(each, has_effects) for each in _expressions(statement)):
        return
    for operands in _unordered_parts(statement):
        for operand in operands:
            for call in _calls_with_effects(operand, has_effects):
                touched = arrays.intersection(_names(call.args))
                for other in operands:
                    if other is not operand and _depends(other, touched, has_effects):
                        raise Refusal("the order of evaluation matters here",
                                      "assign the first value to a separate name")


def _unordered_parts(statement: ast.stmt) -> Iterator[list[ast.expr]]:
    """Lists of expressions that C++ may evaluate in any order."""
    if isinstance(statement, ast.AugAssign):
        yield [statement.target, statement.value]
    for expression in _expressions(statement):
        for node in nodes_of(expression):
            if isinstance(node, ast.BinOp):
                yield [node.left, node.right]
            elif isinstance(node, ast.Compare):
                yield [node.left, *node.comparators]
            elif isinstance(node, ast.Call):
                yield node.args


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    return [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr)]


def _calls_with_effects(node: ast.expr, has_effects: HasEffects) -> list[ast.Call]:
    return [child for child in nodes_of(node)
            if isinstance(child, ast.Call) and has_effects(child)]


def _depends(node: ast.expr, touched: set[str], has_effects: HasEffects) -> bool:
    """True if `node` itself has an effect or reads one of the arrays `touched`."""
    if _calls_with_effects(node, has_effects):
        return True
    for child in nodes_of(node):
        read: Sequence[ast.expr] = child.args if isinstance(child, ast.Call) else []
        if isinstance(child, ast.Subscript):
            read = [child.value]
        if touched.intersection(_names(read)):
            return True
    return False


def _names(nodes: Sequence[ast.expr]) -> list[str]:
    return [node.id for node in nodes if isinstance(node, ast.Name)]
