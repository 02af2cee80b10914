"""Where the lanes of a team wait for each other: lanes are threads, or greenlets, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from threading import get_ident

from greenlet import greenlet


class Barrier:
    """Where lanes wait for each other that are threads.

    The one of `threading` does the same in several times the time.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.guard = threading.Lock()
        self.turns = [threading.Lock() for _ in range(size)]
        self.waiting: list[threading.Lock] = []
        self.broken = False
        self.lanes: dict[int, int] = {}

    def lane(self) -> int:
        """The number of the lane that calls this."""
        return self.lanes[get_ident()]

    def wait(self) -> None:
        """Return when all lanes have called this; raises BrokenBarrierError after `abort`."""
        turn = self.turns[self.lane()]
        with self.guard:
            last = len(self.waiting) + 1 == self.size or self.broken
            if last:
                self._release()
            else:
                turn.acquire()
                self.waiting.append(turn)
        if not last:
            with turn:
                pass
        if self.broken:
            raise threading.BrokenBarrierError

    def abort(self) -> None:
        """Let nobody wait any more."""
        with self.guard:
            self.broken = True
            self._release()

    def _release(self) -> None:
        for turn in self.waiting:
            turn.release()
        self.waiting = []

    def run(self, work: Callable[[int], None]) -> None:
        """Do what each lane does; raises what one raises."""
        errors: list[Exception] = []

        def watched_work(lane: int) -> None:
            self.lanes[get_ident()] = lane
            try:
                work(lane)
            except threading.BrokenBarrierError:
                pass
            except Exception as error:
                errors.append(error)
                self.abort()

        threads = [threading.Thread(target=watched_work, args=(lane,))
                   for lane in range(1, self.size)]
        for thread in threads:
            thread.start()
        watched_work(0)
        for thread in threads:
            thread.join()
        if errors:
            raise errors[-1]


class Turns:
    """Where lanes wait for each other that are greenlets: each goes on until it waits."""

    def __init__(self, size: int) -> None:
        self.lanes: list[greenlet] = []
        self.size = size
        self.now = 0

    def lane(self) -> int:
        """The number of the lane that calls this."""
        return self.now

    def wait(self) -> None:
        """Return when all lanes have called this."""
        own = self.now
        self.now = (own + 1) % self.size
        after = self.lanes[self.now]
        (after if after else after.parent).switch()
        self.now = own

    def run(self, work: Callable[[int], None]) -> None:
        """Do what each lane does; raises what one raises."""
        self.lanes = [greenlet(partial(work, lane)) for lane in range(self.size)]
        for lane, each in enumerate(self.lanes):
            self.now = lane  # one that another lane began would be below that one on the stack
            each.switch()
        for each in self.lanes:
            if each:
                each.switch()


class Lone:
    """A lane on its own, which never waits."""

    def lane(self) -> int:
        """Its number."""
        return 0

    def wait(self) -> None:
        """Return."""

    def run(self, work: Callable[[int], None]) -> None:
        """Do what it does."""
        work(0)
