"""Syntax trees walked, copied and changed, in half the time that the standard library takes.

Every kernel passes here when it is first compiled.
"""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable, Iterator
from typing import Any


def copied(tree: Any) -> Any:
    """A copy of a syntax tree, as copy.deepcopy makes it."""
    return pickle.loads(pickle.dumps(tree))


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """An expression or a statement and all inside it, without contexts, which are not needed."""
    left: list[Any] = [tree]
    while left:
        node = left.pop()
        yield node
        for field in node._fields:
            value = getattr(node, field, None)
            if value.__class__ is list:
                left += value
            elif isinstance(value, (ast.expr, ast.keyword)):
                left.append(value)


class Rewriter:
    """Changes a tree in place, as ast.NodeTransformer does.

    Attributes
    ----------
    methods : dict
        What gives a node, or the statements, in place of a node of each class; other nodes are
        entered.
    """

    methods: dict[type[ast.AST], Callable[[Any], Any]]

    def visit(self, node: Any) -> Any:
        """What stands in place of the node."""
        method = self.methods.get(node.__class__)
        return self.entered(node) if method is None else method(node)

    def entered(self, node: Any) -> Any:
        """The node with what stands in place of the nodes in it."""
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, (ast.expr, ast.stmt)):
                setattr(node, field, self.visit(value))
            elif value.__class__ is list:
                value[:] = self.visited(value)
        return node

    def visited(self, nodes: list[Any]) -> list[Any]:
        """What stands in place of these nodes."""
        result: list[Any] = []
        for node in nodes:
            visited = self.visit(node) if isinstance(node, ast.AST) else node
            if visited.__class__ is list:
                result += visited
            else:
                result.append(visited)
        return result
