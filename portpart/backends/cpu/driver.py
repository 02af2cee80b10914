"""What runs kernels: two functions that LLVM compiles and that are kept like a kernel.

Kernels are compiled serially, as callbacks over a range of work items.  The driver calls them by
address: on the calling thread, or where there is much to do through the loop of `parallel`.

Both functions take packed words and return 0, or 1 if a callback has failed (`raise_failure`).  The
walk of a program that communicates returns where it goes on.
"""

from __future__ import annotations

import ctypes
from typing import Any

from portpart.backends.cpu.compile import loaded


def _text(name: str) -> str:
    from portpart.backends.cpu.driver_module import driver_text

    return driver_text(name)


def _functions() -> tuple[Any, Any]:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
    launch, walk = loaded("driver", _text, ("_launch", "_walk"))
    return kind(launch), kind(walk)


launch_objects, walk = _functions()
