"""`progress=True` draws where somebody looks, is gone at the end, and costs nothing else."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import portpart
from portpart.api.progress import line_of, phase_display

GRID = portpart.generators.grid_2d(20, 20)
OLD = [vertex // 200 for vertex in range(400)]

HIDE_CURSOR, SHOW_CURSOR, ERASE_LINE = "\x1b[?25l", "\x1b[?25h", "\x1b[2K"

CALLS: dict[str, Callable[..., Any]] = {
    "partition": lambda **how: portpart.partition(GRID, 4, **how),
    "repartition": lambda **how: portpart.repartition(GRID, OLD, 2, **how),
    "map_processes": lambda **how: portpart.map_processes(GRID, "2:2", "1:10", **how),
    "Session": lambda **how: portpart.Session(GRID, 4, **how),
    "apply": lambda **how: round_of(portpart.Session(GRID, 4), "full", **how),
    "cycle": lambda **how: round_of(portpart.Session(GRID, 4), "cycle", **how),
}


def round_of(session: portpart.Session, effort: str, **how: Any) -> portpart.Session:
    """A session after a round in which an edge comes in."""
    batch = session.batch()
    batch.insert_edges([0], [399])
    session.apply(batch, effort, **how)
    return session


class Screen(io.StringIO):
    """What a terminal is sent."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return Screen()


def is_clean(text: str) -> bool:
    """Whether what was drawn is gone, and the cursor is back."""
    last = max(text.rfind(word) for word in ("starting", "coarsening", "refinement", "finish",
                                             "done"))
    return text.rfind(SHOW_CURSOR) > text.rfind(HIDE_CURSOR) and text.rfind(ERASE_LINE) > last


@pytest.mark.parametrize("name", CALLS)
def test_a_call_draws_on_a_terminal_and_leaves_it_clean(name: str, screen: Screen) -> None:
    with redirect_stderr(screen):
        result = CALLS[name](progress=True)
    text = screen.getvalue()
    assert "done" in text or "finish" in text
    assert HIDE_CURSOR in text
    assert is_clean(text)
    assert (result.part == CALLS[name]().part).all()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wanted", [False, None])
def test_nothing_is_drawn_unless_asked_for(name: str, wanted: Any, screen: Screen) -> None:
    with redirect_stderr(screen):
        CALLS[name](progress=wanted)
    assert not screen.getvalue()


@pytest.mark.parametrize("name", CALLS)
def test_levels_are_some_of_those_there_are_and_the_end_is_at_the_finest(name: str) -> None:
    told: list[tuple[str, int, int]] = []
    CALLS[name](progress=lambda *each: told.append(each))
    assert all(0 <= level < levels for _, level, levels in told)
    assert told[-1][:2] in (("done", 0), ("finish", 0))


def test_a_round_that_looks_around_its_edits_draws_nothing(screen: Screen) -> None:
    session = portpart.Session(GRID, 4)
    with redirect_stderr(screen):
        round_of(session, "local", progress=True)
    assert not screen.getvalue()


def test_a_session_tells_each_call_what_it_does_itself() -> None:
    first: list[str] = []
    later: list[str] = []
    session = portpart.Session(GRID, 4, progress=lambda *told: first.append(told[0]))
    assert {"coarsening", "refinement", "done"} <= set(first)
    told = len(first)
    round_of(session, "cycle")
    round_of(session, "full", progress=lambda *told: later.append(told[0]))
    assert len(first) == told
    assert {"coarsening", "refinement", "finish"} <= set(later)


def test_a_round_that_progress_breaks_off_changes_nothing() -> None:
    def stop(phase: str, level: int, levels: int) -> None:
        raise KeyboardInterrupt

    session, untouched = portpart.Session(GRID, 4), portpart.Session(GRID, 4)
    with pytest.raises(KeyboardInterrupt):
        round_of(session, "full", progress=stop)
    with pytest.raises(portpart.InputError, match="progress is 3"):
        round_of(session, "local", progress=3)
    assert session.graph().num_edges == GRID.num_edges
    assert (session.part == untouched.part).all()
    assert (round_of(session, "full").part == round_of(untouched, "full").part).all()


def test_nothing_is_drawn_where_stderr_is_a_file() -> None:
    with redirect_stderr(io.StringIO()) as file:
        CALLS["partition"](progress=True)
    assert not file.getvalue()


def test_a_call_that_is_refused_leaves_the_terminal_clean(screen: Screen) -> None:
    with redirect_stderr(screen), pytest.raises(portpart.InputError):
        portpart.partition(GRID, 0, progress=True)
    assert is_clean(screen.getvalue())


def interrupted(**options: Any) -> None:
    """Draw, and be interrupted."""
    with phase_display(**options) as report:
        assert report is not None
        report("coarsening", 0, 1)
        raise KeyboardInterrupt


def test_an_interrupt_leaves_the_terminal_clean(screen: Screen) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(console=Console(file=screen, force_terminal=True))
    assert is_clean(screen.getvalue())


def test_warnings_still_name_the_line_of_the_caller() -> None:
    with pytest.warns(UserWarning, match="imbalance=3") as caught:
        portpart.partition(GRID, 2, imbalance=3, progress=True)
    assert caught[0].filename == __file__


def test_without_progress_nothing_that_draws_is_imported() -> None:
    code = ("import sys, portpart; portpart.partition([(0, 1)], 2, progress=False);"
            "print({'rich', 'IPython'} & set(sys.modules))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


class Handle:
    """What was shown below a cell, one after the other."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, text: str) -> None:
        self.shown.append(text)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Handle:
    """Stands in for IPython in a kernel."""
    handle = Handle()
    python, display = ModuleType("IPython"), ModuleType("IPython.display")
    python.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.HTML = str  # type: ignore[attr-defined]
    display.display = lambda _, display_id: handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("portpart.api.progress.BETWEEN_UPDATES", 0)
    return handle


def test_notebooks_show_one_line_that_is_gone_at_the_end(notebook: Handle) -> None:
    CALLS["partition"](progress=True)
    *lines, last = notebook.shown
    assert any("coarsening" in line for line in lines)
    assert any("<progress" in line for line in lines)
    assert not last


def test_an_interrupt_clears_the_line_of_a_notebook(notebook: Handle) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not notebook.shown[-1]


def test_lines_tell_how_far_a_phase_is() -> None:
    assert 'max="4" value="3"' in line_of("refinement", 1, 4, 0.5)
    assert "level 1 of 4" in line_of("refinement", 1, 4, 0.5)
    assert "max=" not in line_of("coarsening", 0, 3, 0.5)


def test_a_real_kernel_shows_and_clears_the_line() -> None:
    pytest.importorskip("ipykernel", reason="needs Jupyter's kernel of Python")
    client = pytest.importorskip("jupyter_client", reason="needs a client of kernels")
    manager, kernel = client.manager.start_new_kernel(kernel_name="python3")
    messages: list[dict[str, Any]] = []
    code = ("import portpart, portpart.api.progress as p; p.BETWEEN_UPDATES = 0\n"
            "portpart.partition(portpart.generators.grid_2d(20, 20), 4, progress=True).cut")
    try:
        reply = kernel.execute_interactive(code, timeout=120, output_hook=messages.append)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply
    lines = [message["content"]["data"]["text/html"] for message in messages
             if message["msg_type"] == "update_display_data"]
    assert any("refinement" in line for line in lines)
    assert not lines[-1]
