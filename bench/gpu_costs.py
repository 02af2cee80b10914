"""Steps of bench.gpu that time what algorithms are made of: launches, programs, primitives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import numpy as np

from bench.gpu_session import Session
from bench.primitive_cases import CASES, touch
from portpart.backends.language import kernel
from portpart.backends.program import Program

ROUNDS, KERNELS_A_ROUND = 100, 10
SMALL_SIZE, LARGE_SIZE = 1, 1 << 20
"""Work sizes announced to a program: the grid of the larger one fills the device."""

SHORT_CALLS, LONG_CALLS = 300, 7
LONG = 0.002
"""Seconds from which a call is timed by itself."""


def programs(session: Session) -> Iterator[str]:
    """Time a kernel launched from Python, and in a program as graph and as walk."""
    space = session.space()
    values = space.zeros(1, np.int64)
    rows = session.report.setdefault("programs", [])
    count = ROUNDS * KERNELS_A_ROUND

    def from_python() -> None:
        for _ in range(count):
            space.parallel_for(1, touch, values)

    each = seconds_of(space, from_python) / count
    rows.append({"way": "from Python", "us_per_kernel": 1e6 * each})
    yield str(rows[-1])
    for mode in space.program_modes() if hasattr(space, "program_modes") else ["walk"]:
        for size in (SMALL_SIZE, LARGE_SIZE):
            with running_programs(space, mode):
                rows.append(_program_row(space, values, size, mode))
            yield str(rows[-1])


def _program_row(space: Any, values: Any, size: int, way: str) -> dict[str, Any]:
    """Time the first run of a program, which captures it, a start, and a kernel of its loop."""
    loop, left = space.executable(_loop()), space.zeros(1, np.int64)
    alone = Program("one kernel")
    alone.parallel_for(1, touch, alone.array("values", np.int64))
    start = space.executable(alone)

    def run() -> None:
        left[0] = ROUNDS
        loop.run({"left": left, "values": values}, size=size)

    begin = time.perf_counter()
    run()
    space.synchronize()
    first = time.perf_counter() - begin
    return {
        "way": way, "grid": "small" if size == SMALL_SIZE else "full",
        "us_per_kernel": 1e6 * seconds_of(space, run) / (ROUNDS * (KERNELS_A_ROUND + 1)),
        "us_per_start": 1e6 * seconds_of(space, lambda: start.run({"values": values}, size=size)),
        "first_ms": 1e3 * first,
    }  # fmt: skip


def _loop() -> Program:
    program = Program("loop of tiny kernels")
    left, values = program.array("left", np.int64), program.array("values", np.int64)
    with program.while_loop(left[0]):
        for _ in range(KERNELS_A_ROUND):
            program.parallel_for(1, touch, values)
        program.parallel_for(1, count_down, left)
    return program


def primitives(session: Session, sizes: list[int]) -> Iterator[str]:
    """Time every primitive at every size, beside a plain copy of device memory."""
    space = session.space()
    rows = session.report.setdefault("primitives", [])
    for size in sorted(sizes, reverse=True):
        cases = {"device copy": device_copy} | CASES
        for name, make in cases.items():
            if session.is_late():
                yield "the time is up"
                return
            work, moved = make(space, size)
            seconds = seconds_of(space, work)
            rows.append({"primitive": name, "size": size, "us": 1e6 * seconds,
                         "GB/s": moved / seconds / 1e9})  # fmt: skip
        yield f"{size:,} elements"


def device_copy(space: Any, size: int) -> tuple[Callable[[], Any], int]:
    """What the device's own copy of an int32 array takes."""
    source, target = space.zeros(size, np.int32), space.empty(size, np.int32)

    def work() -> None:
        target[...] = source

    return work, 8 * size


def seconds_of(space: Any, work: Callable[[], Any]) -> float:
    """Median seconds of a call; short calls are timed in groups, one wait at the end of each."""
    work()
    space.synchronize()
    calls, times = 1, []
    while len(times) < LONG_CALLS:
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        space.synchronize()
        times.append((time.perf_counter() - begin) / calls)
        if calls == 1 and times[-1] < LONG:
            calls, times = SHORT_CALLS, []
    return median(times)


@contextmanager
def running_programs(space: Any, mode: str) -> Iterator[None]:
    """Run programs in this mode, where the space has the choice."""
    before = getattr(space, "program_mode", None)
    if before is not None:
        space.program_mode = mode
    try:
        yield
    finally:
        if before is not None:
            space.program_mode = before


@kernel
def count_down(_, left):
    """Decrease left[0]."""
    left[0] -= 1
