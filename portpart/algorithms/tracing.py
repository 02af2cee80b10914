"""What a run reports: seconds per phase, sizes and refinement per level."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from portpart.backends.interface import ExecutionSpace
from portpart.graph import Graph

WALK = ("coarsening", "initial", "refinement")
"""Phases of one walk through the levels."""

Progress = Callable[[str, int, int], None]
"""Called as progress(phase, level, number of levels)."""


class Trace:
    """Collects statistics of one run and tells the caller about progress.

    What a phase does is charged to the level it works on: the level that is coarsened or refined,
    and what comes after the last of them to the level where the phase ends.  Nothing waits for the
    device on that account, so the seconds of a level are those until the host knows its outcome.
    """

    def __init__(self, space: ExecutionSpace, graph: Graph, progress: Progress | None) -> None:
        self.space = space
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self.levels: list[dict[str, Any]] = [_size(graph)]
        self.cuts: list[int] = []
        self._launches = space.counters.launches
        self._synchronizations = space.counters.synchronizations
        self._phase = ""
        self._depth = 0
        self._mark = self._now()

    def summary(self) -> dict[str, Any]:
        """The statistics, as `PartitionResult.stats` documents them."""
        counters = self.space.counters
        return {
            "device": self.space.name,
            "phases": self.seconds,
            "levels": self.levels,
            "cuts": self.cuts,
            "launches": counters.launches - self._launches,
            "synchronizations": counters.synchronizations - self._synchronizations,
        }

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a phase; it ends when the device has finished it.

        All after the first walk through the levels is one phase, the search.
        """
        start = time.perf_counter()
        if self.cuts and name in WALK:
            name = "search"
        self._phase, self._mark = name, self._now()
        yield
        self.space.synchronize()
        self._charge()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def coarse_level(self, graph: Graph) -> None:
        """A coarser graph has been made."""
        if self.cuts:
            return
        self._charge()
        self.levels.append(_size(graph))
        self._depth = len(self.levels) - 1
        self._tell("coarsening", len(self.levels) - 1)

    def refined_level(self, depth: int, graph: Graph, outcome: dict[str, int]) -> None:
        """A level has been refined once."""
        if self.cuts:
            self._tell("search", min(depth, len(self.levels) - 1))
            return
        self._depth = depth
        self._charge()
        level = self.levels[depth]
        level["iterations"] = level.get("iterations", 0) + outcome["iterations"]
        level["cut"] = outcome["cut"]
        self._tell("refinement", depth)

    def walked(self, cut: int) -> None:
        """A walk through the levels has ended; the best cut so far is known."""
        self.cuts.append(cut)
        self.levels[0]["cut"] = cut
        self._depth = 0

    @contextmanager
    def below(self, graph: Graph) -> Iterator[Trace]:
        """Trace a run on the coarsest graph, within a phase: its levels follow those so far."""
        inner = Trace(graph.space, graph, None)
        yield inner
        if not self.cuts:
            self.levels += inner.levels[1:]

    def _charge(self) -> None:
        """Charge what has been done since the last time to the current phase of the level."""
        now = self._now()
        work = self.levels[self._depth].setdefault(self._phase, dict.fromkeys(now, 0))
        for name, value in now.items():
            work[name] += value - self._mark[name]
        self._mark = now

    def _now(self) -> dict[str, float]:
        counters = self.space.counters
        return {
            "launches": counters.launches, "synchronizations": counters.synchronizations,
            "seconds": time.perf_counter(),
        }

    def _tell(self, phase: str, level: int) -> None:
        if self.progress is not None:
            self.progress(phase, level, len(self.levels))


def _size(graph: Graph) -> dict[str, Any]:
    return {"vertices": graph.num_vertices, "arcs": graph.num_arcs}
