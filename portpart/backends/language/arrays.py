"""Arrays, whose library and memory are those of an execution space, and slices of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from typing_extensions import Self


class CommonArray(Protocol):
    """What NumPy's and CuPy's arrays have in common.

    NumPy's functions take it, but those of a GPU raise a TypeError there; `to_host` copies.
    """

    def __array__(self) -> np.ndarray: ...

    @property
    def dtype(self) -> np.dtype: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def ndim(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def itemsize(self) -> int: ...

    @property
    def data(self) -> Any: ...

    @property
    def flags(self) -> Any: ...

    @property
    def T(self) -> Self: ...  # noqa: N802

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __getitem__(self, index: Any, /) -> Any: ...

    def __setitem__(self, index: Any, value: Any, /) -> None: ...

    def __eq__(self, other: Any, /) -> Any: ...

    def __ne__(self, other: Any, /) -> Any: ...

    def __lt__(self, other: Any, /) -> Any: ...

    def __le__(self, other: Any, /) -> Any: ...

    def __gt__(self, other: Any, /) -> Any: ...

    def __ge__(self, other: Any, /) -> Any: ...

    def __add__(self, other: Any, /) -> Any: ...

    def __sub__(self, other: Any, /) -> Any: ...

    def __mul__(self, other: Any, /) -> Any: ...

    def __floordiv__(self, other: Any, /) -> Any: ...

    def __mod__(self, other: Any, /) -> Any: ...

    def __and__(self, other: Any, /) -> Any: ...

    def __or__(self, other: Any, /) -> Any: ...

    def __lshift__(self, other: Any, /) -> Any: ...

    def __rshift__(self, other: Any, /) -> Any: ...

    def __radd__(self, other: Any, /) -> Any: ...

    def __rsub__(self, other: Any, /) -> Any: ...

    def __abs__(self) -> Any: ...

    def __neg__(self) -> Any: ...

    def __invert__(self) -> Any: ...

    def astype(self, dtype: DTypeLike, *, copy: bool = True) -> Any: ...

    def view(self, dtype: DTypeLike) -> Any: ...

    def reshape(self, rows: int, columns: int, /) -> Any: ...

    def tolist(self) -> Any: ...

    def copy(self) -> Self: ...

    def repeat(self, repeats: int) -> Any: ...

    def ravel(self) -> Any: ...

    def round(self) -> Any: ...

    def cumsum(self) -> Any: ...

    def any(self) -> Any: ...

    def all(self) -> Any: ...

    def argmax(self) -> Any: ...

    def min(self) -> Any: ...

    def max(self) -> Any: ...

    def sum(self, axis: int | None = None, dtype: DTypeLike | None = None) -> Any: ...

    def sort(self) -> None: ...


Array = CommonArray
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
