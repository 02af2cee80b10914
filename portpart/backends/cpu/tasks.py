"""Independent tasks that run at the same time, each on one thread.

A launch of little work gains nothing from several threads. Several tasks of such launches do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Result = TypeVar("Result")


class NotNeeded(BaseException):
    """Ends a task whose result is not needed. Handlers of errors do not catch it."""


class _Place(threading.local):
    """Where the calling thread is."""

    over: threading.Event | None = None
    """The event that ends the tasks of a call, inside a task."""


_place = _Place()


def is_inside() -> bool:
    """Whether the calling thread executes a task, and so must use no other thread."""
    return _place.over is not None


def end_if_not_needed() -> None:
    """Raise `NotNeeded` in a task whose result is not needed any more."""
    if _place.over is not None and _place.over.is_set():
        raise NotNeeded


def results_of(tasks: Sequence[Callable[[], Result]], threads: int) -> Iterator[Result]:
    """Yield the results of tasks in their order, while up to `threads` threads execute them.

    The calling thread executes the first task, and others while it would wait. If it raises an
    exception, or no further result is requested, the other threads end their tasks at the next
    launch, and are waited for.
    """
    from concurrent.futures import ThreadPoolExecutor  # most processes need no tasks

    over = threading.Event()

    def execute(task: Callable[[], Result]) -> Result:
        _place.over = over
        try:
            return task()
        finally:
            _place.over = None

    others = ThreadPoolExecutor(threads - 1, "portpart")
    try:
        waiting = {index: others.submit(execute, task)
                   for index, task in enumerate(tasks) if index > 0}
        own = {0: execute(tasks[0])}
        for index in range(len(tasks)):
            while index not in own and not waiting[index].done():
                taken = next((later for later in range(index, len(tasks))
                              if later not in own and waiting[later].cancel()), None)
                if taken is None:
                    break
                own[taken] = execute(tasks[taken])
            yield own.pop(index) if index in own else waiting[index].result()
    finally:
        over.set()
        others.shutdown(cancel_futures=True)
