"""Progress of a call: one line on a terminal or below a notebook cell, removed at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from portpart.api.call_options import keywords_of, refuse_keyword
from portpart.errors import memory_errors

if TYPE_CHECKING:
    from rich.console import Console

Report = Callable[[str, int, int], None]

P = ParamSpec("P")
R = TypeVar("R")

LAST_PHASES = ("refinement", "finish", "done")
"""Phases from the coarsest level down to level 0.

During coarsening the number of levels is not known.
"""

BETWEEN_UPDATES = 0.1
"""Seconds between two updates in a notebook."""


def takes_progress(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a public function with a keyword `progress`: True draws progress, False means None.

    Memory errors of any library become `OutOfMemory`, and the error for an unknown keyword names
    the likely one.
    """
    return _drawing(function, phase_display)


def with_deferred_interrupts(function: Callable[P, R]) -> Callable[P, R]:
    """Do the same for a function that is called often and rarely has progress to report."""
    return _drawing(function, display_when_called)


def _drawing(function: Callable[P, R],
             display: Callable[[], AbstractContextManager[Report | None]]) -> Callable[P, R]:
    known = keywords_of(function)

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        if not known.issuperset(options):
            refuse_keyword(function, options)
        with memory_errors():
            if options.get("progress") is True:
                with display() as report:
                    return function(*args, **{**options, "progress": report})  # type: ignore[arg-type]
            if options.get("progress") is False:
                options["progress"] = None
            return function(*args, **options)

    return call


@contextmanager
def phase_display(quiet: bool = False, console: Console | None = None) -> Iterator[Report | None]:
    """Yield a callable ``(phase, level, num_levels)`` that draws.

    Without a terminal or notebook, yield None.

    Parameters
    ----------
    quiet
        True draws nothing.
    console
        Output; by default a notebook, or stderr if that is a terminal.
    """
    if quiet:
        yield None
    elif console is None and in_notebook():
        with _below_a_cell() as report:
            yield report
    elif console is None and not (sys.stderr and sys.stderr.isatty()):
        yield None
    else:
        with _on_terminal(console) as report:
            yield report


@contextmanager
def display_when_called() -> Iterator[Report]:
    """Yield a callable that draws as `phase_display` does, from its first call on."""
    with ExitStack() as stack:
        displays: list[Report | None] = []

        def report(phase: str, level: int, num_levels: int) -> None:
            if not displays:
                displays.append(stack.enter_context(phase_display()))
            (display,) = displays
            if display is not None:
                display(phase, level, num_levels)

        yield report


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _on_terminal(console: Console | None) -> Iterator[Report]:
    # rich takes 0.1 s to import, so it is imported only for drawing
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
            progress.update(task, description=phase, total=total_of(phase, num_levels),
                            completed=num_levels - level, place=place_of(level, num_levels))

        yield report


@contextmanager
def _below_a_cell() -> Iterator[Report]:
    """Draw one line of HTML and replace it, which all front ends support without widgets."""
    from IPython.display import HTML, display

    begin = shown_at = time.perf_counter()
    handle: Any = display(HTML(""), display_id=True)

    def report(phase: str, level: int, num_levels: int) -> None:
        nonlocal shown_at
        now = time.perf_counter()
        if now - shown_at >= BETWEEN_UPDATES:
            shown_at = now
            handle.update(HTML(line_of(phase, level, num_levels, now - begin)))

    try:
        yield report
    finally:
        handle.update(HTML(""))


def line_of(phase: str, level: int, num_levels: int, seconds: float) -> str:
    """Return a phase, a bar and the time as HTML."""
    from html import escape

    total = total_of(phase, num_levels)
    known = f' max="{total}" value="{num_levels - level}"' if total else ""
    return (f'{escape(phase)} <progress style="vertical-align:middle"{known}></progress> '
            f"{place_of(level, num_levels)} <small>{seconds:.1f} s</small>")


def total_of(phase: str, num_levels: int) -> int | None:
    """Return the number of steps of a phase, if it is known."""
    return num_levels if phase.endswith(LAST_PHASES) else None


def place_of(level: int, num_levels: int) -> str:
    """Return the current level as text."""
    return f"level {level} of {num_levels}" if num_levels else ""
