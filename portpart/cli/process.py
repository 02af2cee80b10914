"""The command line as a process, and its progress bar."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from portpart.cli import main

# The command line as a process: few collections at its start, and an end without a tear-down ----
#
# Both together save a quarter of the time of a small call.


NEW_OBJECTS = 300_000
"""Number of new objects before Python collects garbage: imports and compiled kernels make many
objects and little garbage.
"""

TORN_DOWN = "cupy", "mpi4py.MPI"
"""Modules that act when Python ends."""


def run() -> int:
    """Run the command line, and end the process if nothing must be torn down.

    Returns
    -------
    int
        The exit code, if Python itself must end.
    """
    gc.set_threshold(NEW_OBJECTS)
    code = main()
    if _nothing_left_to_do() and _flushed():
        atexit._run_exitfuncs()
        if _flushed():
            os._exit(code)
    return code


def _nothing_left_to_do() -> bool:
    """Whether nothing waits for the end: threads, tools that trace Python, CUDA, MPI."""
    threads = [each for each in threading.enumerate() if not each.daemon]
    monitoring = getattr(sys, "monitoring", None)
    watched = sys.gettrace() or sys.getprofile() or sys.flags.inspect or (
        monitoring and any(map(monitoring.get_tool, range(6))))
    return len(threads) == 1 and not watched and not any(map(sys.modules.get, TORN_DOWN))


def _flushed() -> bool:
    """Flush all output; return False if that fails, which Python reports at its end."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


# A bar of the command line, on stderr, removed when the command ends ---------------------------


@contextmanager
def counted(quiet: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callable ``(done, all)`` that draws a bar, or does nothing without a terminal."""
    if quiet or not (sys.stderr and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
