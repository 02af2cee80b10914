"""Whether kernels and programs fit a device: shared memory, arguments."""

from __future__ import annotations

from portpart.backends.language.kernels import CheckedFunction
from portpart.backends.language.team_arrays import (
    BLOCK,
    SHARED_BYTES,
    WORD_BYTES,
    bytes_of,
    bytes_per_team,
    shared_arrays,
)
from portpart.backends.program import Program
from portpart.backends.table import ProgramTable
from portpart.errors import KernelTypeError

ARGUMENT_BYTES = 4096
"""What a launch may be given on every device and by every driver."""


def check_program(program: Program) -> None:
    """Refuse a resident program that wants more shared memory, or arguments, than there is.

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
    room = SHARED_BYTES - WORD_BYTES - table
    if needed > room:
        raise KernelTypeError(f"the team arrays of program {program.name!r} take {needed} bytes of "
                              f"a block together, and with its table of {table} bytes there are "
                              f"{room}; make them smaller or alike")
    given = 8 * ProgramTable(program.used_slots()).sizes.values
    if given > ARGUMENT_BYTES:
        raise KernelTypeError(f"program {program.name!r} is given {given} bytes of addresses and "
                              f"numbers, and a launch takes {ARGUMENT_BYTES}; bind fewer arrays")


def check_width(kernel: CheckedFunction, team: int) -> None:
    """Refuse teams of `team` lanes if those of one block have no room for their arrays.

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
