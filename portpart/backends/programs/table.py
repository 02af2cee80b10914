"""The table of a program: a row of packed arguments for each launch.

A row has the data of one launch: ``[address of the work size, argument, argument, ...]``. The rows
of a program are in one table, which is rewritten to bind the program to other arrays.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from portpart.backends.programs.arguments import Bindings, Group, address_of, bound_to, word_of
from portpart.backends.programs.steps import Element, Launch, Slot

if TYPE_CHECKING:
    from portpart.backends.programs.interface import Array
    from portpart.backends.programs.steps import Bound

LINE = 128
"""Bytes of a line of memory, at least the alignment of every type."""


class TableSizes(NamedTuple):
    """Sizes of a table.

    Attributes
    ----------
    rows : int
        Number of words of the rows.
    values : int
        Number of values that they are computed from.
    first, numbers, zeros : int
        The place of the first number of slots of words among the values, the count of such numbers,
        and the count of words that begin with zero.
    """

    rows: int
    values: int
    first: int
    numbers: int
    zeros: int


class ProgramTable:
    """The packed rows of a program; every word is a constant plus the value of one slot.

    The slots of words follow the rows, so that they are sent together.

    Parameters
    ----------
    slots : iterable of Slot
    address : callable
        Returns the address of an array, or raises an error.
    """

    WHERE = slice(1, 5)
    """The first sources among the values, which are arguments of `bind`."""

    _CONSTANT, _OWN_ADDRESS, _BEHIND, _FIRST_SLOT = 0, WHERE.start, 2, WHERE.stop
    """Sources: none, the address of the table, of its words; the slots come after the address of
    the barrier of all blocks of a GPU (`cuda/words.py`).
    """

    def __init__(self, slots: Iterable[Slot], address: Callable[[Array], int] = address_of) -> None:
        slots = list(slots)
        self.bindings = Bindings(slots)
        self._groups = [Group(name, self.bindings, address) for name in self.bindings.fields]
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
        end = self._FIRST_SLOT + len(self._position)
        self._values = array("q", bytes(8 * (end + self._num_words - self._num_zeros)))
        self._view, self._lock = np.frombuffer(self._values, np.int64), threading.Lock()
        self._spans = list(self._spread(end))
        self._scratch_words = slice(end - len(self._scratch), end)

    def _spread(self, end: int) -> Iterator[tuple[Group, slice, slice]]:
        """Yield the places of each group's words among the values, and of its numbers."""
        first = self._FIRST_SLOT
        for group in self._groups:
            words = slice(first, first := first + group.num_words)
            yield group, words, slice(end, end := end + group.num_numbers)

    def add_row(self, launch: Launch) -> int:
        """Append the row of `launch`; return its first word."""
        first = len(self._source)
        if isinstance(launch.count, Element):
            self.add_address(launch.count)
        else:
            self._add(self._OWN_ADDRESS, 8 * (first + 1 + len(launch.args)))
        for argument in launch.args:
            if isinstance(argument, Slot):
                self._add_slot(argument, 0)
            elif isinstance(argument, Element):
                self.add_address(argument)
            else:
                self._add(self._CONSTANT, word_of(argument))
        if not isinstance(launch.count, Element):
            self._add(self._CONSTANT, int(launch.count))
        return first

    def add_address(self, element: Element) -> int:
        """Append the address of an element of a bound array; return its position."""
        self._add_slot(element.slot, 8 * element.index)
        return len(self._source) - 1

    def add_constant(self, word: int) -> int:
        """Append a word that every `fill` sets to `word`; return its position."""
        self._add(self._CONSTANT, word)
        return len(self._source) - 1

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
    def sizes(self) -> TableSizes:
        """Sizes of the rows, and of the values that they are computed from."""
        return TableSizes(len(self._source), len(self._values),
                          len(self._values) - self._num_words + self._num_zeros,
                          self._num_words - self._num_zeros, self._num_zeros)

    @property
    def address_of_values(self) -> int:
        """Return the address of the values that `bind` sets."""
        return address_of(self._view)

    def values(self) -> array[int]:
        """Return a copy of the values."""
        return self._values[:]

    def plan(self) -> np.ndarray:
        """Return how rows are computed from values: the offset of each word, then the places of
        values.

        The places are int32, two in a word.
        """
        sources = np.zeros(len(self._source) + 1, np.int32)
        sources[:-1] = self._source
        return np.concatenate([np.array(self._offset, np.int64),
                               sources[: 2 * (len(sources) // 2)].view(np.int64)])

    def __len__(self) -> int:
        return len(self._source) + self._num_words

    def place_of(self, element: Element) -> int:
        """Return the place of an element of a slot of words."""
        return len(self._source) + self._word_places[element.slot] + element.index

    def place_scratch(self, sizes: Any) -> list[int]:
        """Return where each array of scratch begins in the memory that they share, and the end.

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

    def fill(self, bindings: Mapping[str, Bound], base: int, scratch: int = 0,
             places: Sequence[int] = ()) -> np.ndarray:
        """Return the words for `bindings`, with the table at address `base` and scratch at
        `scratch`.

        `places` are the places of arrays in scratch.
        """
        if self._frozen is None:
            self._frozen = self._freeze()
        source, offset = self._frozen
        with self._lock:
            self.bind(bindings, (base, base + 8 * len(self._source), 0, 0), scratch, places)
            filled: np.ndarray = self._view.take(source)
        filled += offset
        return filled

    def bind(self, bindings: Mapping[str, Bound], where: Iterable[int], scratch: int,
             places: Sequence[int]) -> None:
        """Set the values that the words are computed from; one thread at a time.

        Only names with a new binding are packed again.

        Parameters
        ----------
        where : four integers
            The addresses of the first sources.
        """
        values = self._values
        values[self.WHERE] = array("q", where)
        for group, words, numbers in self._spans:
            bound = bindings.get(group.name)
            if group.kept() is not bound:
                bound = bound_to(group.name, bindings)
                group.kept = object
                packed, behind = group.pack(bound)
                if packed:  # a slice without words cannot be set
                    values[words] = packed
                if behind:
                    values[numbers] = behind
                group.keep(bound)
        if self._scratch:
            values[self._scratch_words] = array("q", [scratch + place for place in places[:-1]])

    def _freeze(self) -> tuple[np.ndarray, np.ndarray]:
        """Return source and offset of each word, including those of slots of words."""
        first = self._FIRST_SLOT + len(self._position)
        bound = range(first, first + self._num_words - self._num_zeros)
        source = [*self._source, *bound, *[self._CONSTANT] * self._num_zeros]
        return np.array(source, np.int64), np.array(self._offset + [0] * self._num_words, np.int64)
