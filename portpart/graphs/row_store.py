"""Rows with spare room, whose elements stand in one pool: what graphs that change are kept in.

Row r has the elements ``begin[r] ... end[r] - 1`` of the pool, ascending, and room for
``capacity[r]``.  Packed rows are the case without spare room; their pool is taken over as it is and
copied before the first change.  A row that outgrows its place gets a larger one behind all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs.structure import MAX_INT32
from portpart.primitives import copy_one, offsets_from_counts, positions_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

TEAM, WIDE_TEAM = 8, 256

SPARE_ROWS, SPARE_ELEMENTS = 1 << 16, 1 << 18
"""Arrays of up to this many rows, and pools of this many elements, double; others grow by an
eighth.
"""


class EditableRows(kl.Record):
    """Rows as kernels that change them see them.

    Attributes
    ----------
    begin, end : array of int32 or int64
    capacity : array of int32
    elements : array of int32
        The pool.
    weights : array of int32 or int64, or None
        Of the elements; None means 1.
    """

    begin: Array
    end: Array
    capacity: Array
    elements: Array
    weights: Array | None


class RowGrowth(kl.Record):
    """How much room a row gets that has outgrown its place, a whole number of units; what is wide.

    Attributes
    ----------
    percent : int
        Of the elements that it has then.
    least : int
    unit : int
    spare : int
        Units that are added.
    wide : int
        Where more elements move, each does on its own, not by the team of its row.
    """

    percent: int
    least: int
    unit: int
    spare: int
    wide: int = 4096


HALF_MORE = RowGrowth(150, 8, 4, 0)


def bucket_list(spare: int = 1) -> RowGrowth:
    """The rule of a list of buckets of 32 slots, `spare` of which are empty."""
    return RowGrowth(100, 0, 32, spare)


class RowStore:
    """Rows of one space that can be changed.

    Parameters
    ----------
    space : ExecutionSpace
    offsets, elements, weights : array
        Packed rows, each ascending.  The last two are read only until something changes.
    growth : RowGrowth
    """

    def __init__(self, space: ExecutionSpace, offsets: Array, elements: Array,
                 weights: Array | None, growth: RowGrowth = HALF_MORE) -> None:
        self.space, self.growth = space, growth
        count = len(offsets) - 1
        length = with_spare(count, SPARE_ROWS)
        begin, end = (space.empty(length, offsets.dtype) for _ in range(2))
        self.rows = EditableRows(begin, end, space.empty(length, np.int32), elements, weights)
        space.parallel_for(length, take_over_row, offsets, count, self.rows)
        self.used = len(elements)
        self.lent = True

    @property
    def pool_length(self) -> int:
        """Elements that the pool has room for."""
        return len(self.rows.elements)

    def reserve_rows(self, count: int) -> None:
        """Have arrays for at least `count` rows; new ones are empty."""
        rows, space = self.rows, self.space
        if count > len(rows.begin):
            length = with_spare(count, SPARE_ROWS)
            begin, end, capacity = (extended(space, array, length, 0)
                                    for array in (rows.begin, rows.end, rows.capacity))
            self.rows = EditableRows(begin, end, capacity, rows.elements, rows.weights)

    def fits(self, room: int) -> bool:
        """Whether this many more elements fit behind those in use, in a pool of our own."""
        return not self.lent and self.used + room <= self.pool_length

    def reserve(self, room: int) -> None:
        """Have a pool of our own that this many more elements fit in."""
        if self.fits(room):
            return
        length = with_spare(self.used + room, SPARE_ELEMENTS)

        def longer(old: Array) -> Array:
            new = self.space.empty(length, old.dtype)
            self.space.parallel_for(self.used, copy_one, old, new)  # fresh memory takes its time
            return new

        self._replace(length, self.rows, self.used, longer)

    def compact(self, roomy: bool = False) -> None:
        """Move rows together, if that leaves spare room or none is asked for.

        Rows that have shrunk give room back.
        """
        rows, space = self.rows, self.space
        count = len(rows.begin)
        capacity = space.empty(count, np.int32)
        space.parallel_for(count, tighten, rows, self.growth, capacity)
        places = offsets_from_counts(space, capacity)
        used = int(space.to_host(places[count:])[0])
        length = self.pool_length
        if roomy and with_spare(used, SPARE_ELEMENTS) > length:
            return
        dtype = places_dtype(length)
        begin = places[:-1].astype(dtype)
        moved = EditableRows(begin, begin + (rows.end - rows.begin).astype(dtype), capacity,
                             kl.absent(), None)
        self._replace(length, moved, used, lambda old: copied_rows(
            space, rows, moved.begin, old, length, None, self.growth.wide))

    def _replace(self, length: int, rows: EditableRows, used: int,
                 change: Callable[[Array], Array]) -> None:
        """Take another pool, after all that could fail."""
        elements, weights = self.rows.elements, self.rows.weights
        dtype = places_dtype(length)
        begin, end = (array.astype(dtype, copy=False) for array in (rows.begin, rows.end))
        self.rows = EditableRows(begin, end, rows.capacity, change(elements),
                                 None if weights is None else change(weights))
        self.used, self.lent = used, False

    def reserve_weights(self, dtype: DTypeLike) -> None:
        """Have weights of at least this type."""
        rows = self.rows
        if rows.weights is None:
            weights = self.space.full(self.pool_length, 1, dtype)
        elif rows.weights.dtype.itemsize < np.dtype(dtype).itemsize:
            weights = rows.weights.astype(dtype)
        else:
            return
        self.rows = EditableRows(rows.begin, rows.end, rows.capacity, rows.elements, weights)

    def packed(self, count: int, chosen: Array | None, number: Array | None,
               ) -> tuple[Array, Array, Array | None]:
        """Offsets, elements and weights of the first `count` rows without spare room.

        Parameters
        ----------
        count : int
        chosen : array or None
            The rows that are kept, ascending, where that is not all; others are empty.
        number : array or None
            What elements are called there.
        """
        rows, space = self.rows, self.space
        begin, end = rows.begin[:count], rows.end[:count]
        chosen_rows = rows.replaced(begin=begin, end=end)
        places = offsets_from_counts(space, end - begin)
        length = int(space.to_host(places[count:])[0])
        elements, weights = (
            None if old is None else copied_rows(space, chosen_rows, places, old, length, names,
                                                 self.growth.wide)
            for old, names in ((rows.elements, number), (rows.weights, None)))
        assert elements is not None
        if chosen is not None:
            places = with_last(space, places, chosen)
        return places.astype(places_dtype(length)), elements, weights


def places_dtype(length: int) -> np.dtype:
    """The type of places in a pool."""
    return np.dtype(np.int32 if length <= MAX_INT32 else np.int64)


def with_spare(count: int, doubled: int) -> int:
    """Room for this many and an eighth more; up to `doubled`, for twice as many."""
    return count + max(count // 8, min(count, doubled))


def with_last(space: ExecutionSpace, places: Array, chosen: Array) -> Array:
    """The places of chosen rows, and the last one."""
    result = space.empty(len(chosen) + 1, places.dtype)
    result[:-1] = places[:-1][chosen]
    result[-1:] = places[-1:]
    return result


def extended(space: ExecutionSpace, array: Array, length: int, value: Any) -> Array:
    """A longer copy of an array, whose new elements are `value`."""
    result = space.empty(length, array.dtype)
    result[: len(array)] = array
    result[len(array) :] = value
    return result


@kl.device
def room_for(needed, growth: RowGrowth):
    """Capacity of a row that moves when it has this many elements."""
    wanted = (needed * growth.percent + 99) // 100
    return max(growth.least, growth.unit * ((wanted + growth.unit - 1) // growth.unit
                                            + growth.spare))


@kl.device
def put(rows: EditableRows, place, element, weight, weighted: kl.StaticValue):
    """Put an element at a place, with its weight if there are weights."""
    rows.elements[place] = kl.int32(element)
    if weighted:
        set_weight(place, weight, rows)
    return 0


@kl.device
def set_weight(place, weight, rows: EditableRows):
    """Set the weight of the element at a place; there must be weights."""
    rows.weights[place] = weight  # type: ignore[index]


@kl.device
def place_row(row, begin, end, rows: EditableRows):
    """Say where the elements of a row are."""
    rows.begin[row] = begin
    rows.end[row] = end


@kl.device
def set_capacity(row, capacity, rows: EditableRows):
    """Say how many elements a row has room for."""
    rows.capacity[row] = kl.int32(capacity)


@kl.kernel
def take_over_row(row, offsets, count, rows: EditableRows):
    """Row `row` is where it is packed; those behind all are empty."""
    begin = offsets[min(row, count)]
    end = offsets[min(row + 1, count)]
    place_row(row, begin, end, rows)
    set_capacity(row, kl.int64(end) - kl.int64(begin), rows)


@kl.kernel
def tighten(row, rows: EditableRows, growth: RowGrowth, capacity):
    """capacity[row] = no more than a row of its size gets; empty rows have none."""
    count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
    wanted = kl.int64(0)
    if count > 0:
        wanted = max(count, min(kl.int64(rows.capacity[row]), room_for(count, growth)))
    capacity[row] = kl.int32(wanted)


def copied_rows(space: ExecutionSpace, rows: EditableRows, places: Array, source: Array,
                length: int, names: Array | None, widest: int) -> Array:
    """Rows at new places of a new pool, under other names if there are any.

    Rows beyond `widest` are copied apart, by wider teams.
    """
    result = space.empty(length, source.dtype)
    space.parallel_for(len(rows.begin), copy_row, None, rows, places, source, names, result, widest,
                       team=TEAM)
    wide = positions_of(space, rows.end - rows.begin > widest)
    space.parallel_for(len(wide), copy_row, wide, rows, places, source, names, result, MAX_INT32,
                       team=WIDE_TEAM)
    return result


@kl.kernel
def copy_row(i, listed, rows: EditableRows, places, source, names, result, widest):
    """Copy the elements of a row, which may be listed, to its new place, unless it is too wide."""
    row = kl.value_or(listed, i, i)
    begin = kl.int64(rows.begin[row])
    end = kl.int64(rows.end[row])
    if end - begin <= widest:
        place = kl.int64(places[row]) - begin
        for at in range(begin + kl.lane(), end, kl.team_size()):
            element = source[at]
            result[place + at] = kl.value_or(names, element, element)
