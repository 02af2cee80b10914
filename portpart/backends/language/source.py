"""The source of a kernel and its syntax tree."""

from __future__ import annotations

import ast
import linecache
import os
import pickle
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from portpart.errors import KernelSyntaxError, PortpartError


def meaning_of(name: str, lookup: Callable[[str], Any]) -> Any:
    """Return the meaning of a name, or a member such as ``kl.Record``; None if it has none."""
    first, *members = name.split(".")
    found = lookup(first)
    for member in members:
        found = getattr(found, member, None)
    return found


# Walks, copies and changes of syntax trees, in half the time of the standard library -----------
#
# Every kernel needs them when it is first compiled.


def copied(tree: Any) -> Any:
    """Return a copy of a syntax tree, like copy.deepcopy."""
    return pickle.loads(pickle.dumps(tree))


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield an expression or a statement and all nodes inside it, except contexts."""
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


def call_parts(node: ast.AST | None) -> tuple[ast.Name | None, list[ast.expr]]:
    """The name that an expression calls and its arguments; of what calls no name, None and none."""
    if isinstance(node, FunctionCall) and isinstance(node.func, ast.Name):
        return node.func, node.args
    return None, []


class Rewriter:
    """Changes a tree in place, as ast.NodeTransformer does.

    Attributes
    ----------
    methods : dict
        Functions that return a node, or statements, in place of a node of each class; other nodes
        are entered.
    """

    methods: dict[type[ast.AST], Callable[[Any], Any]]

    def visit(self, node: Any) -> Any:
        """Return the replacement of the node."""
        method = self.methods.get(node.__class__)
        return self.entered(node) if method is None else method(node)

    def entered(self, node: Any) -> Any:
        """Return the node with its inner nodes replaced."""
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, (ast.expr, ast.stmt)):
                setattr(node, field, self.visit(value))
            elif value.__class__ is list:
                value[:] = self.visited(value)
        return node

    def visited(self, nodes: list[Any]) -> list[Any]:
        """Return the replacements of these nodes."""
        result: list[Any] = []
        for node in nodes:
            visited = self.visit(node) if isinstance(node, ast.AST) else node
            if visited.__class__ is list:
                result += visited
            else:
                result.append(visited)
        return result


# The source of a kernel: read, parsed, and shown with a mark at an error -----------------------


Place = tuple[str, int]
Definition = ast.FunctionDef | ast.AsyncFunctionDef
FunctionCall = ast.Call

_files: dict[str, tuple[list[str], dict[Place, Definition]]] = {}
"""Lines of each file, and its functions that have not been requested."""

_reading = threading.Lock()

BLOCKS = frozenset(("body", "orelse", "finalbody", "handlers", "cases"))
"""Fields with statements inside others."""


def version_of(filename: str) -> tuple[int, int]:
    """Return time and size of a file, or zeros if it is not a file, as a member of an archive."""
    try:
        found = os.stat(filename)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def parsed(function: types.FunctionType, *,
           again: bool = False) -> tuple[list[str], ast.FunctionDef]:
    """Return the lines of `function` and its syntax tree, numbered like the file, without
    docstring.

    The tree belongs to the caller. A file is parsed once for all its functions, and again if one of
    them is rebuilt, unless all callers have set `again`.
    """
    code = function.__code__
    place = (code.co_name, code.co_firstlineno)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    with _reading:
        known = _files.get(code.co_filename)
        if known is None or known[0] is not lines or place not in known[1]:
            _files[code.co_filename] = known = (lines, _functions("".join(lines)))
        tree = copied(known[1].get(place)) if again else known[1].pop(place, None)
    if tree is None:
        raise KernelSyntaxError(
            f"the source of {function.__name__} cannot be read; write kernels in a file")
    if not isinstance(tree, ast.FunctionDef):
        refuse(code.co_filename, lines[place[1] - 1], tree,
               f"{type(tree).__name__} is not a plain function", "write it with def")
    if ast.get_docstring(tree, clean=False) is not None:
        tree.body = tree.body[1:] or [ast.Pass(lineno=tree.lineno, col_offset=tree.col_offset)]
    tree.decorator_list = []
    return lines[place[1] - 1 : tree.end_lineno], tree


def _functions(text: str) -> dict[Place, Definition]:
    """Return the functions of a file by name and first line, including decorators."""
    try:
        module = ast.parse(text)
    except SyntaxError:  # the file has changed
        return {}
    return {(node.name, min(part.lineno for part in (node, *node.decorator_list))): node
            for node in _statements(module.body)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _statements(block: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all statements of `block`, including statements inside others."""
    for node in block:
        yield node
        for part in BLOCKS.intersection(node._fields):
            yield from _statements(getattr(node, part))


def refuse(filename: str, source_line: str, node: ast.AST, problem: str, remedy: str,
           error: type[PortpartError] = KernelSyntaxError) -> NoReturn:
    """Raise an error of the language with the wrong piece of source marked."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    width = max(1, getattr(node, "end_col_offset", column + 1) - column)
    if getattr(node, "end_lineno", line) != line:
        width = max(1, len(source_line.rstrip()) - column)
    marked = f"    {source_line.rstrip()}\n    {' ' * column}{'^' * width}"
    raise error(f"{filename}:{line}: {problem}; {remedy}\n{marked}")
