"""The threads of the CPU space: those of Numba, which is loaded when there is enough to do.

Loading Numba takes longer than dividing a mesh of 100,000 vertices.  So the driver works on one
thread until it has done so much (`WORK_BEFORE_THREADS`) that loading pays; then it calls `_load`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from portpart.backends.cpu.driver_module import DRIVE, LOAD, call_back, state
from portpart.base.interrupts import late_signals

Result = TypeVar("Result")

_parallel_region = threading.Lock()
"""Numba's thread pools are not safe to enter from two threads: one parallel region at a time."""

_process = os.getpid()
"""The process that has the threads.  A fork of it has none, and GNU OpenMP ends it for asking."""

_before: list[int] = []
"""Number of threads that the caller has set for Numba's own loops, while it is another one."""


def run_with_threads(threads: int, work: Callable[..., Result], *arguments: Any) -> Result:
    """What ``work(*arguments, threads)`` returns inside the parallel region; one thread needs none.

    A process made by fork works on its only thread.
    The number that the caller has set for Numba's own loops is put back in the end.  The lock is
    taken by a plain `with`, which an interrupt cannot tear apart.
    """
    if threads == 1 or os.getpid() != _process:
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
    """Let Numba's loops run on this many threads until the parallel region is left."""
    numba = sys.modules["numba"]
    before = numba.get_num_threads()
    if before != threads:
        _before.append(before)
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def _load(threads: int) -> int:
    """Load the parallel loop for the driver, inside the parallel region; returns its address."""
    with late_signals():
        from portpart.backends.cpu.parallel_loop import loop

    _choose(threads)
    assert loop.address is not None
    state[DRIVE] = loop.address
    return state[DRIVE]


call_back(LOAD, _load)
