"""Numba's threads: how they wait, and who may use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numba

_parallel_region = threading.Lock()
"""Numba's thread pools are not safe to enter from two threads: one parallel region at a time."""

_process = os.getpid()
"""The process that has the threads.  A fork of it has none, and GNU OpenMP ends it for asking."""


def start_threads() -> None:
    """Start Numba's threads so that they sleep, not spin, while they wait for work.

    OpenMP's threads spin by default.  On a machine with other work a spinning thread uses up its
    time slice, so that it does not run when it is needed: launches of 15 microseconds took 12 ms.
    The variable is read when the OpenMP library is loaded, which happens here unless someone else
    did it before; a choice of the user's stands.
    """
    name = "OMP_WAIT_POLICY"
    before = os.environ.get(name)
    os.environ[name] = before or "passive"
    try:
        numba.set_num_threads(numba.get_num_threads())
    finally:
        if before is None:
            del os.environ[name]


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
        before = numba.get_num_threads()
        if before == threads:
            work(*arguments, threads)
            return
        try:
            numba.set_num_threads(threads)
            work(*arguments, threads)
        finally:
            numba.set_num_threads(before)
