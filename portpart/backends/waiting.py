"""What goes on in a process while a thread waits for a device."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

Result = TypeVar("Result")

Away = Callable[[], AbstractContextManager[None]]
"""A context in which a thread does nothing, so that others of the process may run."""

_of_thread = threading.local()


def take_turns(away: Away) -> None:
    """Have the calling thread leave its turn to others while it waits for a device."""
    _of_thread.away = away


def takes_turns() -> bool:
    """Whether the calling thread leaves its turn to others while it waits."""
    return hasattr(_of_thread, "away")


def waited(wait: Callable[[], Result]) -> Result:
    """What a function returns that waits for a device."""
    if not takes_turns():
        return wait()
    with _of_thread.away():
        return wait()
