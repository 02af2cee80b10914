"""Rows with slack in one pool of elements, for graphs that change.

Row r has the elements ``begin[r] ... end[r] - 1`` of the pool, ascending, and a capacity of
``capacity[r]`` elements.  Packed rows have no slack; their pool is borrowed, and copied before the
first change.  An outgrown row moves to a larger place behind all others.
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
"""Arrays of up to this many rows, and pools of up to this many elements, double; larger ones grow
more slowly, see `with_spare`.
"""


class EditableRows(kl.Record):
    """Rows that kernels can change.

    Attributes
    ----------
    begin, end : array of int32 or int64
    capacity : array of int32
    elements : array of int32
        The pool.
    weights : array of int32 or int64, or None
        Weights of the elements; None means 1.
    """

    begin: Array
    end: Array
    capacity: Array
    elements: Array
    weights: Array | None


class RowGrowth(kl.Record):
    """Rule for the capacity of an outgrown row, in whole units, and for wide rows.

    Attributes
    ----------
    percent : int
        Capacity in percent of the new number of elements.
    least : int
        Minimum capacity.
    unit : int
        Elements of a unit.
    spare : int
        Units that are added.
    wide : int
        If more elements of a row move, each is a separate item, not one of the row's team.
    """

    percent: int
    least: int
    unit: int
    spare: int
    wide: int = 4096


HALF_MORE = RowGrowth(150, 8, 4, 0)


def bucket_list(spare: int = 1) -> RowGrowth:
    """Return the rule of a list of buckets of 32 slots, `spare` of them empty."""
    return RowGrowth(100, 0, 32, spare)


class RowStore:
    """Rows of one space that can be changed.

    Parameters
    ----------
    space : ExecutionSpace
    offsets, elements, weights : array
        Packed rows, each ascending.  The last two are never written; they are copied before the
        first change.
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
        """Capacity of the pool, in elements."""
        return len(self.rows.elements)

    def reserve_rows(self, count: int) -> None:
        """Reserve arrays for at least `count` rows; new rows are empty."""
        rows, space = self.rows, self.space
        if count > len(rows.begin):
            length = with_spare(count, SPARE_ROWS)
            begin, end, capacity = (extended(space, array, length, 0)
                                    for array in (rows.begin, rows.end, rows.capacity))
            self.rows = EditableRows(begin, end, capacity, rows.elements, rows.weights)

    def fits(self, number: int) -> bool:
        """Whether an own pool has space for this many more elements."""
        return not self.lent and self.used + number <= self.pool_length

    def reserve(self, number: int) -> None:
        """Reserve an own pool with space for this many more elements."""
        if self.fits(number):
            return
        length = with_spare(self.used + number, SPARE_ELEMENTS)

        def longer(old: Array) -> Array:
            new = self.space.empty(length, old.dtype)
            self.space.parallel_for(self.used, copy_one, old, new)  # fresh memory takes its time
            return new

        self._replace(length, self.rows, self.used, longer)

    def compact(self, if_slack: bool = False) -> None:
        """Move rows together; with `if_slack` only if the pool then has its usual slack.

        Rows that have shrunk lose capacity.
        """
        rows, space = self.rows, self.space
        count = len(rows.begin)
        capacity = space.empty(count, np.int32)
        space.parallel_for(count, tighten, rows, self.growth, capacity)
        places = offsets_from_counts(space, capacity)
        used = int(space.to_host(places[count:])[0])
        length = self.pool_length
        if if_slack and with_spare(used, SPARE_ELEMENTS) > length:
            return
        dtype = places_dtype(length)
        begin = places[:-1].astype(dtype)
        moved = EditableRows(begin, begin + (rows.end - rows.begin).astype(dtype), capacity,
                             kl.absent(), None)
        self._replace(length, moved, used, lambda old: copied_rows(
            space, rows, moved.begin, old, length, None, self.growth.wide))

    def _replace(self, length: int, rows: EditableRows, used: int,
                 change: Callable[[Array], Array]) -> None:
        """Replace the pool, after all steps that can fail."""
        elements, weights = self.rows.elements, self.rows.weights
        dtype = places_dtype(length)
        begin, end = (array.astype(dtype, copy=False) for array in (rows.begin, rows.end))
        self.rows = EditableRows(begin, end, rows.capacity, change(elements),
                                 None if weights is None else change(weights))
        self.used, self.lent = used, False

    def reserve_weights(self, dtype: DTypeLike) -> None:
        """Reserve weights of at least this type."""
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
        """Return offsets, elements and weights of the first `count` rows without slack.

        Parameters
        ----------
        count : int
        chosen : array or None
            The rows to keep, ascending; other rows must be empty.  None means all.
        number : array or None
            The new id of each element; None keeps the ids.
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
    """Return the type for places in a pool of this length."""
    return np.dtype(np.int32 if length <= MAX_INT32 else np.int64)


def with_spare(count: int, doubled: int) -> int:
    """Return a capacity for `count`: twice as many up to `doubled`, for large counts 9/8."""
    return count + max(count // 8, min(count, doubled))


def with_last(space: ExecutionSpace, places: Array, chosen: Array) -> Array:
    """Return the places of chosen rows, and the last place."""
    result = space.empty(len(chosen) + 1, places.dtype)
    result[:-1] = places[:-1][chosen]
    result[-1:] = places[-1:]
    return result


def extended(space: ExecutionSpace, array: Array, length: int, value: Any) -> Array:
    """Return a longer copy of an array; its new elements are `value`."""
    result = space.empty(length, array.dtype)
    result[: len(array)] = array
    result[len(array) :] = value
    return result


@kl.device
def capacity_for(needed, growth: RowGrowth):
    """Return the capacity of a moved row with this many elements."""
    grown = (needed * growth.percent + 99) // 100
    return max(growth.least, growth.unit * ((grown + growth.unit - 1) // growth.unit
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
    """Set the place of a row."""
    rows.begin[row] = begin
    rows.end[row] = end


@kl.device
def set_capacity(row, capacity, rows: EditableRows):
    """Set the capacity of a row."""
    rows.capacity[row] = kl.int32(capacity)


@kl.kernel
def take_over_row(row, offsets, count, rows: EditableRows):
    """Write the place and the capacity of a packed row; rows behind the last one are empty."""
    begin = offsets[min(row, count)]
    end = offsets[min(row + 1, count)]
    place_row(row, begin, end, rows)
    set_capacity(row, kl.int64(end) - kl.int64(begin), rows)


@kl.kernel
def tighten(row, rows: EditableRows, growth: RowGrowth, capacity):
    """Limit the capacity of a row to that of a moved row of its size; 0 for empty rows."""
    count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
    limited = kl.int64(0)
    if count > 0:
        limited = max(count, min(kl.int64(rows.capacity[row]), capacity_for(count, growth)))
    capacity[row] = kl.int32(limited)


def copied_rows(space: ExecutionSpace, rows: EditableRows, places: Array, source: Array,
                length: int, names: Array | None, widest: int) -> Array:
    """Return a new pool with rows at new places, with elements renamed if `names` is given.

    Rows with more than `widest` elements are copied separately, by wider teams.
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
    """Copy the elements of row or listed row i to its new place, unless there are too many."""
    row = kl.value_or(listed, i, i)
    begin = kl.int64(rows.begin[row])
    end = kl.int64(rows.end[row])
    if end - begin <= widest:
        place = kl.int64(places[row]) - begin
        for at in range(begin + kl.lane(), end, kl.team_size()):
            element = source[at]
            result[place + at] = kl.value_or(names, element, element)
