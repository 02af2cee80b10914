"""Threads that compile modules: some for code that a caller waits for, some for later code.

Threads of the standard library's executors finish all submitted work before a process may end.
These threads finish only work that has begun.
"""

from __future__ import annotations

import atexit
import itertools
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

MAX_WORKERS = 16

NICE = 10
"""Niceness of threads that should not delay threads that a caller waits for."""

T = TypeVar("T")


class Task(Generic[T]):
    """A piece of work, done once.

    Attributes
    ----------
    future : concurrent.futures.Future
        Receives its result.
    size : int
        Its size, in any unit.
    """

    def __init__(self, work: Callable[[], T], size: int) -> None:
        self.future: Future[T] = Future()
        self.size, self._work = size, work
        self._begun = threading.Lock()

    def run(self) -> None:
        """Do the work, unless it has begun elsewhere."""
        if self._begun.acquire(blocking=False):
            self.future.set_running_or_notify_cancel()
            _settle(self.future, self._work)


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    try:
        result = work()
    except BaseException as problem:  # the waiting caller receives it
        future.set_exception(problem)
    else:
        future.set_result(result)


class Workers:
    """Threads, started when they are first needed.

    Parameters
    ----------
    share : float
        Maximum number of threads, as a share of the cores for compilers.
    nice : int
        Niceness of the threads, on systems where single threads have one.
    """

    def __init__(self, share: float = 1, nice: int = 0) -> None:
        self._share, self._nice = share, nice
        self._tasks: queue.PriorityQueue[tuple[int, int, Task[Any] | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def submit(self, work: Callable[[], T], size: int = 0) -> Task[T]:
        """Submit work. Large work is done first, so that none remains at the end."""
        task = Task(work, size)
        self._put(-size, task)
        self._start_one()
        return task

    def wait(self, task: Task[T]) -> T:
        """Return the result of a task, which is now done before all others."""
        if not task.future.done():
            self._put(-2**62, task)
        return task.future.result()

    def _put(self, order: int, task: Task[Any] | None) -> None:
        self._tasks.put((order, next(self._numbers), task))

    def _start_one(self) -> None:
        with self._lock:
            if not self._threads:
                atexit.register(self.close)
            most = max(1, int(self._share * min(num_cores(), MAX_WORKERS)))
            if len(self._threads) < most and not self._is_closed:
                thread = threading.Thread(target=self._run, name="portpart-nvrtc", daemon=True)
                thread.start()
                self._threads.append(thread)

    def _run(self) -> None:
        lower_priority(self._nice)
        while (task := self._tasks.get()[2]) is not None:
            task.run()

    def close(self) -> None:
        """Begin no more work, and wait for work that has begun: NVRTC must not be unloaded under
        it.
        """
        with self._lock:
            for _ in self._threads:
                self._put(-2**63, None)
            threads, self._threads, self._is_closed = self._threads, [], True
        for thread in threads:
            thread.join()


def lower_priority(nice: int) -> None:
    """Let other threads run before this one; on Linux, where single threads have priorities."""
    set_priority: Any = getattr(os, "setpriority", None)
    if nice and set_priority is not None and hasattr(os, "sched_getaffinity"):
        here = threading.get_native_id()
        set_priority(os.PRIO_PROCESS, here, os.getpriority(os.PRIO_PROCESS, here) + nice)


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


WRITING = Workers(share=0)
"""A thread that writes texts, the largest first; several would delay each other."""

NOW = Workers()
"""Threads for code that a caller waits for, or soon will."""

LATER = Workers(share=0.5, nice=NICE)
"""Threads for resident kernels, whose long compilation must not delay code that is needed now."""
