"""Threads of the CPU space: those of Numba, which is loaded when there is enough work.

Loading Numba takes longer than partitioning a mesh of 100,000 vertices. So the driver works on one
thread until it has done so much work (`WORK_BEFORE_THREADS`) that loading is worth it; then it
calls `_load`.
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
"""Numba's thread pools must not be entered from two threads: one parallel region at a time."""

_process = os.getpid()
"""The process that has the threads. A fork has none; GNU OpenMP ends it on request of some."""

_before: list[int] = []
"""Number of threads that the caller has set for Numba's own loops, while another number is set."""


def run_with_threads(threads: int, work: Callable[..., Result], *arguments: Any) -> Result:
    """Return ``work(*arguments, threads)``, called inside the parallel region; one thread needs
    none.

    A process made by fork works on its only thread. Afterwards the number that the caller has set
    for Numba's own loops is restored. The lock is acquired by a plain `with`, which an interrupt
    cannot break.
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
