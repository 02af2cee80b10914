"""Programs: recorded launches with loops and branches that never return to Python.

A program is recorded once, compiled by an execution space (on CUDA one resident kernel, on the CPU
a list that a compiled loop walks) and run many times with different arrays bound to its slots.
Work sizes and flags are read from memory of the space when a launch starts; nothing inside a
program allocates or synchronises.

>>> program = Program("count down")
>>> left = program.array("left", np.int64)
>>> with program.while_loop(left[0]):
...     program.parallel_for(1, decrease, left)          # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from portpart.backends.declared import Declared, Length
from portpart.backends.language import Kernel, Record, Words
from portpart.backends.language.parameters import Parameter

TEAM_WIDTHS = (1, 8, 32, 256)

AnyRecord = TypeVar("AnyRecord", bound="Record | Words")
AnyWords = TypeVar("AnyWords", bound="Words")


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


@dataclass(frozen=True)
class Element:
    """One element of a bound int64 array: a work size or a flag."""

    slot: Slot
    index: int


@dataclass(frozen=True)
class Launch:
    """One kernel over ``count`` items; ``count`` is an element or a fixed number.

    ``awaited`` is False if the next launch may begin before this one is done.  ``work``, the rough
    work of one item in light items, tells a CPU when threads pay; None stands for what is usual
    with the width of the team.
    """

    count: Element | int
    kernel: Kernel
    args: tuple[Any, ...]
    team: int
    work: int | None = None
    awaited: bool = True


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


Step = Launch | While | Branch


class Program:
    """A recording of launches, loops and branches over named slots.

    Parameters
    ----------
    name : str
    sweeps : bool
        Whether it goes over large arrays a few times, rather than over short lists many times: many
        threads at once, each with less room for its own numbers, are faster then.
    sizes
        What the types of scratch follow from, where they follow from sizes.

    Attributes
    ----------
    statics : dict of str to object
        Static values that launches find by the names of a kernel's parameters.
    """

    def __init__(self, name: str, sweeps: bool = False, sizes: Any = None) -> None:
        self.name = name
        self.sweeps = sweeps
        self.sizes = sizes
        self.steps: list[Step] = []
        self.slots: dict[str, Slot] = {}
        self.records: dict[str, Record | Words] = {}
        self.statics: dict[str, Any] = {}
        self._open = self.steps

    def array(self, name: str, dtype: Any) -> Slot:
        """Declare an array slot; ``dtype`` None declares it absent."""
        return self._slot(Slot(name, None if dtype is None else np.dtype(dtype), True))

    def scalar(self, name: str, dtype: Any = np.int64) -> Slot:
        """Declare a scalar slot, bound to a number at each run."""
        return self._slot(Slot(name, np.dtype(dtype), False))

    def scratch(self, name: str, array: Declared) -> Slot:
        """Declare an array that no run finds anything in, as long as the sizes of a run say."""
        return self._slot(Slot(name, array.dtype_for(self.sizes), True, array.length))

    def zeros(self, name: str, kind: type[AnyWords]) -> AnyWords:
        """Declare words that travel with the arguments and that every run begins with zeros."""
        slot = Slot(name, np.dtype(np.int64), True, words=len(kind.indices), zeros=True)
        self.records[name] = made = kind(self._slot(slot))
        return made

    def record(self, name: str, like: AnyRecord, *, opened: bool = False) -> AnyRecord:
        """Declare slots like the fields of a record, ``name.field``, or one like an array of words.

        A work array that is declared only becomes a slot of scratch, and words that are a tuple
        travel with the arguments.  Records in it have the words of the first field that their words
        are part of.  Words of a record that are part of no array of several are declared with it;
        they begin with zeros and are not bound unless `like` has some.

        Parameters
        ----------
        opened : bool
            Whether launches find records and words in it by the names of these.

        Returns
        -------
        Record or Words
            Of the class of `like`, with slots in place of arrays and numbers.
        """
        slots: Record | Words
        if isinstance(like, Words):
            count = len(like.array) if isinstance(like.array, tuple) else 0
            slots = type(like)(self._slot(Slot(name, np.dtype(np.int64), True, words=count,
                                               named_words=True)))
        else:
            fields = {field: self._like(f"{name}.{field}", value) for field, value in like.named()}
            fields = {field: _over_words(each, fields.values()) for field, each in fields.items()}
            slots = self._over_own_words(name, type(like)(**fields), like.own_words)
            if opened:
                self.records.update((field, each) for field, each in fields.items()
                                    if isinstance(each, (Record, Words)))
        self.records[name] = slots
        return slots

    def declare(self, records: Mapping[str, Record | Words]) -> dict[str, Any]:
        """Declare several records, each as :meth:`record` does."""
        return {name: self.record(name, like) for name, like in records.items()}

    def _over_own_words(self, name: str, slots: AnyRecord, words: Any) -> AnyRecord:
        """A record over words of its own, like these if it has any, or as it is."""
        kind: Any = type(slots).own_words
        if isinstance(slots, Words) or kind is None or kind.whole is not None:
            return slots
        name = f"{name}.own_words"
        return slots.over(self.zeros(name, kind) if words is kind else self.record(name, words))

    def _like(self, name: str, value: Any) -> Slot | Record | Words:
        if isinstance(value, (Record, Words)):
            return self.record(name, value)
        if isinstance(value, Declared):
            return self.scratch(name, value)
        if value is None or (hasattr(value, "dtype") and not isinstance(value, np.generic)):
            return self.array(name, None if value is None else value.dtype)
        return self.scalar(name, np.asarray(value).dtype)

    def _slot(self, slot: Slot) -> Slot:
        if self.slots.setdefault(slot.name, slot) != slot:
            raise ValueError(f"program {self.name!r}: slot {slot.name!r} is declared twice")
        return slot

    def parallel_for(
        self, count: Element | int, kernel: Kernel, *args: Any, team: int = 1,
        work: int | None = None,
    ) -> None:
        """Record one launch of `kernel` over ``count`` items, each like ``work`` light ones."""
        args = kernel.flattened(args)
        if team not in TEAM_WIDTHS:
            raise ValueError(f"team must be one of {TEAM_WIDTHS}, not {team}")
        self._open.append(Launch(count, kernel, args, team, work))

    def launch(self, count: Element | int, kernel: Kernel, *, team: int = 1,
               work: int | None = None, **given: Any) -> None:
        """Record one launch whose arguments are records and slots named as the kernel says.

        Parameters named in `given` get what has that name instead, or that number or None; static
        ones get that value.
        """
        if kernel.static_places:
            values = {**self.statics, **given}
            kernel = kernel.bound(**{name: values[name] for name in kernel.static_places
                                     if name in values})
        arguments = [self._argument(each, given) for each in kernel.signature[1:]]
        missing = [each for each in arguments if isinstance(each, str)]
        if missing:
            raise ValueError(
                f"program {self.name!r}: kernel {kernel.name} wants {', '.join(missing)}, "
                "which no slot or record is named"
            )
        self.parallel_for(count, kernel, *arguments, team=team, work=work)

    def _argument(self, parameter: Parameter, given: dict[str, Any]) -> Any:
        """What a launch passes for a parameter; a name if there is nothing of that name.

        Parts of words are found with the whole, a scope is put together.
        """
        wanted, kind = given.get(parameter.name, parameter.name), parameter.kind
        if not isinstance(wanted, str):
            return wanted
        found = self.records.get(wanted, self.slots.get(wanted))
        if found is None and kind is not None:
            whole = getattr(kind, "whole", None)
            if whole is not None:
                return next((each for each in self.records.values() if type(each) is whole),
                            parameter.name)
            if parameter.is_scope:
                fields = [(name, Parameter(name, kind.kind_of(name), {}))  # type: ignore[union-attr]
                          for name in kind.field_names]  # type: ignore[union-attr]
                values = {name: self._argument(field, given) for name, field in fields}
                return next((each for each in values.values() if isinstance(each, str)), None) or (
                    kind(**values))
        return wanted if found is None else found

    @contextmanager
    def while_loop(self, flag: Element | int) -> Iterator[None]:
        """Record the body of a loop that runs while ``flag`` is not zero."""
        loop = While(self._checked(flag))
        self._open.append(loop)
        with self._into(loop.steps):
            yield

    @contextmanager
    def if_nonzero(self, flag: Element | int) -> Iterator[None]:
        """Record steps that run if ``flag`` is not zero."""
        branch = Branch(self._checked(flag))
        self._open.append(branch)
        with self._into(branch.then):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Record the other side of the branch just closed."""
        branch = self._open[-1] if self._open else None
        if not isinstance(branch, Branch) or branch.orelse:
            raise ValueError(f"program {self.name!r}: otherwise() must follow if_nonzero()")
        with self._into(branch.orelse):
            yield

    @contextmanager
    def side_by_side(self) -> Iterator[None]:
        """Record launches that do not depend on each other's results."""
        first = len(self._open)
        yield
        steps = self._open[first:]
        if not all(isinstance(step, Launch) for step in steps):
            raise ValueError(f"program {self.name!r}: only launches may stand side by side")
        self._open[first:] = [
            replace(step, awaited=step is steps[-1]) for step in steps if isinstance(step, Launch)
        ]

    def _checked(self, flag: Element | int) -> Element:
        if not isinstance(flag, Element):
            raise ValueError(f"program {self.name!r}: {flag} is not an element of a slot")
        if flag.slot.scratch:
            raise ValueError(f"program {self.name!r}: {flag.slot.name!r} is scratch, no flag")
        return flag

    @contextmanager
    def _into(self, steps: list[Step]) -> Iterator[None]:
        outer, self._open = self._open, steps
        try:
            yield
        finally:
            self._open = outer

    def used_slots(self) -> list[Slot]:
        """The slots that launches, loops or branches refer to: no other has to be bound."""
        used = set(_slots_of(self.steps))
        return [slot for slot in self.slots.values() if slot in used]

    def launches(self) -> list[Launch]:
        """All launches in the order of recording."""
        return list(_launches(self.steps))


def _over_words(value: Any, others: Iterable[Any]) -> Any:
    """A record with the words, of several, that its own are part of; all else as it is."""
    part: Any = value.own_words if isinstance(value, Record) else None
    if not isinstance(part, type):
        return value
    wholes = (each for each in others if isinstance(each, part))
    return next((value.over(each) for each in wholes), value)


def _slots_of(steps: list[Step]) -> Iterator[Slot]:
    """What steps refer to, as often as they do."""
    for step in steps:
        if isinstance(step, Launch):
            yield from (argument for argument in step.args if isinstance(argument, Slot))
            count = step.count
        else:
            inner = step.steps if isinstance(step, While) else step.then + step.orelse
            yield from _slots_of(inner)
            count = step.flag
        if isinstance(count, Element):
            yield count.slot


def _launches(steps: list[Step]) -> Iterator[Launch]:
    for step in steps:
        if isinstance(step, Launch):
            yield step
        elif isinstance(step, While):
            yield from _launches(step.steps)
        else:
            yield from _launches(step.then)
            yield from _launches(step.orelse)
