"""Scratch memory of teams: how a kernel asks for it, and how much there is.

``counts = team_array(int64, 256)`` gives the team an array of its own while it works on one item:
shared memory of the block on CUDA, a thread's stack on the CPU.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.cuda_words import BLOCK
from portpart.backends.definite_assignment import Refuse
from portpart.errors import KernelTypeError

if TYPE_CHECKING:
    from portpart.backends.check import CheckedFunction
    from portpart.backends.program import Program

FORM = "write name = team_array(int64, 256) at the top level of a kernel"

SHARED_BYTES = 48 * 1024
"""Shared memory of a block on any GPU."""

BLOCK_BYTES = 44 * 1024
"""What a kernel may have of it; a resident program keeps its table there too."""

WORD_BYTES = 512
"""What the words of a team that is a whole block, and alignment, may take of it."""

Constant = Callable[[ast.expr], Any]
"""What an expression stands for that names a word or a number: its value, else None."""


@dataclass(frozen=True)
class TeamArray:
    """Element type and number of elements of one array."""

    dtype: np.dtype
    size: int

    @property
    def nbytes(self) -> int:
        """Bytes of one team's copy."""
        return self.size * self.dtype.itemsize


def team_array(call: ast.Call, constant: Constant, refuse: Refuse) -> TeamArray:
    """The array that the word with the arguments of `call` makes."""
    from portpart.backends.language import CASTS, Word

    if len(call.args) != 2 or call.keywords:
        refuse(call, "a team array takes an element type and a size", FORM)
    element, size = map(constant, call.args)
    if not (isinstance(element, Word) and element.name in CASTS):
        refuse(call.args[0], "this is not the element type of a team array",
               f"use one of {', '.join(CASTS)}")
    if not isinstance(size, int) or isinstance(size, bool):
        refuse(call.args[1], "the size of a team array must be a constant",
               "write an integer, or the name of one in the enclosing module or function")
    if size < 1:
        refuse(call.args[1], f"a team array of {size} elements", "give it one or more")
    return TeamArray(np.dtype(element.name), size)


def taken_by(callee: Any, position: int) -> bool:
    """True if `callee`, a word or a device function, may be given an array as this argument."""
    from portpart.backends.language import Word

    if not isinstance(callee, Word):
        return True
    return position == 0 and ("atomic" in callee.name or callee.name == "value_or")


def bytes_of(arrays: dict[str, TeamArray]) -> int:
    """Bytes that one team needs for `arrays`."""
    return sum(array.nbytes for array in arrays.values())


def room_of(team: int) -> int:
    """Bytes that the teams of a block, of `team` lanes each, have together."""
    return BLOCK_BYTES - (WORD_BYTES if team == BLOCK else 0)


def check_program(program: Program) -> None:
    """Refuse a resident program that wants more shared memory than there is.

    Arrays of the same width, type, size and place in their kernels share memory.

    Raises
    ------
    KernelTypeError
    """
    launches = program.launches()
    arrays = {(step.team, number, array) for step in launches
              for number, array in enumerate(step.kernel.team_arrays.values())}
    needed = sum(BLOCK // team * array.nbytes for team, _, array in arrays)
    table = 8 * sum(1 + len(step.args) for step in launches)
    room = SHARED_BYTES - WORD_BYTES - table
    if needed > room:
        raise KernelTypeError(f"the team arrays of program {program.name!r} take {needed} bytes of "
                              f"a block together, and beside its table of {table} bytes there are "
                              f"{room}; make them smaller or alike")


def check_width(kernel: CheckedFunction, team: int) -> None:
    """Refuse teams of `team` lanes if those of one block have no room for their arrays.

    Raises
    ------
    KernelTypeError
    """
    teams = BLOCK // team
    needed = teams * bytes_of(kernel.team_arrays)
    if needed > room_of(team):
        raise KernelTypeError(
            f"{kernel.filename}:{kernel.first_line}: the team arrays of kernel {kernel.name} take "
            f"{needed} bytes at team={team} ({teams} to a block), and there are {room_of(team)}; "
            "launch it with wider teams or make the arrays smaller"
        )
