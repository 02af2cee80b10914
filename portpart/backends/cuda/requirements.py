"""Requirements of a kernel or program on a device, and the arrays that it changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from portpart.backends.language import DeviceFunction, Kernel
from portpart.backends.language.kernels import CheckedFunction
from portpart.backends.language.team_arrays import (
    BLOCK,
    SHARED_BYTES,
    WORD_BYTES,
    bytes_of,
    bytes_per_team,
    shared_arrays,
)
from portpart.backends.programs import Element, Launch, Program, ProgramTable
from portpart.errors import KernelTypeError

# Checks that kernels and programs fit a device: shared memory, arguments -----------------------


ARGUMENT_BYTES = 4096
"""Maximum bytes of arguments of a launch on every device and driver."""


def check_program(program: Program) -> None:
    """Raise an error if a resident program needs more shared memory, or arguments, than a launch
    can have.

    Arrays of the same width, type, size and place in their kernels share memory.

    Raises
    ------
    KernelTypeError
    """
    launches = program.launches()
    arrays = {(step.team, number, array) for step in launches
              for number, array in enumerate(shared_arrays(step.kernel.team_arrays).values())}
    needed = sum(BLOCK // team * array.nbytes for team, _, array in arrays)
    table = 8 * sum(1 + len(step.args) for step in launches)
    space = SHARED_BYTES - WORD_BYTES - table
    if needed > space:
        raise KernelTypeError(f"the team arrays of program {program.name!r} take {needed} bytes of "
                              f"a block together, and with its table of {table} bytes there are "
                              f"{space}; make them smaller or alike")
    given = 8 * ProgramTable(program.used_slots()).sizes.values
    if given > ARGUMENT_BYTES:
        raise KernelTypeError(f"program {program.name!r} is given {given} bytes of addresses and "
                              f"numbers, and a launch takes {ARGUMENT_BYTES}; bind fewer arrays")


def check_width(kernel: CheckedFunction, team: int) -> None:
    """Raise an error if the arrays of the teams of `team` lanes in a block do not fit into its
    memory.

    Raises
    ------
    KernelTypeError
    """
    teams = BLOCK // team
    needed = teams * bytes_of(kernel.team_arrays)
    if needed > bytes_per_team(team):
        raise KernelTypeError(
            f"{kernel.filename}:{kernel.first_line}: the team arrays of kernel {kernel.name} take "
            f"{needed} bytes at team={team} ({teams} to a block), and there are "
            f"{bytes_per_team(team)}; launch it with wider teams or make the arrays smaller"
        )


# Elements of its arrays that a kernel may change -----------------------------------------------


ANY = None
"""Replaces an index that is known only when the kernel runs."""


def may_set(launch: Launch, element: Element) -> bool:
    """Whether `launch` may change the element. Slots are assumed to have different memory."""
    parameters = launch.kernel.parameters[1:]
    return any(
        index in (ANY, element.index)
        for parameter, argument in zip(parameters, launch.args, strict=True)
        if argument == element.slot
        for index in written(launch.kernel, parameter)
    )


@lru_cache(maxsize=4096)
def written(function: Kernel | DeviceFunction, parameter: str) -> frozenset[int | None]:
    """Return the indices of elements of the array `parameter` that the function may change."""
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
            yield ANY  # under another name


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _constant(index: ast.expr, function: Any) -> int | None:
    value = function.references.get(index.id) if isinstance(index, ast.Name) else ANY
    if isinstance(index, ast.Constant):
        value = index.value
    return value if isinstance(value, int) else ANY
