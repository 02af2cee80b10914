"""Runs of a program by ranks of one process, or by one rank of several: one thread executes them
all.

Ranks read the same flags, so they take the same path. The launches between two reads of flags are a
*stretch*. The host examines the program when it first reaches a stretch with such flags; later it
repeats the same launches without that. While a flag travels to the host, devices run a segment that
tests the flag itself: the first one of the next round of a loop, or the one behind a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from portpart.backends.communication import (
    ALL,
    CommunicationError,
    Operation,
    Prepared,
    Refused,
    described,
    refuse,
    require_same,
)
from portpart.backends.cuda.segments import Exchange, Instruction, Jump, Segment, Test
from portpart.backends.programs import Array, ExecutionSpace, Read, together, transfer_of

Known = tuple[int | None, ...]
"""Values of the elements that the host reads, in their order; None for unknown ones."""


class RankRun(Protocol):
    """The run of a rank; elements that the host reads are named by their places in a list."""

    space: ExecutionSpace
    line: list[Instruction]
    known: Known
    arrays: Sequence[Array]

    def needed_at(self, place: int) -> int | None:
        """Return the element that must be known before the part at a place, if any."""

    def changed_at(self, place: int) -> list[int]:
        """Return the elements that the part at a place may change."""

    def segment(self, place: int, test: int | None = None) -> Callable[[], object]:
        """Return a function that runs a segment, which is bound now, or the one for its place that
        tests the flag of a test itself.
        """

    def call(self, place: int, count: int | None) -> Operation:
        """Return the exchange at a place, with `count` words if its count was an element."""

    def timed(self, place: int, prepared: Prepared) -> Prepared:
        """Return a function that does the exchange at a place, and measures it in a profiled
        program.
        """

    def described(self, place: int, values: Known) -> str:
        """Describe the next step with these values, for other ranks."""

    def parts_with(self, unknown: Sequence[int]) -> list[Array]:
        """Return for each array with such elements the part between the first and the last one."""

    def places(self, unknown: Sequence[int]) -> list[int]:
        """Return the places of elements in the concatenation of these parts."""

    def values(self, unknown: Sequence[int], numbers: Sequence[int]) -> list[int]:
        """Return the values of these elements."""


class Stretch(NamedTuple):
    """Launches until flags are read.

    Attributes
    ----------
    ranks : list of int
        The rank of each action; exchanges belong to all ranks.
    actions : list of callable
    place : int
        Where the program continues.
    known : tuple
        The values that are still known there.
    """

    ranks: list[int]
    actions: list[Callable[[], object]]
    place: int
    known: Known


class SideBySide:
    """Runs of all ranks.

    Parameters
    ----------
    runs : sequence of RankRun
    prepared : callable
        Prepares the step that all ranks have reached.
    wait : callable, optional
        Returns a function that waits for steps that have begun, if that is necessary before flags
        are read.
    """

    def __init__(self, runs: Sequence[RankRun], prepared: Callable[[Sequence[Operation]], Any],
                 wait: Callable[[], Callable[[], None]] | None = None) -> None:
        self._runs, self._prepared, self._wait = runs, prepared, wait
        self._stretches: dict[tuple[int, Known], Stretch] = {}
        self._ahead: dict[tuple[int, int, bool], Stretch] = {}
        self._exchanges: dict[tuple[int, int | None], Prepared] = {}
        self._reads: dict[tuple[int, ...], tuple[Callable[[], Callable[[], Read]], list[int]]] = {}

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Run until the program ends, or must not continue."""
        end = len(self._runs[0].line)
        place, known = 0, _agreed([run.known for run in self._runs])
        while goes_on():
            stretch = self._stretches.get((place, known))
            if stretch is None:
                stretch = self._stretches[place, known] = self._found(place, known)
            else:
                self._repeat(stretch)
            place, known = stretch.place, stretch.known
            if place == end:
                if self._wait is None:
                    self._begin_read(())()
                return
            place, known = self._read_at(place, known)

    def _repeat(self, stretch: Stretch) -> None:
        number = 0
        try:
            for number, action in enumerate(stretch.actions):  # noqa: B007
                action()
        except Exception as problem:
            raise _of_rank(problem, stretch.ranks[number]) from problem

    def _found(self, place: int, known: Known) -> Stretch:
        """Launch parts until a value must be read that is not known."""
        line, now = self._runs[0].line, list(known)
        found = Stretch([], [], 0, known)
        while place < len(line):
            part = line[place]
            needed = self._runs[0].needed_at(place)
            if needed is not None and now[needed] is None:
                break
            place += 1
            if isinstance(part, (Segment, Exchange)):
                count = None if needed is None else now[needed]
                self._launch(place - 1, part, count, found)
                for each in self._runs[0].changed_at(place - 1):
                    now[each] = None
            elif isinstance(part, Jump):
                place = part.place
            elif not now[cast(int, needed)]:
                place = part.place
        return found._replace(place=place, known=tuple(now))

    def _launch(self, place: int, part: Segment | Exchange, count: int | None,
                found: Stretch, test: int | None = None) -> None:
        """Launch a segment on all ranks, or do an exchange, and record the actions."""
        if isinstance(part, Exchange):
            actions = {0: cast("Callable[[], object]", self._exchange(place, count))}
        else:
            actions = {rank: _bound(rank, run, place, test)
                       for rank, run in enumerate(self._runs)}
        for rank, action in actions.items():
            found.ranks.append(rank)
            found.actions.append(action)
            self._repeat(Stretch([rank], [action], 0, ()))

    def _exchange(self, place: int, count: int | None) -> Prepared:
        """Return a function that does an exchange, with arrays that do not change."""
        key = place, count
        if key not in self._exchanges:
            calls = [run.call(place, count) for run in self._runs]
            require_same([f"is at {described(each)}" for each in calls])
            self._exchanges[key] = self._runs[0].timed(place, self._prepared(calls))
        return self._exchanges[key]

    def _read_at(self, place: int, known: Known) -> tuple[int, Known]:
        """Read all unknown values, one of which is needed next; return where the program
        continues.
        """
        unknown = tuple(number for number, each in enumerate(known) if each is None)
        run, numbers = self._runs[0], self._begin_read(unknown)
        ahead = self._launched_ahead(place, known)
        values = [list(known) for _ in self._runs]
        for mine, found in zip(values, numbers()):
            for number, value in zip(unknown, run.values(unknown, found)):
                mine[number] = value
        result = _agreed(values)
        needed = cast(int, run.needed_at(place))
        if result[needed] is None:
            require_same([run.described(place, tuple(each))
                          for run, each in zip(self._runs, values)])
            raise Refused(ALL, CommunicationError(
                f"ranks read {[each[needed] for each in values]} as the same flag"))
        if ahead is None or bool(result[needed]) != (ahead[0] == place + 1):
            return place, result
        changed = [each for there in range(ahead[0], ahead[1].place)
                   for each in run.changed_at(there)]
        return ahead[1].place, tuple(None if number in changed else each
                                     for number, each in enumerate(result))

    def _launched_ahead(self, place: int, known: Known) -> tuple[int, Stretch] | None:
        """Launch a segment that tests the flag of a test itself, if there is one, and maybe do the
        exchange behind it: if the flag is as it should be, the program continues behind these;
        otherwise the segment does nothing.

        Returns
        -------
        tuple or None
            The place of the segment, and what was launched.
        """
        test = self._runs[0].line[place]
        if not isinstance(test, Test) or not test.ahead:
            return None
        at = place + 1 if place + 1 in test.ahead else self._next_segment(test.place, known)
        if at not in test.ahead:
            return None
        # before the first round, nothing may have been packed
        exchanges = test.exchanges and at == place + 1 and (at + 1, None) in self._exchanges
        found = self._ahead.get((place, at, exchanges))
        if found is None:
            found = self._ahead[place, at, exchanges] = Stretch([], [], at + 1 + exchanges, known)
            self._launch(at, test.ahead[at], None, found, place)
            if exchanges:
                self._launch(at + 1, cast(Exchange, self._runs[0].line[at + 1]), None, found)
        else:
            self._repeat(found)
        return at, found

    def _next_segment(self, place: int, known: Known) -> int:
        """Return the next place from here on that is not passed with known flags alone."""
        line = self._runs[0].line
        while place < len(line):
            part = line[place]
            needed = self._runs[0].needed_at(place)
            if isinstance(part, Jump):
                place = part.place
            elif isinstance(part, Test) and needed is not None and known[needed] is not None:
                place = place + 1 if known[needed] else part.place
            else:
                break
        return place

    def _begin_read(self, unknown: tuple[int, ...]) -> Callable[[], list[list[int]]]:
        """Begin to read these elements; return a function that waits for those of each rank, and
        raises an error for wrong numbers of elements.
        """
        if unknown not in self._reads:
            self._reads[unknown] = self._reading(unknown)
        self._runs[0].space.counters.synchronizations += 1
        begin, places = self._reads[unknown]
        reading, size = begin(), len(self._runs)

        def found() -> list[list[int]]:
            numbers, wrong = reading()
            refuse(wrong)
            every, step = numbers.tolist(), len(numbers) // size
            return [[every[first + place] for place in places]
                    for first in range(0, size * step, step or 1)]

        return found

    def _reading(self, unknown: tuple[int, ...]
                 ) -> tuple[Callable[[], Callable[[], Read]], list[int]]:
        """Return a function that begins to read parts of arrays of all ranks, in one copy if they
        are on one device, and the places of the elements in the parts of a rank.
        """
        arrays = [each for run in self._runs for each in run.parts_with(unknown)]
        places = self._runs[0].places(unknown)
        if self._wait is not None:
            return partial(_by_host, arrays, self._wait), places
        device = together(arrays or self._runs[0].arrays, len(self._runs))
        return (partial(_by_host, arrays) if device is None else device.reading(arrays)), places


def _agreed(values: Sequence[Sequence[int | None]]) -> Known:
    """Return the values that are equal on all ranks."""
    return tuple(each[0] if each.count(each[0]) == len(each) else None for each in zip(*values))


def _bound(rank: int, run: RankRun, place: int, test: int | None) -> Callable[[], object]:
    """Return a function that launches a segment of a rank."""
    try:
        return run.segment(place, test)
    except Exception as problem:
        raise _of_rank(problem, rank) from problem


def _of_rank(problem: Exception, rank: int) -> Refused:
    return problem if isinstance(problem, Refused) else Refused(rank, problem)


def _by_host(arrays: Sequence[Array],
             wait: Callable[[], Callable[[], None]] | None = None) -> Callable[[], Read]:
    fetched = [transfer_of(each).fetch(each) for each in arrays]
    waiting = None if wait is None else wait()

    def found() -> Read:
        if waiting is not None:
            waiting()
        if len(fetched) == 1:  # as in most cases
            return Read(fetched[0](), None)
        return Read(np.concatenate([np.empty(0, np.int64), *(numbers() for numbers in fetched)]),
                    None)

    return found
