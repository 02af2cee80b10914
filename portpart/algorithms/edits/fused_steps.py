"""The steps of a small batch that is checked and written in a single run (`fused.py`)."""

from __future__ import annotations

from portpart.algorithms.edits.changed_rows import ChangedRowPlaces, added, removed
from portpart.algorithms.edits.counters import NONE, EditCounters
from portpart.algorithms.edits.id_table import ALIVE, DeletedIds
from portpart.algorithms.edits.operations import CLEAR, Changes, Deletions, Directed, Operations
from portpart.backends import language as kl
from portpart.backends.language import Words
from portpart.graphs.row_store import EditableRows


class Limits(Words):
    """What decides whether a batch is written in the same run.

    Attributes
    ----------
    length : int
        Number of keys.
    capacity : int
        Keys that there is room for.
    given : int
        Operations that are given.
    deleted : int
        Entries that delete rows.
    inserted, first : int
        New ids of the rows, which follow each other; the first.
    free : int
        Room behind the rows, negative if nothing may be written.
    gain : int
        By how much the total weight may grow.
    plain : int
        Whether there are no weights, so that each has to stay 1.
    go : int
        What is decided.
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
    """Mark a new id as in use."""
    deletions.rows[limits.first + i] = kl.int32(ALIVE)  # type: ignore[index]


@kl.kernel
def set_unit_weight(i, limits: Limits, weights):
    """Set the weight of a new id to 1."""
    weights[limits.first + i] = 1


@kl.kernel
def clear_row(j, deleted: DeletedIds, rows: EditableRows, operations: Operations,
              directed: Directed, limits: Limits, total: EditCounters):
    """Append an operation for each pair of a deleted row, if there is space.

    Atomic: their places depend on the order, the result does not.
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
    """Count the keys; none are examined if they exceed the capacity."""
    length = (limits.given + total.cleared) * directed.sides
    if length > limits.capacity:
        length = kl.int64(0)
        limits.free = -1
    limits.length = length


@kl.kernel
def place_key(i, keys, changes: Changes, directed: Directed, limits: Limits):
    """Bring a key to its place in the sorted ones: behind smaller ones, and equal ones before."""
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
    """Write the batch if no operation is refused, and there is memory for it as it is."""
    room = places.begin[limits.length]
    deltas = places.before[limits.length]
    gain = added(deltas) - removed(deltas) + counters.extra
    counters.deltas = deltas
    counters.room = room
    limits.go = kl.int64(counters.refused == NONE and of_ids.refused == NONE and counters.wide == 0
                      and room <= limits.free and gain <= limits.gain
                      and (limits.plain == 0 or counters.unusual == 0))
    counters.written = limits.go
