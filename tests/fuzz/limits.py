"""Limits of time and memory on what a case does."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType


class TooSlow(BaseException):
    """Not an Exception, so that nothing on the way takes it for an error of its own."""


@contextlib.contextmanager
def at_most_seconds(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in the code inside after that many seconds."""
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def limit_memory(room: int) -> None:
    """Let this process map `room` bytes more than it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + room
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
