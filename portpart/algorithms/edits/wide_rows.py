"""The changes of a row; rows in which many elements move use other memory."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import EditableRows, RowStore, put
from portpart.primitives import lower_bound, offsets_from_counts

# The changes of a row, and where it goes -------------------------------------------------------


class ChangedRowPlaces(kl.Record):
    """Where rows go that change.

    Attributes
    ----------
    before : array of int64
        Deltas of the changes before each one.
    begin : array of int64
        New places from `first` on; empty for changes that move no row.
    first : int
    length : int
        Number of changes.
    wide : int
        As `Growth` has it.
    """

    before: Array
    begin: Array
    first: int
    length: int
    wide: int


@kl.device
def begins_row(i, keys):
    """Whether the row of a change is another than that of the change before."""
    return i == 0 or keys[i - 1] >> 32 != keys[i] >> 32


@kl.device
def end_of_row(i, keys, length):
    """The first change after i of another row, sought in steps that double."""
    row = kl.int64(keys[i]) >> 32
    step = kl.int64(1)
    while i + step < length and keys[i + step] >> 32 == row:
        step *= 2
    return lower_bound(keys, i, min(i + step, length), (row + 1) << 32)


@kl.device
def added(deltas):
    """How many pairs come, of a sum of deltas."""
    return deltas >> 32


@kl.device
def removed(deltas):
    """How many pairs go, of a sum of deltas."""
    return deltas & LOW_HALF


@kl.device
def moving_from(i, room, changes: Changes, rows: EditableRows):
    """The first element that a row's changes may move: all do if the row does."""
    return kl.int64(0) if room > 0 else kl.int64(changes.ranks[i])


@kl.device
def is_wide(i, stop, changes: Changes, places: ChangedRowPlaces, rows: EditableRows):
    """Whether many elements move in a row."""
    row = kl.int64(changes.keys[i]) >> 32
    room = places.begin[i + 1] - places.begin[i]
    count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
    return (count - moving_from(i, room, changes, rows) > places.wide
            and (places.before[stop] != places.before[i] or room > 0))


# Rows in which many elements move: each moves on its own, by way of other memory ---------------


class Wide(kl.Record):
    """Rows in which many elements move, one by one.

    Attributes
    ----------
    begin : array of int64
        For each change, where the elements of its row begin; nothing for others.
    elements, weights : array
        Them, where they are on the way; no weights where there are none.
    number : int
    """

    begin: Array
    elements: Array
    weights: Array | None
    number: int


def wide_rows(store: RowStore, changes: Changes, places: ChangedRowPlaces) -> Wide:
    """Memory for the elements that move in wide rows."""
    space, length = store.space, places.length
    counts = space.empty(length, np.int64)
    space.parallel_for(length, count_wide, changes, places, store.rows, counts)
    begin = offsets_from_counts(space, counts)
    number = int(space.to_host(begin[length:])[0])
    weights = store.rows.weights
    return Wide(begin, space.zeros(number, np.int32),
                None if weights is None else space.zeros(number, weights.dtype), number)


def move_wide(store: RowStore, changes: Changes, places: ChangedRowPlaces, wide: Wide) -> None:
    """Move the elements of wide rows, each on its own; takes no memory."""
    for move in (gather_wide, scatter_wide):
        kernel = move.bound(weighted=store.rows.weights is not None)
        store.space.parallel_for(wide.number, kernel, changes, places, store.rows, wide)


@kl.kernel
def count_wide(i, changes: Changes, places: ChangedRowPlaces, rows: EditableRows, counts):
    """counts[i] = room for what moves in a row, where the changes of a wide one begin; else 0."""
    counts[i] = 0
    if begins_row(i, changes.keys):
        stop = end_of_row(i, changes.keys, places.length)
        if is_wide(i, stop, changes, places, rows):
            row = kl.int64(changes.keys[i]) >> 32
            room = places.begin[i + 1] - places.begin[i]
            counts[i] = (kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
                         - moving_from(i, room, changes, rows) + stop - i)


@kl.kernel
def gather_wide(j, changes: Changes, places: ChangedRowPlaces, rows: EditableRows, wide: Wide,
                weighted: kl.StaticValue):
    """Lay element j of the wide rows where it has its new place, unless it goes."""
    i = lower_bound(wide.begin, 0, places.length, j + 1) - 1
    row = kl.int64(changes.keys[i]) >> 32
    stop = end_of_row(i, changes.keys, places.length)
    first = moving_from(i, places.begin[i + 1] - places.begin[i], changes, rows)
    at = first + j - wide.begin[i]
    if at < kl.int64(rows.end[row]) - kl.int64(rows.begin[row]):
        place = kl.int64(rows.begin[row]) + at
        key = (row << 32) | kl.int64(rows.elements[place])
        weight = kl.value_or(rows.weights, place, 1)
        change = lower_bound(changes.keys, i, stop, key)
        deltas = places.before[change] - places.before[i]
        if change < stop and changes.keys[change] == key:
            weight = changes.will[change]
        if weight >= 0:
            lay(wide, wide.begin[i] + at - first + added(deltas) - removed(deltas),
                key & LOW_HALF, weight, weighted)


@kl.kernel
def scatter_wide(j, changes: Changes, places: ChangedRowPlaces, rows: EditableRows, wide: Wide,
                 weighted: kl.StaticValue):
    """Put what has been laid at j into its row; what comes is written there later."""
    i = lower_bound(wide.begin, 0, places.length, j + 1) - 1
    row = kl.int64(changes.keys[i]) >> 32
    stop = end_of_row(i, changes.keys, places.length)
    room = places.begin[i + 1] - places.begin[i]
    first = moving_from(i, room, changes, rows)
    deltas = places.before[stop] - places.before[i]
    count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row]) + added(deltas) - removed(deltas)
    at = first + j - wide.begin[i]
    if at < count:
        new = places.first + places.begin[i] if room > 0 else kl.int64(rows.begin[row])
        put(rows, new + at, wide.elements[j], kl.value_or(wide.weights, j, 1), weighted)


@kl.device
def lay(wide: Wide, place, element, weight, weighted: kl.StaticValue):
    """Lay down an element, with its weight if there are weights."""
    wide.elements[place] = kl.int32(element)
    if weighted:
        wide.weights[place] = weight  # type: ignore[index]
