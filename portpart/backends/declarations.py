"""Where the C++ declaration of each variable goes: into the innermost block that can hold it.

Python's variables belong to the function, C++'s to a block.  A block can hold a variable if it is
given a value there before anything else mentions it; several blocks may each hold their own.
"""

from __future__ import annotations

import ast

from portpart.backends.typed import TypedFunction


class Places:
    """Declares the variables of one function."""

    def __init__(self, typed: TypedFunction) -> None:
        self.typed = typed
        self._cache: dict[ast.AST, frozenset[str]] = {}

    def split(
        self, live: list[ast.stmt], pending: set[str]
    ) -> tuple[list[list[str]], list[set[str]]]:
        """For each statement: what to declare in front of it, and what it can hold inside.

        `live` are the statements of one block, `pending` the variables that only they mention.
        """
        front: list[list[str]] = [[] for _ in live]
        inner: list[set[str]] = [set() for _ in live]
        for name in self.typed.variables:
            users = [i for i, node in enumerate(live) if name in pending & self.mentioned(node)]
            if not users:
                continue
            if not assigns(live[users[0]], name) and all(self._holds(live[i], name) for i in users):
                for i in users:
                    inner[i].add(name)
            else:
                front[users[0]].append(name)
        return front, inner

    def mentioned(self, node: ast.AST) -> frozenset[str]:
        """Names that occur in `node`."""
        if node not in self._cache:
            self._cache[node] = frozenset(
                child.id for child in ast.walk(node) if isinstance(child, ast.Name)
            )
        return self._cache[node]

    def _block_holds(self, statements: list[ast.stmt], name: str) -> bool:
        users = [node for node in self.typed.live(statements) if name in self.mentioned(node)]
        if not users:
            return True
        return assigns(users[0], name) or all(self._holds(node, name) for node in users)

    def _holds(self, node: ast.stmt, name: str) -> bool:
        """True if every block inside `node` can hold `name`, and nothing else mentions it."""
        if isinstance(node, ast.For):
            if name in self.mentioned(node.iter):
                return False
            if name in self.mentioned(node.target):
                return not any(_stores(child, name) for child in node.body)
            return self._block_holds(node.body, name)
        if isinstance(node, (ast.If, ast.While)):
            blocks = [node.body, node.orelse]
            return name not in self.mentioned(node.test) and all(
                self._block_holds(block, name) for block in blocks
            )
        return False


def assigns(node: ast.stmt, name: str) -> bool:
    """True if `node` is the plain assignment ``name = ...``."""
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return False
    return node.targets[0].id == name


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Store)
        for child in ast.walk(node)
    )
