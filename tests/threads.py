"""Threads from the first launch on that is large enough, not only once loading Numba pays."""

from __future__ import annotations

from portpart.backends.cpu.callbacks import state
from portpart.backends.cpu.instructions import WORK, WORK_BEFORE_THREADS


def use_threads_at_once() -> None:
    """Let this process have done enough work: tests of threads would test nothing else."""
    state[WORK] = WORK_BEFORE_THREADS
