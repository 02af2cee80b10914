"""The changes of a row, and where it goes."""

from __future__ import annotations

from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record
from portpart.graphs.row_store import EditableRows
from portpart.primitives.bisection import lower_bound


class ChangedRowPlaces(Record):
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
