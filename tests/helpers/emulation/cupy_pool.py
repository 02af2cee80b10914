"""A model of CuPy's memory pool on a device of limited memory, without a device."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

UNIT = 512
"""Bytes that sizes are rounded up to."""


class Full(MemoryError):
    """The device has no more memory."""


@dataclass(eq=False)
class Chunk:
    """A part of a piece of memory that the device gave at once, with its neighbours."""

    size: int
    before: Chunk | None = None
    behind: Chunk | None = None
    is_free: bool = False


class Pool:
    """The smallest free chunk that is large enough is divided; free neighbours are joined.

    Attributes
    ----------
    limit, held, used : int
        Bytes of the device, and of these those that the pool holds, and those in use.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.held, self.used = limit, 0, 0
        self._free: list[tuple[int, int, Chunk]] = []  # by size; the number keeps them apart
        self._number = 0

    def total_bytes(self) -> int:
        return self.held

    def free_bytes(self) -> int:
        return self.held - self.used

    def free_all_blocks(self) -> None:
        """Return the pieces of which nothing is in use."""
        whole = [each for each in self._free if each[2].before is None and each[2].behind is None]
        self._free = [each for each in self._free if each not in whole]
        self.held -= sum(size for size, *_ in whole)

    def malloc(self, size: int) -> Chunk:
        size = max(1, -(-size // UNIT)) * UNIT
        place = bisect.bisect_left(self._free, size, key=lambda each: each[0])
        if place < len(self._free):
            chunk = self._free.pop(place)[2]
        else:
            if self.held + size > self.limit:
                self.free_all_blocks()
            if self.held + size > self.limit:
                raise Full(f"{size} are needed, {self.limit - self.held} are left on the device "
                           f"and {self.free_bytes()} free in the pool")
            self.held += size
            chunk = Chunk(size)
        if chunk.size > size:
            rest = Chunk(chunk.size - size, chunk, chunk.behind)
            if rest.behind is not None:
                rest.behind.before = rest
            chunk.size, chunk.behind = size, rest
            self._keep(rest)
        chunk.is_free = False
        self.used += size
        return chunk

    def free(self, chunk: Chunk) -> None:
        self.used -= chunk.size
        if chunk.behind is not None and chunk.behind.is_free:
            chunk = self._joined(chunk, chunk.behind)
        if chunk.before is not None and chunk.before.is_free:
            chunk = self._joined(chunk.before, chunk)
        self._keep(chunk)

    def _joined(self, chunk: Chunk, behind: Chunk) -> Chunk:
        self._free = [each for each in self._free if each[2] is not chunk and each[2] is not behind]
        chunk.size += behind.size
        chunk.behind = behind.behind
        if chunk.behind is not None:
            chunk.behind.before = chunk
        return chunk

    def _keep(self, chunk: Chunk) -> None:
        chunk.is_free = True
        self._number += 1
        bisect.insort(self._free, (chunk.size, self._number, chunk))
