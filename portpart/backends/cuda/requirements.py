"""Requirements of a kernel or program on a device, and the arrays that it changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from portpart.backends.language import DeviceFunction, Kernel, team_arrays
from portpart.backends.language.kernels import CheckedFunction
from portpart.backends.language.source import call_parts
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
    arrays = {(step.team, number, array) for step in launches for number, array in enumerate(
        team_arrays.shared_arrays(step.kernel.team_arrays).values())}
    block = team_arrays.block_of(*(step.team for step in launches))
    if block > team_arrays.BLOCK:
        check_blocks(program, block)
    needed = sum(block // team * array.nbytes for team, _, array in arrays)
    table = 8 * sum(1 + len(step.args) for step in launches)
    space = team_arrays.SHARED_BYTES - team_arrays.WORD_BYTES - table
    if needed > space:
        raise KernelTypeError(f"the team arrays of program {program.name!r} take {needed} bytes of "
                              f"a block together, and with its table of {table} bytes there are "
                              f"{space}; make them smaller or alike")
    given = 8 * ProgramTable(program.used_slots()).sizes.values
    if given > ARGUMENT_BYTES:
        raise KernelTypeError(f"program {program.name!r} is given {given} bytes of addresses and "
                              f"numbers, and a launch takes {ARGUMENT_BYTES}; bind fewer arrays")


def check_blocks(program: Program, block: int) -> None:
    """Raise an error if a launch needs blocks of fewer than `block` threads.

    Raises
    ------
    KernelTypeError
    """
    for step in program.launches():
        has_arrays = team_arrays.shared_arrays(step.kernel.team_arrays)
        if step.team < block and (step.team == team_arrays.BLOCK or has_arrays):
            raise KernelTypeError(
                f"program {program.name!r} has blocks of {block} threads, and kernel "
                f"{step.kernel.name} with team={step.team} needs {team_arrays.BLOCK}; launch it "
                f"with team={block}, or in another program")


def check_width(kernel: CheckedFunction, team: int) -> None:
    """Raise an error if the arrays of the teams of `team` lanes in a block do not fit into its
    memory.

    Raises
    ------
    KernelTypeError
    """
    teams = team_arrays.block_of(team) // team
    needed = teams * team_arrays.bytes_of(kernel.team_arrays)
    if needed > team_arrays.bytes_per_team(team):
        raise KernelTypeError(
            f"{kernel.filename}:{kernel.first_line}: the team arrays of kernel {kernel.name} take "
            f"{needed} bytes at team={team} ({teams} to a block), and there are "
            f"{team_arrays.bytes_per_team(team)}; launch it with wider teams or make the arrays "
            "smaller"
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
        elif (name := call_parts(node)[0]) is not None:
            called, given = function.references.get(name.id), call_parts(node)[1]
            if isinstance(called, DeviceFunction):
                for own, argument in zip(called.parameters, given, strict=True):
                    if _is(argument, parameter):
                        yield from written(called, own)
            elif "atomic" in name.id and _is(given[0], parameter):
                yield _constant(given[1], function)
        elif isinstance(node, ast.Assign) and _is(node.value, parameter):
            yield ANY  # under another name


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _constant(index: ast.expr, function: Any) -> int | None:
    value = function.references.get(index.id) if isinstance(index, ast.Name) else ANY
    if isinstance(index, ast.Constant):
        value = index.value
    return value if isinstance(value, int) else ANY
