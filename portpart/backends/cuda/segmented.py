"""Programs that communicate: the host runs their segments in order.

It executes the loops and branches around steps of communication. It reads the flags that it needs
together, and reads one again only if a step may have changed it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from portpart.backends.communication import (
    Operation,
    Prepared,
    Refused,
    communicator_of,
    described,
    follow,
    operation_of,
    wait_of,
)
from portpart.backends.cuda.segments import Exchange, Jump, Segment, Segments, Test
from portpart.backends.cuda.side_by_side import Known, SideBySide
from portpart.backends.programs import (
    LINE,
    AllReduce,
    Array,
    Bindings,
    DeviceTransfers,
    Element,
    ExecutionSpace,
    Program,
    Slot,
    add_numbers,
    slots_of,
)

if TYPE_CHECKING:
    from portpart.backends.cuda.program import CudaExecutable
    from portpart.backends.programs import Bound


class SegmentedExecutable:
    """A program that communicates, for one device.

    Ranks that run in turns may run it at the same time, so it keeps no data of a run.

    Parameters
    ----------
    space : ExecutionSpace
    program : Program
    compiled : callable
        Compiles a program without communication.
    request : callable, optional
        Requests the code of such programs, to be compiled in parallel.
    profiling : bool
        Whether runs measure the time of each step of communication.
    """

    def __init__(self, space: ExecutionSpace, program: Program,
                 compiled: Callable[[Program], CudaExecutable],
                 request: Callable[[Sequence[Any]], None] = lambda programs: None,
                 profiling: bool = False) -> None:
        self.space, self.program = space, program
        self.segments = Segments(program)
        self.laps = [(0, 0.0)] * len(self.segments.line) if profiling else None
        self._executables = {id(each): compiled(each) for each in self.segments.programs()}
        request(list(self._executables.values()))
        self._bindings = Bindings(program.used_slots())
        self.exchanged = list(slots_of(program.communication()))[:1]
        self.needed = sorted(self.segments.read_by_host,
                             key=lambda each: (each.slot.name, each.index))
        counts = [part.step.count for part in self.segments.line
                  if isinstance(part, Exchange) and isinstance(part.step, AllReduce)]
        self.are_counts = [each in counts for each in self.needed]
        self._scratch = [slot for slot in self.segments.own if slot.scratch]
        self._words = [slot for slot in self.segments.own if slot.words]

    def run(self, bindings: Mapping[str, Bound], size: int, sizes: Any = None) -> None:
        """Run with arrays and scalars bound to the slots; `size` is the largest work size."""
        comm = communicator_of(self.program.name, bindings)
        bound = self._bindings.named(bindings)
        numbers = {slot: bound.get(slot.name, (0,) * slot.words) for slot in self._words}
        own = {**self._allocated(sizes), **self._begun(numbers)}
        bound.update({slot.name: array for slot, array in own.items()})
        given = {self.segments.own[slot].name: array for slot, array in own.items()}
        known = {each: int(numbers[each.slot][each.index]) for each in self.segments.read_by_host
                 if each.slot in numbers}
        run = SegmentedRun(self, {**bindings, **given}, bound, known, size, wait_of(comm))
        follow(run, comm)
        run.add_laps()

    def profile(self) -> list[tuple[str, int, float]]:
        """Return name, calls and milliseconds of each launch and step of communication, of all
        runs.

        See `CudaExecutable.profile`. The time of a step ends when this rank continues, so it
        includes the wait for other ranks. If ranks share a process, it is measured on the first of
        them.
        """
        rows = []
        for place, lap in enumerate(self.laps or ()):
            part = self.segments.line[place]
            if isinstance(part, Exchange):
                rows.append((part.name, *lap))
            elif isinstance(part, Segment):
                ways = [self._executables[id(program)].profile()
                        for program in self.segments.programs_at(place)]
                rows += [(way[0][0], sum(each[1] for each in way), sum(each[2] for each in way))
                         for way in zip(*ways)]
        return rows

    def _allocated(self, sizes: Any) -> dict[Slot, Array]:
        """Return all scratch arrays, from one allocation."""
        places = [end := 0]
        for slot in self._scratch:
            places.append(end := end + -(-slot.num_bytes(sizes) // LINE) * LINE)
        memory = self.space.empty(end, np.uint8)
        return {slot: slot.array_in(memory, begin, sizes)
                for slot, begin in zip(self._scratch, places)}

    def _begun(self, numbers: Mapping[Slot, Sequence[int]]) -> dict[Slot, Array]:
        """Return words with their initial values, in one copy."""
        packed, ends = array("q"), []
        for slot, values in numbers.items():
            add_numbers(slot, values, packed)
            ends.append(len(packed))
        if not ends:
            return {}
        memory = self.space.asarray(np.array(packed))
        return {slot: memory[end - slot.words : end] for slot, end in zip(numbers, ends)}

    def repeated(self, program: Program, bindings: Mapping[str, Bound],
                 size: int) -> Callable[[], None]:
        """Return a function that runs a segment."""
        return self._executables[id(program)].repeated(bindings, size)

    def reads_flags(self, program: Program) -> bool:
        """Whether the host waits for flags if it runs a segment now."""
        return self._executables[id(program)].reads_flags


class SegmentedRun:
    """One run, with its bindings.

    Elements that the host reads are named by their places in a list, which is the same on all
    ranks.

    Parameters
    ----------
    given : dict
        The bindings of segments.
    bound : dict
        The arrays of the program, by the names of their slots.
    known : dict
        Values of words of the run that the host knows.
    wait : callable
        Returns a function that waits for the steps that the communicator has begun.

    Attributes
    ----------
    line : list of Instruction
    known : tuple
        Values of the elements that the host knows at the beginning.
    arrays : list of Array
        Some arrays that are exchanged.
    """

    def __init__(self, executable: SegmentedExecutable, given: Mapping[str, Bound],
                 bound: Mapping[str, Any], known: Mapping[Element, int], size: int,
                 wait: Callable[[], Callable[[], None]]) -> None:
        self.space, self._executable, self._size = executable.space, executable, size
        self._wait = wait
        self._marks: list[tuple[int, Any, Any]] = []
        self.line = executable.segments.line
        self._given, self._bound, self._needed = given, bound, executable.needed
        self._are_counts = executable.are_counts
        self.known: Known = tuple(
            None if each not in known else self._value(number, known[each])
            for number, each in enumerate(self._needed))
        self.arrays: Sequence[Array] = [bound[slot.name] for slot in executable.exchanged]

    def _value(self, place: int, number: int) -> int:
        """Return a number of words as it is, and any other flag as 0 or 1."""
        return int(number if self._are_counts[place] else number != 0)

    def run_alone(self, prepared: Callable[[Operation], Callable[[], object]]) -> None:
        """Run while other processes run the program."""
        problem = None
        try:
            SideBySide([self], lambda calls: prepared(*calls), self._wait).run(lambda: True)
        except Refused as refused:
            problem = refused.problem
        if problem is not None:
            raise problem

    def run_together(self, runs: Sequence[SegmentedRun],
                     prepared: Callable[[Sequence[Operation]], Prepared],
                     goes_on: Callable[[], bool]) -> None:
        """Run together with the runs of other ranks."""
        SideBySide(runs, prepared).run(goes_on)

    def needed_at(self, place: int) -> int | None:
        """Return the element that must be known before the part at a place, if any."""
        part, element = self.line[place], cast(Any, None)
        if isinstance(part, Exchange):
            element = part.step.count if isinstance(part.step, AllReduce) else None
        elif not isinstance(part, (Segment, Jump)):
            element = part.flag
        return self._needed.index(element) if isinstance(element, Element) else None

    def changed_at(self, place: int) -> list[int]:
        """Return the elements that the part at a place may change."""
        part = self.line[place]
        if isinstance(part, (Segment, Exchange)):
            return [number for number, each in enumerate(self._needed) if each in part.changes]
        return []

    def segment(self, place: int, test: int | None = None) -> Callable[[], object]:
        """See `RankRun`."""
        part = self.line[place] if test is None else cast(Test, self.line[test]).ahead[place]
        program = cast(Segment, part).program
        launch = self._executable.repeated(program, self._given, self._size)

        def wait_and_launch() -> None:
            if self._executable.reads_flags(program):
                self._wait()()
            launch()

        return wait_and_launch

    def call(self, place: int, count: int | None) -> Operation:
        """Return the exchange at a place, with `count` words if its count was an element."""
        part: Any = self.line[place]
        step = part.step if count is None else replace(part.step, count=count)
        return operation_of(step, self._bound)

    def timed(self, place: int, prepared: Prepared) -> Prepared:
        """Return `prepared`, with marks of its begin and end if the program is profiled."""
        if self._executable.laps is None:
            return prepared

        def exchange() -> DeviceTransfers | None:
            begin = self.space.mark()
            found = prepared()
            self._marks.append((place, begin, self.space.mark()))
            return found

        return exchange

    def add_laps(self) -> None:
        """Add the times of this run's steps to the program's sums."""
        for place, begin, end in self._marks:
            laps = cast("list[tuple[int, float]]", self._executable.laps)
            count, milliseconds = laps[place]
            laps[place] = count + 1, milliseconds + 1000 * self.space.seconds_between(begin, end)

    def described(self, place: int, values: Known) -> str:
        """Describe the next step with these values, for other ranks."""
        while place < len(self.line):
            part = self.line[place]
            needed = self.needed_at(place)
            if needed is not None and values[needed] is None:
                return "reads flags"
            if isinstance(part, Exchange):
                count = None if needed is None else values[needed]
                return f"is at {described(self.call(place, count))}"
            leaps = isinstance(part, Jump) or (needed is not None and not values[needed])
            place = part.place if leaps and not isinstance(part, Segment) else place + 1
        return "has ended its program"

    def parts_with(self, unknown: Sequence[int]) -> list[Array]:
        """Return for each array with such elements the part between the first and the last one."""
        return [self._bound[name][places[0] : places[-1] + 1]
                for name, places in self._places(unknown).items()]

    def places(self, unknown: Sequence[int]) -> list[int]:
        """Return the places of elements in the concatenation of these parts."""
        begin, firsts = 0, {}
        for name, indices in self._places(unknown).items():
            firsts[name] = begin - indices[0]
            begin += indices[-1] + 1 - indices[0]
        return [firsts[each.slot.name] + each.index
                for each in (self._needed[place] for place in unknown)]

    def _places(self, unknown: Sequence[int]) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for each in (self._needed[place] for place in unknown):
            places.setdefault(each.slot.name, []).append(each.index)
        return places

    def values(self, unknown: Sequence[int], numbers: Sequence[int]) -> list[int]:
        """Return the values of these elements."""
        return [self._value(place, number) for place, number in zip(unknown, numbers)]
