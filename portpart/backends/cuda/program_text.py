"""The parts of a program on CUDA that need no device: its table, and the text of its kernel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from portpart.backends import programs
from portpart.backends.cuda.requirements import check_program
from portpart.backends.cuda.resident import BLOCKS, ResidentWriter
from portpart.backends.cuda.translate import STEP, translate
from portpart.backends.language.team_arrays import block_of
from portpart.backends.language.types import type_of

if TYPE_CHECKING:

    from portpart.backends.programs import Array


class ProgramText:
    """The table of a program, and the text that reads it.

    Parameters
    ----------
    program : Program
        Without communication.
    address : callable
        Returns the address of an array, or raises an error.
    laps : int, optional
        Address of the sums of the times of each launch.

    Attributes
    ----------
    layout : ProgramTable
    rows : dict
        First word of the row of each launch, by its identity.
    flags : dict
        Position of the address of each flag.
    max_blocks : int
        Maximum blocks per multiprocessor.
    threads : int
        Number of threads of a block.
    """

    def __init__(self, program: programs.Program,
                 address: Callable[[Array], int] = programs.address_of,
                 laps: int | None = None) -> None:
        self.program = program
        self.layout = programs.ProgramTable(program.used_slots(), address)
        self.rows = {id(step): self.layout.add_row(step) for step in program.launches()}
        self.flags: dict[programs.Element, int] = {}
        for step in programs.all_steps(program.steps):
            if isinstance(step, (programs.While, programs.Branch)) and step.flag not in self.flags:
                self.flags[step.flag] = self.layout.add_address(step.flag)
        self._laps = None if laps is None else self.layout.add_constant(laps)
        self.max_blocks = BLOCKS[program.threads]
        self.threads = block_of(*(step.team for step in program.launches()))

    @cached_property
    def words(self) -> str:
        """Return all that the text depends on: fingerprints of kernels, and their arrangement."""
        sizes = *self.layout.sizes, self._laps, self.max_blocks, self.threads
        return f"{sizes} {[*self._described(self.program.steps)]}"

    @cached_property
    def symbol(self) -> str:
        """Return the name of the resident kernel."""
        return f"program_{hashlib.sha256(self.words.encode()).hexdigest()[:16]}"

    def write(self) -> str:
        """Return the text of the resident kernel."""
        check_program(self.program)
        translations = {
            id(step): translate(step.kernel, tuple(type_of(programs.tag_of(a)) for a in step.args),
                                step.team, (STEP,))
            for step in self.program.launches()
        }
        writer = ResidentWriter(translations, self.rows, self.flags, self.layout.sizes,
                                self._laps, self.max_blocks, self.threads)
        return writer.write(self.program.steps, self.symbol)[1]

    def _described(self, steps: list[programs.Step]) -> Iterator[Any]:
        for step in steps:
            if isinstance(step, programs.Launch):
                slots = [_name_of(each) for each in step.args]
                yield (step.kernel.name, step.kernel.fingerprint, *map(programs.tag_of, step.args),
                       slots, step.team, step.has_barrier, self.rows[id(step)])
            elif isinstance(step, (programs.While, programs.Branch)):
                flag = step.flag.slot.name, step.flag.index, self.flags[step.flag]
                yield (type(step).__name__, flag,
                       [[*self._described(side)] for side in programs.sides_of(step)])


def _name_of(argument: Any) -> str:
    """Return the name of a slot, or of the slot of an element; that of other arguments is empty."""
    slot = argument.slot if isinstance(argument, programs.Element) else argument
    return slot.name if isinstance(slot, programs.Slot) else ""
