"""Memory and threads of the CPU space. Large blocks are kept when their arrays are freed, and
reused.

New memory costs a page fault per page on first access, which takes longer than the work of most
primitives: a sort of a million keys by one byte took 2.1 ms in used memory and 5 to 8 ms in new
memory, a scan of 10 million numbers 4 and 24 ms.
"""

from __future__ import annotations

import os
import sys
import threading
from bisect import bisect_left, insort
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends.programs import address_of
from portpart.errors import DeviceUnavailable

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

LEAST_BLOCK = 1 << 17
"""Minimum bytes of an array in a block; the C library reuses smaller memory."""

MOST_WASTE = 2
"""A kept block is used for arrays of at least half its size."""

SPARE = 6
"""A new block is longer than its array by one byte in this many, so that it fits a somewhat larger
array later. Memory that is never accessed needs only addresses.
"""

MOST_BLOCKS = 256
"""Maximum number of blocks that are kept."""

MOST_KEPT = 4 << 30
"""Maximum number of bytes that are kept; an eighth of the main memory if that is less."""


class BlockCache:
    """Freed blocks in the order of their sizes. Thread-safe.

    Parameters
    ----------
    limit : int
        Maximum number of bytes to keep; the block freed first is removed first.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.kept = 0
        self._free: list[tuple[int, int, np.ndarray]] = []  # size, time of freeing, memory
        self._time = 0
        # A garbage collection may end a lease while its own thread holds the lock.
        self._lock = threading.RLock()

    def empty(self, n: int, dtype: np.dtype) -> np.ndarray:
        """Return an array of `n` elements in a kept block, or in a new one."""
        return np.asarray(_Lease(self, self._take(n * dtype.itemsize), n, dtype))

    def keep(self, block: np.ndarray) -> None:
        """Keep a block that no array uses any more."""
        if block.nbytes > self.limit:
            return
        with self._lock:
            self._time += 1
            insort(self._free, (block.nbytes, self._time, block))
            self.kept += block.nbytes
            while self.kept > self.limit or len(self._free) > MOST_BLOCKS:
                self._remove(min(range(len(self._free)), key=lambda i: self._free[i][1]))

    def clear(self) -> None:
        """Return all kept memory to the system."""
        with self._lock:
            self._free.clear()
            self.kept = 0

    def _take(self, size: int) -> np.ndarray:
        with self._lock:
            position = bisect_left(self._free, (size,))
            if position < len(self._free) and self._free[position][0] <= MOST_WASTE * size:
                return self._remove(position)
        return np.empty(size + size // SPARE, np.uint8)

    def _remove(self, position: int) -> np.ndarray:
        size, _, block = self._free.pop(position)
        self.kept -= size
        return block


class _Lease:
    """Owner of a block while arrays use it; it is their base."""

    is_exclusive = True
    """No other object can write to the block."""

    def __init__(self, cache: BlockCache, block: np.ndarray, n: int, dtype: np.dtype) -> None:
        self.cache = cache
        self.block = block
        self.__array_interface__ = {
            "shape": (n,), "typestr": dtype.str, "version": 3, "data": (address_of(block), False),
        }

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # An argument: when Python ends, the names of this module may not exist any more.
        if not is_finalizing():
            self.cache.keep(self.block)


def main_memory() -> int | None:
    """Return the bytes of this machine's memory, or None if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


blocks = BlockCache(min(MOST_KEPT, (main_memory() or MOST_KEPT) // 8))
"""The cache of this process, which all CPU spaces share."""


def allocate(n: int, dtype: DTypeLike) -> np.ndarray:
    """Return an uninitialised array of `n` elements; raises MemoryError as NumPy does."""
    dtype = np.dtype(dtype)
    if n * dtype.itemsize < LEAST_BLOCK:
        return np.empty(n, dtype)
    try:
        return blocks.empty(n, dtype)
    except MemoryError:
        blocks.clear()
        return blocks.empty(n, dtype)


# The number of threads, determined before Numba is imported ------------------------------------


def available_threads() -> int:
    """Return the number of threads that Numba has or will have.

    Raises
    ------
    DeviceUnavailable
        If Numba's compilation is disabled.
    """
    config = getattr(sys.modules.get("numba"), "config", None)
    if config is not None:
        disabled, threads = config.DISABLE_JIT, config.NUMBA_NUM_THREADS
    else:
        disabled, threads = _number("NUMBA_DISABLE_JIT"), _number("NUMBA_NUM_THREADS")
    if disabled:
        raise DeviceUnavailable("kernels need Numba's compiler: unset NUMBA_DISABLE_JIT")
    return max(1, threads or _usable_cores())


def _number(variable: str) -> int:
    """Return the number in an environment variable; 0 for text, of which Numba warns."""
    try:
        return int(os.environ.get(variable, ""))
    except ValueError:
        return 0


def _usable_cores() -> int:
    """Return the number of cores that this process may use, counted as Numba does."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
