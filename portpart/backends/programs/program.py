"""Programs: recorded launches with loops and branches that never return to Python.

A program is recorded once, compiled by an execution space (on CUDA one resident kernel, on the CPU
a list that a compiled loop executes) and run many times with different arrays bound to its slots.
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
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from portpart.backends.language import Kernel, Record, Words
from portpart.backends.language.arrays import Declared
from portpart.backends.language.parameters import KernelParameter
from portpart.backends.programs.steps import (
    OPERATIONS,
    SUM,
    AllReduce,
    AllToAll,
    AnySlot,
    Branch,
    Communication,
    Element,
    Launch,
    Parcel,
    Slot,
    Step,
    While,
    all_steps,
    slots_of,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from portpart.backends.programs.steps import Bound

TEAM_WIDTHS = (1, 8, 32, 256, 512)

FEWEST, FEW, SOME, MANY = "fewest", "few", "some", "many"
"""How many threads of a GPU work on a program at the same time."""

AnyRecord = TypeVar("AnyRecord", bound="Record | Words")
AnyWords = TypeVar("AnyWords", bound="Words")


class Program:
    """A recording of launches, loops and branches over named slots.

    Parameters
    ----------
    name : str
    threads : {FEWEST, FEW, SOME, MANY}
        How many run at the same time on a GPU. The fewest have the most registers each, for a few
        teams with long work; many are for passes over large arrays.
    sizes
        Values that types of scratch depend on, if they depend on sizes.

    Attributes
    ----------
    statics : dict of str to object
        Static values that launches find by the names of a kernel's parameters.
    """

    def __init__(self, name: str, threads: str = SOME, sizes: Any = None) -> None:
        self.name = name
        self.threads = threads
        self.sizes = sizes
        self.steps: list[Step] = []
        self.slots: dict[str, Slot] = {}
        self.records: dict[str, Record | Words] = {}
        self.statics: dict[str, Any] = {}
        self._open = self.steps

    def array(self, name: str, dtype: DTypeLike | None) -> Slot:
        """Declare an array slot; ``dtype`` None declares it absent."""
        return self._slot(Slot(name, None if dtype is None else np.dtype(dtype), True))

    def scalar(self, name: str, dtype: DTypeLike = np.int64) -> Slot:
        """Declare a scalar slot, bound to a number at each run."""
        return self._slot(Slot(name, np.dtype(dtype), False))

    def scratch(self, name: str, array: Declared) -> Slot:
        """Declare a scratch array, whose contents do not last between runs and whose length depends
        on the sizes of a run.
        """
        return self._slot(Slot(name, array.dtype_for(self.sizes), True, array.length))

    def zeros(self, name: str, kind: type[AnyWords]) -> AnyWords:
        """Declare words that are sent with the arguments and are zero at the beginning of every
        run.
        """
        slot = Slot(name, np.dtype(np.int64), True, words=len(kind.indices), zeros=True)
        self.records[name] = made = kind(self._slot(slot))
        return made

    def record(self, name: str, like: AnyRecord, *, opened: bool = False) -> AnyRecord:
        """Declare slots for the fields of a record, ``name.field``, or one slot for an array of
        words.

        A work array that is not allocated becomes a slot of scratch, and words that are a tuple are
        sent with the arguments. Records in it use the words of the first field that their words are
        part of. Words of a record that are not part of a shared array are declared with it; they
        begin with zeros and are not bound unless `like` has some.

        Parameters
        ----------
        opened : bool
            Whether launches find its records and words by their own names.

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

    def find(self, name: str, kind: type[AnyRecord]) -> AnyRecord:
        """Return the record or words of a name and class."""
        found = self.records[name]
        assert isinstance(found, kind), f"{name} is a {type(found).__name__}"
        return found

    def declare(self, records: Mapping[str, Record | Words]) -> dict[str, Any]:
        """Declare several records, each as :meth:`record` does."""
        return {name: self.record(name, like) for name, like in records.items()}

    def _over_own_words(self, name: str, slots: AnyRecord, words: Any) -> AnyRecord:
        """Return the record over new words like its own, or as it is if it has none."""
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
        self, count: Element | int, kernel: Kernel, *args: Bound | Slot, team: int = 1,
        work: int | None = None,
    ) -> None:
        """Record one launch of `kernel` over ``count`` items, each like ``work`` light ones."""
        args = kernel.flattened(args)
        if team not in TEAM_WIDTHS:
            raise ValueError(f"team must be one of {TEAM_WIDTHS}, not {team}")
        self._open.append(Launch(count, kernel, args, team, work))

    def launch(self, count: Element | int, kernel: Kernel, /, *, team: int = 1,
               work: int | None = None, **given: Bound | Slot) -> None:
        """Record one launch whose arguments are the records and slots named by the kernel's
        parameters.

        Parameters named in `given` are the object of that name instead, or that number or None;
        static ones have that value.
        """
        if kernel.static_places:
            values = {**self.statics, **given}
            kernel = kernel.bound(**{name: values[name] for name in kernel.static_places
                                     if name in values})
        arguments = [self._argument(each, given) for each in kernel.signature[1:]]
        missing = [each for each in arguments if isinstance(each, str)]
        if missing:
            raise ValueError(
                f"program {self.name!r}: kernel {kernel.name} needs {', '.join(missing)}, "
                "which no slot or record is named"
            )
        self.parallel_for(count, kernel, *arguments, team=team, work=work)

    def _argument(self, parameter: KernelParameter, given: dict[str, Bound | Slot]) -> Any:
        """Return the argument of a launch for a parameter; a name if nothing has that name.

        A part of words is found with the whole, a scope is built.
        """
        chosen, kind = given.get(parameter.name, parameter.name), parameter.kind
        if not isinstance(chosen, str):
            return chosen
        found = self.records.get(chosen, self.slots.get(chosen))
        if found is None and kind is not None:
            whole = getattr(kind, "whole", None)
            if whole is not None:
                return next((each for each in self.records.values() if type(each) is whole),
                            parameter.name)
            if parameter.is_scope:
                fields = [
                    (name, KernelParameter(name, kind.kind_of(name), {}))  # type: ignore[union-attr]
                    for name in kind.field_names]  # type: ignore[union-attr]
                values = {name: self._argument(field, given) for name, field in fields}
                return next((each for each in values.values() if isinstance(each, str)), None) or (
                    kind(**values))
        return chosen if found is None else found

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
        """Record the other side of the branch that has just been closed."""
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
            raise ValueError(f"program {self.name!r}: only launches may be side by side")
        self._open[first:] = [
            replace(step, has_barrier=step is steps[-1]) for step in steps
            if isinstance(step, Launch)
        ]

    def all_reduce(self, words: AnySlot | Words, first: int, count: Element | int,
                   op: str = SUM) -> None:
        """Record a step that replaces ``count`` int64 words of an array by their sum over all
        ranks.

        Parameters
        ----------
        words : Slot or Words
            An array that is bound, or scratch.
        first : int
            Index of the first word.
        count : Element or int
            Number of words, the same on all ranks.
        op : str
            ``"sum"``, ``"min"`` or ``"max"``.
        """
        slot = words.array if isinstance(words, Words) else words
        assert isinstance(slot, Slot)
        if op not in OPERATIONS:
            raise ValueError(f"program {self.name!r}: op must be one of {OPERATIONS}, not {op!r}")
        if self._exchanged(slot).dtype != np.int64:
            raise ValueError(f"program {self.name!r}: {slot.name!r} is not of int64")
        self._open.append(AllReduce(slot, first, count, op))

    def all_to_all(self, parcel: Parcel) -> None:
        """Record a step in which every rank sends each rank its part of an array."""
        step = AllToAll(parcel)
        types = [self._exchanged(slot).dtype for slot in step.slots]
        if types[0] != types[2] or types[0] is None or types[0].kind not in "iu":
            raise ValueError(f"program {self.name!r}: {parcel.send.name!r} and "
                             f"{parcel.recv.name!r} are not of one type of integers")
        if {types[1], types[3]} != {np.dtype(np.int64)}:
            raise ValueError(f"program {self.name!r}: numbers of elements are not of int64")
        self._open.append(step)

    def _exchanged(self, slot: Slot) -> Slot:
        """Return the slot if it is an array; words that are sent with the arguments are copies."""
        if not slot.is_array or slot.words:
            raise ValueError(f"program {self.name!r}: {slot.name!r} is no array that ranks can "
                             "exchange")
        return slot

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
        """Return the slots of launches, loops or branches; no others must be bound."""
        used = set(slots_of(self.steps))
        return [slot for slot in self.slots.values() if slot in used]

    def launches(self) -> list[Launch]:
        """Return all launches in the order of recording."""
        return [step for step in all_steps(self.steps) if isinstance(step, Launch)]

    def communication(self) -> list[Communication]:
        """Return all steps that communicate, in the order of recording."""
        return [step for step in all_steps(self.steps) if isinstance(step, Communication)]


def _over_words(value: Any, others: Iterable[Any]) -> Any:
    """Return a record with those of several words that its own are part of; others as they are."""
    part: Any = value.own_words if isinstance(value, Record) else None
    if not isinstance(part, type):
        return value
    wholes = (each for each in others if isinstance(each, part))
    return next((value.over(each) for each in wholes), value)
