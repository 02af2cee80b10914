"""Programs that communicate: the host runs their segments, one after the other.

It walks the loops and branches around steps of communication.  It reads the flags that it needs
together, and reads one anew only if a step may have changed it since.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from portpart.backends.bound import Bindings, add_numbers
from portpart.backends.communication.carry_out import (
    Call,
    Calls,
    call_of,
    communicator_of,
    follow,
)
from portpart.backends.cuda.segments import (
    Elements,
    Exchange,
    HostLoop,
    Part,
    Segment,
    Segments,
)
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.program import Program
from portpart.backends.steps import AllReduce, Communication, Element, Slot, slots_of
from portpart.backends.table import LINE


class Repeatable(Protocol):
    """A compiled program without scratch."""

    def repeated(self, bindings: dict[str, Any], size: int) -> Callable[[], None]:
        """What runs it, with these arrays, whenever it is called."""


class SegmentedExecutable:
    """A program that communicates, for one device.

    Ranks that take turns may run it at the same time, so it keeps nothing of a run.

    Parameters
    ----------
    space : ExecutionSpace
    program : Program
    compiled : callable
        Compiles a program without communication.
    """

    def __init__(self, space: ExecutionSpace, program: Program,
                 compiled: Callable[[Program], Repeatable]) -> None:
        self.space, self.program = space, program
        self.segments = Segments(program)
        self._executables = {id(each): compiled(each) for each in self.segments.programs()}
        self._bindings = Bindings(program.used_slots())
        self._exchanged = list(slots_of(program.communication()))[:1]
        self._scratch = [slot for slot in self.segments.own if slot.scratch]
        self._words = [slot for slot in self.segments.own if slot.words]

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run with arrays and scalars bound to the slots, `size` being the largest work size."""
        comm = communicator_of(self.program.name, bindings)
        bound = self._bindings.named(bindings)
        numbers = {slot: bound.get(slot.name, (0,) * slot.words) for slot in self._words}
        own = {**self._allocated(sizes), **self._begun(numbers)}
        bound.update({slot.name: array for slot, array in own.items()})
        given = {self.segments.own[slot].name: array for slot, array in own.items()}
        known = {each: int(numbers[each.slot][each.index]) for each in self.segments.read_by_host
                 if each.slot in numbers}
        run = _Run(self, {**bindings, **given}, bound, known, size)
        follow(run.walk(self.segments.parts), comm, [bound[slot.name] for slot in self._exchanged])

    def _allocated(self, sizes: Any) -> dict[Slot, Array]:
        """Scratch, all of it from one allocation."""
        places = [end := 0]
        for slot in self._scratch:
            places.append(end := end + -(-_num_bytes(slot, sizes) // LINE) * LINE)
        memory = self.space.empty(end, np.uint8)
        return {slot: memory[begin : begin + _num_bytes(slot, sizes)].view(slot.dtype)
                for slot, begin in zip(self._scratch, places)}

    def _begun(self, numbers: Mapping[Slot, Sequence[int]]) -> dict[Slot, Array]:
        """Words as a run begins with them, in one copy."""
        packed, ends = array("q"), []
        for slot, values in numbers.items():
            add_numbers(slot, values, packed)
            ends.append(len(packed))
        if not ends:
            return {}
        memory = self.space.asarray(np.array(packed))
        return {slot: memory[end - slot.words : end] for slot, end in zip(numbers, ends)}

    def repeated(self, program: Program, bindings: dict[str, Any],
                 size: int) -> Callable[[], None]:
        """What runs a segment whenever it is called."""
        return self._executables[id(program)].repeated(bindings, size)


def _num_bytes(slot: Slot, sizes: Any) -> int:
    assert slot.length is not None
    assert slot.dtype is not None
    return slot.length(sizes) * slot.dtype.itemsize


class _Run:
    """One run: what slots are bound to, and what the host has read.

    Parameters
    ----------
    given : dict
        What segments are bound to.
    bound : dict
        The arrays of the program, by the names of their slots.
    known : dict
        What the host knows of the words that belong to the run.
    """

    def __init__(self, executable: SegmentedExecutable, given: dict[str, Any],
                 bound: Mapping[str, Any], known: dict[Element, int], size: int) -> None:
        self.executable, self.size = executable, size
        self.given, self.bound = given, bound
        self._known = known
        self._segments: dict[int, Callable[[], None]] = {}
        self._calls: dict[tuple[int, Any], Call] = {}
        self._wanted: list[Element] = sorted(executable.segments.read_by_host,
                                             key=lambda each: (each.slot.name, each.index))

    def walk(self, parts: list[Part]) -> Calls:
        """Run these parts; what they exchange is left to the caller."""
        for part in parts:
            if isinstance(part, Segment):
                self._execute(part.program)
                self._forget(part.changes)
            elif isinstance(part, Exchange):
                yield self._call(part, (yield from self._counted(part.step)))
                self._forget(part.changes)
            elif isinstance(part, HostLoop):
                while (yield from self._value(part.flag)):
                    yield from self.walk(part.parts)
            else:
                is_set = yield from self._value(part.flag)
                yield from self.walk(part.then if is_set else part.orelse)

    def _execute(self, program: Program) -> None:
        """Run a segment, which is bound once."""
        key = id(program)
        if key not in self._segments:
            self._segments[key] = self.executable.repeated(program, self.given, self.size)
        self._segments[key]()

    def _call(self, part: Exchange, step: Communication) -> Call:
        """The same call each time that the step comes: communicators know it again."""
        key = id(part), step.count if isinstance(step, AllReduce) else None
        if key not in self._calls:
            self._calls[key] = call_of(step, self.bound)
        return self._calls[key]

    def _counted(self, step: Communication) -> Generator[None, None, Communication]:
        """The step with a number of words in place of an element."""
        if isinstance(step, AllReduce) and isinstance(step.count, Element):
            step = replace(step, count=(yield from self._value(step.count)))
        return step

    def _forget(self, changes: Elements) -> None:
        for element in changes:
            self._known.pop(element, None)

    def _value(self, element: Element) -> Generator[None, None, int]:
        """An element, which is read with all others that may have changed."""
        if element not in self._known:
            reads = self._begun([each for each in self._wanted if each not in self._known])
            yield None
            for read in reads:
                read()
        return self._known[element]

    def _begun(self, elements: list[Element]) -> list[Callable[[], None]]:
        """Begin to read elements, of each array those between the first and the last."""
        places: dict[Slot, list[int]] = {}
        for each in elements:
            places.setdefault(each.slot, []).append(each.index)
        return [partial(self._arrived, slot, found, self.executable.space.fetch(
            self.bound[slot.name][found[0] : found[-1] + 1])) for slot, found in places.items()]

    def _arrived(self, slot: Slot, places: list[int], wait: Callable[[], np.ndarray]) -> None:
        words = wait()
        self._known.update({slot[place]: int(words[place - places[0]]) for place in places})
