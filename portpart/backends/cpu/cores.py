"""The number of threads, determined before Numba is imported."""

from __future__ import annotations

import os
import sys

from portpart.errors import DeviceUnavailable


def available_threads() -> int:
    """As many as Numba has or is going to have.

    Raises
    ------
    DeviceUnavailable
        If Numba is set not to compile.
    """
    config = getattr(sys.modules.get("numba"), "config", None)
    if config is not None:
        disabled, threads = config.DISABLE_JIT, config.NUMBA_NUM_THREADS
    else:
        disabled, threads = _number("NUMBA_DISABLE_JIT"), _number("NUMBA_NUM_THREADS")
    if disabled:
        raise DeviceUnavailable("kernels need Numba's compiler: unset NUMBA_DISABLE_JIT")
    return max(1, threads or _usable_cores())


def _number(variable: str) -> int:
    """The number that an environment variable says; 0 for none, of which Numba warns if it is."""
    try:
        return int(os.environ.get(variable, ""))
    except ValueError:
        return 0


def _usable_cores() -> int:
    """Cores that this process may use, counted as Numba does."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
