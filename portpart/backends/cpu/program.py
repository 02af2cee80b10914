"""Programs on the CPU: a list of instructions, and the compiled loop that executes it."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from portpart.backends import programs
from portpart.backends.cpu import driver_module, tasks
from portpart.backends.cpu.compile import loaded, prepared
from portpart.backends.cpu.driver_module import DRIVE, LOAD, call_back, driver_text, state
from portpart.backends.programs import Bound
from portpart.base.interrupts import late_signals

# Threads of the space: those of Numba, which is loaded when there is enough work ----------------
#
# Loading Numba takes longer than partitioning a mesh of 100,000 vertices. So the driver works on
# one thread until it has done so much work (`WORK_BEFORE_THREADS`) that loading is worth it; then
# it calls `_load`.


Result = TypeVar("Result")

_parallel_region = threading.Lock()
"""Numba's thread pools must not be entered from two threads: one parallel region at a time."""

_process = os.getpid()
"""The process that has the threads. A fork has none; GNU OpenMP ends it on request of some."""

_before: list[int] = []
"""Number of threads that the caller has set for Numba's own loops, while another number is set."""


def run_with_threads(threads: int, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return ``work(*arguments, threads)``, called inside the parallel region; one thread needs
    none.

    A process made by fork works on its only thread, and a task on its own. Afterwards the number
    that the caller has set for Numba's own loops is restored. The lock is acquired by a plain
    `with`, which an interrupt cannot break.
    """
    tasks.end_if_not_needed()
    if threads == 1 or os.getpid() != _process or tasks.is_inside():
        return work(*arguments, 1)
    with _parallel_region:
        try:
            if state[DRIVE]:
                _choose(threads)
            return work(*arguments, threads)
        finally:
            if _before:
                sys.modules["numba"].set_num_threads(_before.pop())


def _choose(threads: int) -> None:
    """Set the number of threads of Numba's loops until the parallel region is left."""
    numba = sys.modules["numba"]
    before = numba.get_num_threads()
    if before != threads:
        _before.append(before)
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def _load(threads: int) -> int:
    """Load the parallel loop for the driver, inside the parallel region; return its address."""
    with late_signals():
        from portpart.backends.cpu.parallel_loop import loop

    _choose(threads)
    assert loop.address is not None
    state[DRIVE] = loop.address
    return state[DRIVE]


call_back(LOAD, _load)


# Two functions that run kernels; LLVM compiles them, and they are cached like a kernel ---------
#
# Kernels are compiled serially, as callbacks over a range of work items.  The driver calls them by
# address: on the calling thread, or through the loop of `parallel_loop` if there is much work.
#
# Both functions take packed words and return 0, or 1 if a callback has failed (`raise_failure`).
# The walk of a program that communicates returns where to resume.


def _functions() -> tuple[Any, Any]:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
    launch, walk = loaded("driver", driver_text, ("_launch", "_walk"))
    return kind(launch), kind(walk)


launch_objects, walk = _functions()


# Programs on the CPU: a list of instructions that a compiled loop executes ---------------------


TARGET = 5
"""Field of an instruction for the target of a jump."""

_pack = struct.Struct("6q").pack


class CpuExecutable:
    """A program as instructions, with one row of packed arguments per launch."""

    def __init__(self, space: programs.ExecutionSpace, threads: int,
                 program: programs.Program) -> None:
        self.space, self.threads, self.program = space, threads, program
        used = program.used_slots()
        self.table = programs.ProgramTable(used)
        self.code: list[list[int]] = []
        self._leaves: dict[int, programs.Communication] = {}
        self._emit(program.steps)
        self._scratch = [slot for slot in used if slot.scratch]
        self._words = [slot for slot in programs.slots_of(program.communication()) if slot.words]
        self._instructions = np.array(self.code, np.int64).reshape(-1)
        self._where = programs.address_of(self._instructions)

    def run(self, bindings: Mapping[str, Bound], size: int, sizes: Any = None) -> None:
        """Run with `bindings`; the largest work size needs no preparation."""
        places = self.table.place_scratch(sizes)
        scratch = self.space.empty(places[-1], np.uint8)
        table = np.empty(len(self.table), np.int64)
        base = programs.address_of(table)
        table[:] = self.table.fill(bindings, base, programs.address_of(scratch), places)
        self.space.counters.launches += 1
        position = run_with_threads(self.threads, self._walk, base, 0)
        if position == driver_module.DONE:
            return
        # Few programs communicate, and every process would import these modules.
        from portpart.backends.communication import communicator_of, follow
        from portpart.backends.cpu.communicating import CommunicatingRun

        def resume() -> programs.Communication | None:
            nonlocal position
            position = run_with_threads(self.threads, self._walk, base, position)
            return self._leaves.get(position)

        comm = communicator_of(self.program.name, bindings)
        arrays = {**self.table.bindings.named(bindings),
                  **self._own(table, self.space.to_host(scratch), sizes)}
        follow(CommunicatingRun(self._leaves[position], resume, arrays), comm)

    def _walk(self, table: int, begin: int, workers: int) -> int:
        """Execute instructions from one on; return where to resume after communication, or DONE."""
        position: int = walk(_pack(self._where, len(self._instructions), table, workers,
                                   driver_module.STATE, begin))
        if position == driver_module.FAILED:
            driver_module.raise_failure()
        return position

    def _own(self, table: np.ndarray, scratch: np.ndarray, sizes: Any) -> dict[str, np.ndarray]:
        """Return scratch memory, and the words that communication refers to, by the names of their
        slots.
        """
        arrays = {slot.name: slot.array_in(scratch, begin, sizes)
                  for slot, begin in zip(self._scratch, self.table.place_scratch(sizes))}
        for slot in self._words:
            first = self.table.place_of(slot[0])
            arrays[slot.name] = table[first : first + slot.words]
        return arrays

    @property
    def _end(self) -> int:
        """Return the place of the next instruction."""
        return driver_module.FIELDS * len(self.code)

    def _emit(self, steps: list[programs.Step]) -> None:
        for step in steps:
            if isinstance(step, programs.Launch):
                self._emit_launch(step)
            elif isinstance(step, (programs.While, programs.Branch)):
                self._emit_test(step)
            else:
                self.code.append([driver_module.LEAVE, 0, 0, 0, 0, 0])
                self._leaves[self._end] = step

    def _emit_launch(self, step: programs.Launch) -> None:
        function = prepared(step.kernel, tuple(map(programs.tag_of, step.args)))
        row = self.table.add_row(step)
        weight = step.work or driver_module.ITEM_WEIGHT[step.team]
        self.code.append([driver_module.LAUNCH, function, row, weight, 0, 0])

    def _emit_test(self, step: programs.While | programs.Branch) -> None:
        """Emit a loop or branch; if its flag is zero, the program jumps to the end of the first
        side.
        """
        begin, (first, *others) = self._end, programs.sides_of(step)
        test = [driver_module.JUMP_IF_ZERO, 0, 0, 0, self.table.add_address(step.flag), 0]
        jump = [driver_module.JUMP, 0, 0, 0, 0, begin]
        self.code.append(test)
        self._emit(first)
        if isinstance(step, programs.While) or step.orelse:
            self.code.append(jump)
        test[TARGET] = self._end
        for other in others:
            self._emit(other)
            jump[TARGET] = self._end
