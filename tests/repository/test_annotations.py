"""Type hints are complete, which mypy cannot ask for, as kernels annotate records only; and short.

A kernel or device function has few parameters: records carry the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.helpers.each import for_each
from tests.helpers.sources import PACKAGE, tree_of

FILES = sorted(PACKAGE.rglob("*.py"))

COMPILED = {"kernel", "device", "intrinsic"}
"""Decorators of functions that are compiled and have no types of Python."""

MAX_PARAMETERS = 8
"""Of a kernel or device function; records carry the rest."""


@cache
def functions_of(path: Path) -> tuple[tuple[ast.FunctionDef, bool], ...]:
    return tuple(functions(tree_of(path)))


def functions(node: ast.AST) -> Iterator[tuple[ast.FunctionDef, bool]]:
    """Yield the functions of a file, and whether they are compiled, nested ones too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            marks = {ast.unparse(mark).removeprefix("kl.") for mark in child.decorator_list}
            yield child, bool(COMPILED & marks)
            if "intrinsic" in marks:
                continue
        yield from functions(child)


def missing(function: ast.FunctionDef) -> list[str]:
    """Return what has no type hint."""
    given = function.args
    starred = [each for each in (given.vararg, given.kwarg) if each]
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred)
             if each.annotation is None and each.arg not in ("self", "cls")]
    return names + ["return"] * (function.returns is None and function.name != "__init__")


@for_each(FILES)
def test_functions_have_type_hints(path: Path) -> None:
    bare = {f"{function.name} at line {function.lineno}": missing(function)
            for function, compiled in functions_of(path) if not compiled}
    assert {name: found for name, found in bare.items() if found} == {}


@for_each(FILES)
def test_kernels_and_device_functions_have_few_parameters(path: Path) -> None:
    wide = {f"{function.name} at line {function.lineno}": len(function.args.args)
            for function, compiled in functions_of(path) if compiled}
    assert {name: count for name, count in wide.items() if count > MAX_PARAMETERS} == {}
