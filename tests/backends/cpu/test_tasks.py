"""Tasks at the same time: order of results, number of threads, errors, and tasks that end early."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial

import numpy as np
import pytest

from portpart.backends.cpu import CpuSpace
from portpart.backends.cpu.program import run_with_threads
from portpart.primitives.basic import iota

MANY = 10**6
"""Items of a launch that has work for several threads."""


@pytest.fixture(autouse=True)
def several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine: up to four threads."""
    monkeypatch.setattr("portpart.backends.cpu.space.available_threads", lambda: 4)


def helpers() -> list[threading.Thread]:
    return [each for each in threading.enumerate()
            if each.name.startswith("portpart") and each.name != "portpart-nvrtc"]


def until(arrived: threading.Barrier) -> int:
    """Wait for the other tasks; return the thread."""
    arrived.wait(60)
    return threading.get_ident()


def launches(space: CpuSpace) -> None:
    """Launch until the task is ended."""
    while True:
        iota(space, MANY)


def test_results_come_in_the_order_of_the_tasks() -> None:
    """Later tasks take less time."""
    space = CpuSpace(3)

    def task(number: int) -> int:
        time.sleep(0.02 * (7 - number))
        return number

    assert list(space.run_tasks([partial(task, each) for each in range(8)], 8)) == list(range(8))
    assert not helpers()


@pytest.mark.parametrize(("threads", "max_concurrent", "tasks", "expected"), [
    (3, 8, 6, 3), (4, 2, 6, 2), (4, 8, 2, 2)])
def test_as_many_tasks_run_at_once_as_there_are_threads_and_the_caller_allows(
    threads: int, max_concurrent: int, tasks: int, expected: int
) -> None:
    """Each waits for as many as are expected, and no more than these threads execute tasks."""
    space, arrived = CpuSpace(threads), threading.Barrier(expected)
    used = list(space.run_tasks([partial(until, arrived)] * tasks, max_concurrent))
    assert len(set(used)) == expected
    assert used[0] == threading.get_ident()


@pytest.mark.parametrize(("threads", "max_concurrent"), [(1, 8), (4, 1)])
def test_one_at_a_time_begins_when_its_result_is_requested(threads: int,
                                                           max_concurrent: int) -> None:
    begun: list[int] = []
    tasks: list[Callable[[], None]] = [partial(begun.append, each) for each in range(3)]
    results = CpuSpace(threads).run_tasks(tasks, max_concurrent)
    for each in range(3):
        assert begun == list(range(each))
        next(results)
    assert begun == [0, 1, 2]


def test_a_task_uses_one_thread_and_has_no_tasks_at_the_same_time() -> None:
    space = CpuSpace(2)

    def task() -> tuple[int, int, set[int]]:
        inner = set(space.run_tasks([threading.get_ident] * 4, 4))
        return run_with_threads(2, lambda workers: workers), threading.get_ident(), inner

    for workers, thread, inner in space.run_tasks([task] * 3, 3):
        assert workers == 1
        assert inner == {thread}
    assert run_with_threads(1, lambda workers: workers) == 1


def test_launches_of_all_tasks_are_the_callers() -> None:
    space = CpuSpace(3)

    def task(count: int) -> int:
        for _ in range(count):
            iota(space, 10)
        return count

    before = space.counters.launches
    counts = list(space.run_tasks([partial(task, each) for each in (3, 0, 5, 2, 4)], 5))
    assert space.counters.launches - before == sum(counts) == 14


def test_results_before_a_failed_task_arrive_and_the_others_end() -> None:
    space = CpuSpace(3)

    def fails() -> None:
        raise ValueError("the second task")

    results = space.run_tasks([lambda: 1, fails, partial(launches, space)], 3)
    assert next(results) == 1
    with pytest.raises(ValueError, match="the second task"):
        next(results)
    assert not helpers()


def test_tasks_end_when_no_further_result_is_requested() -> None:
    space, begun = CpuSpace(2), threading.Event()

    def endless() -> None:
        begun.set()
        launches(space)

    with closing(space.run_tasks([partial(begun.wait, 60), endless, endless], 3)) as results:
        assert next(results)
    assert not helpers()
    assert (iota(space, MANY) == np.arange(MANY)).all()  # outside a task nothing has ended


def test_an_interrupt_of_the_caller_ends_the_other_tasks() -> None:
    space, begun = CpuSpace(2), threading.Event()

    def endless() -> None:
        begun.set()
        launches(space)

    def interrupted() -> None:
        begun.wait(60)
        raise KeyboardInterrupt

    results: Generator[None, None, None] = space.run_tasks([interrupted, endless], 2)
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert not helpers()
