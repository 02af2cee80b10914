"""Numba's threads: how they wait, and who may use them."""

from __future__ import annotations

import os
import threading

import numba

_parallel_region = threading.Lock()
"""Numba's thread pools are not safe to enter from two threads: one parallel region at a time."""


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


class Workers:
    """Enters the parallel region with a number of threads; one thread needs no region.

    The number that the caller has set for Numba's own loops is put back in the end.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.before = threads

    def __enter__(self) -> int:
        if self.threads > 1:
            _parallel_region.acquire()
            self.before = numba.get_num_threads()
            if self.before != self.threads:
                numba.set_num_threads(self.threads)
        return self.threads

    def __exit__(self, *_: object) -> None:
        if self.threads > 1:
            if self.before != self.threads:
                numba.set_num_threads(self.before)
            _parallel_region.release()
