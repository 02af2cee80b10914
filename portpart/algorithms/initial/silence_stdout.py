"""Silence of C code: METIS prints to standard output where a side of a bisection stays empty."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_one_at_a_time = threading.RLock()

if hasattr(os, "register_at_fork"):  # a fork must not find it held by a thread that it has not
    os.register_at_fork(before=_one_at_a_time.acquire, after_in_parent=_one_at_a_time.release,
                        after_in_child=_one_at_a_time.release)


@contextmanager
def silenced_c_stdout() -> Iterator[None]:
    """Discard what C code prints by ``printf`` inside the block.

    The C library's variable `stdout` points elsewhere for that time, and no file descriptor
    changes: what Python's threads and other processes write arrives as ever.  Where the library
    has no such variable, as on Windows, nothing is done.
    """
    place = _stdout_of_c()
    if place is None:
        yield
        return
    with _one_at_a_time:
        before = place.value
        try:
            place.value = _nowhere() or before
            yield
        finally:
            place.value = before


@cache
def _stdout_of_c() -> Any:
    if sys.platform == "win32":
        return None
    library = ctypes.CDLL(None)
    if sys.platform == "darwin":
        return ctypes.c_void_p.in_dll(library, "__stdoutp")
    # Other libraries than GNU's keep it where it cannot be changed.
    known = hasattr(library, "gnu_get_libc_version")
    return ctypes.c_void_p.in_dll(library, "stdout") if known else None


@cache
def _nowhere() -> int | None:
    """A stream that is written nowhere; stays open."""
    opened = ctypes.CDLL(None).fopen
    opened.restype = ctypes.c_void_p
    stream: int | None = opened(os.fsencode(os.devnull), b"w")
    return stream
