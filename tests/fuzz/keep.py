"""Unclean cases are kept: their bytes, the same made short, and how to run them again."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.fuzz.campaign import GRACE, HANGS, Unclean, crashes
from tests.fuzz.cases import bytes_of, outcome
from tests.fuzz.minimise import shortest
from tests.fuzz.worker import Settings, alone

SECONDS = 40.0
"""For making a case short."""

ENDS_A_PROCESS = ("crashes", "hangs", "MemoryError", "OutOfMemory")
"""Outcomes that need a process for each try."""

KEPT = 30
"""Kinds of failures that are kept; more would take long and tell little."""


def keep_all(unclean: list[Unclean], settings: Settings, folder: Path) -> Iterator[str]:
    """Keep one case of each kind; yields a line for each."""
    kinds: dict[tuple[str, str], list[Unclean]] = {}
    for case in unclean:
        kinds.setdefault((case.target, case.what), []).append(case)
    for (target, what), cases in list(kinds.items())[:KEPT]:
        yield f"{len(cases)} x {target}: {what}, as {keep(cases[0], settings, folder)}"


def keep(case: Unclean, settings: Settings, folder: Path) -> Path:
    """Write the case and its minimised form; returns the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    data = bytes_of(case.target, settings.seed, case.number)
    path = folder / f"{case.target}-{settings.seed}-{case.number}"
    path.write_bytes(data)
    shorter = [told for told in _received(_shorten, (case, data, settings), settings.start,
                                               SECONDS + GRACE)
               if isinstance(told, bytes)]
    path.with_suffix(".min").write_bytes(shorter[-1] if shorter else data)
    path.with_suffix(".txt").write_text(
        f"{case.what}\npython -m tests.fuzz --target {case.target} --file {path}.min\n")
    return path.with_suffix(".min")


def _shorten(case: Unclean, data: bytes, settings: Settings, found: Connection) -> None:
    """Send ever shorter inputs that go wrong in the same way."""
    apart = case.what.startswith(ENDS_A_PROCESS)
    with tempfile.TemporaryDirectory(prefix="portpart-fuzz-") as scratch:
        def fails(shorter: bytes) -> bool:
            told = (_outcome_apart(case.target, shorter, settings) if apart else
                    outcome(case.target, shorter, Path(scratch), settings.seconds))
            if told == case.what:
                found.send(shorter)
            return told == case.what

        shortest(data, fails, SECONDS)


def _outcome_apart(target: str, data: bytes, settings: Settings) -> str:
    """The outcome in a process of its own."""
    told = _received(alone, (target, data, settings), settings.start, settings.seconds + GRACE)
    return str(told[-1])


def _received(task: Any, arguments: tuple[Any, ...], start: str, seconds: float) -> list[Any]:
    """What a process running `task` sends; at the end how it ended, if not by itself."""
    context: Any = multiprocessing.get_context(start)
    inbox, outbox = context.Pipe(duplex=False)
    process = context.Process(target=task, args=(*arguments, outbox))
    process.start()
    outbox.close()
    deadline, told = time.monotonic() + seconds, []
    try:
        while inbox.poll(max(0.0, deadline - time.monotonic())):
            told.append(inbox.recv())
        told.append(HANGS)
    except EOFError:
        process.join()
        if process.exitcode:
            told.append(crashes(process.exitcode))
    process.kill()
    process.join()
    return told
