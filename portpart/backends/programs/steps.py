"""The steps of programs: launches, loops, branches, and communication between ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portpart.backends.language import Kernel, Record, Words
from portpart.backends.language.arrays import Array, Length

SUM, MIN, MAX = "sum", "min", "max"
OPERATIONS = (SUM, MIN, MAX)
"""Operations that combine words of several ranks."""


@dataclass(frozen=True)
class Slot:
    """A named argument of a program, bound to an array or a scalar when the program runs.

    A slot with ``dtype`` None is an absent array (None). Two kinds of array belong to a run:
    scratch, whose ``length`` depends on the sizes of the run, and ``words`` int64, bound to their
    values. A slot ``name.field`` is bound to that field of the record with the name, and one of
    ``named_words`` to the array of such words. Words that begin with ``zeros`` are not bound.
    """

    name: str
    dtype: np.dtype | None
    is_array: bool
    length: Length | None = None
    words: int = 0
    named_words: bool = False
    zeros: bool = False

    @property
    def scratch(self) -> bool:
        """Whether the contents of the array do not last between runs."""
        return self.length is not None

    def num_bytes(self, sizes: Any) -> int:
        """Bytes of an array of scratch."""
        assert self.length is not None
        assert self.dtype is not None
        return self.length(sizes) * self.dtype.itemsize

    def array_in(self, memory: Any, begin: int, sizes: Any) -> Any:
        """The array of scratch, which begins at this byte of memory."""
        return memory[begin : begin + self.num_bytes(sizes)].view(self.dtype)

    def __getitem__(self, index: int) -> Element:
        return Element(self, index)


Bound = Array | Record | Words | Sequence[int] | float | np.generic | None
"""Values that a name of a program may be bound to in a run."""

Records = Mapping[str, Record | Words]
"""Records and words by their names in a program."""

AnySlot = Slot | Array
"""An array of a record: while a program is recorded, records have slots in place of arrays."""


@dataclass(frozen=True)
class Element:
    """One element of a bound int64 array: a work size, a flag, or a number for a kernel."""

    slot: Slot
    index: int


@dataclass(frozen=True)
class Launch:
    """One kernel over ``count`` items; ``count`` is an element or a fixed number.

    ``has_barrier`` is False if the next launch may begin before this one is done. ``work``, the
    approximate work of one item in units of a light item, determines whether a CPU uses threads;
    None means the usual value for the width of the team.
    """

    count: Element | int
    kernel: Kernel
    args: tuple[Any, ...]
    team: int
    work: int | None = None
    has_barrier: bool = True


@dataclass(frozen=True)
class While:
    """Repeat ``steps`` while the flag is not zero; the flag is read before every iteration."""

    flag: Element
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Branch:
    """Run ``then`` if the flag is not zero, otherwise ``orelse``."""

    flag: Element
    then: list[Step] = field(default_factory=list)
    orelse: list[Step] = field(default_factory=list)


class Parcel(Record):
    """Data that one rank sends to each rank, including itself, and receives from each rank.

    Elements for rank 0 come first, then those for rank 1, without gaps; elements that arrive have
    the same order.

    Attributes
    ----------
    send : array of integers
    send_counts : array of int64, shape (number of ranks,)
        Number of elements for each rank.
    recv : array of the type of `send`
        It may be longer than the data that arrive.
    recv_counts : array of int64, shape (number of ranks,)
        Number of elements from each rank; the step sets it.

    Notes
    -----
    Communicators that are called from Python also accept numbers of elements in host arrays if
    `send` is on a GPU: that saves a wait.
    """

    send: Any
    send_counts: Any
    recv: Any
    recv_counts: Any


@dataclass(frozen=True)
class AllReduce:
    """Replace int64 words of an array by their sum, minimum or maximum over all ranks.

    Every rank receives the result. ``count`` is a number, or an element that is read when the step
    starts.
    """

    words: Slot
    first: int
    count: Element | int
    op: str


@dataclass(frozen=True)
class AllToAll:
    """Send each rank its part of an array. The fields of the parcel are slots."""

    parcel: Parcel

    @property
    def slots(self) -> list[Slot]:
        """Return the slots of the parcel."""
        return [slot for _, slot in self.parcel.named()]


Communication = AllReduce | AllToAll

Step = Launch | While | Branch | Communication


def sides_of(step: Step) -> list[list[Step]]:
    """Return the steps inside a loop or a branch; of a branch, those of both sides."""
    if isinstance(step, While):
        return [step.steps]
    return [step.then, step.orelse] if isinstance(step, Branch) else []


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps and all steps inside them, in the order of recording."""
    for step in steps:
        yield step
        for side in sides_of(step):
            yield from all_steps(side)


def slots_of(steps: Sequence[Step]) -> Iterator[Slot]:
    """Yield the slots of steps, once for each reference."""
    for step in all_steps(steps):
        if isinstance(step, Launch):
            yield from (argument.slot if isinstance(argument, Element) else argument
                        for argument in step.args if isinstance(argument, (Slot, Element)))
            number: Element | int = step.count
        elif isinstance(step, AllReduce):
            yield step.words
            number = step.count
        elif isinstance(step, AllToAll):
            yield from step.slots
            continue
        else:
            number = step.flag
        if isinstance(number, Element):
            yield number.slot
