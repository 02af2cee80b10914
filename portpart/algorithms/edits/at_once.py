"""Small batches in a single run: they are looked at, and written if nothing stands against it.

Keys are sorted by counting, for each of them, those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.edits.changed_rows import Places, added, removed
from portpart.algorithms.edits.operations import (
    Directed,
    Operations,
    Side,
    empty_changes,
    find_net_effect,
    write_key,
)
from portpart.algorithms.edits.rewrite import Rewriting, find_room, rewrite_for, tell
from portpart.algorithms.edits.tally import NONE, Tally
from portpart.backends.declared import work
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import (
    Words,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    team_sum,
)
from portpart.backends.program import Program, Slot
from portpart.graphs.limits import MAX_INT32, MAX_TOTAL_WEIGHT
from portpart.graphs.row_store import TEAM, RowStore
from portpart.primitives.scan import TEAM as SCAN_TEAM
from portpart.primitives.scan import TILE, scan_tile

COMPARISONS = 1 << 14
"""So many comparisons of keys a lane makes in less time than it takes to launch a sort."""


class Limits(Words):
    """What decides whether a batch is written at once.

    Attributes
    ----------
    length : int
        Number of keys.
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
    free: int
    gain: int
    plain: int
    go: int


def is_small(space: ExecutionSpace, length: int) -> bool:
    """Whether so many keys are worth a single run."""
    return length <= TILE and length * length <= COMPARISONS * space.widest_team


@dataclass(frozen=True)
class Look:
    """What is looked at in a store: operations, what counts them, and what may be written."""

    side: Side
    operations: Operations
    tally: Tally
    limits: Limits


def looked_at_once(space: ExecutionSpace, looks: Sequence[Look]) -> list[Rewriting]:
    """What operations come to in all stores; written in all if ``tally.written`` says so."""
    records: dict[str, Any] = {}
    rewritings, key = [], []
    for number, look in enumerate(looks):
        mine, rewriting = _records_of(space, look)
        records |= {f"{name}{number}": record for name, record in mine.items()}
        rewritings.append(rewriting)
        key += [None if array is None else array.dtype for array in (
            look.operations.weights, look.operations.times, look.side.store.rows.begin,
            look.side.store.rows.weights)]
    length = max(look.limits.array[0] for look in looks)
    executable = space.cached_executable(("edits at once", *key), lambda: _recorded(looks, records))
    executable.run(records, length, length)
    return rewritings


def _records_of(space: ExecutionSpace, look: Look) -> tuple[dict[str, Any], Rewriting]:
    """The records for a store, and what is to be written there."""
    side = look.side
    store, length = side.store, len(look.operations.kinds) * side.directions
    changes = empty_changes(space, space.empty(length, np.int64))
    sums = space.empty(2 * (length + 1), np.int64)
    places = Places(sums[: length + 1], sums[length + 1 :], store.used, length, store.growth.wide)
    directed = Directed(changes.keys, work(np.int32, int), length, side.directions, int(side.both))
    return {"directed": directed, "operations": look.operations, "rows": store.rows,
            "deaths": side.deaths, "changes": changes, "tally": look.tally, "places": places,
            "growth": store.growth, "limits": look.limits, "swapped": int(side.swapped),
            }, Rewriting(store, changes, places)


def limits_for(store: RowStore, length: int, total_weight: int, alone: bool) -> Limits:
    """What a batch may do.

    Parameters
    ----------
    length : int
        Number of keys.
    total_weight : int
        Of all pairs.
    alone : bool
        Whether nothing else can stand against the batch.
    """
    weights = store.rows.weights
    narrow = weights is not None and weights.dtype == np.int32
    limit = MAX_INT32 if narrow else MAX_TOTAL_WEIGHT - 1
    free = -1 if store.lent or not alone else store.pool_length - store.used
    return Limits.of(length=length, free=free, gain=limit - total_weight,
                     plain=int(weights is None))


def _recorded(looks: Sequence[Look], records: dict[str, Any]) -> Program:
    program = Program("edits at once")
    own: list[dict[str, Any]] = [{} for _ in looks]
    for name, record in records.items():
        slot = program.scalar(name) if isinstance(record, int) else program.record(name, record)
        own[int(name[-1])][name[:-1]] = slot
    for number, slots in enumerate(own):
        _record_look(program, number, slots)
    with ExitStack() as all_go:
        for slots in own:
            all_go.enter_context(program.if_nonzero(slots["limits"].go))
        for look, slots in zip(looks, own):
            weighted = look.side.store.rows.weights is not None
            program.launch(1, confirm, **slots)
            program.launch(slots["limits"].length, rewrite_for(weighted), team=TEAM, **slots)
    return program


def _record_look(program: Program, number: int, slots: dict[str, Any]) -> None:
    """Record what is looked at in one store."""
    directed, places, limits = slots["directed"], slots["places"], slots["limits"]
    unsorted = program.scratch(f"unsorted{number}", work(np.int64, int))
    rooms = program.scratch(f"rooms{number}", work(np.int64, int))
    sums = {"before": places.before, "length": places.length}
    program.launch(limits.length, write_key, sides=directed.sides, keys=unsorted,
                   operations=slots["operations"], swapped=slots["swapped"])
    program.launch(limits.length, place_key, keys=unsorted, team=SCAN_TEAM, directed=directed)
    program.launch(limits.length, find_net_effect, **slots)
    _record_sums(program, slots["changes"].deltas, places.before, limits.length)
    program.launch(limits.length, find_room, rooms=rooms, **sums, **slots)
    _record_sums(program, rooms, places.begin, limits.length)
    program.launch(1, tell, begin=places.begin, **sums, **slots)
    program.launch(1, decide, **slots)


def _record_sums(program: Program, values: Slot, result: Slot, length: Any) -> None:
    """Record prefix sums of no more values than a tile has."""
    program.parallel_for(1, scan_tile, values, None, result, length.slot, length.index,
                         team=SCAN_TEAM)


@kernel
def place_key(i, keys, directed: Directed):
    """Bring a key to its place in the sorted ones: behind smaller ones, and equal ones before."""
    key = keys[i]
    place = int64(0)
    for j in range(lane(), directed.length, team_size()):
        place += int64(keys[j] < key or (keys[j] == key and j < i))
    place = team_sum(place)
    if lane() == 0:
        directed.keys[place] = key
        directed.order[place] = int32(i)


@kernel
def decide(_, tally: Tally, limits: Limits):
    """Write the batch if nobody refuses it, and there is memory for it as it is."""
    gain = added(tally.deltas) - removed(tally.deltas) + tally.extra
    limits.go = int64(tally.refused == NONE and tally.wide == 0 and tally.room <= limits.free
                      and gain <= limits.gain and (limits.plain == 0 or tally.unusual == 0))


@kernel
def confirm(_, tally: Tally):
    """Rows are written."""
    tally.written = 1
