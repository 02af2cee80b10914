"""Small batches in a single run: they are looked at, and written if nothing stands against it.

Keys are sorted by counting, for each of them, those before it.  Pairs of ids that die become
operations behind the given ones; until then the places of those hold a pair that comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms.edits.at_once_steps import (
    Limits,
    clear_row,
    decide,
    let_live,
    let_weigh,
    measure,
    place_key,
)
from portpart.algorithms.edits.changed_rows import Places
from portpart.algorithms.edits.living import (
    Dying,
    check_death,
    mark_death,
    set_death,
    set_weight_of_dead,
)
from portpart.algorithms.edits.operations import (
    Changes,
    Operations,
    Side,
    find_net_effect,
    write_key,
)
from portpart.algorithms.edits.rewrite import find_room, rewrite_row
from portpart.algorithms.edits.tally import Tally
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.backends.program import Program, Slot
from portpart.graphs.limits import MAX_INT32, MAX_TOTAL_WEIGHT
from portpart.graphs.row_store import TEAM, RowStore
from portpart.primitives.scan import TEAM as SCAN_TEAM
from portpart.primitives.scan import TILE, scan_tile

COMPARISONS = 1 << 17
"""So many comparisons of keys a lane makes in less time than it takes to launch a sort."""

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
    changes : Changes
        What becomes of pairs is written there.
    """

    side: Side
    tally: Tally
    of_ids: Tally
    limits: Limits
    dying: Dying | None
    changes: Changes


class Seen(Record):
    """What the part of a program for a store is told, beside the batch and the store."""

    limits: Limits
    places: Places
    weights: Array | None


OWN = ("rows", "deaths", "growth", "seen", "changes", "tally", "of_ids", "dying")
"""What the part of a program for a store takes."""

NAMES = [[f"{name}{number}" for name in OWN] for number in range(2)]


def looked_at_once(space: ExecutionSpace, operations: Operations, looks: Sequence[Look]) -> None:
    """Find what operations come to in all stores; written in all if ``tally.written`` says so.

    With deaths there is nothing in `operations` behind the given ones, and the number of changes
    follows from ``cleared`` of the first tally; there are none if it is more than there is room
    for.
    """
    records: dict[str, Any] = {"operations": operations}
    key: list[Any] = [operations.weights is None, operations.times is None]
    length = 0
    for number, look in enumerate(looks):
        side, rows = look.side, look.side.store.rows
        length = operations.length_of("kinds") * side.directions
        changes = look.changes
        growth, weights = side.store.growth, side.living.weights
        places = Places(ONE_MORE, ONE_MORE, side.store.used, length, growth.wide)
        own = (rows, side.deaths, growth, Seen(look.limits, places, weights), changes, look.tally,
               look.of_ids, look.dying)
        records.update(zip(NAMES[number], own))
        key += [rows.begin.dtype, _dtype(rows.weights), look.dying is None, _dtype(weights)]
    executable = space.cached_executable(("edits at once", *key), lambda: _recorded(looks, records))
    executable.run(records, length, length)


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
    limit = MAX_INT32 if narrow else MAX_TOTAL_WEIGHT
    free = -1 if store.lent or not alone else store.pool_length - store.used
    return Limits.of(**counts, free=free, gain=limit - total_weight, plain=int(weights is None))


def _recorded(looks: Sequence[Look], records: dict[str, Any]) -> Program:
    program = Program("edits at once")
    made = {name: record and program.record(name, record) for name, record in records.items()}
    own = [_slots_of(program, number, look, made) for number, look in enumerate(looks)]
    dying = [slots for slots, look in zip(own, looks) if look.dying]
    if dying:
        with program.side_by_side():
            _record_births(program, own)
        _record_deaths(program, dying, own)
    with program.side_by_side():
        if not dying:
            _record_births(program, own)
        for slots in own:
            program.launch(slots["limits"].capacity, write_key, **slots)
    _record_looks(program, own)
    with ExitStack() as all_go:
        for slots in own:
            all_go.enter_context(program.if_nonzero(slots["limits"].go))
        with program.side_by_side():
            for look, slots in zip(looks, own):
                _record_writing(program, look, slots)
    return program


def _slots_of(program: Program, number: int, look: Look, made: dict[str, Any]) -> dict[str, Any]:
    """What kernels take that look at one store."""
    own = {name: made[numbered] for name, numbered in zip(OWN, NAMES[number], strict=True)}
    seen = own["seen"]
    order = program.scratch(f"order{number}", work(np.int32, int))
    keys, rooms = (program.scratch(f"{name}{number}", work(np.int64, int))
                   for name in ("unsorted", "rooms"))
    return {**own, **dict(seen.named()), "operations": made["operations"], "keys": keys,
            "rooms": rooms, "total": made["tally0"], "before": seen.places.before,
            "length": seen.places.length,
            "directed": look.side.directed(order, seen.places.length)}


def _record_births(program: Program, own: Sequence[dict[str, Any]]) -> None:
    """Record that new ids are alive."""
    for slots in own:
        program.launch(slots["limits"].born, let_live, **slots)
        if slots["weights"].dtype is not None:
            program.launch(slots["limits"].born, let_weigh, **slots)


def _record_deaths(program: Program, dying: Sequence[dict[str, Any]],
                   own: Sequence[dict[str, Any]]) -> None:
    """Record who dies, and which operations follow; then all stores have another length."""
    with program.side_by_side():
        for slots in dying:
            program.launch(slots["limits"].dying, mark_death, dying=slots["dying"],
                           deaths=slots["deaths"].rows)
    with program.side_by_side():
        for slots in dying:
            program.launch(slots["limits"].dying, check_death, dying=slots["dying"],
                           deaths=slots["deaths"].rows, weights=slots["weights"],
                           tally=slots["of_ids"])
    with program.side_by_side():
        for slots in dying:
            program.launch(slots["limits"].dying, clear_row, team=TEAM, **slots)
    with program.side_by_side():
        for slots in own:
            program.launch(1, measure, **slots)


def _record_looks(program: Program, own: Sequence[dict[str, Any]]) -> None:
    """Record what is looked at once there are keys, in all stores side by side."""
    def for_all(step: Callable[[Any, dict[str, Any]], None]) -> None:
        with program.side_by_side():
            for slots in own:
                step(slots["limits"], slots)

    launch = program.launch
    for_all(lambda limits, slots: launch(limits.capacity, place_key, team=SCAN_TEAM, **slots))
    for_all(lambda limits, slots: launch(limits.length, find_net_effect, **slots))
    for_all(lambda limits, slots: _record_sums(program, slots["changes"].deltas, slots["before"],
                                               limits.length))
    for_all(lambda limits, slots: launch(limits.length, find_room, **slots))
    for_all(lambda limits, slots: _record_sums(program, slots["rooms"], slots["places"].begin,
                                               limits.length))
    for_all(lambda limits, slots: launch(1, decide, **slots))


def _record_sums(program: Program, values: Slot, result: Slot, length: Any) -> None:
    """Record prefix sums of no more values than a tile has."""
    program.parallel_for(1, scan_tile, values, None, result, length.slot, length.index,
                         team=SCAN_TEAM)


def _record_writing(program: Program, look: Look, slots: dict[str, Any]) -> None:
    """Record how a batch is written in one store."""
    limits, weighted = slots["limits"], look.side.store.rows.weights is not None
    program.launch(limits.length, rewrite_row, team=TEAM, weighted=weighted, **slots)
    if look.dying:
        died = slots["dying"].died
        program.launch(limits.dying, set_death, died=died, value=-1, deaths=slots["deaths"].rows)
        if slots["weights"].dtype is not None:
            program.launch(limits.dying, set_weight_of_dead, died=died, values=None,
                           weights=slots["weights"])
