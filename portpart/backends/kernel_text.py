"""The source of a kernel: read, parsed, and shown with a mark where something is wrong."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from typing import NoReturn

from portpart.errors import KernelSyntaxError


def parsed(function: types.FunctionType) -> tuple[list[str], ast.FunctionDef]:
    """The lines of `function` and its syntax tree: numbered as the file is, without docstring."""
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        raise KernelSyntaxError(
            f"the source of {function.__name__} cannot be read; write kernels in a file"
        ) from None
    indent = len(lines[0]) - len(lines[0].lstrip())
    module = ast.parse(textwrap.dedent("".join(lines)))
    tree = module.body[0]
    if not isinstance(tree, ast.FunctionDef):
        refuse(function.__code__.co_filename, lines[0], tree,
               f"{type(tree).__name__} is not a plain function", "write it with def")
    ast.increment_lineno(tree, first - 1)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg)):
            node.col_offset += indent
            if node.end_col_offset is not None:
                node.end_col_offset += indent
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:] or [ast.Pass(lineno=tree.lineno, col_offset=indent)]
    tree.decorator_list = []
    return lines, tree


def refuse(filename: str, source_line: str, node: ast.AST, problem: str, remedy: str) -> NoReturn:
    """Raise the language's syntax error with the offending piece of source marked."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    width = max(1, getattr(node, "end_col_offset", column + 1) - column)
    if getattr(node, "end_lineno", line) != line:
        width = max(1, len(source_line.rstrip()) - column)
    marked = f"    {source_line.rstrip()}\n    {' ' * column}{'^' * width}"
    raise KernelSyntaxError(f"{filename}:{line}: {problem}; {remedy}\n{marked}")
