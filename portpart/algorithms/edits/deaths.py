"""Deaths of vertices and nets in a batch, and the pairs that end with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.algorithms.edits.batch import Call, joined
from portpart.algorithms.edits.living import Dying, Living
from portpart.algorithms.edits.operations import CLEAR, Operations, Side
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import int64, kernel, lane, team_size
from portpart.graphs.row_store import TEAM, Rows, extended
from portpart.primitives.scan import offsets_from_counts


def dying(space: ExecutionSpace, calls: Sequence[Call]) -> Dying:
    """Those of some calls; nobody has died yet."""
    ids = joined(space, [call.first for call in calls], np.int32)
    times = joined(space, [np.arange(call.time, call.time + len(call.first)) for call in calls],
                   np.int32)
    lenient = joined(space, [np.full(len(call.first), call.kind, np.int8) for call in calls],
                     np.int8)
    return Dying(ids, times, lenient, space.full(len(ids), -1, np.int32),
                 space.empty(len(ids), np.int64))


def cleared_pairs(space: ExecutionSpace, groups: Sequence[tuple[Living, Dying]],
                  sides: Sequence[Side], operations: Operations) -> Operations:
    """The operations, and behind them one for each pair of an id that dies."""
    for living, group in groups:
        for side in sides:
            if side.living is living:
                operations = _with_cleared(space, group.died, side, operations)
    return operations


def _with_cleared(space: ExecutionSpace, died: Array, side: Side,
                  operations: Operations) -> Operations:
    count, rows = len(died), side.store.rows
    degrees = space.empty(count, np.int64)
    space.parallel_for(count, count_pairs, died, rows, degrees)
    places = offsets_from_counts(space, degrees)
    begin = len(operations.kinds)
    length = begin + int(space.to_host(places[count:])[0])
    kinds = extended(space, operations.kinds, length, CLEAR)
    first, second = (extended(space, array, length, 0)
                     for array in (operations.first, operations.second))
    mine, other = (second, first) if side.swapped else (first, second)
    space.parallel_for(count, list_pairs, died, rows, places, begin, mine, other, team=TEAM)
    weights, times = (None if array is None else extended(space, array, length, 0)
                      for array in (operations.weights, operations.times))
    return Operations(kinds, first, second, weights, times)


@kernel
def count_pairs(j, died, rows: Rows, degrees):
    """degrees[j] = elements of the row that dies."""
    degrees[j] = 0
    if died[j] >= 0:
        degrees[j] = int64(rows.end[died[j]]) - int64(rows.begin[died[j]])


@kernel
def list_pairs(j, died, rows: Rows, places, begin, mine, other):
    """Write the pairs of the row that dies."""
    if died[j] >= 0:
        place = begin + places[j] - int64(rows.begin[died[j]])
        for at in range(int64(rows.begin[died[j]]) + lane(), int64(rows.end[died[j]]),
                        team_size()):
            mine[place + at] = died[j]
            other[place + at] = rows.elements[at]
