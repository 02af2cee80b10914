"""Packed kernel arguments: 8-byte words that hold addresses of arrays and bits of scalars.

A row is what one launch reads: ``[address of the work size, argument, argument, ...]``.  The rows
of a program stand in one table, so that binding it to other arrays means rewriting the table.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from ctypes import c_int64
from functools import cache
from typing import Any

import numpy as np

from portpart.backends.program import Element, Launch, Slot
from portpart.errors import InputError, KernelTypeError

ABSENT = "absent"
"""Type tag of an absent array.  Other tags: ``int32`` for a scalar, ``*int32`` for an array."""

LINE = 128
"""Bytes of a line of memory, more than any type needs for its alignment."""

_SCALAR_FORMATS = {
    "bool": "?7x", "int8": "b7x", "uint8": "B7x", "int32": "i4x", "uint32": "I4x",
    "int64": "q", "uint64": "Q", "float32": "f4x", "float64": "d",
}

_SCALAR_TAGS = {
    kind: name for name in _SCALAR_FORMATS for kind in (np.dtype(name).type, np.longlong,
                                                        np.ulonglong)
    if np.dtype(kind).name == name
}
"""Tags of NumPy scalars; asking one for the name of its dtype takes two microseconds."""


def tag_of(argument: Any) -> str:
    """Type tag of a launch argument: an array, a scalar, None or a slot of a program."""
    if argument is None:
        return ABSENT
    if isinstance(argument, Slot):
        if argument.dtype is None:
            return ABSENT
        return f"*{argument.dtype.name}" if argument.is_array else argument.dtype.name
    if isinstance(argument, (bool, np.bool_)):
        return "bool"
    if isinstance(argument, int):
        return "int64"
    if isinstance(argument, float):
        return "float64"
    if type(argument) in _SCALAR_TAGS:
        return _SCALAR_TAGS[type(argument)]
    if hasattr(argument, "dtype") and not isinstance(argument, np.generic):
        if argument.ndim != 1 or not argument.flags.c_contiguous:
            raise KernelTypeError("a kernel takes contiguous arrays of one dimension only")
        if not argument.dtype.isnative:
            raise KernelTypeError(f"a kernel takes native byte order only, not {argument.dtype!r}")
        if argument.dtype.name not in _SCALAR_FORMATS:
            raise KernelTypeError(f"a kernel cannot take an array of {argument.dtype}; convert it "
                                  f"to one of {', '.join(_SCALAR_FORMATS)}")
        return f"*{argument.dtype.name}"
    raise KernelTypeError(f"a kernel cannot take an argument of type {type(argument).__name__}")


def bits_of(value: Any, dtype: Any) -> int:
    """The bits of scalar `value` as `dtype`, in the low bytes of a signed 64-bit word."""
    name = _name_of(dtype)
    if type(value) is int and name == "int64" and -(2**63) <= value < 2**63:
        return value
    try:
        return int.from_bytes(struct.pack(_SCALAR_FORMATS[name], value), sys.byteorder, signed=True)
    except (struct.error, OverflowError) as error:
        raise InputError(f"{value!r} cannot be passed as {name}: {error}") from None


@cache
def _name_of(dtype: Any) -> str:
    """Name of a type; asking a dtype for it takes a microsecond."""
    return np.dtype(dtype).name


def address_of(array: Any) -> int:
    """Address of the first element of a NumPy or CuPy array."""
    if not isinstance(array, np.ndarray):
        return int(array.data.ptr)
    if DATA_POINTER:
        return c_int64.from_address(id(array) + DATA_POINTER).value
    return int(array.ctypes.data)


def _data_pointer() -> int:
    """Where an ndarray object keeps the address of its data, 0 if not where CPython's does.

    It is the first field behind the object header.  Reading it there takes a tenth of the
    microsecond that ``array.ctypes.data`` takes, which a small launch would pay for each argument.
    """
    offset = object.__basicsize__
    samples = [np.zeros(n, dtype) for n in (1, 7) for dtype in (np.int8, np.float64)]
    samples.append(samples[-1][3:])
    found = [c_int64.from_address(id(sample) + offset).value for sample in samples]
    return offset if found == [sample.ctypes.data for sample in samples] else 0


DATA_POINTER = _data_pointer()


def word_of(argument: Any) -> int:
    """The packed word of a launch argument."""
    if argument is None:
        return 0
    if hasattr(argument, "ndim") and not isinstance(argument, np.generic):
        return address_of(argument)
    return bits_of(argument, tag_of(argument))


class Table:
    """The packed rows of a program; every word is a constant plus the value of one slot.

    Behind the rows stand the slots of words, so that they travel with them.
    """

    _CONSTANT, _OWN_ADDRESS, _FIRST_SLOT = 0, 1, 2

    def __init__(self, slots: dict[str, Slot]) -> None:
        self.slots = list(slots.values())
        self._position = {slot.name: self._FIRST_SLOT + i for i, slot in enumerate(self.slots)}
        self._plan = list(slots.items())
        self._num_words = sum(slot.words for slot in self.slots)
        scratch = [(slot.length, slot.dtype.itemsize) for slot in self.slots
                   if slot.length is not None and slot.dtype is not None]
        self._lengths = list(dict.fromkeys(length for length, _ in scratch))
        self._scratch = [(self._lengths.index(length), size) for length, size in scratch]
        self._source: list[int] = []
        self._offset: list[int] = []
        self._frozen: tuple[np.ndarray, np.ndarray] | None = None

    def add_row(self, launch: Launch) -> int:
        """Append the row of `launch`; returns its first word."""
        first = len(self._source)
        if isinstance(launch.count, Element):
            self.add_address(launch.count)
        else:
            self._add(self._OWN_ADDRESS, 8 * (first + 1 + len(launch.args)))
        for argument in launch.args:
            if isinstance(argument, Slot):
                self._add(self._position[argument.name], 0)
            else:
                self._add(self._CONSTANT, word_of(argument))
        if not isinstance(launch.count, Element):
            self._add(self._CONSTANT, int(launch.count))
        return first

    def add_address(self, element: Element) -> int:
        """Append the address of an element of a bound array; returns its position."""
        self._add(self._position[element.slot.name], 8 * element.index)
        return len(self._source) - 1

    def add_constant(self, word: int) -> int:
        """Append a word that every `fill` sets to `word`; returns its position."""
        self._add(self._CONSTANT, word)
        return len(self._source) - 1

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
        before = self.slots[: self._position[element.slot.name] - self._FIRST_SLOT]
        return len(self._source) + sum(slot.words for slot in before) + element.index

    def place_scratch(self, sizes: Any) -> list[int]:
        """Where each array of scratch begins in the memory that they share, and its end.

        Each begins at a line of memory.
        """
        lengths = [length(sizes) for length in self._lengths]
        places = [end := 0]
        for which, size in self._scratch:
            end += -(-lengths[which] * size // LINE) * LINE
            places.append(end)
        return places

    def fill(self, bindings: dict[str, Any], base: int, scratch: int = 0,
             places: Sequence[int] = ()) -> np.ndarray:
        """The words for `bindings`, with the table at address `base` and scratch at `scratch`.

        There each array of scratch has its place.
        """
        if self._frozen is None:
            self._frozen = self._freeze()
        source, offset = self._frozen
        values = [0, base]
        numbers: list[int] = []
        next_place = iter(places)
        for name, slot in self._plan:
            if slot.length is not None:
                values.append(scratch + next(next_place))
                continue
            value = _bound(bindings, name)
            if slot.words:
                values.append(base + 8 * (len(self._source) + len(numbers)))
                numbers += _numbers(slot, value)
            else:
                values.append(_bound_word(slot, value))
        words: np.ndarray = np.array(values + numbers, np.int64)[source]
        words += offset
        return words

    def _freeze(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and offset of each word; behind the rows the numbers follow each other."""
        first = self._FIRST_SLOT + len(self.slots)
        source = [*self._source, *range(first, first + self._num_words)]
        return np.array(source, np.int64), np.array(self._offset + [0] * self._num_words, np.int64)


def _bound(bindings: dict[str, Any], name: str) -> Any:
    try:
        return bindings[name]
    except KeyError:
        raise InputError(f"slot {name!r} is not bound") from None


def _numbers(slot: Slot, values: Any) -> list[int]:
    if len(values) != slot.words:
        raise InputError(f"slot {slot.name!r} takes {slot.words} numbers, not {len(values)}")
    return [bits_of(value, "int64") for value in values]


def _bound_word(slot: Slot, value: Any) -> int:
    dtype = slot.dtype
    if not slot.is_array:
        return bits_of(value, dtype)
    if value is None or dtype is None:
        if value is None and dtype is None:
            return 0
        raise KernelTypeError(f"slot {slot.name!r} wants {_described(dtype)}, "
                              f"not {_described(getattr(value, 'dtype', None))}")
    if value.dtype != dtype or value.ndim != 1 or not value.flags.c_contiguous:
        raise KernelTypeError(f"slot {slot.name!r} wants {_described(dtype)}, contiguous and "
                              f"of one dimension, not {_described(value.dtype)} of {value.ndim}")
    return address_of(value)


def _described(dtype: Any) -> str:
    return "no array" if dtype is None else f"an array of {dtype}"
