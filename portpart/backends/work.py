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

ROOMY = 2**22
"""Work arrays have room for this many items, if there will be as many: only above that are they
made again when more are needed, which saves memory where it is scarce, and costs no time
elsewhere."""


def roomy(count: int, most: int) -> int:
    """How much room work arrays have for `count` items, of which there will be `most` in the end.

    >>> roomy(10, 1000), roomy(10, 10**9), roomy(10**8, 10**9)
    (1000, 4194304, 100000000)
    """
    return min(most, max(count, ROOMY))


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
        return cls(**values, **cls._arrays(space, sizes, names))

    @classmethod
    def _arrays(cls, space: ExecutionSpace, sizes: Any, names: Iterable[str]) -> dict[str, Any]:
        values, declared, empty = {}, cls.declared, space.empty
        for name in names:
            kind, length, zeros, _ = declared[name]
            dtype = kind if isinstance(kind, np.dtype) else kind(sizes)
            values[name] = (space.zeros if zeros else empty)(length(sizes), dtype)
        return values

    def lasting(self, before: Any, after: Any) -> Self:
        """The record for other sizes, without those arrays whose length is another one there.

        They are absent, and `completed` makes them.
        """
        return self.replaced(**{name: None for name, array in self.declared.items()
                                if array.length(before) != array.length(after)})

    def completed(self, space: ExecutionSpace, sizes: Any) -> Self:
        """The same record with those arrays made that are absent."""
        absent = [name for name in self.declared if getattr(self, name) is None]
        return self.replaced(**self._arrays(space, sizes, absent)) if absent else self

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
