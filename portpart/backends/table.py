"""The table of a program: for each launch a row of packed arguments.

A row is what one launch reads: ``[address of the work size, argument, argument, ...]``.  The rows
of a program stand in one table, so that binding it to other arrays means rewriting the table.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, NoReturn
from weakref import ref

import numpy as np

from portpart.backends.language.records import Record
from portpart.backends.language.slices import Slice, Sliced
from portpart.backends.packing import address_of, bits_of, word_of
from portpart.backends.program import Bindings, Element, Launch, Slot
from portpart.errors import InputError, KernelTypeError

LINE = 128
"""Bytes of a line of memory, more than any type needs for its alignment."""


class Table:
    """The packed rows of a program; every word is a constant plus the value of one slot.

    Behind the rows stand the slots of words, so that they travel with them.

    Parameters
    ----------
    slots : iterable of Slot
    address : callable
        Gives the address of an array, or refuses it.
    """

    _CONSTANT, _OWN_ADDRESS, _BEHIND, _FIRST_SLOT = 0, 1, 2, 3
    """Sources: nothing, where the table begins, where the rows end; then the slots."""

    def __init__(self, slots: Iterable[Slot], address: Callable[[Any], int] = address_of) -> None:
        slots = list(slots)
        self.bindings, self._address = Bindings(slots), address
        self._plans: dict[str, list[Plan]] = {name: [] for name in self.bindings.lengths}
        for at, slot in enumerate(self.bindings.slots):
            is_plain = slot.is_array and not slot.words and slot.dtype is not None
            self._plans[slot.name.partition(".")[0]].append((at, slot.dtype, is_plain, slot))
        scratch = [slot for slot in slots if slot.scratch]
        self._position = {slot: place for place, slot in enumerate(
            [*(each for each in self.bindings.slots if not each.words), *scratch],
            self._FIRST_SLOT)}
        lengths = [slot.length for slot in scratch if slot.length is not None]
        self._lengths = list(dict.fromkeys(lengths))
        self._scratch = [(self._lengths.index(length), slot.dtype.itemsize)
                         for length, slot in zip(lengths, scratch) if slot.dtype is not None]
        words = [*(slot for slot in self.bindings.slots if slot.words),
                 *(slot for slot in slots if slot.zeros)]
        ends = accumulate((slot.words for slot in words), initial=0)
        self._word_places = dict(zip(words, ends, strict=False))
        self._num_words = sum(slot.words for slot in words)
        self._num_zeros = sum(slot.words for slot in words if slot.zeros)
        self._placed: tuple[Any, list[int]] | None = None
        self._source: list[int] = []
        self._offset: list[int] = []
        self._frozen: tuple[np.ndarray, np.ndarray] | None = None
        self._known: list[tuple[Callable[[], Any], int]] = [(_nobody, 0)] * len(self.bindings.slots)
        self._groups: dict[str, Group] = {}
        self._places: dict[tuple[str, int], Layout] = {}

    def add_row(self, launch: Launch) -> int:
        """Append the row of `launch`; returns its first word."""
        first = len(self._source)
        if isinstance(launch.count, Element):
            self.add_address(launch.count)
        else:
            self._add(self._OWN_ADDRESS, 8 * (first + 1 + len(launch.args)))
        for argument in launch.args:
            if isinstance(argument, Slot):
                self._add_slot(argument, 0)
            else:
                self._add(self._CONSTANT, word_of(argument))
        if not isinstance(launch.count, Element):
            self._add(self._CONSTANT, int(launch.count))
        return first

    def add_address(self, element: Element) -> int:
        """Append the address of an element of a bound array; returns its position."""
        self._add_slot(element.slot, 8 * element.index)
        return len(self._source) - 1

    def add_constant(self, word: int) -> int:
        """Append a word that every `fill` sets to `word`; returns its position."""
        self._add(self._CONSTANT, word)
        return len(self._source) - 1

    def add_alone(self) -> int:
        """Append a word that every `fill` sets to 0, in a line of memory of its own.

        For a word that waiting blocks read all the time: writing to its line takes long meanwhile.
        Returns its position.
        """
        self._end_line()
        place = self.add_constant(0)
        self._end_line()
        return place

    def _end_line(self) -> None:
        while 8 * len(self._source) % LINE:
            self.add_constant(0)

    def _add_slot(self, slot: Slot, offset: int) -> None:
        if slot.words:
            self._add(self._BEHIND, 8 * self._word_places[slot] + offset)
        else:
            self._add(self._position[slot], offset)

    def _add(self, source: int, offset: int) -> None:
        self._source.append(source)
        self._offset.append(offset)
        self._frozen = None

    @property
    def length_of_rows(self) -> int:
        """Words of the rows alone."""
        return len(self._source)

    def __len__(self) -> int:
        return len(self._source) + self._num_words

    def place_of(self, element: Element) -> int:
        """Where an element of a slot of words stands."""
        return len(self._source) + self._word_places[element.slot] + element.index

    def place_scratch(self, sizes: Any) -> list[int]:
        """Where each array of scratch begins in the memory that they share, and its end.

        Each begins at a line of memory.
        """
        if self._placed is not None and self._placed[0] == sizes:
            return self._placed[1]
        lengths = [length(sizes) for length in self._lengths]
        places = [end := 0]
        for which, size in self._scratch:
            end += -(-lengths[which] * size // LINE) * LINE
            places.append(end)
        self._placed = sizes, places
        return places

    def fill(self, bindings: dict[str, Any], base: int, scratch: int = 0,
             places: Sequence[int] = ()) -> np.ndarray:
        """The words for `bindings`, with the table at address `base` and scratch at `scratch`.

        There each array of scratch has its place.
        """
        if self._frozen is None:
            self._frozen = self._freeze()
        source, offset = self._frozen
        values, numbers = array("q", (0, base, base + 8 * len(self._source))), array("q")
        for name, bound in self.bindings.groups(bindings):
            whose, known, behind = self._groups.get(name, NO_GROUP)
            if whose() is not bound:
                if isinstance(bound, Sliced) and bound.memory is not None:
                    values.extend(self._cut(name, bound))
                    continue
                known, behind = self._packed(name, bound)
            values += known
            numbers += behind
        values.extend([scratch + place for place in places[:-1]])
        values += numbers
        words: np.ndarray = np.frombuffer(values, np.int64).take(source)
        words += offset
        return words

    def _packed(self, name: str, bound: Any) -> tuple[array[int], array[int]]:
        """The words of what a name is bound to, and its numbers; of what cannot change kept."""
        values, numbers = array("q"), array("q")
        for (at, dtype, is_plain, slot), value in zip(self._plans[name],
                                                      self.bindings.read_group(name, bound)):
            if is_plain:
                who, address = self._known[at]
                if value is None or who() is not value:
                    address = self._address_for(at, slot, value)
                values.append(address)
            elif slot.words:
                _add_numbers(slot, value, numbers)
            elif slot.is_array:
                values.append(0 if value is None else _refuse(slot, value))
            else:
                values.append(bits_of(value, dtype))
        if isinstance(bound, Record) or isinstance(getattr(bound, "array", None), tuple):
            self._groups[name] = ref(bound), values, numbers
        return values, numbers

    def _cut(self, name: str, bound: Sliced) -> Sequence[int]:
        """The words of slices; where they begin in their memory is found once for each layout."""
        known, places = self._places.get((name, id(bound.slices)), NO_PLACES)
        if known is not bound.slices:
            places = self._places_of(name, bound)
            if len(self._places) == MAX_LAYOUTS:
                self._places.clear()
            self._places[name, id(bound.slices)] = bound.slices, places
        if places is None:
            return self._packed(name, bound)[0]
        begin = self._address(bound.memory)
        return [0 if place < 0 else begin + place for place in places]

    def _places_of(self, name: str, bound: Sliced) -> list[int] | None:
        """Bytes before each slice, -1 for what is absent; None if there are arrays, too."""
        places = []
        for (_, dtype, _, slot), value in zip(self._plans[name],
                                              self.bindings.read_slices(name, bound)):
            if value is None and dtype is None:
                places.append(-1)
            elif type(value) is not Slice:
                return None
            else:
                if value.dtype != dtype:
                    _refuse(slot, value.of(bound.memory))
                places.append(value.begin)
        return places

    def _address_for(self, at: int, slot: Slot, value: Any) -> int:
        """The address of an array for a slot, which is remembered as long as the array lives."""
        if (value is None or value.dtype != slot.dtype or value.ndim != 1
                or not value.flags.c_contiguous):
            _refuse(slot, value)
        address = self._address(value)
        self._known[at] = ref(value), address
        return address

    def _freeze(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and offset of each word, those of slots of words included."""
        first = self._FIRST_SLOT + len(self._position)
        bound = range(first, first + self._num_words - self._num_zeros)
        source = [*self._source, *bound, *[self._CONSTANT] * self._num_zeros]
        return np.array(source, np.int64), np.array(self._offset + [0] * self._num_words, np.int64)


def _nobody() -> None:
    """What is remembered of a slot that has not been bound."""


Plan = tuple[int, Any, bool, Slot]
"""Of a slot: its place among those that are bound, its type, whether an array is, and itself."""

Layout = tuple[dict[str, Slice], list[int] | None]
"""Slices that were bound, and where they begin."""

NO_PLACES: Layout = ({}, None)
"""Other slices than any that are bound."""

MAX_LAYOUTS = 256
"""Layouts that a table remembers."""

Group = tuple[Callable[[], Any], "array[int]", "array[int]"]
"""A record that was bound, which does not change, and what its slots were packed to."""

NO_GROUP: Group = (object, array("q"), array("q"))
"""Another record than any that is bound."""


def _add_numbers(slot: Slot, values: Any, numbers: array[int]) -> None:
    if len(values) != slot.words:
        raise InputError(f"slot {slot.name!r} takes {slot.words} numbers, not {len(values)}")
    try:
        numbers.extend(values)
    except (OverflowError, TypeError) as error:
        raise InputError(f"slot {slot.name!r} takes numbers of 64 bits: {error}") from None


def _refuse(slot: Slot, value: Any) -> NoReturn:
    """Say that a slot of an array is bound to another one, or to none."""
    if value is None or slot.dtype is None:
        raise KernelTypeError(f"slot {slot.name!r} wants {_described(slot.dtype)}, "
                              f"not {_described(getattr(value, 'dtype', None))}")
    raise KernelTypeError(f"slot {slot.name!r} wants {_described(slot.dtype)}, contiguous and "
                          f"of one dimension, not {_described(value.dtype)} of {value.ndim}")


def _described(dtype: Any) -> str:
    return "no array" if dtype is None else f"an array of {dtype}"
