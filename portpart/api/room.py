"""What can be known to be too much for a space before any work."""

from __future__ import annotations

from portpart.algorithms.refinement.state import Sizes
from portpart.api.memory_model import readable, refining_bytes
from portpart.backends.interface import ExecutionSpace
from portpart.errors import OutOfMemory

ASKED_FROM = 2**28
"""Less than so many bytes are taken without asking what is free."""


def check_room(space: ExecutionSpace, k: int) -> None:
    """Raise if the arrays that every call has for k blocks exceed all memory."""
    needed = refining_bytes(Sizes(0, 0, k))
    if needed <= ASKED_FROM:
        return
    free = space.free_bytes()
    if free is not None and needed > free:
        raise OutOfMemory(f"{k} blocks take {readable(needed)}, whatever the graph, and "
                          f"{space.name} has {readable(free)}")
