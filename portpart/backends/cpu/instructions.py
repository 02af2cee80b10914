"""What the driver and its callers agree on: instructions of programs, and when threads pay."""

from __future__ import annotations

LAUNCH, JUMP, JUMP_IF_ZERO, LEAVE = 0, 1, 2, 3
FUNCTION, FIELDS = 1, 6
"""Words of one instruction: operation, function, row, weight of an item, flag, target.

The function is an address, or a negative number until it is compiled.
Rows and flags are positions in a table of packed words; the first word of a row is the address of
its work size, the word of a flag is the flag's address.  LEAVE returns to the caller, which goes on
behind it when the ranks have communicated.
"""

DONE, FAILED = 0, 1
"""What the driver's functions return.  A walk that has met LEAVE returns where to go on, which is
behind an instruction, and so more than either."""

MAX_ARGUMENTS = 63

ITEM_WEIGHT = {1: 1, 8: 8, 32: 32, 256: 2048}
"""Rough work of one item by the width of its team, in units of a light item."""

PARALLEL_WORK = 30_000
"""Work (items times their weight) below which a launch stays on the calling thread."""

CHUNK_WORK = 8_192
"""Work of one chunk: what a thread takes at a time."""

WORK_BEFORE_THREADS = 100_000_000
"""Work of larger launches that a process does on one thread before Numba is loaded.

It takes about half a second, as loading Numba does, so that no process takes much longer than twice
what the better choice takes.  It is counted, not timed: the same calls always go the same way.
"""

DRIVE, WORK, LOAD, COMPILE, DATA = 0, 1, 2, 3, 4
"""Words of the state: address of the parallel loop (0: not loaded), the work done without it,
addresses of the callbacks that load it and that compile a kernel, and how far behind its id an
ndarray object has the address of its data.
"""
