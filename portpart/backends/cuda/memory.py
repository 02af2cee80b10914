"""What CuPy's pool holds of a device's memory, and when it returns what is not in use.

The pool keeps the memory of freed arrays, and divides it among new ones that are smaller.  It
cannot join pieces that the device gave it one by one, and returns only those of which no part is in
use.  So when nearly all memory is held, much may be free and no large array fit anywhere.  What is
returned before that is not divided, and joined in what the device gives next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MUCH = 16
"""What the pool holds without use is much from this share of the device's memory on, 1 / MUCH."""

LARGE = 8192
"""An array is large from 1 / LARGE as many elements on as the device has bytes."""


class HeldMemory:
    """Memory of a device that a pool holds.

    Parameters
    ----------
    pool : callable
        Gives CuPy's pool, which a process may exchange for another.
    total : int
        Bytes that the device has.

    Attributes
    ----------
    much : int
        Bytes without use from which on they are returned.
    large : int
        Elements of an array from which on it is large.
    """

    def __init__(self, pool: Callable[[], Any], total: int) -> None:
        self._pool, self._half = pool, total // 2
        self.much, self.large = total // MUCH, total // LARGE

    def give_back(self) -> int:
        """Return to the device what is held without use, if that is much; how many bytes."""
        pool = self._pool()
        held = int(pool.total_bytes())
        # what is in use need not be known in most cases
        if held > self.much and pool.free_bytes() > self.much:
            pool.free_all_blocks()
        return held - int(pool.total_bytes())

    def make_place(self, size: int) -> None:
        """Do that before a large array is made with which more than half of the device is held."""
        if self._pool().total_bytes() + size > self._half:
            self.give_back()
