"""Arrays of records: declared with a type and a length, or slices of one array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import cupy
    from typing_extensions import Self

    Array: TypeAlias = np.ndarray | cupy.ndarray
else:
    Array = np.ndarray
"""Array: a one-dimensional array of an execution space."""


# Work arrays as declarations: a type, a length that depends on sizes, and a lifetime -------------
#
# >>> class Lists(Record):
# ...     heavy: Array = work(np.int32, lambda size: 2 * size)
# >>> Lists.num_bytes(1000)
# 8000


class Allocator(Protocol):
    """An object that allocates arrays: an execution space."""

    def allocate(self, parts: Sequence[Part], zeros: bool) -> list[Array]:
        """Return an uninitialised array for each of the parts, or arrays of zeros."""


Part = tuple[int, np.dtype]
"""Length and type of an array."""

Length = Callable[[Any], int]
"""Number of elements, from the sizes of a problem."""


class Declared(NamedTuple):
    """A declared work array.

    Attributes
    ----------
    kind
        Its type, or a function that returns the type for the sizes of a problem.
    length : callable
    zeros : bool
        Whether it begins with zeros.
    outlives : bool
        Whether it is needed after the program that fills it; otherwise it may be scratch.
    """

    kind: Any
    length: Length
    zeros: bool = False
    outlives: bool = False

    def dtype_for(self, sizes: Any) -> np.dtype:
        """Return its type in a problem of these sizes."""
        found: np.dtype = self.kind if isinstance(self.kind, np.dtype) else self.kind(sizes)
        return found

    def num_bytes(self, sizes: Any) -> int:
        """Return its bytes in a problem of these sizes."""
        return self.length(sizes) * self.dtype_for(sizes).itemsize


def work(kind: Any, length: Length | str, *, zeros: bool = False, outlives: bool = False) -> Any:
    """Declare a field of a record, or a slot of scratch, as a work array.

    Its type and its length may be names of attributes of the sizes.
    """
    kind, length = (attrgetter(each) if isinstance(each, str) else each for each in (kind, length))
    by_size = isinstance(kind, (FunctionType, attrgetter))
    return Declared(kind if by_size else np.dtype(kind), length, zeros, outlives)


# Slices of one array, which become arrays only if they are read --------------------------------
#
# A run of a program only needs to know where they begin: in Python, slicing an array takes as long
# as the work on a few elements.


class Slice(NamedTuple):
    """A part of an array, as an array of another type.

    Attributes
    ----------
    dtype : numpy.dtype
    begin : int
        Number of bytes before it.
    length : int
        Number of its elements.
    """

    dtype: np.dtype
    begin: int
    length: int

    def of(self, memory: Any) -> Any:
        """Return the array; it begins and ends with elements of `memory`."""
        size, end = memory.itemsize, self.begin + self.length * self.dtype.itemsize
        return memory[self.begin // size : end // size].view(self.dtype)


class Cutter:
    """Cuts memory into consecutive slices.

    Attributes
    ----------
    end : int
        Number of bytes in slices.
    """

    def __init__(self) -> None:
        self.end = 0

    def next(self, dtype: np.dtype, length: int) -> Slice:
        """Return the next slice; it begins at a whole element."""
        begin = -(-self.end // dtype.itemsize) * dtype.itemsize
        self.end = begin + length * dtype.itemsize
        return Slice(dtype, begin, length)


class Sliced:
    """A record or words that may have slices of an array in place of arrays.

    Attributes
    ----------
    memory : array
        The array of the slices; None if it has none.
    slices : dict
        The slices by name.
    """

    memory: ClassVar[Any] = None
    slices: ClassVar[dict[str, Slice]] = {}

    @classmethod
    def sliced(cls, memory: Array, slices: dict[str, Slice], **others: Any) -> Self:
        """Return an instance with slices of `memory`; arguments replace them, and all other fields
        are absent.
        """
        made = object.__new__(cls)
        made.__dict__.update(others, memory=memory, slices=slices)
        return made

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            """Return the array of a slice, and keep it."""
            if name not in self.slices:
                raise AttributeError(f"{type(self).__name__} has no {name!r}")
            self.__dict__[name] = array = self.slices[name].of(self.memory)
            return array

    def length_of(self, name: str) -> int:
        """Return the number of elements of one of its arrays."""
        return self.slices[name].length if name in self.slices else len(getattr(self, name))


