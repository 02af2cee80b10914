"""Copies the arrays of a batch to its space, and lists the pairs of deleted ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.batch import BatchCall, times_of
from portpart.algorithms.edits.counters import (
    NARROW,
    WIDE,
    Column,
    EditCounters,
    begun,
    filled,
    split,
    together,
)
from portpart.algorithms.edits.id_table import DeletedIds, IdTable
from portpart.algorithms.edits.operations import CLEAR, Changes, Operations, Side, slices_of_changes
from portpart.backends import language as kl
from portpart.backends.language import Slice
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import TEAM, EditableRows, extended
from portpart.primitives import offsets_from_counts

NOWHERE = 2**31 - 1
"""Not an id: its pairs sort behind all others."""


class Upload(NamedTuple):
    """The arrays of a small batch in the space.

    Attributes
    ----------
    numbers : array of int32
        The halves of the words of all counters.
    counters : list of EditCounters
    deleted : list of DeletedIds
    operations : Operations
    changes : list of Changes
        Changes of each store, not yet computed.
    """

    numbers: Array
    counters: list[EditCounters]
    deleted: list[DeletedIds]
    operations: Operations
    changes: list[Changes]


def upload(space: ExecutionSpace, num_counters: int, deletion_calls: Sequence[Sequence[BatchCall]],
           calls: Sequence[BatchCall], capacity: int, timed: bool,
           directions: tuple[int, ...]) -> Upload:
    """Copy all arrays of a small batch to the space.

    Parameters
    ----------
    deletion_calls : sequence of sequences of BatchCall
        Deletions of ids, for each table.
    calls : sequence of BatchCall
        Calls that edit pairs.
    capacity : int
        Capacity for operations; the places behind the given ones hold pairs of `NOWHERE`.
    timed : bool
        Whether times matter beyond their order.
    directions : tuple of int
        For each store, the number of changes of an operation.
    """
    wide: list[Array] = [begun(num_counters)]
    narrow: list[Array] = []
    deletions = []
    for group in deletion_calls:
        weights, columns = columns_of_deletions(group)
        wide.append(weights)
        narrow += columns
        deletions.append(len(weights))
    length, pairs = _pairs(calls, capacity, timed)
    weighted = any(call.weights is not None for call in calls)
    if weighted:
        wide += weights_of(calls, capacity)
    layout = layout_of(num_counters, tuple(deletions), length, weighted, timed, directions)
    memory = together(space, wide, [*narrow, *pairs], layout.slack)
    return Upload(memory[: 2 * len(wide[0])], split(memory, num_counters),
                  [DeletedIds.sliced(memory, slices) for slices in layout.deleted],
                  _operations(memory, layout),
                  [Changes.sliced(memory, slices) for slices in layout.changes])


def operations_of(space: ExecutionSpace, calls: Sequence[BatchCall], timed: bool) -> Operations:
    """Return the operations of some calls."""
    length, pairs = _pairs(calls, 0, timed)
    weighted = any(call.weights is not None for call in calls)
    memory = together(space, weights_of(calls) if weighted else [], pairs)
    return _operations(memory, layout_of(0, (), length, weighted, timed, ()))


class BatchLayout(NamedTuple):
    """Slices of the arrays of a batch in one array, and the absent fields of its operations.

    Attributes
    ----------
    slack : int
        Elements of int32 behind the copied arrays, for the changes.
    """

    deleted: list[dict[str, Slice]]
    operations: dict[str, Slice]
    absent: dict[str, None]
    changes: list[dict[str, Slice]]
    slack: int


@lru_cache(maxsize=256)
def layout_of(num_counters: int, deletions: tuple[int, ...], length: int, weighted: bool,
              timed: bool, directions: tuple[int, ...]) -> BatchLayout:
    """Return the layout behind the counters, for these numbers of deletions and operations."""
    cutter = kl.Cutter()
    cutter.next(WIDE, num_counters * len(EditCounters.indices))
    wide = [cutter.next(WIDE, number) for number in deletions]
    operations = {"weights": cutter.next(WIDE, length)} if weighted else {}
    deleted = [slices_of_deletions(each, cutter) for each in wide]
    names = ["kinds", "first", "second", *["times"] * timed]
    operations |= {name: cutter.next(NARROW, length) for name in names}
    absent = {name: None for name in ("weights", "times") if name not in operations}
    brought = cutter.end
    changes = [slices_of_changes(length * each, cutter) for each in directions]
    return BatchLayout(deleted, operations, absent, changes,
                       (cutter.end - brought) // NARROW.itemsize)


def _operations(memory: Array, layout: BatchLayout) -> Operations:
    return Operations.sliced(memory, layout.operations, **layout.absent)


def _pairs(calls: Sequence[BatchCall], capacity: int, timed: bool) -> tuple[int, Column]:
    """Return the number of operations, and their kinds, first and second ids, and times."""
    given = sum([len(call.first) for call in calls])
    length, at = max(given, capacity), 0
    kinds = np.empty(length, np.int32)
    for call in calls:
        kinds[at : at + len(call.first)] = call.kind
        at += len(call.first)
    kinds[given:] = CLEAR
    columns: list[list[Array]] = [
        [call.first for call in calls],
        [call.second for call in calls if call.second is not None]]
    if timed:
        columns.append([*times_of(calls)])
    if length > given:
        nowhere = filled(length - given, NOWHERE)
        for column in columns:
            column.append(nowhere)
    return length, [kinds, *chain.from_iterable(columns)]


def weights_of(calls: Sequence[BatchCall], capacity: int = 0) -> Column:
    """Return weights of the entries of calls, 1 if none are given; zeros up to the capacity."""
    weights: list[Array] = [
        np.ones(len(call.first), np.int64) if call.weights is None else call.weights
        for call in calls]
    rest = capacity - sum(map(len, weights))
    return [*weights, np.zeros(rest, np.int64)] if rest > 0 else weights


def columns_of_deletions(calls: Sequence[BatchCall]) -> tuple[Array, Column]:
    """Return the weights and the other columns of `DeletedIds` for calls, before the check."""
    number = sum([len(call.first) for call in calls])
    lenient = [filled(len(call.first), call.kind) for call in calls]
    deleted, weights = np.empty(number, np.int32), np.empty(number, np.int64)  # filled in the space
    return weights, [*[call.first for call in calls], *times_of(calls), *lenient, deleted]


def slices_of_deletions(weights: kl.Slice, cutter: kl.Cutter) -> dict[str, kl.Slice]:
    """Return the slices of deletions, with these weights."""
    slices = {name: cutter.next(NARROW, weights.length)
              for name in ("ids", "times", "lenient", "effective")}
    return {"weights": weights, **slices}


def deleted_of(space: ExecutionSpace, calls: Sequence[BatchCall]) -> DeletedIds:
    """Return the deletions of some calls."""
    weights, narrow = columns_of_deletions(calls)
    cutter = kl.Cutter()
    slices = slices_of_deletions(cutter.next(WIDE, len(weights)), cutter)
    return DeletedIds.sliced(together(space, [weights], narrow), slices)


def cleared_pairs(space: ExecutionSpace, groups: Sequence[tuple[IdTable, DeletedIds]],
                  sides: Sequence[Side], operations: Operations) -> Operations:
    """Return the operations, followed by one for each pair of a deleted id."""
    for table, group in groups:
        for side in sides:
            if side.table is table:
                operations = _with_cleared(space, group.effective, side, operations)
    return operations


def _with_cleared(space: ExecutionSpace, deleted: Array, side: Side,
                  operations: Operations) -> Operations:
    count, rows = len(deleted), side.store.rows
    degrees = space.empty(count, np.int64)
    space.parallel_for(count, count_pairs, deleted, rows, degrees)
    places = offsets_from_counts(space, degrees)
    begin = operations.length_of("kinds")
    length = begin + int(space.to_host(places[count:])[0])
    longer = longer_operations(space, operations, length)
    mine, other = (longer.second, longer.first) if side.swapped else (longer.first, longer.second)
    space.parallel_for(count, list_pairs, deleted, rows, places, begin, mine, other, team=TEAM)
    return longer


def longer_operations(space: ExecutionSpace, operations: Operations, length: int) -> Operations:
    """Return operations with `length` places; the new ones are for cleared pairs."""
    begin = operations.length_of("kinds")
    packed = space.empty(3 * length, np.int32)
    weights, times = (None if array is None else extended(space, array, length, 0)
                      for array in (operations.weights, operations.times))
    longer = Operations(packed[:length], packed[length : 2 * length], packed[2 * length :], weights,
                        times)
    space.parallel_for(length, copy_operation, operations, begin, longer)
    return longer


@kl.kernel
def copy_operation(i, operations: Operations, begin, longer: Operations):
    """Copy operation i, or write CLEAR behind the given operations."""
    longer.kinds[i] = CLEAR
    if i < begin:
        longer.kinds[i] = operations.kinds[i]
        longer.first[i] = operations.first[i]
        longer.second[i] = operations.second[i]


@kl.kernel
def count_pairs(j, deleted, rows: EditableRows, degrees):
    """Set degrees[j] to the number of elements of a deleted row, 0 if it is not deleted."""
    degrees[j] = 0
    if deleted[j] >= 0:
        degrees[j] = kl.int64(rows.end[deleted[j]]) - kl.int64(rows.begin[deleted[j]])


@kl.kernel
def list_pairs(j, deleted, rows: EditableRows, places, begin, mine, other):
    """Write the pairs of a deleted row."""
    if deleted[j] >= 0:
        place = begin + places[j] - kl.int64(rows.begin[deleted[j]])
        for at in range(kl.int64(rows.begin[deleted[j]]) + kl.lane(),
                        kl.int64(rows.end[deleted[j]]), kl.team_size()):
            mine[place + at] = deleted[j]
            other[place + at] = rows.elements[at]
