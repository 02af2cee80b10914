"""Progress of a partition call on a terminal: one line on stderr, gone when the call ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

Report = Callable[[str, int, int], None]


@contextmanager
def phase_display(quiet: bool, console: Console | None = None) -> Iterator[Report | None]:
    """Yield a callable ``(phase, level, num_levels)`` that draws, or None where nobody looks.

    Parameters
    ----------
    quiet
        True draws nothing, whatever stderr is.
    console
        Where to draw; by default stderr, if that is a terminal.
    """
    if quiet or (console is None and not (sys.stderr and sys.stderr.isatty())):
        yield None
        return
    # rich takes 0.1 s to import: only worth it when something is drawn
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TextColumn("{task.fields[place]:<14}"),
        TimeElapsedColumn(),
    )
    target = console or Console(stderr=True)
    with Progress(*columns, console=target, transient=True) as progress:
        task = progress.add_task("starting", total=None, place="")

        def report(phase: str, level: int, num_levels: int) -> None:
            # refinement walks from the coarsest level down to level 0; how many levels coarsening
            # will make nobody knows before
            total = num_levels if phase.endswith(("refinement", "finish", "done")) else None
            progress.update(
                task,
                description=phase,
                total=total,
                completed=num_levels - level,
                place=f"level {level} of {num_levels}" if num_levels else "",
            )

        yield report


@contextmanager
def counted(quiet: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callable ``(done, all)`` that draws a bar, or does nothing where nobody looks."""
    if quiet or not (sys.stderr and sys.stderr.isatty()):
        yield lambda done, asked: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, asked: progress.update(task, completed=done, total=asked)
