"""Which elements of its arrays a kernel may change."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from portpart.backends.language import DeviceFunction, Kernel
from portpart.backends.program import Element, Launch

ANY = None
"""In place of an index: one that is known only when the kernel runs."""


def may_set(launch: Launch, element: Element) -> bool:
    """Whether `launch` may change the element.  Slots are taken for different memory."""
    parameters = launch.kernel.parameters[1:]
    return any(
        index in (ANY, element.index)
        for parameter, argument in zip(parameters, launch.args, strict=True)
        if argument == element.slot
        for index in written(launch.kernel, parameter)
    )


@lru_cache(maxsize=4096)
def written(function: Kernel | DeviceFunction, parameter: str) -> frozenset[int | None]:
    """Indices of the elements of the array `parameter` that the function may change."""
    return frozenset(_written(function, parameter))


def _written(function: Any, parameter: str) -> Iterator[int | None]:
    for node in ast.walk(function.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if _is(node.value, parameter):
                yield _constant(node.slice, function)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called = function.references.get(node.func.id)
            if isinstance(called, DeviceFunction):
                for name, argument in zip(called.parameters, node.args, strict=True):
                    if _is(argument, parameter):
                        yield from written(called, name)
            elif "atomic" in node.func.id and _is(node.args[0], parameter):
                yield _constant(node.args[1], function)
        elif isinstance(node, ast.Assign) and _is(node.value, parameter):
            yield ANY  # by another name


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _constant(index: ast.expr, function: Any) -> int | None:
    value = function.references.get(index.id) if isinstance(index, ast.Name) else ANY
    if isinstance(index, ast.Constant):
        value = index.value
    return value if isinstance(value, int) else ANY
