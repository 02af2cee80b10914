"""The threads of the CPU space: those of Numba, which is loaded when there is enough to do.

Loading Numba takes longer than dividing a mesh of 100,000 vertices.  So the driver works on one
thread until it has done so much (`WORK_BEFORE_THREADS`) that loading pays; then it calls `_load`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from portpart.backends.cpu.callbacks import called_back, state
from portpart.backends.cpu.instructions import DRIVE, LOAD
from portpart.backends.interrupts import late_interrupts
from portpart.errors import DeviceUnavailable

_parallel_region = threading.Lock()
"""Numba's thread pools are not safe to enter from two threads: one parallel region at a time."""

_process = os.getpid()
"""The process that has the threads.  A fork of it has none, and GNU OpenMP ends it for asking."""

_before: list[int] = []
"""Number of threads that the caller has set for Numba's own loops, while it is another one."""


def available_threads() -> int:
    """As many as Numba has or is going to have.

    Raises
    ------
    DeviceUnavailable
        If Numba is told not to compile.
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
    """The number that an environment variable says; 0 for none, of which Numba warns if it is."""
    try:
        return int(os.environ.get(variable, ""))
    except ValueError:
        return 0


def _usable_cores() -> int:
    """Cores that this process may use, counted as Numba does."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_with_threads(threads: int, work: Callable[..., None], *arguments: Any) -> None:
    """Call ``work(*arguments, threads)`` inside the parallel region; one thread needs none.

    A process made by fork works on its only thread.
    The number that the caller has set for Numba's own loops is put back in the end.  The lock is
    taken by a plain `with`, which an interrupt cannot tear apart.
    """
    if threads == 1 or os.getpid() != _process:
        work(*arguments, 1)
        return
    with _parallel_region:
        try:
            if state[DRIVE]:
                _choose(threads)
            work(*arguments, threads)
        finally:
            if _before:
                sys.modules["numba"].set_num_threads(_before.pop())


def _choose(threads: int) -> None:
    """Let Numba's loops run on so many threads until the parallel region is left."""
    numba = sys.modules["numba"]
    before = numba.get_num_threads()
    if before != threads:
        _before.append(before)
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


@called_back(LOAD)
def _load(threads: int) -> int:
    """Load the parallel loop for the driver, inside the parallel region; returns its address."""
    with late_interrupts():
        from portpart.backends.cpu.parallel_loop import loop

    _choose(threads)
    state[DRIVE] = loop.address
    return state[DRIVE]
