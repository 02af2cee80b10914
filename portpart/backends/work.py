"""Records with work arrays, declared where they belong: in the record of the piece that uses them.

>>> class Lists(WorkRecord):
...     heavy: Any = work(np.int32, lambda size: 2 * size)
>>> Lists.num_bytes(1000)
8000

A record whose arrays are not allocated stands for scratch of a program.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from portpart.backends.declared import Declared
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import Record

if TYPE_CHECKING:
    from typing_extensions import Self


class WorkRecord(Record):
    """A record some of whose fields are work arrays."""

    if TYPE_CHECKING:  # at run time it would be a field
        declared: ClassVar[dict[str, Declared]]
        _outliving: ClassVar[list[str]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.declared = {name: default for name, default in cls.defaults.items()
                        if isinstance(default, Declared)}
        cls._outliving = [name for name, array in cls.declared.items() if array.outlives]

    @classmethod
    def allocate(cls, space: ExecutionSpace, sizes: Any, **given: Any) -> Self:
        """Make the arrays for a problem of these sizes; other fields, and some of them, are given.

        Parameters
        ----------
        sizes
            What the declared lengths are computed from.
        """
        return cls._made(space, sizes, given, [name for name in cls.declared if name not in given])

    @classmethod
    def outliving(cls, space: ExecutionSpace, sizes: Any, **given: Any) -> Self:
        """The same for a program: what it has no more use for when it is done stays scratch."""
        return cls._made(space, sizes, given, cls._outliving)

    @classmethod
    def _made(cls, space: ExecutionSpace, sizes: Any, values: dict[str, Any],
              names: Iterable[str]) -> Self:
        declared, empty = cls.declared, space.empty
        for name in names:
            kind, length, zeros, _ = declared[name]
            dtype = kind if isinstance(kind, np.dtype) else kind(sizes)
            values[name] = (space.zeros if zeros else empty)(length(sizes), dtype)
        return cls(**values)

    @classmethod
    def num_bytes(cls, sizes: Any) -> int:
        """Bytes of all work arrays together."""
        return sum(array.num_bytes(sizes) for array in cls.declared.values())


def bytes_of(pieces: tuple[type[WorkRecord], ...], sizes: Any) -> int:
    """Bytes of the work arrays of several records."""
    return sum(piece.num_bytes(sizes) for piece in pieces)


def bytes_outliving(pieces: tuple[type[WorkRecord], ...], sizes: Any) -> int:
    """Bytes of those of their work arrays that outlive the program which fills them."""
    return sum(array.num_bytes(sizes) for piece in pieces for array in piece.declared.values()
               if array.outlives)
