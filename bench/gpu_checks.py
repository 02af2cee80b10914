"""Steps of bench.gpu that check answers: recorded digests, parity with the CPU, the tests."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.device_runs import Record
from bench.gpu_session import Session
from bench.instances import Instance

ROOT = Path(__file__).resolve().parents[1]
PRESETS = ("fast", "default")
LAST_LINES = 150


def golden(session: Session) -> Iterator[str]:
    """Check the recorded digests on the device."""
    command = ["-m", "tests.golden.record", "--check", "--device", session.device]
    yield from run_python(session, "golden", command)


def tests(session: Session) -> Iterator[str]:
    """Run the tests that need a GPU."""
    command = ["-m", "pytest", "-q", "-m", "gpu", "--maxfail=20", "--tb=short", "--durations=5"]
    yield from run_python(session, "tests", command)


def run_python(session: Session, step: str, arguments: list[str]) -> Iterator[str]:
    """Run a command of this Python; keep how it ended and its last lines."""
    command = [sys.executable, *arguments]
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=max(1.0, session.seconds_left()))  # fmt: skip
        text, outcome = done.stdout, f"exit code {done.returncode}"
    except subprocess.TimeoutExpired as error:
        text, outcome = _text(error.stdout), "stopped: the time is up"
    session.report[step] = {
        "command": " ".join(["python", *arguments]), "outcome": outcome,
        "last_lines": text.splitlines()[-LAST_LINES:],
    }  # fmt: skip
    yield outcome


def parity(session: Session, instances: list[Instance], ks: list[int]) -> Iterator[str]:
    """Partition each graph on the CPU and on the device, and compare bit by bit."""
    import portpart

    space = session.space()
    rows = session.report.setdefault("parity", [])
    for instance in instances:
        host = instance.make().portable
        graph = host.to(space)
        for k in ks:
            for preset in PRESETS:
                if session.is_late():
                    yield "the time is up"
                    return
                left = portpart.partition(host, k, preset=preset, seed=1, device="cpu")
                right = portpart.partition(graph, k, preset=preset, seed=1)
                row = {"graph": instance.name, "k": k, "preset": preset}
                rows.append(row | compared(left, right, space))
        same = sum(row["differing"] == 0 for row in rows)
        yield f"{instance.name}: {same} of {len(rows)} the same so far"


def compared(left: Any, right: Any, space: Any) -> Record:
    """Return how far two results agree, and where the second one first went another way."""
    part = space.to_host(right.part)
    differing = int(np.count_nonzero(left.part != part))
    row = {
        "differing": differing, "cuts": [left.cut, right.cut],
        "seconds": [left.seconds, right.seconds],
        "digest": hashlib.sha256(np.ascontiguousarray(left.part, "<i4")).hexdigest()[:16],
    }  # fmt: skip
    if differing:
        row["first_difference"] = first_difference(left.stats["levels"], right.stats["levels"])
    return row


def first_difference(left: list[Record], right: list[Record]) -> str:
    """Return where two runs part: coarsening goes down the levels, refinement up again."""
    for depth, (a, b) in enumerate(zip(left, right)):
        if (a["vertices"], a["arcs"]) != (b["vertices"], b["arcs"]):
            return f"coarsening: level {depth} has {_size(a)} on the CPU, {_size(b)} on the device"
    if len(left) != len(right):
        return f"coarsening: {len(left)} levels on the CPU, {len(right)} on the device"
    for depth in reversed(range(len(left))):
        a, b = (tuple(side[depth].get(name) for name in ("iterations", "cut"))
                for side in (left, right))  # fmt: skip
        if a != b:
            return f"refinement: level {depth} of {len(left)}: (iterations, cut) {a} and {b}"
    return "no level tells"


def _size(level: Record) -> str:
    return f"{level['vertices']} vertices, {level['arcs']} arcs"


def _text(output: Any) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""
