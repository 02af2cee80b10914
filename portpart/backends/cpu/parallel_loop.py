"""The one parallel loop of the CPU space, compiled by Numba, whose threads it has.

`drive` runs any kernel on all threads by its address.  Importing this module takes as long as
importing Numba.
"""

from __future__ import annotations

import os

import numba
from numba import prange

from portpart.backends.cpu.numba_cache import parallel_function
from portpart.backends.cpu.words import call_chunk, fetch_add_word, new_word, store_word


def _start_threads() -> None:
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


def drive(function: int, row: int, count: int, chunk: int, workers: int) -> None:
    """Run the callback for all items; threads take chunks as they become free."""
    taken = new_word()
    store_word(taken, 0)
    for _ in prange(workers):
        while True:
            start = fetch_add_word(taken, 1) * chunk
            if start >= count:
                break
            call_chunk(function, start, min(start + chunk, count), row)


_start_threads()  # before the loop is loaded, which would start them its own way
loop = parallel_function(drive, "void(int64, int64, int64, int64, int64)")
"""It as a C function."""
