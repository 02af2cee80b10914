"""A process that runs cases, and tells which one it is at, so that a crash can be attributed."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.fuzz import calls
from tests.fuzz.cases import ACCEPTED, REFUSED, bytes_of, outcome
from tests.fuzz.limits import limit_memory

WARMING_SECONDS = 300.0
"""For compiling, which the limits of a case do not count."""


@dataclass(frozen=True)
class Span:
    """Cases first ... last - 1 of a target."""

    target: str
    first: int
    last: int


@dataclass(frozen=True)
class Settings:
    """What all processes share."""

    seed: int
    seconds: float
    memory: int
    """Bytes that a case may map besides what the process has when it begins."""
    start: str = "spawn"
    """How processes begin, as `multiprocessing` calls it."""


def work(spans: list[Span], settings: Settings, position: Any, found: Connection) -> None:
    """Run the cases.

    `position` holds the span, the case, the time of its start (0: not yet) and how many cases of
    the span were accepted and refused.
    """
    _quiet()
    with tempfile.TemporaryDirectory(prefix="portpart-fuzz-") as name:
        folder = Path(name)
        _warm({span.target for span in spans}, folder)
        limit_memory(settings.memory)
        for place, span in enumerate(spans):
            counts = {ACCEPTED: 0, REFUSED: 0}
            position[3:] = [0, 0]
            for number in range(span.first, span.last):
                position[:3] = [place, number, time.monotonic()]
                data = bytes_of(span.target, settings.seed, number)
                result = outcome(span.target, data, folder, settings.seconds)
                if result in counts:
                    counts[result] += 1
                    position[3:] = list(counts.values())
                else:
                    found.send((span.target, number, result))
            position[2] = 0
            found.send((span.target, None, counts))


def alone(target: str, data: bytes, settings: Settings, found: Connection) -> None:
    """Run one case alone; for those that end the process."""
    _quiet()
    with tempfile.TemporaryDirectory(prefix="portpart-fuzz-") as name:
        limit_memory(settings.memory)
        found.send(outcome(target, data, Path(name), settings.seconds))


def _quiet() -> None:
    """No input, and no output but of crashes."""
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)


def _warm(targets: set[str], folder: Path) -> None:
    if targets & {"api", "command-line"}:
        calls.warm()
    for target in targets:
        for number in range(5):
            outcome(target, bytes_of(target, -1, number), folder, WARMING_SECONDS)
