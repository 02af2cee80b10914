"""A bar of the command line, on stderr, gone when the command ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counted(quiet: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callable ``(done, all)`` that draws a bar, or does nothing without a terminal."""
    if quiet or not (sys.stderr and sys.stderr.isatty()):
        yield lambda done, asked: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, asked: progress.update(task, completed=done, total=asked)
