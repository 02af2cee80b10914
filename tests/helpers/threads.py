"""Threads from the first launch on that is large enough, and kernels compiled by this process."""

from __future__ import annotations

from portpart.backends.cpu import helper
from portpart.backends.cpu.driver_module import WORK, WORK_BEFORE_THREADS, state


def use_threads_at_once() -> None:
    """Let this process have done enough work: tests of threads would test nothing else."""
    state[WORK] = WORK_BEFORE_THREADS


def compile_here() -> None:
    """Let no process compile beside this one.

    It would compile kernels that no test calls, on a core that has tests to run, and write them
    into whatever folder a later test has taken for the cache.
    """
    helper.queue = helper.Queue(usable=False)
