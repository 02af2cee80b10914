"""The steps of a small batch that is looked at and written in a single run (`at_once.py`)."""

from __future__ import annotations

from portpart.algorithms.edits.changed_rows import Places, added, removed
from portpart.algorithms.edits.living import ALIVE, Dying
from portpart.algorithms.edits.operations import CLEAR, Changes, Deaths, Directed, Operations
from portpart.algorithms.edits.tally import NONE, Tally
from portpart.backends import language as kl
from portpart.backends.language import Words
from portpart.graphs.row_store import Rows


class Limits(Words):
    """What decides whether a batch is written at once.

    Attributes
    ----------
    length : int
        Number of keys.
    capacity : int
        Keys that there is room for.
    given : int
        Operations that are given.
    dying : int
        Entries that let rows die.
    born, first : int
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
    dying: int
    born: int
    first: int
    free: int
    gain: int
    plain: int
    go: int


@kl.kernel
def let_live(i, limits: Limits, deaths: Deaths):
    """A new id is alive."""
    deaths.rows[limits.first + i] = kl.int32(ALIVE)  # type: ignore[index]


@kl.kernel
def let_weigh(i, limits: Limits, weights):
    """A new id weighs 1."""
    weights[limits.first + i] = 1


@kl.kernel
def clear_row(j, dying: Dying, rows: Rows, operations: Operations, directed: Directed,
              limits: Limits, total: Tally):
    """Put an operation for each pair of a row that dies behind the others, if there is room.

    Atomic: where they stand depends on the order, what they come to does not.
    """
    v = kl.int64(dying.died[j])
    degree = kl.int64(0)
    if v >= 0:
        degree = kl.int64(rows.end[v]) - kl.int64(rows.begin[v])
    place = kl.int64(0)
    if kl.lane() == 0:
        place = limits.given + kl.int64(kl.atomic_add(total, Tally.cleared, degree))
    place = kl.team_sum(place)
    if (place + degree) * directed.sides <= limits.capacity:
        for at in range(kl.lane(), degree, kl.team_size()):
            element = rows.elements[kl.int64(rows.begin[v]) + at]
            operations.kinds[place + at] = CLEAR
            operations.first[place + at] = kl.int32(v) if directed.swapped == 0 else element
            operations.second[place + at] = element if directed.swapped == 0 else kl.int32(v)


@kl.kernel
def measure(_, directed: Directed, limits: Limits, total: Tally):
    """Count the keys; none are looked at if they are more than there is room for."""
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
def decide(_, places: Places, tally: Tally, of_ids: Tally, limits: Limits):
    """Write the batch if nobody refuses it, and there is memory for it as it is."""
    room = places.begin[limits.length]
    deltas = places.before[limits.length]
    gain = added(deltas) - removed(deltas) + tally.extra
    tally.deltas = deltas
    tally.room = room
    limits.go = kl.int64(tally.refused == NONE and of_ids.refused == NONE and tally.wide == 0
                      and room <= limits.free and gain <= limits.gain
                      and (limits.plain == 0 or tally.unusual == 0))
    tally.written = limits.go
