"""Arguments of kernels as words of 8 bytes, and the bindings of a program's names."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from ctypes import POINTER, c_int64, cast
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import ref

import numpy as np

from portpart.backends.language import Record, Slice, Sliced
from portpart.backends.language.parameters import getter
from portpart.backends.programs.steps import Element, Slot
from portpart.errors import InputError, KernelTypeError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from portpart.backends.language.arrays import Array
    from portpart.backends.programs.steps import Bound

# Packed kernel arguments: 8-byte words that hold addresses of arrays and bits of scalars -------


ABSENT = "absent"
"""Type tag of an absent array. Other tags: ``int32`` for a scalar, ``*int32`` for an array,
``&int64`` for a word that a launch reads.
"""

_SCALAR_FORMATS = {
    "bool": "?7x", "int8": "b7x", "uint8": "B7x", "int32": "i4x", "uint32": "I4x",
    "int64": "q", "uint64": "Q", "float32": "f4x", "float64": "d",
}

_SCALAR_TAGS = {
    kind: name for name in _SCALAR_FORMATS for kind in (np.dtype(name).type, np.longlong,
                                                        np.ulonglong)
    if np.dtype(kind).name == name
}
"""Tags of NumPy scalars; reading the name of a scalar's dtype takes two microseconds."""

_ARRAY_TAGS = {np.dtype(name): f"*{name}" for name in _SCALAR_FORMATS}
"""Tags of arrays. Dtypes of the other byte order are not equal to these."""


def tag_of(argument: Any) -> str:
    """Return the type tag of a launch argument: an array, a scalar, None, or a slot of a program
    or one of its elements.
    """
    if argument is None:
        return ABSENT
    if isinstance(argument, Element):
        return "&int64"
    if isinstance(argument, Slot):
        if argument.dtype is None:
            return ABSENT
        name = _name_of(argument.dtype)
        return f"*{name}" if argument.is_array else name
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
        return _ARRAY_TAGS.get(argument.dtype) or _refuse(argument.dtype)
    raise KernelTypeError(f"a kernel cannot take an argument of type {type(argument).__name__}")


@cache
def contiguity_of(kind: Hashable) -> Callable[[Any], bool]:
    """Return a function that says whether an array of a type is contiguous.

    CuPy's `flags` makes an object each time, which takes longer than all else about an argument.
    """
    return attrgetter("_c_contiguous" if hasattr(kind, "_c_contiguous") else "flags.c_contiguous")


def _refuse(dtype: np.dtype) -> NoReturn:
    if not dtype.isnative:
        raise KernelTypeError(f"a kernel takes native byte order only, not {dtype!r}")
    raise KernelTypeError(f"a kernel cannot take an array of {dtype}; convert it to one of "
                          f"{', '.join(_SCALAR_FORMATS)}")


def bits_of(value: float | np.generic, dtype: np.dtype | str | None) -> int:
    """Return the bits of scalar `value` as `dtype`, in the low bytes of a signed 64-bit word."""
    name = _name_of(dtype)
    if type(value) is int and name == "int64" and -(2**63) <= value < 2**63:
        return value
    try:
        return int.from_bytes(struct.pack(_SCALAR_FORMATS[name], value), sys.byteorder, signed=True)
    except (struct.error, OverflowError) as error:
        raise InputError(f"{value!r} cannot be passed as {name}: {error}") from None


@cache
def _name_of(dtype: np.dtype | str | None) -> str:
    """Return the name of a type; reading it from a dtype takes a microsecond."""
    return np.dtype(dtype).name


def address_of(array: Array) -> int:
    """Return the address of the first element of a host array."""
    if not isinstance(array, np.ndarray):
        raise InputError("an array of a GPU was given to a kernel on the CPU; bring it to the host "
                         "with space.to_host")
    if DATA_POINTER:
        return _MEMORY[(id(array) + DATA_POINTER) // WORD - 1]
    return int(array.ctypes.data)


def _data_pointer() -> int:
    """Return the offset of the data's address in an ndarray object, or 0 if it is not as in
    CPython.

    It is the first field after the object header. Reading it there takes a tenth of the microsecond
    of ``array.ctypes.data``, which a small launch would need for each argument.
    """
    offset = object.__basicsize__
    samples = [np.zeros(n, dtype) for n in (1, 7) for dtype in (np.int8, np.float64)]
    samples.append(samples[-1][3:])
    found = [c_int64.from_address(id(sample) + offset).value for sample in samples]
    return offset if found == [sample.ctypes.data for sample in samples] else 0


DATA_POINTER = _data_pointer()

WORD = 8

_MEMORY = cast(WORD, POINTER(c_int64))
"""The words of memory after the first, where a pointer must not begin."""


def word_of(argument: Any) -> int:
    """Return the packed word of a launch argument."""
    if argument is None:
        return 0
    if hasattr(argument, "ndim") and not isinstance(argument, np.generic):
        return address_of(argument)
    return bits_of(argument, tag_of(argument))


# Bindings of a program's names, packed as words ------------------------------------------------


MAX_LAYOUTS = 256
"""Maximum number of layouts that are cached for each name."""

NO_LAYOUT: tuple[dict[str, Slice], None] = ({}, None)
"""A layout that is not equal to any bound slices."""

Words = tuple["array[int]", "array[int]"]
"""Packed arrays and scalars, and the numbers of slots of words."""


class Bindings:
    """Reads the bindings of slots, all fields of a record at once.

    Attributes
    ----------
    fields : dict of dicts of Slot
        The bound slots, by the text before and after the dot, which may be "".
    slots : list of Slot
        The bound slots in the order in which they are read.
    """

    def __init__(self, slots: Iterable[Slot]) -> None:
        self.fields: dict[str, dict[str, Slot]] = {}
        for slot in slots:
            if not (slot.scratch or slot.zeros):
                name, _, place = f"{slot.name}{'.array' * slot.named_words}".partition(".")
                self.fields.setdefault(name, {})[place] = slot
        self.slots = [slot for fields in self.fields.values() for slot in fields.values()]
        self._reads = {name: None if "" in fields else getter(list(fields))
                       for name, fields in self.fields.items()}

    def read_group(self, name: str, bound: Bound) -> Iterable[Any]:
        """Return the values that the slots of a name are bound to."""
        fields = self._reads[name]
        try:
            return (bound,) if fields is None else fields(bound)
        except AttributeError as error:
            raise InputError(f"{name!r} is not bound to its record: {error}") from None

    def read(self, bound: Mapping[str, Bound]) -> list[Any]:
        """Return the values of all slots, from arrays, numbers, words and records by name."""
        return [value for name in self.fields
                for value in self.read_group(name, bound_to(name, bound))]

    def named(self, bound: Mapping[str, Bound]) -> dict[str, Any]:
        """Return the values of all slots, by the names of the slots."""
        return {slot.name: value for slot, value in zip(self.slots, self.read(bound), strict=True)}


def bound_to(name: str, bound: Mapping[str, Bound]) -> Any:
    """Return the value that is bound to a name."""
    try:
        return bound[name]
    except KeyError:
        raise InputError(f"slot {name!r} is not bound") from None


class Group:
    """The slots of one name: an array, a number, words, or the fields of a record.

    Parameters
    ----------
    name : str
    bindings : Bindings
    address : callable
        Returns the address of an array, or raises an error.

    Attributes
    ----------
    kept : callable
        Returns the value whose words were packed last, if it cannot change; otherwise another
        object.
    """

    def __init__(self, name: str, bindings: Bindings, address: Callable[[Array], int]) -> None:
        self.name, self._bindings, self._address = name, bindings, address
        self.kept: Callable[[], Any] = object
        fields = bindings.fields[name]
        slots = fields.values()
        self._plan = [(slot.dtype, slot.is_array and not slot.words and slot.dtype is not None,
                       slot) for slot in slots]
        self._fields = list(fields)
        self._kind: Any = np.ndarray
        self._is_contiguous = contiguity_of(self._kind)
        self._layouts: dict[int, tuple[dict[str, Slice], list[int] | None]] = {}
        self.num_numbers = sum(slot.words for slot in slots)
        self.num_words = sum(not slot.words for slot in slots)

    def pack(self, bound: Bound) -> Words:
        """Return the packed words of a value, and whether to keep them."""
        if isinstance(bound, Sliced) and bound.memory is not None:
            places = self._places(bound)
            if places is not None:
                begin = self._address(bound.memory)
                return array("q", [0 if place < 0 else begin + place for place in places]), NONE
        words, numbers = array("q"), array("q")
        for (dtype, is_plain, slot), value in zip(
                self._plan, self._bindings.read_group(self.name, bound)):
            if is_plain:
                words.append(self._address_for(slot, value))
            elif slot.words:
                add_numbers(slot, value, numbers)
            elif slot.is_array:
                words.append(0 if value is None else refuse(slot, value))
            else:
                words.append(bits_of(value, dtype))
        return words, numbers

    def keep(self, bound: Bound) -> None:
        """Store the value whose words have been packed, if they cannot change."""
        changes = isinstance(bound, Sliced) and bound.memory is not None
        if not changes and (isinstance(bound, Record)
                            or isinstance(getattr(bound, "array", None), tuple)):
            self.kept = ref(bound)

    def _places(self, bound: Sliced) -> list[int] | None:
        """Return the bytes before each slice, -1 for absent ones; None if there are also arrays.

        They are computed once for each layout.
        """
        known, places = self._layouts.get(id(bound.slices), NO_LAYOUT)
        if known is not bound.slices:
            places = self._found_places(bound)
            if len(self._layouts) == MAX_LAYOUTS:
                self._layouts.clear()
            self._layouts[id(bound.slices)] = bound.slices, places
        return places

    def _found_places(self, bound: Sliced) -> list[int] | None:
        places = []
        for field, (dtype, _, slot) in zip(self._fields, self._plan):
            value = bound.slices.get(field) or attrgetter(field)(bound)
            if value is None and dtype is None:
                places.append(-1)
            elif type(value) is not Slice:
                return None
            else:
                if value.dtype != dtype:
                    refuse(slot, value.of(bound.memory))
                places.append(value.begin)
        return places

    def _address_for(self, slot: Slot, value: Array | None) -> int:
        """Return the address of an array for a slot."""
        if type(value) is not self._kind:
            self._kind = type(value)
            self._is_contiguous = contiguity_of(self._kind)
        if (value is None or value.dtype != slot.dtype or value.ndim != 1
                or not self._is_contiguous(value)):
            refuse(slot, value)
        return self._address(value)


NONE = array("q")
"""No numbers."""


def add_numbers(slot: Slot, values: Sequence[int], numbers: array[int]) -> None:
    """Append the values of a slot of words to `numbers`."""
    if len(values) != slot.words:
        raise InputError(f"slot {slot.name!r} takes {slot.words} numbers, not {len(values)}")
    try:
        numbers.extend(values)
    except (OverflowError, TypeError) as error:
        raise InputError(f"slot {slot.name!r} takes numbers of 64 bits: {error}") from None


def refuse(slot: Slot, value: Array | None) -> NoReturn:
    """Raise the error that a slot of an array is bound to another array, or to none."""
    if value is None or slot.dtype is None:
        raise KernelTypeError(f"slot {slot.name!r} needs {_described(slot.dtype)}, "
                              f"not {_described(getattr(value, 'dtype', None))}")
    raise KernelTypeError(f"slot {slot.name!r} needs {_described(slot.dtype)}, contiguous and "
                          f"of one dimension, not {_described(value.dtype)} of {value.ndim}")


def _described(dtype: DTypeLike | None) -> str:
    return "no array" if dtype is None else f"an array of {dtype}"
