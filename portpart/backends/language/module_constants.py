"""Numbers of imported modules in kernels: ``state.BLOCKS`` is a name like any other constant's."""

from __future__ import annotations

import ast
from collections.abc import Callable


class ModuleConstants(ast.NodeTransformer):
    """Turns attributes of modules into names with a dot; what is called keeps its form.

    Parameters
    ----------
    names_module
        Whether a name means a module where the function stands.
    """

    def __init__(self, names_module: Callable[[str], bool]) -> None:
        self.names_module = names_module

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if (isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name)
                and self.names_module(node.value.id)):
            return ast.copy_location(ast.Name(f"{node.value.id}.{node.attr}", ast.Load()), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(argument) for argument in node.args]
        return node
