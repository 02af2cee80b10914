"""Packed kernel arguments: 8-byte words that hold addresses of arrays and bits of scalars."""

from __future__ import annotations

import struct
import sys
from ctypes import POINTER, c_int64, cast
from functools import cache
from typing import Any

import numpy as np

from portpart.backends.program import Slot
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
    """Address of the first element of an array of the host."""
    if not isinstance(array, np.ndarray):
        raise InputError("an array of a GPU was given to a kernel on the CPU; bring it to the host "
                         "with space.to_host")
    if DATA_POINTER:
        return _MEMORY[(id(array) + DATA_POINTER) // WORD - 1]
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

WORD = 8

_MEMORY = cast(WORD, POINTER(c_int64))
"""The words of memory behind the first, which a pointer may not begin with."""


def word_of(argument: Any) -> int:
    """The packed word of a launch argument."""
    if argument is None:
        return 0
    if hasattr(argument, "ndim") and not isinstance(argument, np.generic):
        return address_of(argument)
    return bits_of(argument, tag_of(argument))
