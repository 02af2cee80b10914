"""Programs that communicate, divided into segments between the steps of communication.

A segment is a program without communication. The host executes loops and branches around steps of
communication; it needs to know which segments may change the flags that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from portpart.backends.cuda.requirements import may_set
from portpart.backends.programs import (
    AllReduce,
    AllToAll,
    Branch,
    Communication,
    Element,
    Launch,
    Program,
    Slot,
    Step,
    While,
    all_steps,
    slots_of,
)

Elements = frozenset[Element]


@dataclass(frozen=True)
class Segment:
    """A program of steps without communication, and the elements that it may change and the host
    reads.
    """

    program: Program
    changes: Elements


@dataclass(frozen=True)
class Exchange:
    """A step of communication, and the elements that it may change."""

    step: Communication
    changes: Elements

    @property
    def name(self) -> str:
        """Return the operation and the name of its array."""
        if isinstance(self.step, AllReduce):
            return f"all_reduce ({self.step.words.name})"
        return f"all_to_all ({self.step.parcel.send.name})"


@dataclass(frozen=True)
class Test:
    """Continue at another place if a flag is zero.

    Attributes
    ----------
    flag : Element
    place : int
    ahead : dict of Segment
        Segments that test the flag themselves, so that they may be launched before the host knows
        it, by the places of the segments they replace: the next one, if the flag is not zero, or
        one behind a branch, if it is.
    exchanges : bool
        Whether the exchange behind the next segment may be done as well: if the loop has ended, it
        is done in vain.
    """

    flag: Element
    place: int
    ahead: Mapping[int, Segment]
    exchanges: bool = False


@dataclass(frozen=True)
class Jump:
    """Continue at another place."""

    place: int


Instruction = Segment | Exchange | Test | Jump


class Segments:
    """A program that communicates, divided at these steps.

    Scratch, and words that are sent with the arguments or begin with zeros, are used by several
    segments: in the programs of segments they are arrays that are bound.

    Parameters
    ----------
    program : Program

    Attributes
    ----------
    line : list of Instruction
    own : dict of Slot
        The slots of arrays that belong to a run, each with the slot that replaces it.
    read_by_host : frozenset of Element
        Flags around communication, and numbers of words that are reduced.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        # dots in a name would make it the field of a record
        self.own = {slot: Slot(slot.name.replace(".", ":") + ":own", slot.dtype, True)
                    for slot in program.used_slots()
                    if slot.scratch or slot.words}
        self.read_by_host = frozenset(_read_by_host(program.steps))
        self.line: list[Instruction] = []
        self._skipped: list[int] = []
        self._add(program.steps)
        for place, test in enumerate(self.line):
            if isinstance(test, Test) and place + 1 in test.ahead:
                self.line[place] = replace(test, exchanges=self._may_repeat(place, test.place))
        for place in self._skipped:
            test = cast(Test, self.line[place])
            behind = {at: cast(Segment, self.line[at]) for at in self._segments_from(test.place)}
            self.line[place] = replace(test, ahead={
                at: self._guarded(segment, test.flag, False) for at, segment in behind.items()})

    def programs(self) -> list[Program]:
        """Return the programs of all segments, in the order of recording."""
        return [program for place in range(len(self.line)) for program in self.programs_at(place)]

    def programs_at(self, place: int) -> list[Program]:
        """Return the programs of which one is run at a place: the segment's, and any that test a
        flag themselves.
        """
        here = self.line[place]
        found = [here] if isinstance(here, Segment) else []
        found += [part.ahead[place] for part in self.line
                  if isinstance(part, Test) and place in part.ahead]
        return list({id(each.program): each.program for each in found}.values())

    def _add(self, steps: list[Step]) -> None:
        waiting: list[Step] = []
        for step in steps:
            if not _communicates(step):
                waiting.append(step)
                continue
            self._add_segment(waiting)
            waiting = []
            if isinstance(step, (While, Branch)):
                self._add_test(step)
            elif isinstance(step, (AllReduce, AllToAll)):
                self.line.append(Exchange(step, frozenset(
                    each for each in self.read_by_host if each.slot in _set_by(step))))
        self._add_segment(waiting)

    def _add_test(self, step: While | Branch) -> None:
        line, place = self.line, len(self.line)
        line.append(Jump(place))  # the test, now that its target is known
        self._add(step.steps if isinstance(step, While) else step.then)
        line.append(Jump(place))
        first, ahead = line[place + 1], {}
        if isinstance(step, While) and isinstance(first, Segment):
            ahead[place + 1] = line[place + 1] = self._guarded(first, step.flag, True)
        line[place] = Test(step.flag, len(line), ahead)
        if isinstance(step, Branch):
            if not step.orelse:
                self._skipped.append(place)
            end = len(line) - 1
            self._add(step.orelse)
            line[end] = Jump(len(line))

    def _add_segment(self, steps: list[Step]) -> None:
        """Add a program of these steps, unless there are none."""
        if not steps:
            return
        launches = [step for step in all_steps(steps) if isinstance(step, Launch)]
        self.line.append(Segment(self._of([self._moved(step) for step in steps]), frozenset(
            each for each in self.read_by_host
            if any(may_set(launch, each) for launch in launches))))

    def _segments_from(self, place: int) -> set[int]:
        """Return the places of segments that may come first from a place on, except in loops."""
        if place >= len(self.line):
            return set()
        part = self.line[place]
        if isinstance(part, Segment):
            return {place}
        if isinstance(part, Jump):
            return self._segments_from(part.place) if part.place > place else set()
        if isinstance(part, Test) and not part.ahead:
            return self._segments_from(place + 1) | self._segments_from(part.place)
        return set()

    def _may_repeat(self, test: int, end: int) -> bool:
        """Whether the second part of the loop at a test exchanges parts, and nothing behind the
        loop reads what arrives: doing it again sends the same parts, but sums would be wrong.
        """
        part = self.line[test + 2]
        if not isinstance(part, Exchange) or not isinstance(part.step, AllToAll):
            return False
        around = [each.place for each in self.line[end:]
                  if isinstance(each, Jump) and each.place < test]
        later = [*self.line[end:], *(self.line[min(around) : test] if around else [])]
        arriving = {self.own.get(slot, slot) for slot in _set_by(part.step)}
        return not any(self.own.get(slot, slot) in arriving
                       for each in later if isinstance(each, (Segment, Exchange))
                       for slot in slots_of(each.program.steps if isinstance(each, Segment)
                                            else [each.step]))

    def _guarded(self, segment: Segment, flag: Element, if_set: bool) -> Segment:
        """Return a segment that does nothing unless a flag is set, or is zero."""
        steps = segment.program.steps
        guard: Step = Branch(self._element(flag), *((steps, []) if if_set else ([], steps)))
        return replace(segment, program=self._of([guard]))

    def _of(self, steps: list[Step]) -> Program:
        """Return a program of these steps."""
        whole = self._program
        program = Program(whole.name, whole.threads, whole.sizes)
        program.steps += steps
        program.slots = {slot.name: slot for slot in slots_of(program.steps)}
        return program

    def _moved(self, step: Step) -> Step:
        """Return the step with arrays in place of scratch and words of a run."""
        if isinstance(step, Launch):
            count = self._element(step.count) if isinstance(step.count, Element) else step.count
            return replace(step, count=count, args=tuple(
                self._element(each) if isinstance(each, Element) else
                self.own.get(each, each) if isinstance(each, Slot) else each
                for each in step.args))
        if isinstance(step, While):
            return While(self._element(step.flag), [self._moved(each) for each in step.steps])
        assert isinstance(step, Branch)
        return Branch(self._element(step.flag), [self._moved(each) for each in step.then],
                      [self._moved(each) for each in step.orelse])

    def _element(self, element: Element) -> Element:
        return replace(element, slot=self.own.get(element.slot, element.slot))


def _communicates(step: Step) -> bool:
    return any(isinstance(each, Communication) for each in all_steps([step]))


def _read_by_host(steps: list[Step]) -> Iterator[Element]:
    """Yield flags around communication, and numbers of words that are reduced."""
    for step in all_steps(steps):
        if isinstance(step, (While, Branch)) and _communicates(step):
            yield step.flag
        elif isinstance(step, AllReduce) and isinstance(step.count, Element):
            yield step.count


def _set_by(step: Communication) -> tuple[Slot, ...]:
    """Return the slots of the arrays that a step sets."""
    if isinstance(step, AllReduce):
        return (step.words,)
    return step.parcel.recv, step.parcel.recv_counts


def segments_of(program: Program) -> list[Program]:
    """Return the programs without communication that a program consists of."""
    return Segments(program).programs() if program.communication() else [program]
