"""Arrays, whose library and memory are those of an execution space, and slices of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import cupy
    from typing_extensions import Self

    Array: TypeAlias = np.ndarray | cupy.ndarray
else:
    Array = np.ndarray
"""A one-dimensional array of an execution space."""


# Arrays that are slices of one, which exist as arrays only if they are read --------------------
#
# A run of a program only needs to know where they begin: to cut an array out of another
# takes Python as long as what is done with a few elements.


class Slice(NamedTuple):
    """A stretch of an array as one of another type.

    Attributes
    ----------
    dtype : numpy.dtype
    begin : int
        Bytes before it.
    length : int
        Its elements.
    """

    dtype: np.dtype
    begin: int
    length: int

    def of(self, memory: Any) -> Any:
        """The array; it begins and ends with elements of `memory`."""
        size, end = memory.itemsize, self.begin + self.length * self.dtype.itemsize
        return memory[self.begin // size : end // size].view(self.dtype)


class Sliced:
    """A record or words that may have slices of an array in place of arrays.

    Attributes
    ----------
    memory : array
        What they are slices of; None if there are none.
    slices : dict
        The slices, by their names.
    """

    memory: ClassVar[Any] = None
    slices: ClassVar[dict[str, Slice]] = {}

    @classmethod
    def sliced(cls, memory: Array, slices: dict[str, Slice], **others: Any) -> Self:
        """An instance with slices of `memory`, and others given as they are; none by default."""
        made = object.__new__(cls)
        made.__dict__.update(others, memory=memory, slices=slices)
        return made

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            """The array of a slice, from now on the same one."""
            if name not in self.slices:
                raise AttributeError(f"{type(self).__name__} has no {name!r}")
            self.__dict__[name] = array = self.slices[name].of(self.memory)
            return array

    def length_of(self, name: str) -> int:
        """Elements of one of its arrays."""
        return self.slices[name].length if name in self.slices else len(getattr(self, name))
