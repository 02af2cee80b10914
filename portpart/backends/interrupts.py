"""Ctrl-C while code is compiled or loaded, or something changes that must not stay half changed."""

from __future__ import annotations

import threading
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]
from collections.abc import Callable
from contextlib import ContextDecorator
from types import FrameType
from typing import Any

# The module `signal` looks for names of handlers, which takes ten times as long as the rest here.

_waits: list[Callable[..., None]] = []
"""What waits in the main thread: within it nothing else has to, which would take time."""


class late_interrupts(ContextDecorator):  # noqa: N801 - like those of contextlib
    """Let Ctrl-C wait for the end of the block; a second one is obeyed at once.

    Python drops an exception that comes up in a finaliser, as LLVM's modules have, and a module
    whose import is broken off stays half made.
    """

    def __init__(self) -> None:
        self._handler: Any = None

    def __enter__(self) -> None:
        self._waiting: list[FrameType | None] = []  # of this block alone
        if _waits or threading.current_thread() is not threading.main_thread():
            return
        handler = getsignal(SIGINT)
        if callable(handler):
            self._handler = handler
            signal(SIGINT, self._wait)
            _waits.append(self._wait)

    def __exit__(self, *_: object) -> None:
        handler, self._handler = self._handler, None
        if handler is None:
            return
        _waits.pop()
        signal(SIGINT, handler)
        if len(self._waiting) == 1:
            handler(SIGINT, self._waiting[0])

    def _wait(self, number: int, frame: FrameType | None) -> None:
        self._waiting.append(frame)
        if len(self._waiting) > 1:
            self._handler(number, frame)
