"""Many cases in several processes; what crashes or hangs one costs no more than that case."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.cases import ACCEPTED, REFUSED
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import Settings, Span, work

GRACE = 20.0
"""Seconds beyond a case's limit after which its process is killed: compiled code hears no alarm."""

SPANS_PER_PROCESS = 40
POLL = 0.05

HANGS = "hangs in compiled code"


@dataclass(frozen=True)
class Unclean:
    """A case that neither came to a right answer nor was refused as it should be."""

    target: str
    number: int
    what: str


@dataclass
class Outcome:
    """Counts by target, and all unclean cases."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    unclean: list[Unclean] = field(default_factory=list)

    def add(self, target: str, number: int | None, what: Any) -> None:
        """Take a message of a process."""
        if number is None:
            self.counts.setdefault(target, Counter()).update(what)
        else:
            self.unclean.append(Unclean(target, number, what))


class Process:
    """A process at work on a list of spans."""

    def __init__(self, spans: list[Span], settings: Settings) -> None:
        context: Any = multiprocessing.get_context(settings.start)
        self.spans, self.settings = spans, settings
        self.position = context.Array("d", 5, lock=False)
        self.inbox, outbox = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(spans, settings, self.position, outbox),
                                       daemon=True)
        self.process.start()
        outbox.close()

    def messages(self) -> Iterator[tuple[str, int | None, Any]]:
        """What it has sent so far."""
        try:
            while self.inbox.poll():
                yield self.inbox.recv()
        except EOFError:
            return

    def stop_if_stuck(self) -> bool:
        """Kill the process if its case goes on and on."""
        began = self.position[2]
        if not began or time.monotonic() - began < self.settings.seconds + GRACE:
            return False
        self.process.kill()
        self.process.join()
        return True

    def broken_counts(self) -> tuple[str, dict[str, int]]:
        """Target and counts of the span that the process did not finish."""
        span = self.spans[int(self.position[0])]
        return span.target, dict(zip((ACCEPTED, REFUSED), map(int, self.position[3:])))

    def remaining(self) -> tuple[Unclean, list[Span]]:
        """The case that ended the process, and the spans after it."""
        place, number = int(self.position[0]), int(self.position[1])
        span = self.spans[place]
        rest = [Span(span.target, number + 1, span.last), *self.spans[place + 1 :]]
        return Unclean(span.target, number, crashes(self.process.exitcode)), rest


def run(cases: dict[str, int], settings: Settings, jobs: int) -> Outcome:
    """Run so many cases of each target."""
    waiting = _dealt(cases, jobs)
    crew = [Process(spans, settings) for spans in waiting]
    outcome = Outcome()
    while crew:
        time.sleep(POLL)
        for process in list(crew):
            stuck = process.stop_if_stuck()
            done = not process.process.is_alive()
            for message in process.messages():
                outcome.add(*message)
            if not done:
                continue
            crew.remove(process)
            if stuck or process.process.exitcode != 0:
                unclean, rest = process.remaining()
                target, counts = process.broken_counts()
                outcome.add(target, None, counts)
                outcome.add(unclean.target, unclean.number,
                            HANGS if stuck else unclean.what)
                crew.append(Process(rest, settings))
    return outcome


def crashes(code: int | None) -> str:
    """How a crash with this exit code is called."""
    return f"crashes with exit code {code}"


def counts_of(cases: int, targets: list[str]) -> dict[str, int]:
    """So many cases by target, as their shares say."""
    total = sum(TARGETS[name].share for name in targets)
    return {name: max(1, round(cases * TARGETS[name].share / total)) for name in targets}


def report(outcome: Outcome) -> str:
    """A table of counts."""
    rows = [f"{'target':<18}{'cases':>9}{'accepted':>10}{'refused':>9}{'unclean':>9}"]
    bad = Counter(case.target for case in outcome.unclean)
    for name in sorted(outcome.counts | bad):
        counts = outcome.counts.get(name, Counter())
        accepted, refused = counts[ACCEPTED], counts[REFUSED]
        rows.append(f"{name:<18}{accepted + refused + bad[name]:>9}{accepted:>10}{refused:>9}"
                    f"{bad[name]:>9}")
    return "\n".join(rows)


def _dealt(cases: dict[str, int], jobs: int) -> list[list[Span]]:
    """Spans of all targets, dealt to the processes."""
    size = max(1, sum(cases.values()) // (jobs * SPANS_PER_PROCESS))
    spans = [Span(name, first, min(first + size, count))
             for name, count in cases.items() for first in range(0, count, size)]
    return [spans[job::jobs] for job in range(jobs) if spans[job::jobs]]
