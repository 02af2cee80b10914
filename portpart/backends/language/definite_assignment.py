"""Definite assignment: every variable has a value on every path to its use."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NoReturn

from portpart.backends.language.trees import nodes_of

Refuse = Callable[[ast.AST, str, str], NoReturn]
"""Called with the node, the problem and the remedy."""


class DefiniteAssignment:
    """Refuses a variable that may be read before it has a value."""

    def __init__(self, assigned: set[str], known: set[str], refuse: Refuse) -> None:
        self.assigned = assigned
        self.known = set(known)
        self.refuse = refuse

    def block(self, statements: list[ast.stmt]) -> bool:
        """Walk `statements`; True if control never reaches their end."""
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
