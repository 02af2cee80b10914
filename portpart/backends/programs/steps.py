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
"""How words of several ranks become one."""


@dataclass(frozen=True)
class Slot:
    """A named argument of a program, bound to an array or a scalar when the program runs.

    A slot with ``dtype`` None stands for an absent array (None).  Two kinds of array belong to a
    run: scratch, of a ``length`` that follows from the sizes of the run, and ``words`` int64, bound
    to their values.  A slot ``name.field`` is bound to that field of what has the name, and one
    that is ``named_words`` to the array of such words.  Words that begin with ``zeros`` are not
    bound.
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
        """Whether no run finds anything in the array."""
        return self.length is not None

    def __getitem__(self, index: int) -> Element:
        return Element(self, index)


Bound = Array | Record | Words | Sequence[int] | float | np.generic | None
"""What a name of a program stands for in a run."""

Records = Mapping[str, Record | Words]
"""Records and words by their names in a program."""

AnySlot = Slot | Array
"""An array of a record: while a program is recorded, records hold slots in place of arrays."""


@dataclass(frozen=True)
class Element:
    """One element of a bound int64 array: a work size or a flag."""

    slot: Slot
    index: int


@dataclass(frozen=True)
class Launch:
    """One kernel over ``count`` items; ``count`` is an element or a fixed number.

    ``has_barrier`` is False if the next launch may begin before this one is done.  ``work``, the
    rough work of one item in light items, decides on a CPU when threads pay; None stands for the
    usual value for the width of the team.
    """

    count: Element | int
    kernel: Kernel
    args: tuple[Any, ...]
    team: int
    work: int | None = None
    has_barrier: bool = True


@dataclass(frozen=True)
class While:
    """Repeat ``steps`` while the flag is not zero; the flag is read before every round."""

    flag: Element
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Branch:
    """Run ``then`` if the flag is not zero, else ``orelse``."""

    flag: Element
    then: list[Step] = field(default_factory=list)
    orelse: list[Step] = field(default_factory=list)


class Parcel(Record):
    """What one rank sends to each rank, itself included, and what it gets from each.

    Elements for rank 0 come first, then those for rank 1, without gaps; the same for what arrives.

    Attributes
    ----------
    send : array of integers
    send_counts : array of int64, shape (number of ranks,)
        Number of elements for each rank.
    recv : array of the type of `send`
        It may be longer than what arrives.
    recv_counts : array of int64, shape (number of ranks,)
        Number of elements from each rank; the step sets it.

    Notes
    -----
    Communicators that are called from Python take numbers of elements in arrays of the host, too,
    also where `send` is on a GPU: that saves a wait.
    """

    send: Any
    send_counts: Any
    recv: Any
    recv_counts: Any


@dataclass(frozen=True)
class AllReduce:
    """Replace int64 words of an array by their sum, minimum or maximum over all ranks.

    Every rank gets the result. ``count`` is a number, or an element that is read when the step
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
        """The slots of the parcel."""
        return [slot for _, slot in self.parcel.named()]


Communication = AllReduce | AllToAll

Step = Launch | While | Branch | Communication


def sides_of(step: Step) -> list[list[Step]]:
    """The steps inside a loop or a branch; of a branch those of both sides."""
    if isinstance(step, While):
        return [step.steps]
    return [step.then, step.orelse] if isinstance(step, Branch) else []


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps and all steps inside them, in the order of recording."""
    for step in steps:
        yield step
        for side in sides_of(step):
            yield from all_steps(side)


def slots_of(steps: Sequence[Step]) -> Iterator[Slot]:
    """Slots that steps refer to, once for each reference."""
    for step in all_steps(steps):
        if isinstance(step, Launch):
            yield from (argument for argument in step.args if isinstance(argument, Slot))
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
