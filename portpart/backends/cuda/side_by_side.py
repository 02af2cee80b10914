"""Runs of a program by ranks of one process, or by one of several: a thread walks them all.

Ranks read the same flags, so they take the same way.  What is launched between two reads of flags
is a *stretch*.  The host finds its way through one when it comes there for the first time with such
flags; when it comes again it launches the same without a examine the program.
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
from portpart.backends.cuda.segments import Exchange, Instruction, Jump, Segment
from portpart.backends.programs import Array, ExecutionSpace, Read, together, transfer_of

Known = tuple[int | None, ...]
"""What the host knows of the elements that it reads, in their order."""


class RankRun(Protocol):
    """The run of a rank; what the host reads goes by its place in a list."""

    space: ExecutionSpace
    line: list[Instruction]
    known: Known
    arrays: Sequence[Array]

    def wanted_at(self, place: int) -> int | None:
        """The element that has to be known before the part at a place, if there is one."""

    def changed_at(self, place: int) -> list[int]:
        """The elements that the part at a place may change."""

    def segment(self, place: int) -> Callable[[], object]:
        """What runs a segment, which is bound now, whenever it is called."""

    def call(self, place: int, count: int | None) -> Operation:
        """The exchange at a place, of this many words if that was an element."""

    def timed(self, place: int, prepared: Prepared) -> Prepared:
        """What does the exchange at a place, and measures it if that is wanted."""

    def described(self, place: int, values: Known) -> str:
        """Describe what comes next with these values, for other ranks."""

    def parts_with(self, unknown: Sequence[int]) -> list[Array]:
        """Of each array with such elements the part between the first and the last."""

    def places(self, unknown: Sequence[int]) -> list[int]:
        """Where elements stand in these parts, one behind the other."""

    def values(self, unknown: Sequence[int], numbers: Sequence[int]) -> list[int]:
        """The values of these elements."""


class Stretch(NamedTuple):
    """What is launched until flags are read.

    Attributes
    ----------
    ranks : list of int
        Whose each action is; those of an exchange are all ranks'.
    actions : list of callable
    place : int
        Where the program goes on.
    known : tuple
        What is still known there.
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
        Waits for what steps have begun, where that has to be waited for before flags are.
    """

    def __init__(self, runs: Sequence[RankRun], prepared: Callable[[Sequence[Operation]], Any],
                 wait: Callable[[], None] | None = None) -> None:
        self._runs, self._prepared, self._wait = runs, prepared, wait
        self._stretches: dict[tuple[int, Known], Stretch] = {}
        self._exchanges: dict[tuple[int, int | None], Prepared] = {}
        self._reads: dict[tuple[int, ...], tuple[Callable[[], Read], list[int]]] = {}

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Run until the program ends, or is not to go on."""
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
                    self._read(())
                return
            known = self._read_at(place, known)

    def _repeat(self, stretch: Stretch) -> None:
        number = 0
        try:
            for number, action in enumerate(stretch.actions):  # noqa: B007
                action()
        except Exception as problem:
            raise _of_rank(problem, stretch.ranks[number]) from problem

    def _found(self, place: int, known: Known) -> Stretch:
        """Launch what comes until something has to be read that is not known."""
        line, now = self._runs[0].line, list(known)
        found = Stretch([], [], 0, known)
        while place < len(line):
            part = line[place]
            wanted = self._runs[0].wanted_at(place)
            if wanted is not None and now[wanted] is None:
                break
            place += 1
            if isinstance(part, (Segment, Exchange)):
                count = None if wanted is None else now[wanted]
                self._launch(place - 1, part, count, found)
                for each in self._runs[0].changed_at(place - 1):
                    now[each] = None
            elif isinstance(part, Jump):
                place = part.place
            elif not now[cast(int, wanted)]:
                place = part.place
        return found._replace(place=place, known=tuple(now))

    def _launch(self, place: int, part: Segment | Exchange, count: int | None,
                found: Stretch) -> None:
        """Launch a segment on all ranks, or do an exchange, and note how."""
        if isinstance(part, Exchange):
            actions = {0: cast("Callable[[], object]", self._exchange(place, count))}
        else:
            actions = {rank: _bound(rank, run, place) for rank, run in enumerate(self._runs)}
        for rank, action in actions.items():
            found.ranks.append(rank)
            found.actions.append(action)
            self._repeat(Stretch([rank], [action], 0, ()))

    def _exchange(self, place: int, count: int | None) -> Prepared:
        """What does an exchange, with arrays that do not change."""
        key = place, count
        if key not in self._exchanges:
            calls = [run.call(place, count) for run in self._runs]
            require_same([f"is at {described(each)}" for each in calls])
            self._exchanges[key] = self._runs[0].timed(place, self._prepared(calls))
        return self._exchanges[key]

    def _read_at(self, place: int, known: Known) -> Known:
        """Read what is not known, of which what comes next needs one."""
        unknown = tuple(number for number, each in enumerate(known) if each is None)
        run, numbers = self._runs[0], self._read(unknown)
        values = [list(known) for _ in self._runs]
        for mine, found in zip(values, numbers.tolist()):
            for number, value in zip(unknown, run.values(unknown, found)):
                mine[number] = value
        result = _agreed(values)
        wanted = cast(int, run.wanted_at(place))
        if result[wanted] is None:
            require_same([run.described(place, tuple(each))
                          for run, each in zip(self._runs, values)])
            raise Refused(ALL, CommunicationError(
                f"ranks read {[each[wanted] for each in values]} as the same flag"))
        return result

    def _read(self, unknown: tuple[int, ...]) -> np.ndarray:
        """These elements of each rank; refuses wrong numbers of elements."""
        if unknown not in self._reads:
            self._reads[unknown] = self._reading(unknown)
        self._runs[0].space.counters.synchronizations += 1
        reading, places = self._reads[unknown]
        numbers, wrong = reading()
        refuse(wrong)
        size = len(self._runs)
        found: np.ndarray = numbers.reshape(size, len(numbers) // size)[:, places]
        return found

    def _reading(self, unknown: tuple[int, ...]) -> tuple[Callable[[], Read], list[int]]:
        """What reads parts of arrays of all ranks, in one copy if they are on one device.

        And where the elements stand in those of a rank.
        """
        arrays = [each for run in self._runs for each in run.parts_with(unknown)]
        places = self._runs[0].places(unknown)
        if self._wait is not None:
            return partial(_by_host, arrays, self._wait), places
        device = together(arrays or self._runs[0].arrays, len(self._runs))
        return (partial(_by_host, arrays) if device is None else device.reading(arrays)), places


def _agreed(values: Sequence[Sequence[int | None]]) -> Known:
    """What is the same on all ranks."""
    return tuple(each[0] if each.count(each[0]) == len(each) else None for each in zip(*values))


def _bound(rank: int, run: RankRun, place: int) -> Callable[[], object]:
    """What launches a segment of a rank."""
    try:
        return run.segment(place)
    except Exception as problem:
        raise _of_rank(problem, rank) from problem


def _of_rank(problem: Exception, rank: int) -> Refused:
    return problem if isinstance(problem, Refused) else Refused(rank, problem)


def _by_host(arrays: Sequence[Array], wait: Callable[[], None] | None = None) -> Read:
    fetched = [transfer_of(each).fetch(each) for each in arrays]
    if wait is not None:
        wait()
    return Read(np.concatenate([np.empty(0, np.int64), *(numbers() for numbers in fetched)]), None)
