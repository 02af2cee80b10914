"""The CPU space: NumPy arrays, kernels compiled by Numba, one thread or many.

Results never depend on the number of threads.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from portpart.backends.interface import Array, Executable, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.packing import address_of, tag_of, word_of
from portpart.backends.program import Program
from portpart.errors import InputError, OutOfMemory

ITEM_WEIGHT = {1: 1, 8: 8, 32: 32, 256: 2048}
"""Rough work of one item by the width of its team, in units of a light item."""

_parallel_region = threading.Lock()
"""Numba's thread pools are not safe to enter from two threads: one parallel region at a time."""


class CpuSpace(ExecutionSpace):
    """Execution on the cores of this machine.

    Parameters
    ----------
    threads : int or None
        Threads for parallel loops; None takes all that Numba offers.
    """

    kind = "cpu"
    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        super().__init__()
        import numba

        available = numba.config.NUMBA_NUM_THREADS
        if threads is not None and not 1 <= threads <= available:
            raise InputError(
                f"threads must be between 1 and {available}, not {threads}; for more, set the "
                "environment variable NUMBA_NUM_THREADS before Python starts"
            )
        self.threads = threads or available

    def empty(self, n: int, dtype: Any) -> Array:
        return _allocated(np.empty, n, dtype)

    def full(self, n: int, value: Any, dtype: Any) -> Array:
        if value == 0:
            return _allocated(np.zeros, n, dtype)
        result = self.empty(n, dtype)
        result.fill(value)
        return result

    def asarray(self, values: Any, dtype: Any = None) -> Array:
        if hasattr(values, "__cuda_array_interface__"):
            values = values.get() if hasattr(values, "get") else values.cpu()
        return np.ascontiguousarray(values, dtype)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def owns(self, array: Any) -> bool:
        return isinstance(array, np.ndarray)

    def synchronize(self) -> None:
        """All launches have finished when they return."""

    def sort_keys(self, keys: Array) -> tuple[Array, Array]:
        from portpart.primitives.sort import radix_sort_keys

        return radix_sort_keys(self, keys)

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        if n <= 0:
            return
        from portpart.backends import cpu_driver
        from portpart.backends.cpu_compile import compiled

        row = np.array([0, *map(word_of, args), n], np.int64)
        base = address_of(row)
        row[0] = base + 8 * (len(row) - 1)
        function = compiled(kernel, tuple(map(tag_of, args)))
        weight = ITEM_WEIGHT[team]
        self.counters.launches += 1
        parallel = n * weight >= cpu_driver.PARALLEL_WORK
        with Workers(self.threads if parallel else 1) as workers:
            cpu_driver.launch(function, base, weight, workers)

    def executable(self, program: Program) -> Executable:
        from portpart.backends.cpu_program import CpuExecutable

        return CpuExecutable(self, program)


class Workers:
    """Enters the parallel region with a number of threads; one thread needs no region."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __enter__(self) -> int:
        if self.threads > 1:
            import numba

            _parallel_region.acquire()
            numba.set_num_threads(self.threads)
        return self.threads

    def __exit__(self, *_: object) -> None:
        if self.threads > 1:
            _parallel_region.release()


def _allocated(allocate: Any, n: int, dtype: Any) -> np.ndarray:
    try:
        return allocate(n, dtype)  # type: ignore[no-any-return]
    except MemoryError as error:
        needed = n * np.dtype(dtype).itemsize
        raise OutOfMemory(f"{needed / 2**20:.0f} MiB of main memory are not to be had") from error
