"""The shortest input that goes wrong in the same way, by delta debugging (Zeller, 1999)."""

from __future__ import annotations

import time
from collections.abc import Callable


def shortest(data: bytes, fails: Callable[[bytes], bool], seconds: float = 30.0) -> bytes:
    """`data` without what can be left out, as far as the time allows; `fails(data)` holds."""
    deadline = time.monotonic() + seconds
    pieces = 2
    while len(data) > 1 and time.monotonic() < deadline:
        size = -(-len(data) // pieces)
        for begin in range(0, len(data), size):
            shorter = data[:begin] + data[begin + size :]
            if time.monotonic() < deadline and fails(shorter):
                data, pieces = shorter, max(2, pieces - 1)
                break
        else:
            if size == 1:
                break
            pieces = min(len(data), 2 * pieces)
    return data
