"""What the driver and Python share: a few words, among them addresses of functions to call back."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from portpart.backends.cpu.instructions import DATA
from portpart.backends.packing import DATA_POINTER

state = (ctypes.c_int64 * 5)()
"""What the driver reads and counts."""

state[DATA] = DATA_POINTER

STATE = ctypes.addressof(state)

_kept: list[Any] = []
"""The functions that C calls, which have to live as long as the driver."""

_failure = threading.local()
"""What a callback has raised: ctypes would drop it."""


def call_back(word: int, function: Callable[[int], int]) -> None:
    """Let the driver call a function, whose address becomes that word of the state.

    It gets and returns a number.  If it raises an exception it returns 0, upon which the driver
    ends; `raise_failure` raises it then.
    """
    def guarded(number: int) -> int:
        try:
            return function(number)
        except BaseException as problem:
            _failure.problem = problem
            return 0

    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(guarded)
    _kept.append(made)
    state[word] = ctypes.cast(made, ctypes.c_void_p).value or 0


def raise_failure() -> NoReturn:
    """Raise what a callback has raised inside the driver.

    Only Ctrl-C comes between a callback and what catches its exceptions.
    """
    raise _failure.__dict__.pop("problem", None) or KeyboardInterrupt
