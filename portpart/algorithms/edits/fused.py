"""Checks a small batch and writes it in the same run, unless it is refused or needs memory.

Each key finds its sorted place by counting the keys before it.  Pairs of deleted ids become
operations behind the given ones; before, these places hold a pair that sorts last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms.edits import id_table
from portpart.algorithms.edits.counters import NONE, EditCounters
from portpart.algorithms.edits.operations import (
    CLEAR,
    Changes,
    Deletions,
    Directed,
    Operations,
    Side,
    find_combined_change,
    write_key,
)
from portpart.algorithms.edits.rewrite import find_capacity, rewrite_row
from portpart.algorithms.edits.wide_rows import ChangedRowPlaces, added, removed
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace, Program, Records, Slot
from portpart.graphs import MAX_INT32, MAX_TOTAL_WEIGHT, TEAM, EditableRows, RowStore
from portpart.primitives import SCAN_TILE, TEAM as SCAN_TEAM, scan_tile

# The kernels of the run ------------------------------------------------------------------------


class Limits(kl.Words):
    """Limits that decide whether a batch is written in the same run.

    Attributes
    ----------
    length : int
        Number of keys.
    capacity : int
        Maximum number of keys.
    given : int
        Number of given operations.
    deleted : int
        Number of entries that delete rows.
    inserted, first : int
        Number of new ids of rows, which are consecutive; the first id.
    free : int
        Free space behind the rows, negative if nothing may be written.
    gain : int
        Maximum increase of the total weight.
    plain : int
        Whether there are no weights, so that each weight must stay 1.
    go : int
        Whether the batch is written.
    """

    length: int
    capacity: int
    given: int
    deleted: int
    inserted: int
    first: int
    free: int
    gain: int
    plain: int
    go: int


@kl.kernel
def insert_id(i, limits: Limits, deletions: Deletions):
    """Mark a new id as existing."""
    deletions.rows[limits.first + i] = kl.int32(id_table.ALIVE)  # type: ignore[index]


@kl.kernel
def set_unit_weight(i, limits: Limits, weights):
    """Set the weight of a new id to 1."""
    weights[limits.first + i] = 1


@kl.kernel
def clear_row(j, deleted: id_table.DeletedIds, rows: EditableRows, operations: Operations,
              directed: Directed, limits: Limits, total: EditCounters):
    """Append an operation for each pair of a deleted row, if they fit.

    Atomic; places depend on the order, the result does not.
    """
    v = kl.int64(deleted.effective[j])
    degree = kl.int64(0)
    if v >= 0:
        degree = kl.int64(rows.end[v]) - kl.int64(rows.begin[v])
    place = kl.int64(0)
    if kl.lane() == 0:
        place = limits.given + kl.int64(kl.atomic_add(total, EditCounters.cleared, degree))
    place = kl.team_sum(place)
    if (place + degree) * directed.sides <= limits.capacity:
        for at in range(kl.lane(), degree, kl.team_size()):
            element = rows.elements[kl.int64(rows.begin[v]) + at]
            operations.kinds[place + at] = CLEAR
            operations.first[place + at] = kl.int32(v) if directed.swapped == 0 else element
            operations.second[place + at] = element if directed.swapped == 0 else kl.int32(v)


@kl.kernel
def measure(_, directed: Directed, limits: Limits, total: EditCounters):
    """Store the number of keys; 0 if they exceed the capacity."""
    length = (limits.given + total.cleared) * directed.sides
    if length > limits.capacity:
        length = kl.int64(0)
        limits.free = -1
    limits.length = length


@kl.kernel
def place_key(i, keys, changes: Changes, directed: Directed, limits: Limits):
    """Write a key to its sorted place: behind smaller keys and earlier equal ones."""
    key = keys[i]
    place = kl.int64(0)
    for j in range(kl.lane(), min(i, limits.length), kl.team_size()):
        place += kl.int64(keys[j] <= key)
    for j in range(i + 1 + kl.lane(), limits.length, kl.team_size()):
        place += kl.int64(keys[j] < key)
    place = kl.team_sum(place)
    if i >= limits.length:
        place = i
    if kl.lane() == 0:
        changes.keys[place] = key
        directed.order[place] = kl.int32(i)


@kl.kernel
def decide(_, places: ChangedRowPlaces, counters: EditCounters, of_ids: EditCounters,
           limits: Limits):
    """Decide to write the batch if no operation is refused and no more memory is needed."""
    claimed = places.begin[limits.length]
    deltas = places.before[limits.length]
    gain = added(deltas) - removed(deltas) + counters.extra
    counters.deltas = deltas
    counters.claimed = claimed
    limits.go = kl.int64(counters.refused == NONE and of_ids.refused == NONE and counters.wide == 0
                      and claimed <= limits.free and gain <= limits.gain
                      and (limits.plain == 0 or counters.unusual == 0))
    counters.written = limits.go


# The program of the run ------------------------------------------------------------------------


COMPARISONS = 1 << 17
"""Comparisons of keys that a lane makes in less time than the launch of a sort."""

def is_small(space: ExecutionSpace, length: int) -> bool:
    """Whether a single run is faster for this many keys."""
    return length <= SCAN_TILE and length * length <= COMPARISONS * space.widest_team


def capacity_for_deletions(side: Side, number: int) -> int:
    """Return the estimated number of operations for the deletion of `number` rows."""
    pairs, rows = side.store.used, max(1, side.table.num_alive)
    return number * (3 * pairs // (2 * rows) + 2)


class StoreInputs(NamedTuple):
    """The inputs of the check of a store.

    Attributes
    ----------
    side : Side
    counters : EditCounters
        Counters of pairs.
    of_ids : EditCounters
        Counters of the ids of rows.
    limits : Limits
        Limits of what may be written.
    deleted : DeletedIds, or None
        Deleted rows.
    changes : Changes
        The output: the changes of pairs.
    """

    side: Side
    counters: EditCounters
    of_ids: EditCounters
    limits: Limits
    deleted: id_table.DeletedIds | None
    changes: Changes


class StoreArguments(kl.Record):
    """Further arguments of a program for one store."""

    limits: Limits
    places: ChangedRowPlaces
    weights: Array | None


OWN = ("rows", "deletions", "growth", "arguments", "changes", "counters", "of_ids", "deleted")
"""The arguments of a program for one store."""

NAMES = [[f"{name}{number}" for name in OWN] for number in range(2)]


def check_fused(space: ExecutionSpace, operations: Operations,
                stores: Sequence[StoreInputs]) -> None:
    """Find the changes of operations in all stores, and write all or none: see
    ``counters.written``.

    With deletions, `operations` has free places behind the given ones.  The number of changes
    depends on ``cleared`` of the first counters; there are no changes if it exceeds the capacity.
    """
    records: dict[str, Any] = {"operations": operations}
    key: list[Any] = [operations.weights is None, operations.times is None]
    length = 0
    for number, inputs in enumerate(stores):
        side, rows = inputs.side, inputs.side.store.rows
        length = operations.length_of("kinds") * side.directions
        changes = inputs.changes
        growth, weights = side.store.growth, side.table.weights
        places = ChangedRowPlaces(ONE_MORE, ONE_MORE, side.store.used, length, growth.wide)
        own = (rows, side.deletions, growth, StoreArguments(inputs.limits, places, weights),
               changes, inputs.counters, inputs.of_ids, inputs.deleted)
        records.update(zip(NAMES[number], own))
        key += [rows.begin.dtype, _dtype(rows.weights), inputs.deleted is None, _dtype(weights)]
    executable = space.cached_executable(("fused edits", *key), lambda: _recorded(stores, records))
    executable.run(records, length, length)


def _dtype(array: Any) -> Any:
    return None if array is None else array.dtype


ONE_MORE = kl.work(np.int64, lambda length: length + 1)


def limits_for(store: RowStore, counts: dict[str, int], total_weight: int, alone: bool) -> Limits:
    """Return the limits of a batch.

    Parameters
    ----------
    counts : dict
        The first words of the limits.
    total_weight : int
        Total weight of all pairs.
    alone : bool
        Whether nothing else can prevent the batch.
    """
    weights = store.rows.weights
    narrow = weights is not None and weights.dtype == np.int32
    limit = MAX_INT32 if narrow else MAX_TOTAL_WEIGHT
    free = -1 if store.lent or not alone else store.pool_length - store.used
    return Limits.of(**counts, free=free, gain=limit - total_weight, plain=int(weights is None))


def _recorded(stores: Sequence[StoreInputs], records: Records) -> Program:
    program = Program("fused edits")
    made = {name: record and program.record(name, record) for name, record in records.items()}
    own = [_slots_of(program, number, inputs, made) for number, inputs in enumerate(stores)]
    deleted = [slots for slots, inputs in zip(own, stores) if inputs.deleted]
    if deleted:
        with program.side_by_side():
            _record_insertions(program, own)
        _record_deletions(program, deleted, own)
    with program.side_by_side():
        if not deleted:
            _record_insertions(program, own)
        for slots in own:
            program.launch(slots["limits"].capacity, write_key, **slots)
    _record_checks(program, own)
    with ExitStack() as all_go:
        for slots in own:
            all_go.enter_context(program.if_nonzero(slots["limits"].go))
        with program.side_by_side():
            for inputs, slots in zip(stores, own):
                _record_writing(program, inputs, slots)
    return program


def _slots_of(program: Program, number: int, inputs: StoreInputs,
              made: dict[str, Any]) -> dict[str, Any]:
    """Return the slots of the kernels for one store."""
    own = {name: made[numbered] for name, numbered in zip(OWN, NAMES[number], strict=True)}
    arguments = own["arguments"]
    order = program.scratch(f"order{number}", kl.work(np.int32, int))
    keys, spaces = (program.scratch(f"{name}{number}", kl.work(np.int64, int))
                    for name in ("unsorted", "spaces"))
    return {**own, **dict(arguments.named()), "operations": made["operations"], "keys": keys,
            "spaces": spaces, "total": made["counters0"], "before": arguments.places.before,
            "length": arguments.places.length,
            "directed": inputs.side.directed(order, arguments.places.length)}


def _record_insertions(program: Program, own: Sequence[dict[str, Any]]) -> None:
    """Record the insertion of ids."""
    for slots in own:
        program.launch(slots["limits"].inserted, insert_id, **slots)
        if slots["weights"].dtype is not None:
            program.launch(slots["limits"].inserted, set_unit_weight, **slots)


def _record_deletions(program: Program, deleted: Sequence[dict[str, Any]],
                      own: Sequence[dict[str, Any]]) -> None:
    """Record deletions and their operations, which change the length of all stores."""
    for kernel in (id_table.mark_deleted, id_table.check_deletion):
        with program.side_by_side():
            for slots in deleted:
                program.launch(slots["limits"].deleted, kernel, deleted=slots["deleted"],
                               deletions=slots["deletions"].rows, weights=slots["weights"],
                               counters=slots["of_ids"])
    with program.side_by_side():
        for slots in deleted:
            program.launch(slots["limits"].deleted, clear_row, team=TEAM, **slots)
    with program.side_by_side():
        for slots in own:
            program.launch(1, measure, **slots)


def _record_checks(program: Program, own: Sequence[dict[str, Any]]) -> None:
    """Record the checks of keys, for all stores side by side."""
    def for_all(step: Callable[[Any, dict[str, Any]], None]) -> None:
        with program.side_by_side():
            for slots in own:
                step(slots["limits"], slots)

    launch = program.launch
    for_all(lambda limits, slots: launch(limits.capacity, place_key, team=SCAN_TEAM, **slots))
    for_all(lambda limits, slots: launch(limits.length, find_combined_change, **slots))
    for_all(lambda limits, slots: _record_sums(program, slots["changes"].deltas, slots["before"],
                                               limits.length))
    for_all(lambda limits, slots: launch(limits.length, find_capacity, **slots))
    for_all(lambda limits, slots: _record_sums(program, slots["spaces"], slots["places"].begin,
                                               limits.length))
    for_all(lambda limits, slots: launch(1, decide, **slots))


def _record_sums(program: Program, values: Slot, result: Slot, length: Any) -> None:
    """Record prefix sums of at most as many values as a tile has."""
    program.parallel_for(1, scan_tile, values, None, result, length.slot, length.index,
                         team=SCAN_TEAM)


def _record_writing(program: Program, inputs: StoreInputs, slots: dict[str, Any]) -> None:
    """Record the writes of a batch in one store."""
    limits, weighted = slots["limits"], inputs.side.store.rows.weights is not None
    program.launch(limits.length, rewrite_row, team=TEAM, weighted=weighted, **slots)
    if inputs.deleted:
        set_all = partial(program.launch, limits.deleted, id_table.set_for_deleted,
                          effective=slots["deleted"].effective, given=None)
        set_all(otherwise=-1, values=slots["deletions"].rows)
        if slots["weights"].dtype is not None:
            set_all(otherwise=0, values=slots["weights"])
