"""Packed kernel arguments: 8-byte words that hold addresses of arrays and bits of scalars.

A row is what one launch reads: ``[address of the work size, argument, argument, ...]``.  The rows
of a program stand in one table, so that binding it to other arrays means rewriting the table.
"""

from __future__ import annotations

import struct
import sys
from ctypes import c_int64
from typing import Any

import numpy as np

from portpart.backends.program import Element, Launch, Slot
from portpart.errors import InputError, KernelTypeError

ABSENT = "absent"
"""Type tag of an absent array.  Other tags: ``int32`` for a scalar, ``*int32`` for an array."""

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
    name = dtype if isinstance(dtype, str) else np.dtype(dtype).name
    try:
        return int.from_bytes(struct.pack(_SCALAR_FORMATS[name], value), sys.byteorder, signed=True)
    except (struct.error, OverflowError) as error:
        raise InputError(f"{value!r} cannot be passed as {name}: {error}") from None


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
    """The packed rows of a program; every word is a constant plus the value of one slot."""

    _CONSTANT, _OWN_ADDRESS, _FIRST_SLOT = 0, 1, 2

    def __init__(self, slots: dict[str, Slot]) -> None:
        self.slots = list(slots.values())
        self._position = {slot.name: self._FIRST_SLOT + i for i, slot in enumerate(self.slots)}
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

    def __len__(self) -> int:
        return len(self._source)

    def fill(self, bindings: dict[str, Any], base: int) -> np.ndarray:
        """The words for `bindings` when the table stands at address `base`."""
        if self._frozen is None:
            self._frozen = np.array(self._source, np.int64), np.array(self._offset, np.int64)
        source, offset = self._frozen
        values = [0, base, *(_bound_word(slot, bindings) for slot in self.slots)]
        words: np.ndarray = np.array(values, np.int64)[source]
        words += offset
        return words


def _bound_word(slot: Slot, bindings: dict[str, Any]) -> int:
    if slot.name not in bindings:
        raise InputError(f"slot {slot.name!r} is not bound")
    value = bindings[slot.name]
    if not slot.is_array:
        return bits_of(value, slot.dtype)
    if value is None or slot.dtype is None:
        if value is None and slot.dtype is None:
            return 0
        raise KernelTypeError(f"slot {slot.name!r} wants {_described(slot.dtype)}, "
                              f"not {_described(getattr(value, 'dtype', None))}")
    if value.dtype != slot.dtype or value.ndim != 1 or not value.flags.c_contiguous:
        raise KernelTypeError(f"slot {slot.name!r} wants {_described(slot.dtype)}, contiguous and "
                              f"of one dimension, not {_described(value.dtype)} of {value.ndim}")
    return address_of(value)


def _described(dtype: Any) -> str:
    return "no array" if dtype is None else f"an array of {dtype}"
