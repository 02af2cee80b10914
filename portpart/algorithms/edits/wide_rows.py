"""Places of changed rows; elements of wide rows move by way of other memory."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import EditableRows, RowStore, put
from portpart.primitives import lower_bound, offsets_from_counts

# The changes of a row, and its new place -------------------------------------------------------


class ChangedRowPlaces(kl.Record):
    """New places of changed rows.

    Attributes
    ----------
    before : array of int64
        Sum of the deltas before each change.
    begin : array of int64
        Begin of the new place of each change, counted from `first`; empty if no row moves.
    first : int
    length : int
        Number of changes.
    wide : int
        As in `RowGrowth`.
    """

    before: Array
    begin: Array
    first: int
    length: int
    wide: int


@kl.device
def begins_row(i, keys):
    """Whether change i is the first change of its row."""
    return i == 0 or keys[i - 1] >> 32 != keys[i] >> 32


@kl.device
def end_of_row(i, keys, length):
    """Return the first change after i of another row; searched in doubling steps."""
    row = kl.int64(keys[i]) >> 32
    step = kl.int64(1)
    while i + step < length and keys[i + step] >> 32 == row:
        step *= 2
    return lower_bound(keys, i, min(i + step, length), (row + 1) << 32)


@kl.device
def added(deltas):
    """Return the number of inserted pairs in a sum of deltas."""
    return deltas >> 32


@kl.device
def removed(deltas):
    """Return the number of deleted pairs in a sum of deltas."""
    return deltas & LOW_HALF


@kl.device
def moving_from(i, capacity, changes: Changes, rows: EditableRows):
    """Return the rank of the first element that may move: 0 if the row gets a new place."""
    return kl.int64(0) if capacity > 0 else kl.int64(changes.ranks[i])


@kl.device
def is_wide(i, stop, changes: Changes, places: ChangedRowPlaces, rows: EditableRows):
    """Whether more than `places.wide` elements of a row move."""
    row = kl.int64(changes.keys[i]) >> 32
    capacity = places.begin[i + 1] - places.begin[i]
    count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
    return (count - moving_from(i, capacity, changes, rows) > places.wide
            and (places.before[stop] != places.before[i] or capacity > 0))


# Wide rows, in which many elements move: one item each, by way of other memory -----------------


class Wide(kl.Record):
    """Intermediate memory for the elements of wide rows.

    Attributes
    ----------
    begin : array of int64
        Begin of the elements of each change's row; empty for rows that are not wide.
    elements, weights : array
        Moving elements and their weights; None if the rows have no weights.
    number : int
        Length of `elements`.
    """

    begin: Array
    elements: Array
    weights: Array | None
    number: int


def wide_rows(store: RowStore, changes: Changes, places: ChangedRowPlaces) -> Wide:
    """Allocate memory for the moving elements of wide rows."""
    space, length = store.space, places.length
    counts = space.empty(length, np.int64)
    space.parallel_for(length, count_wide, changes, places, store.rows, counts)
    begin = offsets_from_counts(space, counts)
    number = int(space.to_host(begin[length:])[0])
    weights = store.rows.weights
    return Wide(begin, space.zeros(number, np.int32),
                None if weights is None else space.zeros(number, weights.dtype), number)


def move_wide(store: RowStore, changes: Changes, places: ChangedRowPlaces, wide: Wide) -> None:
    """Move the elements of wide rows, one item each; allocates no memory."""
    for move in (gather_wide, scatter_wide):
        kernel = move.bound(weighted=store.rows.weights is not None)
        store.space.parallel_for(wide.number, kernel, changes, places, store.rows, wide)


@kl.kernel
def count_wide(i, changes: Changes, places: ChangedRowPlaces, rows: EditableRows, counts):
    """Set counts[i] to the memory for a wide row whose changes begin at i, else to 0."""
    counts[i] = 0
    if begins_row(i, changes.keys):
        stop = end_of_row(i, changes.keys, places.length)
        if is_wide(i, stop, changes, places, rows):
            row = kl.int64(changes.keys[i]) >> 32
            capacity = places.begin[i + 1] - places.begin[i]
            counts[i] = (kl.int64(rows.end[row]) - kl.int64(rows.begin[row])
                         - moving_from(i, capacity, changes, rows) + stop - i)


@kl.kernel
def gather_wide(j, changes: Changes, places: ChangedRowPlaces, rows: EditableRows, wide: Wide,
                weighted: kl.StaticValue):
    """Store element j of the wide rows at its new rank in other memory, unless it is deleted."""
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
            hold(wide, wide.begin[i] + at - first + added(deltas) - removed(deltas),
                 key & LOW_HALF, weight, weighted)


@kl.kernel
def scatter_wide(j, changes: Changes, places: ChangedRowPlaces, rows: EditableRows, wide: Wide,
                 weighted: kl.StaticValue):
    """Write stored element j back into its row; inserted elements are written later."""
    i = lower_bound(wide.begin, 0, places.length, j + 1) - 1
    row = kl.int64(changes.keys[i]) >> 32
    stop = end_of_row(i, changes.keys, places.length)
    capacity = places.begin[i + 1] - places.begin[i]
    first = moving_from(i, capacity, changes, rows)
    deltas = places.before[stop] - places.before[i]
    count = kl.int64(rows.end[row]) - kl.int64(rows.begin[row]) + added(deltas) - removed(deltas)
    at = first + j - wide.begin[i]
    if at < count:
        new = places.first + places.begin[i] if capacity > 0 else kl.int64(rows.begin[row])
        put(rows, new + at, wide.elements[j], kl.value_or(wide.weights, j, 1), weighted)


@kl.device
def hold(wide: Wide, place, element, weight, weighted: kl.StaticValue):
    """Store an element in the intermediate memory, with its weight if there are weights."""
    wide.elements[place] = kl.int32(element)
    if weighted:
        wide.weights[place] = weight  # type: ignore[index]
