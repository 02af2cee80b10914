"""Work arrays, declared where they belong: in the record of the piece that uses them.

>>> class Lists(WorkRecord):
...     heavy: Any = work(np.int32, lambda size: 2 * size)
>>> Lists.num_bytes(1000)
8000
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import Record

if TYPE_CHECKING:
    from typing_extensions import Self

Length = Callable[[Any], int]
"""Number of elements, from the sizes of a problem."""


@dataclass(frozen=True)
class Declared:
    """Type and length of an array that a run allocates, and whether it begins with zeros."""

    dtype: np.dtype[Any]
    length: Length
    zeros: bool


def work(dtype: Any, length: Length, *, zeros: bool = False) -> Any:
    """Declare a field as a work array."""
    return Declared(np.dtype(dtype), length, zeros)


class WorkRecord(Record):
    """A record some of whose fields are work arrays."""

    @classmethod
    def declared(cls) -> dict[str, Declared]:
        """The work arrays by name."""
        return {name: default for name, default in cls.defaults.items()
                if isinstance(default, Declared)}

    @classmethod
    def allocate(cls, space: ExecutionSpace, sizes: Any, **given: Any) -> Self:
        """Make the arrays for a problem of these sizes; other fields, and some of them, are given.

        Parameters
        ----------
        sizes
            What the declared lengths are computed from.
        """
        arrays = {
            name: (space.zeros if array.zeros else space.empty)(array.length(sizes), array.dtype)
            for name, array in cls.declared().items() if name not in given
        }
        return cls(**arrays, **given)

    @classmethod
    def num_bytes(cls, sizes: Any) -> int:
        """Bytes of all work arrays together."""
        return sum(array.length(sizes) * array.dtype.itemsize for array in cls.declared().values())
