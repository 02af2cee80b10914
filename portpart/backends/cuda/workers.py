"""Threads in which modules are compiled: what is waited for first, what may come later after it.

Threads of the standard library's executors finish all that they were given before a process may
end.  These end with what they have begun.
"""

from __future__ import annotations

import atexit
import itertools
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

NOW, LATER = 0, 1
"""Whether someone waits for it."""

MAX_WORKERS = 16

T = TypeVar("T")


class Workers:
    """Some threads, started when they are first needed."""

    def __init__(self) -> None:
        self._tasks: queue.PriorityQueue[tuple[int, int, Callable[[], None] | None]] = (
            queue.PriorityQueue())
        self._numbers = itertools.count()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def submit(self, order: int, work: Callable[[], T]) -> Future[T]:
        """Have `work` done: ``NOW`` before ``LATER``, else in the order of asking."""
        future: Future[T] = Future()

        def task() -> None:
            if future.set_running_or_notify_cancel():
                _settle(future, work)

        self._tasks.put((order, next(self._numbers), task))
        self._start_one()
        return future

    def _start_one(self) -> None:
        with self._lock:
            if not self._threads:
                atexit.register(self.close)
            if len(self._threads) < min(num_cores(), MAX_WORKERS):
                thread = threading.Thread(target=self._run, name="portpart-nvrtc", daemon=True)
                thread.start()
                self._threads.append(thread)

    def _run(self) -> None:
        while (task := self._tasks.get()[2]) is not None:
            task()

    def close(self) -> None:
        """Begin nothing more, and wait for what has begun: NVRTC must not be torn down under it."""
        with self._lock:
            threads, self._threads = self._threads, []
        for _ in threads:
            self._tasks.put((-1, next(self._numbers), None))
        for thread in threads:
            thread.join()


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    try:
        result = work()
    except BaseException as problem:  # whoever waits gets it
        future.set_exception(problem)
    else:
        future.set_result(result)


def num_cores() -> int:
    """Cores that this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


WORKERS = Workers()
