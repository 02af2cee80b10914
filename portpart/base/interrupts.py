"""Signals that arrive while code is imported or compiled, or while a session changes.

Python calls the handler of a signal between any two instructions of the main thread, and the
handler of Ctrl-C raises an exception there. A package whose import is interrupted may never work
again: NumPy and Numba cannot be imported a second time.
"""

from __future__ import annotations

import os
from _signal import SIGINT, getsignal, signal, valid_signals  # type: ignore[import-not-found]
from contextlib import ContextDecorator
from types import FrameType
from typing import Any

# The module `signal` searches names of handlers, which takes ten times as long as the rest here.


class late_signals(ContextDecorator):  # noqa: N801 - like those of contextlib
    """Delay signals until the end of the block; then each is handled once, however often it came.

    It is for work that takes a second or two and must be done completely: imports, compiling,
    loading. Only handlers that are Python functions are delayed. Threads other than the main one
    run none, and a process forked inside the block has the previous handlers.
    """

    numbers: tuple[int, ...] = tuple(sorted(valid_signals()))
    all_wait = True

    def __enter__(self) -> None:
        self._before: dict[int, Any] = {}
        self._waiting: dict[int, FrameType | None] = {}
        self._process = os.getpid()
        self._on = False
        if self._is_inside(getsignal(SIGINT)):
            return
        try:
            for number in self.numbers:
                if callable(handler := getsignal(number)):
                    self._before[number] = handler
                    signal(number, self._wait)
            self._on = True
        except ValueError:  # not the main thread
            self._before.clear()

    def __exit__(self, *_: object) -> None:
        self._on = False
        for number, handler in self._before.items():
            signal(number, handler)
        if self._waiting:
            self._handle(list(self._waiting.items()))

    def _is_inside(self, handler: Any) -> bool:
        """Whether a block around this one already delays as many signals."""
        block = getattr(handler, "__self__", None)
        return (isinstance(block, late_signals) and block._is_on()
                and (block.all_wait or not self.all_wait))

    def _is_on(self) -> bool:
        return self._on and self._process == os.getpid()

    def _handle(self, signals: list[tuple[int, FrameType | None]]) -> None:
        """Run the handlers of all these signals, even if one raises an exception."""
        (number, frame), *others = signals
        try:
            self._before[number](number, frame)
        finally:
            if others:
                self._handle(others)

    def _wait(self, number: int, frame: FrameType | None) -> None:
        """Record a signal in place of its handler; outside the block, call the handler."""
        if number in self._waiting and not self.all_wait:
            self._on = False
            self._waiting.clear()
        if self._is_on():
            self._waiting.setdefault(number, frame)
        else:
            self._before[number](number, frame)


class late_interrupts(late_signals):  # noqa: N801
    """Delay Ctrl-C until the end of the block; a second one takes effect at once.

    It is for work that may take long, and undoes its beginning.
    """

    numbers = (SIGINT,)
    all_wait = False
