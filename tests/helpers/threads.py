"""Threads from the first launch on that is large enough, not only once loading Numba pays."""

from __future__ import annotations

from portpart.backends.cpu.driver_module import WORK, WORK_BEFORE_THREADS, state


def use_threads_at_once() -> None:
    """Let this process have done enough work: tests of threads would test nothing else."""
    state[WORK] = WORK_BEFORE_THREADS
