"""Packed kernel arguments: 8-byte words that hold addresses of arrays and bits of scalars.

A row is what one launch reads: ``[address of the work size, argument, argument, ...]``.  The rows of
a program stand in one table, so that binding a program to other arrays means rewriting the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.program import Element, Launch, Slot
from portpart.errors import InputError, KernelTypeError

ABSENT = "absent"
"""Type tag of an absent array.  Other tags: ``int32`` for a scalar, ``*int32`` for an array."""


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
    if isinstance(argument, np.generic):
        return str(argument.dtype.name)
    if hasattr(argument, "dtype") and hasattr(argument, "ndim"):
        if argument.ndim != 1 or not argument.flags.c_contiguous:
            raise KernelTypeError("a kernel takes contiguous arrays of one dimension only")
        return f"*{argument.dtype.name}"
    raise KernelTypeError(f"a kernel cannot take an argument of type {type(argument).__name__}")


def bits_of(value: Any, dtype: Any) -> int:
    """The bits of scalar `value` as `dtype`, in the low bytes of a signed 64-bit word."""
    word = np.zeros(1, np.int64)
    word.view(np.dtype(dtype))[0] = value
    return int(word[0])


def address_of(array: Any) -> int:
    """Address of the first element of a NumPy or CuPy array."""
    if isinstance(array, np.ndarray):
        return int(array.ctypes.data)
    return int(array.data.ptr)


def word_of(argument: Any) -> int:
    """The packed word of a launch argument."""
    if argument is None:
        return 0
    if hasattr(argument, "ndim") and not isinstance(argument, np.generic):
        return address_of(argument)
    return bits_of(argument, tag_of(argument))


class Table:
    """The packed rows of a program; every word is a constant plus the value of one slot."""

    _CONSTANT, _OWN_ADDRESS, _FIRST_SLOT = 0, 1, 2

    def __init__(self, slots: dict[str, Slot]) -> None:
        self.slots = list(slots.values())
        self._position = {slot.name: self._FIRST_SLOT + i for i, slot in enumerate(self.slots)}
        self._source: list[int] = []
        self._offset: list[int] = []

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

    def _add(self, source: int, offset: int) -> None:
        self._source.append(source)
        self._offset.append(offset)

    def __len__(self) -> int:
        return len(self._source)

    def fill(self, bindings: dict[str, Any], base: int) -> np.ndarray:
        """The words for `bindings` when the table stands at address `base`."""
        values = np.zeros(self._FIRST_SLOT + len(self.slots), np.int64)
        values[self._OWN_ADDRESS] = base
        for position, slot in enumerate(self.slots, start=self._FIRST_SLOT):
            values[position] = _bound_word(slot, bindings)
        return values[np.array(self._source, np.int64)] + np.array(self._offset, np.int64)


def _bound_word(slot: Slot, bindings: dict[str, Any]) -> int:
    if slot.name not in bindings:
        raise InputError(f"slot {slot.name!r} is not bound")
    value = bindings[slot.name]
    if not slot.is_array:
        return bits_of(value, slot.dtype)
    expected = None if slot.dtype is None else slot.dtype
    found = None if value is None else value.dtype
    if expected != found:
        raise KernelTypeError(f"slot {slot.name!r} wants an array of {expected}, not {found}")
    return word_of(value)
