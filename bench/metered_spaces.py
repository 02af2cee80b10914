"""Spaces that account for every launch: what it takes, or which memory it touches.

A `Meter` collects `Work` by kernel.  Launches from Python count for themselves; programs are walked
step by step on a CPU, and on a GPU tell afterwards what each launch took (`space.profiling`).
"""

from __future__ import annotations

import mmap
import time
import weakref
from collections import defaultdict
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from bench.touching import COUNTS, SECTOR, UNTRACED, place_of
from bench.traced_kernels import order_is_free, traced
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.packing import address_of
from portpart.backends.program import Branch, Element, Launch, Program, Slot, Step, While

PAGE = mmap.PAGESIZE
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # Python has no name for it before 3.13
FROM_PYTHON = "python"
"""Stands for the program of what Python launches by itself."""

Key = tuple[str, str]
"""Names of a program and of a kernel."""


@dataclass
class Work:
    """What launches of a kernel did, together."""

    launches: int = 0
    items: int = 0
    seconds: float = 0.0
    bytes_read: int = 0
    bytes_written: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def bytes_moved(self) -> int:
        return self.bytes_read + self.bytes_written


class Meter:
    """Work by kernel since the last time that somebody took it."""

    def __init__(self) -> None:
        self.works: dict[Key, Work] = defaultdict(Work)

    def add(self, program: str, kernel: str, work: Work) -> None:
        self.works[program, kernel] = self.works[program, kernel] + work

    def take(self) -> dict[Key, Work]:
        """Return what was collected, and begin anew."""
        taken, self.works = self.works, defaultdict(Work)
        return taken


class WalkedExecutable:
    """A program that Python walks, launch by launch."""

    def __init__(self, space: MeteredCpuSpace, program: Program) -> None:
        self.space, self.program = space, program

    def run(self, bindings: dict[str, Any], size: int) -> None:
        """Run with `bindings`."""
        outer, self.space.program = self.space.program, self.program.name
        self._walk(self.program.steps, {name: self._bound(slot, bindings)
                                        for name, slot in self.program.slots.items()})  # fmt: skip
        self.space.program = outer

    def _bound(self, slot: Slot, bindings: dict[str, Any]) -> Any:
        value = bindings[slot.name]
        if slot.dtype is None or value is None:
            return None
        if slot.scratch:
            return self.space.empty(value, slot.dtype)
        if slot.words:
            return np.array(value, np.int64)
        return value if slot.is_array else slot.dtype.type(value)

    def _walk(self, steps: list[Step], bound: dict[str, Any]) -> None:
        for step in steps:
            if isinstance(step, Launch):
                arguments = (bound[a.name] if isinstance(a, Slot) else a for a in step.args)
                self.space.parallel_for(self._value(step.count, bound), step.kernel, *arguments,
                                        team=step.team)
            elif isinstance(step, While):
                while self._value(step.flag, bound):
                    self._walk(step.steps, bound)
            elif isinstance(step, Branch):
                self._walk(step.then if self._value(step.flag, bound) else step.orelse, bound)

    def _value(self, element: Element | int, bound: dict[str, Any]) -> int:
        if isinstance(element, Element):
            return int(bound[element.slot.name][element.index])
        return element


class MeteredCpuSpace(CpuSpace):
    """One thread; tells its meter what each launch takes."""

    def __init__(self) -> None:
        super().__init__(1)
        self.meter = Meter()
        self.program = FROM_PYTHON

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        begin = time.perf_counter()
        super().parallel_for(n, kernel, *args, team=team)
        self.meter.add(self.program, kernel.name,
                       Work(1, max(0, n), time.perf_counter() - begin))

    def executable(self, program: Program) -> WalkedExecutable:
        return WalkedExecutable(self, program)


class TracedSpace(MeteredCpuSpace):
    """Tells its meter which sectors each launch reads and writes.

    A sector counts once for a launch, and once more if it is written: as if all that a launch
    reads stayed in a cache until the launch is done, and nothing until the next.  Scratch memory of
    teams, words of programs and scalars count nothing.

    Parameters
    ----------
    most_bytes : int
        Address space for arrays.  Memory that dies is given back, addresses are not.
    """

    def __init__(self, most_bytes: int = 1 << 38) -> None:
        super().__init__()
        sectors = most_bytes // SECTOR
        self._arena = _reserve(most_bytes)
        self._begin = address_of(np.frombuffer(self._arena, np.uint8, 1))
        self._end = self._begin + most_bytes
        self._next = 0
        self._marks = np.frombuffer(_reserve(sectors), np.int8, sectors)
        self._listed = np.frombuffer(_reserve(8 * sectors), np.int64, sectors)
        self._counts = np.zeros(COUNTS, np.int64)

    def empty(self, n: int, dtype: Any) -> Array:
        dtype = np.dtype(dtype)
        size = -(-max(1, n * dtype.itemsize) // PAGE) * PAGE
        place, self._next = self._next, self._next + size
        array = np.frombuffer(self._arena, dtype, n, place)
        weakref.finalize(array, self._arena.madvise, mmap.MADV_DONTNEED, place, size)
        return array

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        with order_is_free():
            CpuSpace.parallel_for(self, n, traced(kernel), *args, *map(self._place, args),
                                  self._marks, self._listed, self._counts, team=team)
        listed, read, written = map(int, self._counts)
        self.meter.add(self.program, kernel.name,
                       Work(1, max(0, n), 0.0, SECTOR * read, SECTOR * written))
        self._marks[self._listed[:listed]] = 0
        self._counts[:] = 0

    def _place(self, argument: Any) -> int:
        """Where an argument lies in traced memory, if it does."""
        if not isinstance(argument, np.ndarray):
            return UNTRACED
        address = address_of(argument)
        if not self._begin <= address < self._end or address % SECTOR:
            return UNTRACED
        return place_of(address - self._begin, argument.itemsize)


def _reserve(size: int) -> mmap.mmap:
    """Address space that takes memory only where it is touched."""
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)


class ProfiledExecutable:
    """A resident program that tells the meter after each run what its launches took."""

    def __init__(self, executable: Any, name: str, meter: Meter, wait: Callable[[], None]) -> None:
        self.executable, self.name, self.meter, self.wait = executable, name, meter, wait
        self.before: list[tuple[str, int, float]] = []

    def run(self, bindings: dict[str, Any], size: int) -> None:
        """Run, wait for the end, and account for what has been added to the profile."""
        self.executable.run(bindings, size)
        self.wait()
        after = self.executable.profile()
        before = self.before or [(name, 0, 0.0) for name, _, _ in after]
        for (_, count, start), (name, new_count, end) in zip(before, after, strict=True):
            self.meter.add(self.name, name.partition(" (")[0],
                           Work(new_count - count, 0, (end - start) / 1e3))
        self.before = after


def profiled_cuda_space(name: str) -> tuple[ExecutionSpace, Meter]:
    """A new space on the device `name` that tells a meter what each launch takes."""
    from portpart.backends.cuda.space import CudaSpace

    number = name.partition(":")[2]
    space, meter = CudaSpace(int(number) if number else None), Meter()
    space.profiling = True
    launch, compile_program = space.parallel_for, space.executable

    def parallel_for(n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        space.synchronize()
        begin = time.perf_counter()
        launch(n, kernel, *args, team=team)
        space.synchronize()
        meter.add(FROM_PYTHON, kernel.name, Work(1, max(0, n), time.perf_counter() - begin))

    def executable(program: Program) -> ProfiledExecutable:
        return ProfiledExecutable(compile_program(program), program.name, meter,
                                  space.synchronize)

    space.parallel_for = parallel_for  # type: ignore[method-assign]
    space.executable = executable  # type: ignore[method-assign]
    return space, meter
