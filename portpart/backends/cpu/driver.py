"""The one parallel loop of the CPU space, and the walker of programs.

Kernels are compiled serially, as callbacks over a range of work items.  `drive` runs any of them on
all threads by its address, so only this file pays for compiling a parallel loop.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange

from portpart.backends.cpu.driver_cache import compiled_by_numba
from portpart.backends.cpu.threads import start_threads
from portpart.backends.cpu.words import (
    STACK_WORDS,
    call_chunk,
    fetch_add_word,
    load_word,
    stack_words,
    store_word,
)

LAUNCH, JUMP, JUMP_IF_ZERO = 0, 1, 2
FIELDS = 6
"""Words of one instruction: operation, function, row, weight of an item, flag, target."""

ITEM_WEIGHT = {1: 1, 8: 8, 32: 32, 256: 2048}
"""Rough work of one item by the width of its team, in units of a light item."""

PARALLEL_WORK = 30_000
"""Work (items times their weight) below which a launch stays on the calling thread."""

CHUNK_WORK = 8_192
"""Work of one chunk: what a thread takes at a time."""

MAX_ARGUMENTS = STACK_WORDS - 1

start_threads()  # before the parallel loop below is loaded, which would start them its own way


def at_once(signature: str, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is declared, or load it from the cache."""

    def declare(function: Callable[..., Any]) -> Any:
        return compiled_by_numba(function, signature, parallel)

    return declare


@at_once("void(int64, int64, int64, int64, int64)", parallel=True)
def drive(function: int, row: int, count: int, chunk: int, workers: int) -> None:
    """Run the callback for all items; threads take chunks as they become free."""
    taken = stack_words()
    store_word(taken, 0)
    for _ in prange(workers):
        while True:
            start = fetch_add_word(taken, 1) * chunk
            if start >= count:
                break
            call_chunk(function, start, min(start + chunk, count), row)


@at_once("void(int64, int64, int64, int64, int64)")
def launch(function: int, row: int, count: int, weight: int, workers: int) -> None:
    """Run one kernel on the packed arguments at `row`, on one thread if there is little to do."""
    if count <= 0:
        return
    if workers == 1 or count * weight < PARALLEL_WORK:
        call_chunk(function, 0, count, row)
        return
    chunk = max(1, min(CHUNK_WORK // weight, count // (4 * workers)))
    drive(function, row, count, chunk, workers)


@at_once("void(int64, int64, int64, int64, int64, int64, int64, int64)")
def launch_objects(
    function: int, words: int, length: int, arrays: int, data_pointer: int, count: int,
    weight: int, workers: int
) -> None:
    """Run one kernel on the argument `words`, among which are the ids of ndarray objects.

    Bit i of `arrays` says that word i is such an id and stands for the address of its data, which
    the object holds at `data_pointer` bytes from its beginning.
    """
    row = stack_words()
    for i in range(length):
        word = load_word(words + 8 * i)
        if (arrays >> i) & 1:
            word = load_word(word + data_pointer)
        store_word(row + 8 * (i + 1), word)
    launch(function, row, count, weight, workers)


@at_once("void(int64[::1], int64, int64)")
def walk(code: np.ndarray, table: int, workers: int) -> None:
    """Run a program's instructions from first to last, following its jumps.

    Rows and flags are positions in the packed words at the address `table`; the first word of a row
    is the address of its work size, the word of a flag is the flag's address.
    """
    position = 0
    while position < code.size:
        operation = code[position]
        following = position + FIELDS
        if operation == LAUNCH:
            row = table + 8 * code[position + 2]
            count = load_word(load_word(row))
            launch(code[position + 1], row, count, code[position + 3], workers)
        elif operation == JUMP or load_word(load_word(table + 8 * code[position + 4])) == 0:
            following = code[position + 5]
        position = following
