"""Ctrl-C while code is compiled or loaded, or something changes that must not stay half changed."""

from __future__ import annotations

import threading
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# The module `signal` looks for names of handlers, which takes ten times as long as the rest here.

_waits: list[Callable[..., None]] = []
"""What waits in the main thread: within it nothing else has to, which would take time."""


@contextmanager
def late_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block; a second one is obeyed at once.

    Python drops an exception that comes up in a finaliser, as LLVM's modules have, and a module
    whose import is broken off stays half made.
    """
    if _waits or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = getsignal(SIGINT)
    if not callable(handler):
        yield
        return
    waiting: list[FrameType | None] = []

    def wait(number: int, frame: FrameType | None) -> None:
        waiting.append(frame)
        if len(waiting) > 1:
            handler(number, frame)

    signal(SIGINT, wait)
    _waits.append(wait)
    try:
        yield
    finally:
        _waits.pop()
        signal(SIGINT, handler)
        if len(waiting) == 1:
            handler(SIGINT, waiting[0])
