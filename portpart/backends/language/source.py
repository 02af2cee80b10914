"""The source of a kernel: read, parsed, and shown with a mark where something is wrong."""

from __future__ import annotations

import ast
import linecache
import os
import threading
import types
from collections.abc import Iterable, Iterator
from typing import NoReturn

from portpart.backends.language.trees import copied
from portpart.errors import KernelSyntaxError

Place = tuple[str, int]
Definition = ast.FunctionDef | ast.AsyncFunctionDef

_files: dict[str, tuple[list[str], dict[Place, Definition]]] = {}
"""Lines of each file, and the functions in it that have not been requested yet."""

_reading = threading.Lock()

BLOCKS = frozenset(("body", "orelse", "finalbody", "handlers", "cases"))
"""What holds statements inside others."""


def version_of(filename: str) -> tuple[int, int]:
    """Time and size of a file, or zeros for what is none, as a member of an archive."""
    try:
        found = os.stat(filename)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def parsed(function: types.FunctionType, *,
           again: bool = False) -> tuple[list[str], ast.FunctionDef]:
    """The lines of `function` and its syntax tree: numbered as the file is, without docstring.

    The tree belongs to the caller.  A file is parsed once for all its functions, and again if one
    of them is rebuilt, unless all callers have said that they may ask `again`.
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
    """Functions of a file by name and first line, that of a decorator if there is one."""
    try:
        module = ast.parse(text)
    except SyntaxError:  # it has changed since
        return {}
    return {(node.name, min(part.lineno for part in (node, *node.decorator_list))): node
            for node in _statements(module.body)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


def _statements(block: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements of `block`, those inside others too."""
    for node in block:
        yield node
        for part in BLOCKS.intersection(node._fields):
            yield from _statements(getattr(node, part))


def refuse(filename: str, source_line: str, node: ast.AST, problem: str, remedy: str) -> NoReturn:
    """Raise the language's syntax error with the offending piece of source marked."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    width = max(1, getattr(node, "end_col_offset", column + 1) - column)
    if getattr(node, "end_lineno", line) != line:
        width = max(1, len(source_line.rstrip()) - column)
    marked = f"    {source_line.rstrip()}\n    {' ' * column}{'^' * width}"
    raise KernelSyntaxError(f"{filename}:{line}: {problem}; {remedy}\n{marked}")
