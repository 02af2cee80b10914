"""Records with work arrays, declared where they belong: in the record of the piece that uses them.

>>> class Lists(WorkRecord):
...     heavy: Any = work(np.int32, lambda size: 2 * size)
>>> Lists.num_bytes(1000)
8000

A record whose arrays are not allocated stands for scratch of a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from portpart.backends.declared import Declared
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import Record

if TYPE_CHECKING:
    from typing_extensions import Self


class WorkRecord(Record):
    """A record some of whose fields are work arrays."""

    if TYPE_CHECKING:  # at run time it would be a field
        declared: ClassVar[dict[str, Declared]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.declared = {name: default for name, default in cls.defaults.items()
                        if isinstance(default, Declared)}

    @classmethod
    def allocate(cls, space: ExecutionSpace, sizes: Any, **given: Any) -> Self:
        """Make the arrays for a problem of these sizes; other fields, and some of them, are given.

        Parameters
        ----------
        sizes
            What the declared lengths are computed from.
        """
        made = {name: _made(array, space, sizes) for name, array in cls.declared.items()
                if name not in given}
        return cls(**made, **given)

    @classmethod
    def outliving(cls, space: ExecutionSpace, sizes: Any, **given: Any) -> Self:
        """The same for a program: what it has no more use for when it is done stays scratch."""
        made = {name: _made(array, space, sizes) for name, array in cls.declared.items()
                if array.outlives}
        return cls(**made, **given)

    @classmethod
    def num_bytes(cls, sizes: Any) -> int:
        """Bytes of all work arrays together."""
        return sum(array.num_bytes(sizes) for array in cls.declared.values())


def _made(array: Declared, space: ExecutionSpace, sizes: Any) -> Any:
    make = space.zeros if array.zeros else space.empty
    return make(array.length(sizes), array.dtype_for(sizes))


def bytes_of(pieces: tuple[type[WorkRecord], ...], sizes: Any) -> int:
    """Bytes of the work arrays of several records."""
    return sum(piece.num_bytes(sizes) for piece in pieces)
