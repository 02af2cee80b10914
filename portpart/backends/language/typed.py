"""A checked function together with the types it has for one set of argument types."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from portpart.backends.language.kernels import CheckedFunction
from portpart.backends.language.types import ArgumentType, ArrayType
from portpart.errors import KernelTypeError


@dataclass(eq=False)
class TypedFunction:
    """A kernel or device function with the types it has for one set of argument types.

    Attributes
    ----------
    function : CheckedFunction
    arguments : dict of str to ArgumentType
        Parameters in order, a kernel's work index included.
    variables : dict of str to numpy.dtype
        Local variables in the order of their first assignment.
    types : dict of ast.expr to numpy.dtype
        Type of each expression; for the call of range, of the loop variable.
    constants : dict of ast.expr to number
        Expressions whose value is known.
    calls : dict of ast.Call to TypedFunction
        The specialisation that each call of a device function reaches.
    returns : numpy.dtype or None
    has_effects : bool
        It stores, uses an atomic or a team word, itself or through a call.
    """

    function: CheckedFunction
    arguments: dict[str, ArgumentType]
    variables: dict[str, np.dtype] = field(default_factory=dict)
    types: dict[ast.expr, np.dtype] = field(default_factory=dict)
    constants: dict[ast.expr, Any] = field(default_factory=dict)
    calls: dict[ast.Call, TypedFunction] = field(default_factory=dict)
    returns: np.dtype | None = None
    has_effects: bool = False

    def kind(self, name: str) -> ArgumentType | None:
        """Type of the parameter or team array `name`; None if it is neither."""
        if name in self.function.team_arrays:
            return ArrayType(self.function.team_arrays[name].dtype)
        return self.arguments.get(name)

    def new_array(self, node: ast.Assign) -> str | None:
        """Name of the team array that the statement makes; None if it is another assignment."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in self.function.team_arrays:
            return target.id
        return None

    @property
    def devices(self) -> list[TypedFunction]:
        """Every specialisation this function needs, each after the functions that it calls."""
        found: dict[TypedFunction, None] = {}
        for callee in self.calls.values():
            found.update(dict.fromkeys([*callee.devices, callee]))
        return list(found)

    def live(self, statements: list[ast.stmt]) -> Iterator[ast.stmt]:
        """`statements` without branches that a constant condition rules out."""
        for statement in statements:
            if isinstance(statement, ast.If) and statement.test in self.constants:
                taken = self.constants[statement.test]
                yield from self.live(statement.body if taken else statement.orelse)
            else:
                yield statement


def refuse(function: CheckedFunction, node: ast.AST, problem: str, remedy: str) -> NoReturn:
    """Raise the type error for `node` of `function`, with its source marked."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    text = linecache.getline(function.filename, line).rstrip()
    end = len(text)
    if getattr(node, "end_lineno", None) == line:
        end = getattr(node, "end_col_offset", end)
    marked = f"    {text}\n    {' ' * column}{'^' * max(1, end - column)}"
    raise KernelTypeError(
        f"{function.filename}:{line}: {problem} (in {function.name}); {remedy}\n{marked}"
    )
