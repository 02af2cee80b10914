"""Work arrays as declarations: a type, a length that follows from sizes, and how long it lives."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

Length = Callable[[Any], int]
"""Number of elements, from the sizes of a problem."""


class Declared(NamedTuple):
    """An array that a piece works on.

    Attributes
    ----------
    kind
        Its type, or a function that gives the type for the sizes of a problem.
    length : callable
    zeros : bool
        Whether it begins with zeros.
    outlives : bool
        Whether it is needed when the program that fills it is done; else it may be scratch.
    """

    kind: Any
    length: Length
    zeros: bool = False
    outlives: bool = False

    def dtype_for(self, sizes: Any) -> np.dtype[Any]:
        """Its type in a problem of these sizes."""
        found: np.dtype[Any] = self.kind(sizes) if type(self.kind) is FunctionType else self.kind
        return found

    def num_bytes(self, sizes: Any) -> int:
        """The bytes it takes there."""
        return self.length(sizes) * self.dtype_for(sizes).itemsize


def work(kind: Any, length: Length, *, zeros: bool = False, outlives: bool = False) -> Any:
    """Declare a field of a record, or a slot of scratch, as a work array."""
    by_size = isinstance(kind, FunctionType)
    return Declared(kind if by_size else np.dtype(kind), length, zeros, outlives)
