"""Deletions of vertices and nets in a batch, and of the pairs that end with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.algorithms.edits.batch import BatchCall, times_of
from portpart.algorithms.edits.counters import NARROW, WIDE, Column, Cutter, filled, together
from portpart.algorithms.edits.id_table import DeletedIds, IdTable
from portpart.algorithms.edits.operations import CLEAR, Operations, Side
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import TEAM, EditableRows, extended
from portpart.primitives import offsets_from_counts


def columns_of_deletions(calls: Sequence[BatchCall]) -> tuple[Array, Column]:
    """Return weights and the other columns of `DeletedIds` for calls; nothing is deleted yet."""
    number = sum([len(call.first) for call in calls])
    lenient = [filled(len(call.first), call.kind) for call in calls]
    deleted, weights = np.empty(number, np.int32), np.empty(number, np.int64)  # filled in the space
    return weights, [*[call.first for call in calls], *times_of(calls), *lenient, deleted]


def slices_of_deletions(weights: kl.Slice, cutter: Cutter) -> dict[str, kl.Slice]:
    """Where the arrays of deletions are that belong to these weights."""
    slices = {name: cutter.next(NARROW, weights.length)
              for name in ("ids", "times", "lenient", "effective")}
    return {"weights": weights, **slices}


def deleted_of(space: ExecutionSpace, calls: Sequence[BatchCall]) -> DeletedIds:
    """Return the deletions of some calls."""
    weights, narrow = columns_of_deletions(calls)
    cutter = Cutter()
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
    """Operations behind which there is room for pairs that are cleared."""
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
    """Operation i is there again, or one that clears."""
    longer.kinds[i] = CLEAR
    if i < begin:
        longer.kinds[i] = operations.kinds[i]
        longer.first[i] = operations.first[i]
        longer.second[i] = operations.second[i]


@kl.kernel
def count_pairs(j, deleted, rows: EditableRows, degrees):
    """degrees[j] = elements of the deleted row."""
    degrees[j] = 0
    if deleted[j] >= 0:
        degrees[j] = kl.int64(rows.end[deleted[j]]) - kl.int64(rows.begin[deleted[j]])


@kl.kernel
def list_pairs(j, deleted, rows: EditableRows, places, begin, mine, other):
    """Write the pairs of the deleted row."""
    if deleted[j] >= 0:
        place = begin + places[j] - kl.int64(rows.begin[deleted[j]])
        for at in range(kl.int64(rows.begin[deleted[j]]) + kl.lane(),
                        kl.int64(rows.end[deleted[j]]),
                        kl.team_size()):
            mine[place + at] = deleted[j]
            other[place + at] = rows.elements[at]
