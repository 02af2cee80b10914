"""Scratch memory of teams: how kernels declare it, and its limits.

``counts = team_array(int64, 256)`` is an array of the team while it works on one item: shared
memory of the block on CUDA, a thread's stack on the CPU. ``words = lane_array(int64, 4)`` is an
array of each lane: a few numbers that functions pass on, which stay in registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends.language.order_checks import Refuse
from portpart.backends.language.source import FunctionCall
from portpart.backends.language.words import CASTS, Word, team_array as team_word

BLOCK = 256
"""Threads of a block on CUDA, if no team is wider. A team of that many lanes or more is a block."""

FORM = "write name = team_array(int64, 256) at the top level of a kernel"

SHARED_BYTES = 48 * 1024
"""Shared memory of a block on any GPU."""

BLOCK_BYTES = 44 * 1024
"""Shared memory that a kernel may use; a resident program also keeps its table there."""

WORD_BYTES = 512
"""Maximum of this memory for alignment and the words of a team that is a whole block."""

Constant = Callable[[ast.expr], Any]
"""Returns the value of an expression that is a number or the name of a word, otherwise None."""


@dataclass(frozen=True)
class TeamArray:
    """Element type and number of elements of one array, and whether a team shares it."""

    dtype: np.dtype
    size: int
    shared: bool = True

    @property
    def nbytes(self) -> int:
        """Bytes of one team's copy."""
        return self.size * self.dtype.itemsize


def team_array(call: FunctionCall, constant: Constant, refuse: Refuse) -> TeamArray:
    """Return the array that the word makes with the arguments of `call`."""
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
    shared = isinstance(call.func, ast.Name) and constant(call.func) is team_word
    return TeamArray(np.dtype(element.name), size, shared)


def taken_by(callee: Any, position: int, array: TeamArray) -> bool:
    """Whether `callee`, a word or a device function, accepts the array as this argument."""
    if not isinstance(callee, Word):
        return True
    atomic = "atomic" in callee.name and array.shared
    return position == 0 and (atomic or callee.name == "value_or")


def shared_arrays(arrays: dict[str, TeamArray]) -> dict[str, TeamArray]:
    """Return the arrays that need shared memory."""
    return {name: array for name, array in arrays.items() if array.shared}


def bytes_of(arrays: dict[str, TeamArray]) -> int:
    """Return the bytes that one team needs for `arrays`."""
    return sum(array.nbytes for array in shared_arrays(arrays).values())


def block_of(*teams: int) -> int:
    """Return the threads of a block in which teams of these widths work."""
    return max((BLOCK, *teams))


def bytes_per_team(team: int) -> int:
    """Return the shared bytes of each team if a block has teams of `team` lanes."""
    return BLOCK_BYTES - (WORD_BYTES if team >= BLOCK else 0)
