"""Lengths that keep the source readable; CONTRIBUTING.md gives the reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.helpers.each import for_each

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for folder in ("portpart", "bench", "examples", "tests") for path in
    (ROOT / folder).rglob("*.py")
)
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
LONGEST_KERNEL = 40
# kernels that read better in one piece, each with its reason
LONG_KERNELS = {"best_touched": "what its loop keeps in registers no function can return"}
MEDIAN_FUNCTION = 15
LONG_FUNCTION = 40  # at most a tenth of the functions are longer

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Function):
            yield node


def body_lines(function: Function) -> int:
    """Count the lines of a function without its docstring and its decorators."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    end = function.end_lineno or function.lineno
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    return end - function.lineno + 1 - docstring


def is_kernel(function: Function) -> bool:
    return any(
        ast.unparse(mark).removeprefix("kl.") in ("kernel", "device")
        for mark in function.decorator_list
    )


@for_each(FILES)
def test_file_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@for_each(FILES)
def test_functions_are_short(path: Path) -> None:
    for function in functions(path):
        short = is_kernel(function) and function.name not in LONG_KERNELS
        limit = LONGEST_KERNEL if short else LONGEST_FUNCTION
        # the signature of a public function may list one documented parameter a line
        signature = function.body[0].lineno - function.lineno
        length = body_lines(function) - signature
        assert length <= limit, f"{path}:{function.lineno}: {function.name} has {length} lines"


def test_most_functions_are_very_short() -> None:
    lengths = [
        body_lines(function)
        for path in FILES
        if path.is_relative_to(ROOT / "portpart")
        for function in functions(path)
    ]
    assert median(lengths) <= MEDIAN_FUNCTION
    assert sum(length > LONG_FUNCTION for length in lengths) <= len(lengths) / 10
