"""Small changes of a line of code that a good test notices: what `make mutants` draws.

Not changed are annotations, decorators, docstrings, words of messages, what only type checkers
read, and statements that raise or assert.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

CHANGED = ("portpart/algorithms", "portpart/api")
"""Folders whose lines are drawn."""

OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="), ast.LtE: ("<", ">"), ast.Gt: (">=", "<="), ast.GtE: (">", "<"),
    ast.Eq: ("!=",), ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",),
    ast.In: ("not in",), ast.NotIn: ("in",), ast.Add: ("-",), ast.Sub: ("+",), ast.Mult: ("+",),
    ast.FloorDiv: ("*",), ast.Div: ("*",), ast.Mod: ("+",), ast.LShift: (">>",),
    ast.RShift: ("<<",), ast.BitAnd: ("|",), ast.BitOr: ("&",), ast.BitXor: ("|",),
    ast.And: ("or",), ast.Or: ("and",),
}

EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
            "atomic_min": "atomic_max", "atomic_max": "atomic_min", "argmin": "argmax",
            "argmax": "argmin", "any": "all", "all": "any", "min_of": "max_of", "max_of": "min_of"}

DROPPED = (ast.AugAssign, ast.Break, ast.Continue)
"""Statements that can go; calls and assignments to elements and attributes can, too."""


EXCHANGED = (ast.Name, ast.Attribute, ast.Subscript)
"""Kinds of arguments that change places with another of their kind."""


class Mutation(NamedTuple):
    """A change of one line: bytes `begin` to `end` of it become `text`."""

    file: str
    line: int
    begin: int
    end: int
    text: str
    kind: str

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        lines = source.splitlines(keepends=True)
        old = lines[self.line - 1]
        lines[self.line - 1] = old[:self.begin] + self.text.encode() + old[self.end:]
        return b"".join(lines)

    def shown(self, source: bytes) -> tuple[str, str]:
        """The line before and after."""
        return tuple(text.splitlines()[self.line - 1].decode().strip()  # type: ignore[return-value]
                     for text in (source, self.applied(source)))


def drawn(root: Path, seed: int) -> Iterator[Mutation]:
    """Changes of different lines in random order: lines are drawn, then one change of each."""
    files = sorted(path for folder in CHANGED for path in (root / folder).rglob("*.py"))
    lines: dict[tuple[str, int], list[Mutation]] = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        for mutation in mutations_of(path.read_bytes(), name):
            lines.setdefault((name, mutation.line), []).append(mutation)
    order, choice = random.Random(seed), random.Random(seed)
    for place in order.sample(list(lines), len(lines)):
        yield choice.choice(lines[place])


def mutations_of(source: bytes, file: str) -> list[Mutation]:
    """All changes of a source."""
    finder = _Finder(source, file)
    finder.visit(ast.parse(source))
    return finder.found


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes, file: str) -> None:
        self.lines, self.file = source.splitlines(), file
        self.found: list[Mutation] = []

    def _add(self, kind: str, line: int, begin: int, end: int, text: str) -> None:
        self.found.append(Mutation(self.file, line, begin, end, text, kind))

    def _replace(self, node: Any, kind: str, text: str) -> None:
        if node.lineno == node.end_lineno:
            self._add(kind, node.lineno, node.col_offset, node.end_col_offset, text)

    def _text(self, node: Any) -> str:
        return self.lines[node.lineno - 1][node.col_offset:node.end_col_offset].decode()

    def _operator(self, left: Any, operator: ast.AST, right: Any, ending: str = "") -> None:
        if left.end_lineno != right.lineno:
            return
        between = self.lines[right.lineno - 1][left.end_col_offset:right.col_offset]
        found = re.search(rb"is\s+not|not\s+in|[^\s()]+", between)
        for text in OPERATORS.get(type(operator), ()):
            if found:
                begin, end = (left.end_col_offset + each for each in found.span())
                self._add("operator", right.lineno, begin, end, text + ending)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:]):
            self._operator(left, operator, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._operator(node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:]):
            self._operator(left, node.op, right)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._operator(node.target, node.op, node.value, ending="=")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.Not, ast.USub)):
            self._replace(node, "sign", self._text(node.operand))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace(node, "constant", str(not node.value))
        elif isinstance(node.value, int):
            self._replace(node, "constant", str(node.value + 1))
            if node.value > 0:
                self._replace(node, "constant", str(node.value - 1))
        elif isinstance(node.value, float):
            self._replace(node, "constant", repr(2 * node.value or 1.0))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        called = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        if called in EXTREMES and name.lineno == name.end_lineno:
            self._add("extreme", name.lineno, name.end_col_offset - len(called),
                      name.end_col_offset, EXTREMES[called])
        self._swap(node.args[:2])
        self.generic_visit(node)

    def _swap(self, both: list[ast.expr]) -> None:
        if (len(both) == 2 and both[0].lineno == both[1].end_lineno
                and type(both[0]) is type(both[1]) and isinstance(both[0], EXCHANGED)):
            first, second = map(self._text, both)
            gap = self.lines[both[0].lineno - 1][both[0].end_col_offset:both[1].col_offset]
            if first != second:
                self._add("swapped", both[0].lineno, both[0].col_offset, both[1].end_col_offset,
                          second + gap.decode() + first)

    def generic_visit(self, node: ast.AST) -> None:
        """Statements and conditions; then all that is inside."""
        test = getattr(node, "test", None)
        if isinstance(node, (ast.If, ast.While, ast.IfExp)) and test is not None:
            self._replace(test, "negated", f"not ({self._text(test)})")
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_left_alone(child):
                    if isinstance(child, ast.stmt) and _can_go(child):
                        self._replace(child, "dropped", "pass")
                    self.visit(child)


def _is_left_alone(node: ast.AST) -> bool:
    """Whether a part of the code says something to people or to type checkers only."""
    if isinstance(node, ast.Expr):
        warns = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "warnings.warn"
        return warns or isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom))


def _can_go(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return all(isinstance(each, (ast.Subscript, ast.Attribute)) for each in node.targets)
    return isinstance(node, DROPPED) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
