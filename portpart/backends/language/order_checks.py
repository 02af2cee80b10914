"""Checks of the order of evaluation: every variable has a value, and results do not depend on
order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from portpart.backends.language.source import call_parts, nodes_of
from portpart.backends.language.types import Refusal

# Definite assignment: every variable has a value on every path to its use ----------------------


Refuse = Callable[[ast.AST, str, str], NoReturn]
"""Called with the node, the problem and the remedy."""


class DefiniteAssignment:
    """Refuses a variable that may be read before it has a value."""

    def __init__(self, assigned: set[str], known: set[str], refuse: Refuse) -> None:
        self.assigned = assigned
        self.known = set(known)
        self.refuse = refuse

    def block(self, statements: list[ast.stmt]) -> bool:
        """Walk `statements`; return whether control never reaches their end."""
        leaves = False
        for statement in statements:
            leaves = self.statement(statement) or leaves
        return leaves

    def statement(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            return self.branch(node)
        if isinstance(node, (ast.For, ast.While)):
            self.loop(node)
            return False
        self.reads(node)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self.known.add(node.targets[0].id)
        return isinstance(node, (ast.Return, ast.Break, ast.Continue))

    def branch(self, node: ast.If) -> bool:
        self.reads(node.test)
        before = set(self.known)
        leaves_body = self.block(node.body)
        after_body, self.known = self.known, set(before)
        leaves_else = self.block(node.orelse)
        if leaves_body:
            return leaves_else
        self.known = after_body if leaves_else else after_body & self.known
        return False

    def loop(self, node: ast.For | ast.While) -> None:
        self.reads(node.iter if isinstance(node, ast.For) else node.test)
        before = set(self.known)
        if isinstance(node, ast.For):
            assert isinstance(node.target, ast.Name)
            self.known.add(node.target.id)
        self.block(node.body)
        self.known = before

    def reads(self, node: ast.AST) -> None:
        for name in nodes_of(node):
            if not isinstance(name, ast.Name):
                continue
            loads = isinstance(name.ctx, ast.Load) or (
                isinstance(node, ast.AugAssign) and name is node.target
            )
            if loads and name.id in self.assigned and name.id not in self.known:
                self.refuse(name, f"{name.id!r} may be used before it has a value",
                            "assign it on every path first")


# Refuses expressions whose value depends on the order in which their parts are evaluated -------
#
# Python and Numba evaluate operands from left to right, C++ in any order.  The results agree unless
# an effect of one operand may change another: two calls with effects, or such a call and a load
# from an array that was passed to it.


HasEffects = Callable[[ast.AST], bool]


def check(statement: ast.stmt, has_effects: HasEffects, arrays: set[str]) -> None:
    """Refuse `statement` if one of its expressions could have another value in C++.

    Statements inside it are not examined. `arrays` has the names of parameters that are arrays and
    of team arrays; two names are assumed to be different arrays.
    """
    if not any(_calls_with_effects(each, has_effects) for each in _expressions(statement)):
        return
    for operands in _unordered_parts(statement):
        for operand in operands:
            for call in _calls_with_effects(operand, has_effects):
                touched = arrays.intersection(_names(call_parts(call)[1]))
                for other in operands:
                    if other is not operand and _depends(other, touched, has_effects):
                        raise Refusal("the order of evaluation matters here",
                                      "assign the first value to a separate name")


def _unordered_parts(statement: ast.stmt) -> Iterator[list[ast.expr]]:
    """Yield lists of expressions that C++ may evaluate in any order."""
    if isinstance(statement, ast.AugAssign):
        yield [statement.target, statement.value]
    for expression in _expressions(statement):
        for node in nodes_of(expression):
            if isinstance(node, ast.BinOp):
                yield [node.left, node.right]
            elif isinstance(node, ast.Compare):
                yield [node.left, *node.comparators]
            else:
                yield call_parts(node)[1]


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    return [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr)]


def _calls_with_effects(node: ast.expr, has_effects: HasEffects) -> list[ast.AST]:
    return [child for child in nodes_of(node) if has_effects(child)]


def _depends(node: ast.expr, touched: set[str], has_effects: HasEffects) -> bool:
    """Whether `node` itself has an effect or reads one of the arrays `touched`."""
    if _calls_with_effects(node, has_effects):
        return True
    for child in nodes_of(node):
        read = [child.value] if isinstance(child, ast.Subscript) else call_parts(child)[1]
        if touched.intersection(_names(read)):
            return True
    return False


def _names(nodes: Sequence[ast.expr]) -> list[str]:
    return [node.id for node in nodes if isinstance(node, ast.Name)]
