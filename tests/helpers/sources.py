"""Sources of the repository as trees: each file is parsed and walked once for all tests."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "portpart"

Function = ast.FunctionDef | ast.AsyncFunctionDef
Import = ast.Import | ast.ImportFrom

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where statements hold statements."""


class Length(NamedTuple):
    """How long a function is."""

    name: str
    lineno: int
    lines: int
    """Without its docstring and its decorators."""
    signature: int
    is_kernel: bool


class Source(NamedTuple):
    """What is kept of a file; its tree would take a hundred times the memory."""

    imports: tuple[Import, ...]
    functions: tuple[Length, ...]


@cache
def trees() -> dict[Path, ast.Module]:
    """All files of the package.

    The collector never looks at them: they stay, and it would take half a second each time.
    """
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    found = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
    gc.freeze()
    if enabled:
        gc.enable()
    return found


def tree_of(path: Path) -> ast.Module:
    """The tree of a file, which is kept for files of the package."""
    inside = path.is_relative_to(PACKAGE) and path.suffix == ".py"
    return trees()[path] if inside else ast.parse(path.read_text())


@cache
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a tree."""
    return tuple(ast.walk(tree))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements in a statement, with handlers and cases, to any depth."""
    for block in BLOCKS:
        for child in getattr(node, block, ()):
            yield child
            yield from statements(child)


@cache
def source_of(path: Path) -> Source:
    """The imports and functions of a file, wherever they stand in it."""
    found = [*statements(tree_of(path))]
    return Source(tuple(node for node in found if isinstance(node, Import)),
                  tuple(_length(node) for node in found if isinstance(node, Function)))


def _length(function: Function) -> Length:
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    end = function.end_lineno or function.lineno
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    is_kernel = any(ast.unparse(mark).removeprefix("kl.") in ("kernel", "device")
                    for mark in function.decorator_list)
    return Length(function.name, function.lineno, end - function.lineno + 1 - docstring,
                  first.lineno - function.lineno, is_kernel)
