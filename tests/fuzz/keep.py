"""Unclean cases are kept: their bytes, the same made short, and how to run them again."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path

from tests.fuzz.campaign import GRACE, Unclean
from tests.fuzz.cases import bytes_of, outcome
from tests.fuzz.minimise import shortest
from tests.fuzz.worker import Settings, same_outcome

IN_THIS_PROCESS = ("the process ended", "hangs", "too slow", "MemoryError", "OutOfMemory")
"""Outcomes that are not tried here again."""


def keep_all(unclean: list[Unclean], settings: Settings, folder: Path) -> list[str]:
    """Keep one case of each kind; returns a line for each."""
    kinds: dict[tuple[str, str], list[Unclean]] = {}
    for case in unclean:
        kinds.setdefault((case.target, case.what), []).append(case)
    return [f"{len(cases)} x {target}: {what}, as {keep(cases[0], settings, folder)}"
            for (target, what), cases in kinds.items()]


def keep(case: Unclean, settings: Settings, folder: Path) -> Path:
    """Write the case and its minimised form; returns the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    data = bytes_of(case.target, settings.seed, case.number)
    path = folder / f"{case.target}-{settings.seed}-{case.number}"
    path.write_bytes(data)
    apart = case.what.startswith(IN_THIS_PROCESS)
    with tempfile.TemporaryDirectory(prefix="portpart-fuzz-") as scratch:
        def fails(shorter: bytes) -> bool:
            if apart:
                return _outcome_apart(case.target, shorter, settings) == case.what
            return outcome(case.target, shorter, Path(scratch), settings.seconds) == case.what

        small = shortest(data, fails)
    path.with_suffix(".min").write_bytes(small)
    path.with_suffix(".txt").write_text(
        f"{case.what}\npython -m tests.fuzz --target {case.target} --file {path}.min\n")
    return path.with_suffix(".min")


def _outcome_apart(target: str, data: bytes, settings: Settings) -> str:
    """The outcome in a process of its own."""
    context = multiprocessing.get_context("spawn")
    inbox, outbox = context.Pipe(duplex=False)
    process = context.Process(target=same_outcome, args=(target, data, settings, outbox))
    process.start()
    outbox.close()
    process.join(settings.seconds + GRACE)
    if process.is_alive():
        process.kill()
        process.join()
        return "hangs in compiled code"
    if process.exitcode:
        return f"the process ended with code {process.exitcode}"
    return str(inbox.recv())
