"""Small batches in a single run: they are looked at, and written if nothing stands against it.

Keys are sorted by counting, for each of them, those before it.  Pairs of ids that die become
operations behind the given ones; until then the places of those hold a pair that comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms.edits.changed_rows import Places, added, removed
from portpart.algorithms.edits.living import (
    Dying,
    check_death,
    mark_death,
    set_death,
    set_weight_of_dead,
)
from portpart.algorithms.edits.operations import (
    CLEAR,
    Changes,
    Directed,
    Operations,
    Side,
    empty_changes,
    find_net_effect,
    write_key,
)
from portpart.algorithms.edits.rewrite import find_room, rewrite_for
from portpart.algorithms.edits.tally import NONE, Tally
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Record,
    Words,
    atomic_add,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
)
from portpart.backends.program import Program, Slot
from portpart.graphs.limits import MAX_INT32, MAX_TOTAL_WEIGHT
from portpart.graphs.row_store import TEAM, Rows, RowStore
from portpart.primitives.scan import TEAM as SCAN_TEAM
from portpart.primitives.scan import TILE, scan_tile

COMPARISONS = 1 << 15
"""So many comparisons of keys a lane makes in less time than it takes to launch a sort."""

NOWHERE = 2**31 - 1
"""No id: pairs of it come behind all others."""


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
    free: int
    gain: int
    plain: int
    go: int


def is_small(space: ExecutionSpace, length: int) -> bool:
    """Whether so many keys are worth a single run."""
    return length <= TILE and length * length <= COMPARISONS * space.widest_team


def room_for_deaths(side: Side, number: int) -> int:
    """Operations that the deaths of so many rows are likely to come to."""
    pairs, rows = side.store.used, max(1, side.living.num_alive)
    return number * (3 * pairs // (2 * rows) + 2)


class Look(NamedTuple):
    """What is looked at in a store.

    Attributes
    ----------
    side : Side
    tally : Tally
        What counts pairs.
    of_ids : Tally
        What counts ids of the rows.
    limits : Limits
        What may be written.
    dying : Dying, or None
        Rows that die.
    """

    side: Side
    tally: Tally
    of_ids: Tally
    limits: Limits
    dying: Dying | None


class Seen(Record):
    """What the part of a program for a store works on, beside the store; it differs each time."""

    changes: Changes
    tally: Tally
    of_ids: Tally
    limits: Limits
    places: Places
    dying: Dying | None
    weights: Array | None


def looked_at_once(space: ExecutionSpace, operations: Operations,
                   looks: Sequence[Look]) -> list[Changes]:
    """What operations come to in all stores; written in all if each ``tally.written`` says so.

    With deaths there is nothing in `operations` behind the given ones, and the number of changes
    follows from ``cleared`` of the first tally; there are none if it is more than there is room
    for.
    """
    records: dict[str, Any] = {"operations": operations}
    key: list[Any] = [operations.weights is None, operations.times is None]
    found, length = [], 0
    for number, look in enumerate(looks):
        side, rows = look.side, look.side.store.rows
        length = len(operations.kinds) * side.directions
        changes = empty_changes(space, space.empty(length, np.int64))
        growth, weights = side.store.growth, None if look.dying is None else side.living.weights
        places = Places(ONE_MORE, ONE_MORE, side.store.used, length, growth.wide)
        seen = Seen(changes, look.tally, look.of_ids, look.limits, places, look.dying, weights)
        for name, record in (("rows", rows), ("deaths", side.deaths), ("growth", growth),
                             ("seen", seen)):
            records[f"{name}{number}"] = record
        found.append(changes)
        key += [rows.begin.dtype, _dtype(rows.weights), look.dying is None, _dtype(weights)]
    executable = space.cached_executable(("edits at once", *key), lambda: _recorded(looks, records))
    executable.run(records, length, length)
    return found


def _dtype(array: Any) -> Any:
    return None if array is None else array.dtype


ONE_MORE = work(np.int64, lambda length: length + 1)


def limits_for(store: RowStore, counts: dict[str, int], total_weight: int, alone: bool) -> Limits:
    """What a batch may do.

    Parameters
    ----------
    counts : dict
        The first words of the limits.
    total_weight : int
        Of all pairs.
    alone : bool
        Whether nothing else can stand against the batch.
    """
    weights = store.rows.weights
    narrow = weights is not None and weights.dtype == np.int32
    limit = MAX_INT32 if narrow else MAX_TOTAL_WEIGHT - 1
    free = -1 if store.lent or not alone else store.pool_length - store.used
    return Limits.of(**counts, free=free, gain=limit - total_weight, plain=int(weights is None))


def _recorded(looks: Sequence[Look], records: dict[str, Any]) -> Program:
    program = Program("edits at once")
    made = {name: program.record(name, record) for name, record in records.items()}
    own: list[dict[str, Any]] = []
    for number, look in enumerate(looks):
        seen = made[f"seen{number}"]
        order = program.scratch(f"order{number}", work(np.int32, int))
        own.append({**dict(seen.named()), "operations": made["operations"],
                    "total": made["seen0"].tally,
                    "directed": look.side.directed(order, seen.places.length),
                    **{name: made[f"{name}{number}"] for name in ("rows", "deaths", "growth")}})
    _record_deaths(program, [slots for slots, look in zip(own, looks) if look.dying], own)
    for number, slots in enumerate(own):
        _record_look(program, number, slots)
    with ExitStack() as all_go:
        for slots in own:
            all_go.enter_context(program.if_nonzero(slots["limits"].go))
        for look, slots in zip(looks, own):
            _record_writing(program, look, slots)
    return program


def _record_deaths(program: Program, dying: Sequence[dict[str, Any]],
                   own: Sequence[dict[str, Any]]) -> None:
    """Record who dies, and which operations follow; then all stores have another length."""
    for slots in dying:
        program.launch(slots["limits"].dying, mark_death, dying=slots["dying"],
                       deaths=slots["deaths"].rows)
        program.launch(slots["limits"].dying, check_death, dying=slots["dying"],
                       deaths=slots["deaths"].rows, weights=slots["weights"], tally=slots["of_ids"])
        program.launch(slots["limits"].dying, clear_row, team=TEAM, **slots)
    for slots in own if dying else []:
        program.launch(1, measure, **slots)


def _record_look(program: Program, number: int, slots: dict[str, Any]) -> None:
    """Record what is looked at in one store."""
    places, limits, changes = slots["places"], slots["limits"], slots["changes"]
    unsorted = program.scratch(f"unsorted{number}", work(np.int64, int))
    rooms = program.scratch(f"rooms{number}", work(np.int64, int))
    program.launch(limits.capacity, write_key, keys=unsorted, **slots)
    program.launch(limits.capacity, place_key, keys=unsorted, team=SCAN_TEAM, **slots)
    program.launch(limits.length, find_net_effect, **slots)
    _record_sums(program, changes.deltas, places.before, limits.length)
    program.launch(limits.length, find_room, rooms=rooms, before=places.before,
                   length=places.length, **slots)
    _record_sums(program, rooms, places.begin, limits.length)
    program.launch(1, decide, **slots)


def _record_sums(program: Program, values: Slot, result: Slot, length: Any) -> None:
    """Record prefix sums of no more values than a tile has."""
    program.parallel_for(1, scan_tile, values, None, result, length.slot, length.index,
                         team=SCAN_TEAM)


def _record_writing(program: Program, look: Look, slots: dict[str, Any]) -> None:
    """Record how a batch is written in one store."""
    limits, weighted = slots["limits"], look.side.store.rows.weights is not None
    program.launch(limits.length, rewrite_for(weighted), team=TEAM, **slots)
    if look.dying:
        died = slots["dying"].died
        program.launch(limits.dying, set_death, died=died, value=-1, deaths=slots["deaths"].rows)
        if slots["weights"].dtype is not None:
            program.launch(limits.dying, set_weight_of_dead, died=died, values=None,
                           weights=slots["weights"])


@kernel
def clear_row(j, dying: Dying, rows: Rows, operations: Operations, directed: Directed,
              limits: Limits, total: Tally):
    """Put an operation for each pair of a row that dies behind the others, if there is room.

    Atomic: where they stand depends on the order, what they come to does not.
    """
    v = int64(dying.died[j])
    degree = int64(0)
    if v >= 0:
        degree = int64(rows.end[v]) - int64(rows.begin[v])
    place = int64(0)
    if lane() == 0:
        place = limits.given + int64(atomic_add(total, Tally.cleared, degree))
    place = team_sum(place)
    if (place + degree) * directed.sides <= limits.capacity:
        for at in range(lane(), degree, team_size()):
            element = rows.elements[int64(rows.begin[v]) + at]
            operations.kinds[place + at] = CLEAR
            operations.first[place + at] = int32(v) if directed.swapped == 0 else element
            operations.second[place + at] = element if directed.swapped == 0 else int32(v)


@kernel
def measure(_, directed: Directed, limits: Limits, total: Tally):
    """Count the keys; none are looked at if they are more than there is room for."""
    length = (limits.given + total.cleared) * directed.sides
    if length > limits.capacity:
        length = int64(0)
        limits.free = -1
    limits.length = length


@kernel
def place_key(i, keys, changes: Changes, directed: Directed, limits: Limits):
    """Bring a key to its place in the sorted ones: behind smaller ones, and equal ones before."""
    key = keys[i]
    place = int64(0)
    for j in range(lane(), min(i, limits.length), team_size()):
        place += int64(keys[j] <= key)
    for j in range(i + 1 + lane(), limits.length, team_size()):
        place += int64(keys[j] < key)
    place = team_sum(place)
    if i >= limits.length:
        place = i
    if lane() == 0:
        changes.keys[place] = key
        directed.order[place] = int32(i)


@kernel
def decide(_, places: Places, tally: Tally, of_ids: Tally, limits: Limits):
    """Write the batch if nobody refuses it, and there is memory for it as it is."""
    room = places.begin[limits.length]
    deltas = places.before[limits.length]
    gain = added(deltas) - removed(deltas) + tally.extra
    tally.deltas = deltas
    tally.room = room
    limits.go = int64(tally.refused == NONE and of_ids.refused == NONE and tally.wide == 0
                      and room <= limits.free and gain <= limits.gain
                      and (limits.plain == 0 or tally.unusual == 0))
    tally.written = limits.go
