"""The CPU space: NumPy arrays, kernels compiled by LLVM, one thread or many.

Results never depend on the number of threads.
"""

from __future__ import annotations

import struct
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from portpart.backends import programs
from portpart.backends.cpu.compile import compiled
from portpart.backends.cpu.driver_module import (
    ITEM_WEIGHT,
    MAX_ARGUMENTS,
    PARALLEL_WORK,
    STATE,
    raise_failure,
)
from portpart.backends.cpu.memory import allocate, available_threads, main_memory
from portpart.backends.cpu.program import CpuExecutable, launch_objects, run_with_threads
from portpart.backends.cpu.tasks import is_inside, results_of
from portpart.backends.language import Kernel
from portpart.errors import InputError, OutOfMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable, Sequence

    from numpy.typing import DTypeLike

    from portpart.backends.programs import Result


class CpuSpace(programs.ExecutionSpace):
    """Execution on the cores of this machine.

    Parameters
    ----------
    threads : int or None
        Threads for parallel loops. None, or a number that is too large, means all threads of Numba:
        the number of cores, or of the environment variable ``NUMBA_NUM_THREADS``.
    """

    kind = "cpu"
    widest_team = 1
    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        super().__init__()
        available = available_threads()
        if threads is not None and threads < 1:
            raise InputError(f"threads is {threads}; it must be at least 1")
        self.threads = min(threads or available, available)

    def empty(self, n: int, dtype: DTypeLike) -> np.ndarray:
        try:
            return allocate(n, dtype)
        except MemoryError as error:
            needed = n * np.dtype(dtype).itemsize / 2**20
            raise OutOfMemory(f"{needed:.0f} MiB of main memory could not be allocated") from error

    def full(self, n: int, value: float, dtype: DTypeLike) -> np.ndarray:
        result = self.empty(n, dtype)
        result.fill(value)
        return result

    def asarray(self, values: Any, dtype: DTypeLike | None = None) -> np.ndarray:
        if hasattr(values, "__cuda_array_interface__"):
            values = values.get() if hasattr(values, "get") else values.cpu()
        return np.ascontiguousarray(values, dtype)

    def to_host(self, array: programs.Array) -> np.ndarray:
        assert isinstance(array, np.ndarray)
        return array

    def synchronize(self) -> None:
        """Do nothing: all launches have finished when they return."""

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        if n <= 0:
            return
        args = kernel.flattened(args)
        weight = ITEM_WEIGHT[team]
        self.counters.launches += 1
        if self.threads == 1 or n * weight < PARALLEL_WORK:
            _launch(n, kernel, args, weight, 1)
        else:
            run_with_threads(self.threads, _launch, n, kernel, args, weight)

    def run_tasks(self, tasks: Sequence[Callable[[], Result]], max_concurrent: int,
                  ) -> Generator[Result, None, None]:
        threads = min(self.threads, max_concurrent, len(tasks))
        if threads <= 1 or is_inside():
            yield from super().run_tasks(tasks, max_concurrent)
            return

        def counted(task: Callable[[], Result]) -> tuple[Result, int, int]:
            before = self.counters.launches
            return task(), self.counters.launches - before, threading.get_ident()

        here = threading.get_ident()
        for result, launches, thread in results_of([partial(counted, task) for task in tasks],
                                                   threads):
            self.counters.launches += launches if thread != here else 0
            yield result

    def free_bytes(self) -> int | None:
        return main_memory()

    @property
    def num_compiled(self) -> int:
        return super().num_compiled + len(_functions)

    def executable(self, program: programs.Program) -> programs.Executable:
        return CpuExecutable(self, self.threads, program)


_pack = [struct.Struct(f"{7 + n}q").pack for n in range(MAX_ARGUMENTS + 1)]

_functions: dict[tuple[Hashable, ...], int] = {}
"""Address of the compiled function, by kernel and types of arguments."""


def _launch(n: int, kernel: Kernel, args: tuple[Any, ...], weight: int, workers: int) -> None:
    """Launch a kernel. Every step here is paid by each of many small launches."""
    key: list[Hashable] = [kernel]
    words: list[int] = []
    arrays = 0
    for argument in args:
        kind = type(argument)
        if kind is ndarray and programs.DATA_POINTER:
            if argument.ndim != 1 or not argument.flags.c_contiguous:
                programs.tag_of(argument)  # raises the error
            arrays |= 1 << len(words)
            key.append(argument.dtype)
            words.append(id(argument))
        elif kind is int:
            key.append(int)
            words.append(argument)
        else:
            key.append(programs.tag_of(argument))
            words.append(programs.word_of(argument))
    function = _functions.get(tuple(key)) or _compiled(kernel, key, args)
    count = len(words)
    try:
        packed = _pack[count](function, n, weight, workers, STATE, count, arrays, *words)
    except struct.error as error:
        raise InputError(f"kernel {kernel.name}: an integer argument is beyond 64 bits") from error
    if launch_objects(packed):
        raise_failure()


def _compiled(kernel: Kernel, key: list[Hashable], args: tuple[Any, ...]) -> int:
    if len(args) > MAX_ARGUMENTS:
        raise InputError(f"kernel {kernel.name}: more than {MAX_ARGUMENTS} arguments")
    function = compiled(kernel, tuple(map(programs.tag_of, args)))
    _functions[tuple(key)] = function
    return function
