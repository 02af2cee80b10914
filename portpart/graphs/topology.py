"""Machines for process mapping: regular hierarchies, or arbitrary distances."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart import backends
from portpart.errors import InputError, shown
from portpart.graphs.structure import table
from portpart.options import exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_ELEMENTS = 2**31 - 1
MAX_DISTANCE = 2**31 - 1


class Topology:
    """Processing elements and the distances between them.

    Parameters
    ----------
    hierarchy : str or sequence of int
        ``"4:8:6"``: 4 elements per processor, 8 processors per node, 6 nodes; any number of levels,
        from the innermost to the outermost.
    distances : str or sequence of int
        ``"1:10:100"``: cost of a unit of communication between elements of one processor, of one
        node, and of different nodes.  An element is at distance 0 from itself.

    Attributes
    ----------
    arities, level_distances : tuple of int
        `hierarchy` and `distances` as numbers; a matrix has one level without distances.
    matrix : numpy.ndarray of int64, shape (k, k), or None
        See :meth:`from_matrix`.

    Raises
    ------
    InputError
        If a level is invalid; the message names it.

    Warns
    -----
    UserWarning
        If an outer level has a smaller distance: hwloc and Slurm list the outermost level first.

    Notes
    -----
    Elements are numbered so that the innermost level varies fastest: elements 0 ... 3 of a
    ``"4:8:6"`` share the first processor.  A hierarchy needs memory only for its levels, and on
    devices some words for each element.

    Examples
    --------
    >>> from portpart import Topology
    >>> machine = Topology("4:8:6", "1:10:100")
    >>> machine.num_elements, [machine.distance(0, other) for other in (0, 3, 4, 99)]
    (192, [0, 1, 10, 100])
    """

    def __init__(self, hierarchy: ArrayLike, distances: ArrayLike) -> None:
        self.arities = _levels("hierarchy", hierarchy, 1, MAX_ELEMENTS)
        self.level_distances = _levels("distances", distances, 0, MAX_DISTANCE)
        self.matrix: np.ndarray | None = None
        if len(self.arities) != len(self.level_distances):
            raise InputError(f"hierarchy has {len(self.arities)} levels and distances has "
                             f"{len(self.level_distances)}; one distance for each level is needed")
        _warn_of_turned(self.arities, self.level_distances)
        if self.num_elements > MAX_ELEMENTS:
            raise InputError(f"hierarchy makes {shown(self.num_elements)} processing elements; "
                             f"{MAX_ELEMENTS} are the most")

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Topology:
        """Return a machine with given distances between all pairs of its elements.

        Parameters
        ----------
        matrix : array_like of int, shape (k, k)
            Symmetric and not negative, with zeros on the diagonal, for example hops of a torus or
            measured latencies.

        Raises
        ------
        InputError
            If an entry is invalid; the message names the first one.

        Notes
        -----
        The matrix needs 8 k * k bytes on every device that uses it.
        """
        made = object.__new__(cls)
        made.matrix = _checked_matrix(matrix)
        made.arities, made.level_distances = (len(made.matrix),), ()
        return made

    @property
    def num_elements(self) -> int:
        """Number k of processing elements."""
        return math.prod(self.arities)

    @property
    def is_hierarchy(self) -> bool:
        """Whether there are levels rather than a matrix."""
        return self.matrix is None

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """Number of elements in a place of each level: for ``"4:8:6"`` 1, 4, 32 and 192."""
        return tuple(math.prod(self.arities[:level]) for level in range(len(self.arities) + 1))

    @property
    def max_distance(self) -> int:
        """Largest distance between two elements."""
        if self.matrix is not None:
            return int(self.matrix.max(initial=0))
        return max((distance for arity, distance in zip(self.arities, self.level_distances)
                    if arity > 1), default=0)

    def distance(self, here: Any, there: Any) -> Any:
        """Return the distance of two elements, or of each pair of elements of two arrays."""
        a, b = self._elements(here), self._elements(there)
        found = self.matrix[a, b] if self.matrix is not None else (
            np.array([0, *self.level_distances])[self._shared_level(a, b)])
        return int(found) if np.ndim(found) == 0 else found

    def level(self, here: Any, there: Any) -> Any:
        """Return the innermost level that two elements share, 0 if equal; with a matrix 0 or 1."""
        a, b = self._elements(here), self._elements(there)
        return self._shared_level(a, b) if self.is_hierarchy else (a != b).astype(np.int64)

    def _shared_level(self, a: np.ndarray, b: np.ndarray) -> Any:
        return sum((a // size != b // size).astype(np.int64) for size in self.group_sizes[:-1])

    def _elements(self, numbers: Any) -> np.ndarray:
        array = np.asarray(numbers)
        wrong = array.dtype.kind not in "iu" and array.size > 0
        if wrong or int(array.min(initial=0)) < 0 or int(array.max(initial=0)) >= self.num_elements:
            raise InputError(f"{shown(numbers)} are not elements; these are integers from 0 to "
                             f"{self.num_elements - 1}")
        return array.astype(np.int64, copy=False)

    def outside(self, depth: int) -> Topology:
        """Return the hierarchy from level `depth` on; each place of that level is one element."""
        made = object.__new__(Topology)
        made.matrix = None
        made.arities, made.level_distances = (self.arities[depth - 1 :],
                                              self.level_distances[depth - 1 :])
        return made

    def _repr_html_(self) -> str:
        levels = ([("distances", "by a matrix")] if not self.is_hierarchy else
                  [(f"level {level}", f"{arity:,} at distance {distance:,}")
                   for level, (arity, distance) in enumerate(
                       zip(self.arities, self.level_distances), start=1)])
        return table("Topology", [("elements", self.num_elements), *levels])

    def __repr__(self) -> str:
        if not self.is_hierarchy:
            return f"<Topology: {self.num_elements} elements, distances by a matrix>"
        levels, distances = (":".join(map(str, numbers))
                             for numbers in (self.arities, self.level_distances))
        return f"<Topology: {self.num_elements} elements, {levels} at distances {distances}>"


def checked_topology(value: Any) -> Topology:
    """Return the topology; raise if it is not one."""
    if not isinstance(value, Topology):
        raise InputError(f"topology is {shown(value)}; it must be a portpart.Topology")
    return value


def _warn_of_turned(arities: tuple[int, ...], distances: tuple[int, ...]) -> None:
    """Warn if distances decrease outwards: the outermost level was probably given first."""
    counted = [distance for arity, distance in zip(arities, distances) if arity > 1]
    if any(outer < inner for inner, outer in pairwise(counted)):
        turned = [":".join(map(str, reversed(levels))) for levels in (arities, distances)]
        warnings.warn(
            f"distances {':'.join(map(str, distances))} fall outwards: levels go from the "
            f"innermost to the outermost; Topology({turned[0]!r}, {turned[1]!r}) has them the "
            "other way round", UserWarning, stacklevel=3)


def _levels(name: str, value: Any, low: int, high: int) -> tuple[int, ...]:
    """Return the numbers of a text like 4:8:6 or of a sequence."""
    items: Any = value.split(":") if isinstance(value, str) else value
    if isinstance(items, np.ndarray):
        items = items.tolist()
    if not isinstance(items, Sequence) or isinstance(items, bytes) or len(items) == 0:
        raise InputError(f"{name} is {shown(value)}; numbers with colons between them are needed, "
                         "like 4:8:6")
    return tuple(_level(name, value, place, item, low, high) for place, item in enumerate(items, 1))


def _level(name: str, value: Any, place: int, item: Any, low: int, high: int) -> int:
    try:
        # text must be digits: numbers like 1e999999999 may take for ever
        number = Fraction(int(item)) if isinstance(item, str) else exact_fraction(item)
    except ValueError:
        number = Fraction(-1)
    if number.denominator != 1 or not low <= number <= high:
        parted = "; colons part the levels, like 4:8:6" if isinstance(item, str) else ""
        raise InputError(f"level {place} of {name} {shown(value)} is {shown(item)}; it must be an "
                         f"integer from {low} to {high}{parted}")
    return int(number)


def _checked_matrix(matrix: ArrayLike) -> np.ndarray:
    try:
        array = backends.space("cpu").asarray(matrix)
    except ValueError as problem:
        raise InputError(f"the matrix of distances cannot be read: {problem}") from None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) == 0:
        raise InputError(f"the matrix of distances has shape {array.shape}; it must be square")
    if array.dtype.kind not in "iuf":
        raise InputError(f"the matrix of distances is of type {array.dtype}; integers are needed")
    with np.errstate(invalid="ignore"):
        whole = array.astype(np.int64)
        bad = (whole != array) | (whole < 0) | (whole > MAX_DISTANCE)
    for wrong, why in ((bad, f"it must be an integer from 0 to {MAX_DISTANCE}"),
                       ((whole != 0) & np.eye(len(whole), dtype=bool), "it must be 0"),
                       (whole != whole.T, "the matrix must be symmetric")):
        if wrong.any():
            row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
            raise InputError(f"distance [{row}, {column}] is {array[row, column]}; {why}")
    whole.setflags(write=False)
    return whole
