"""The one parallel loop of the CPU space, and the walker of programs.

Kernels are compiled serially, as callbacks over a range of work items.  `drive` runs any of them on
all threads by its address, so only this file pays for compiling a parallel loop.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit, prange

from portpart.backends.cpu_words import call_chunk, fetch_add_word, load_word

LAUNCH, JUMP, JUMP_IF_ZERO = 0, 1, 2
FIELDS = 6
"""Words of one instruction: operation, function, row, weight of an item, flag address, target."""

PARALLEL_WORK = 30_000
"""Work (items times their weight) below which a launch stays on the calling thread."""

CHUNK_WORK = 8_192
"""Work of one chunk: what a thread takes at a time."""


@njit("void(int64, int64, int64, int64, int64)", cache=True, nogil=True, parallel=True)
def drive(function: int, row: int, count: int, chunk: int, workers: int) -> None:
    """Run the callback for all items; threads take chunks as they become free."""
    taken = np.zeros(1, np.int64)
    address = taken.ctypes.data
    for _ in prange(workers):
        while True:
            start = fetch_add_word(address, 1) * chunk
            if start >= count:
                break
            call_chunk(function, start, min(start + chunk, count), row)


@njit("void(int64, int64, int64, int64)", cache=True, nogil=True)
def launch(function: int, row: int, weight: int, workers: int) -> None:
    """Run one kernel; its work size is read from the address in the first word of `row`."""
    count = load_word(load_word(row))
    if count <= 0:
        return
    if workers == 1 or count * weight < PARALLEL_WORK:
        call_chunk(function, 0, count, row)
        return
    chunk = max(1, min(CHUNK_WORK // weight, count // (4 * workers)))
    drive(function, row, count, chunk, workers)


@njit("void(int64[::1], int64)", cache=True, nogil=True)
def walk(code: np.ndarray, workers: int) -> None:
    """Run a program's instructions from first to last, following its jumps."""
    position = 0
    while position < code.size:
        operation = code[position]
        following = position + FIELDS
        if operation == LAUNCH:
            launch(code[position + 1], code[position + 2], code[position + 3], workers)
        elif operation == JUMP or load_word(code[position + 4]) == 0:
            following = code[position + 5]
        position = following
