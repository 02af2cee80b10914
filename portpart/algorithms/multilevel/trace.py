"""Statistics of a run: seconds per phase, sizes and refinement per level."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import EitherGraph, Hypergraph

WALK = ("coarsening", "initial", "refinement")
"""Phases of one walk through the levels."""

TOLD_AT_ONCE = ("coarsening", "initial", "finish")
"""Phases whose begin is reported to the caller."""

DONE = "done"
"""The last phase that is reported."""

Progress = Callable[[str, int, int], None]
"""Called as progress(phase, level, number of levels)."""


class Outcome(Protocol):
    """The result of a refinement; reading it may wait for the device."""

    def __getitem__(self, name: str) -> int:
        """``cut`` or ``iterations``."""


class Trace:
    """Collects statistics of one run and reports progress to the caller.

    A phase is charged to the level that it coarsens or refines. Work after the last level is
    charged to the level where the phase ends. Tracing does not synchronise, unless the caller
    requested progress: times are read at the end. What other threads do, in walks at the same time
    as the first one, is not recorded.
    """

    def __init__(self, space: ExecutionSpace, graph: EitherGraph,
                 progress: Progress | None, has_rounds: bool = False) -> None:
        self.space = space
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self.levels: list[dict[str, Any]] = [_size(graph)]
        self.cuts: list[int] = []
        self.num_repaired = 0
        self.num_moved: int | None = None
        self.sections: list[dict[str, Any]] = []
        self.spared: dict[str, int] = {}
        self.starts: dict[str, int] = {}
        self.rounds: list[dict[str, Any]] | None = [] if has_rounds else None
        self.ended = "rounds"
        self._search, self._begin = "search", time.perf_counter()
        self._thread = threading.get_ident()
        self._phase = ""
        self._depth = 0
        # sums of seconds, the name of one, and the marks before and after the work
        self._works: list[tuple[dict[str, Any], str, Any, Any]] = []
        self._of_coarsening = 0
        self._outcomes: list[tuple[dict[str, Any], Outcome]] = []
        self._mark = space.mark()
        self._counts = self._first_counts = self._count()

    def summary(self) -> dict[str, Any]:
        """Return the statistics documented in `PartitionResult.stats`. Waits for the device."""
        self._report(DONE, 0)
        self._settle()
        return {
            "device": self.space.name,
            "phases": self.seconds,
            "levels": self.levels,
            "cuts": self.cuts,
            "repaired": self.num_repaired,
            **({} if self.num_moved is None else {"moved_vertices": self.num_moved}),
            **({"sections": self.sections} if self.sections else {}),
            **({"left_out": self.spared} if self.spared else {}),
            **({"starts": self.starts} if self.starts else {}),
            **({} if self.rounds is None else {"rounds": self.rounds, "ended": self.ended}),
            **{name: count - self._first_counts[name] for name, count in self._count().items()},
        }

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a phase. It ends when the device has finished it.

        Everything after the first walk is one phase, the search.
        """
        if self._is_elsewhere:
            yield
            return
        if self.cuts and name in WALK:
            name = "search"
        begin, is_new = self.space.mark(), name not in self.seconds
        self.seconds.setdefault(name, 0.0)
        if name == "refinement":  # the device has finished coarsening and has further work
            self._settle_works(self._of_coarsening)
        self._phase, self._mark, self._counts = name, begin, self._count()
        if name in TOLD_AT_ONCE and is_new:
            self._report(name, len(self.levels) - 1 if name == "initial" else 0)
        yield
        self._charge()
        self._works.append((self.seconds, name, begin, self._mark))
        if name == "coarsening":
            self._of_coarsening = len(self._works)

    def left_out(self, given: Hypergraph, kept: Hypergraph) -> None:
        """Count huge and redundant nets and their pins that are left out."""
        self.spared = {"nets": given.num_nets - kept.num_nets,
                       "pins": given.num_pins - kept.num_pins}

    def started(self, by: str, count: int) -> None:
        """Note the number of initial partitions, and whether they are grown or METIS's."""
        if not self._is_elsewhere:
            self.starts = self.starts or {by: count}

    def coarse_level(self, graph: EitherGraph, instead: bool) -> None:
        """Record a coarser graph; `instead` of the one before if that is dropped."""
        if self.cuts or self._is_elsewhere:
            return
        if (counts := self._count()) == self._counts:
            self._work(counts)  # one program made several levels; another mark would take time
        else:
            self._charge()
        if instead:
            self.levels[-1].update(_size(graph))
        else:
            self.levels.append(_size(graph))
        self._depth = len(self.levels) - 1
        self._report("coarsening", len(self.levels) - 1)

    def refined_level(self, depth: int, graph: EitherGraph, outcome: Outcome) -> None:
        """Record a refinement of a level. The device may not have finished it."""
        if not self._records(depth):
            return
        self._depth = depth
        self._charge()
        self._outcomes.append((self.levels[depth], outcome))
        self._report("refinement", depth)

    def refined_by_flows(self, depth: int, gain: int) -> None:
        """Record a refinement of a level by flows, which has reduced the objective by `gain`."""
        if not self._records(depth):
            return
        self._depth = depth
        self._charge()
        level = self.levels[depth]
        level["flow_gain"] = level.get("flow_gain", 0) + gain
        self._report("refinement", depth)

    def walked(self, cut: int) -> None:
        """Record the end of a walk with the best cut so far."""
        if self.cuts:  # the caller may have waited for a walk of another thread
            self._phase, begin = "search", self._mark
            self._charge()
            self.seconds.setdefault(self._phase, 0.0)
            self._works.append((self.seconds, self._phase, begin, self._mark))
        self._settle()
        self.cuts.append(cut)
        self.levels[0]["cut"] = cut
        self._depth = 0
        if self.rounds:
            self._search = f"round {len(self.rounds)}, best {cut}"
            self._report(self._search, 0)

    def ended_round(self, kind: str, child: int, best: int) -> None:
        """Record the end of a round with its child and the best cut so far."""
        if self.rounds is not None:
            self.rounds.append({"kind": kind, "cut": child, "best": best,
                                "seconds": time.perf_counter() - self._begin})

    def ended_early(self, why: str, num_rounds: int) -> None:
        """Record why the rounds ended after `num_rounds`; drop a round after these."""
        self.ended = why
        del (self.rounds or [])[num_rounds:]

    def repaired(self, before: Array, after: Array) -> None:
        """Count the vertices that were moved to keep the limits."""
        if after is not before:
            moved = self.space.to_host(before) != self.space.to_host(after)
            self.num_repaired += int(moved.sum())

    def moved(self, count: int) -> None:
        """Record the number of vertices that are refined by ranks other than their owners."""
        self.num_moved = count

    @contextmanager
    def below(self, graph: EitherGraph) -> Iterator[Trace]:
        """Trace a run on the coarsest graph within a phase; its levels follow the present ones.

        Its initial partitions are also those of the whole run.
        """
        inner = Trace(graph.space, graph, None)
        yield inner
        inner._settle()
        if not self.cuts:
            self.levels += inner.levels[1:]
            self.starts = self.starts or inner.starts

    def nested(self) -> Progress | None:
        """Return the progress callback of a run within the current phase.

        Phases are reported with the name of the outer phase first, as ``"level 3, coarsening"``.
        """
        if self.progress is None:
            return None
        report, outer = self.progress, self._phase
        return lambda phase, level, count: report(f"{outer}, {phase}", level, count)

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the caller is another thread than that of the run."""
        return threading.get_ident() != self._thread

    def _records(self, depth: int) -> bool:
        """Whether a level belongs to the first walk; progress of others is only reported."""
        if self.cuts and not self._is_elsewhere:
            self._report(self._search, min(depth, len(self.levels) - 1))
        return not (self.cuts or self._is_elsewhere)

    def _charge(self) -> None:
        """Charge the work since the last call to the current phase of the level."""
        mark, counts = self.space.mark(), self._count()
        work = self._work(counts)
        for name, count in counts.items():
            work[name] += count - self._counts[name]
        self._works.append((work, "seconds", self._mark, mark))
        self._mark, self._counts = mark, counts

    def _work(self, counts: dict[str, int]) -> dict[str, Any]:
        """Return the work that is charged to the current phase of the level."""
        work: dict[str, Any] = self.levels[self._depth].setdefault(
            self._phase, {**dict.fromkeys(counts, 0), "seconds": 0.0})
        return work

    def _count(self) -> dict[str, int]:
        counters = self.space.counters
        return {"launches": counters.launches, "synchronizations": counters.synchronizations}

    def read_times(self) -> None:
        """Read the times of the work so far, most of them while the device does the rest."""
        if not self._is_elsewhere:
            self._settle_works(len(self._works))

    def _settle(self) -> None:
        """Read the times and outcomes of the work so far."""
        self._settle_works(len(self._works))
        for level, outcome in self._outcomes:
            level["iterations"] = level.get("iterations", 0) + outcome["iterations"]
            level["cut"] = outcome["cut"]
        self._outcomes = []

    def _settle_works(self, count: int) -> None:
        """Read the times of the first `count` works."""
        for total, name, since, until in self._works[:count]:
            total[name] = total.get(name, 0.0) + self.space.seconds_between(since, until)
        del self._works[:count]
        self._of_coarsening = 0

    def _report(self, phase: str, level: int) -> None:
        if self.progress is not None:
            self.space.synchronize()
            with self.space.counters.put_back():
                self.progress(phase, level, len(self.levels))


def _size(graph: EitherGraph) -> dict[str, Any]:
    if isinstance(graph, Hypergraph):
        return {"vertices": graph.num_vertices, "nets": graph.num_nets, "pins": graph.num_pins}
    return {"vertices": graph.whole.num_vertices, "arcs": graph.whole.num_arcs}
