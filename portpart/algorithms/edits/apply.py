"""Applying a batch: all or nothing.

First it is found out what the batch comes to, which may refuse it; then memory is taken; only then
anything is written, and nothing can fail any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from portpart.algorithms.edits.at_once import Look, is_small, limits_for, looked_at_once
from portpart.algorithms.edits.batch import MAX_IDS, Batch, Births, Call, bear, joined, unbear
from portpart.algorithms.edits.deaths import cleared_pairs, dying
from portpart.algorithms.edits.edited import Edited
from portpart.algorithms.edits.living import (
    Dying,
    Living,
    Weighings,
    forget_deaths,
    let_die,
    mark_deaths,
    revive,
    weigh,
    weighings,
)
from portpart.algorithms.edits.operations import (
    Operations,
    Side,
    net_effect,
    turned_back,
)
from portpart.algorithms.edits.rewrite import Rewriting, carry_out, planned, reserve
from portpart.algorithms.edits.tally import NONE, PROBLEMS, Tally, read, tallies
from portpart.algorithms.edits.update import Totals, Update
from portpart.errors import InputError
from portpart.graphs.limits import MAX_TOTAL_WEIGHT

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace


def apply_batch(edited: Edited, batch: Batch) -> Update:
    """Apply a batch.

    Raises
    ------
    InputError
        Of the first entry that is refused; nothing has changed then.
    """
    space = edited.space
    _reserve_ids(edited, batch)
    found = Findings(edited, batch)
    with _back_to_life(batch.births, found.dying):
        found.look()
        counts = read(space, found.numbers)
        _refuse(batch, counts)
        update = found.update(counts)
        _check_totals(edited, update.totals)
        reserved = _reserved(edited, found.rewritings, counts, update.totals)
    for rewriting, tally in zip(found.rewritings, counts):
        rewriting.store.used += int(tally.room) if tally.written else 0
    for rewriting, room in reserved:
        carry_out(rewriting, room)
    for living, weighed in update.weighed:
        weigh(living, weighed)
    for living, died in update.died:
        let_die(living, died)
    _count(edited, update.totals, 1)
    return update


def take_back(edited: Edited, update: Update) -> None:
    """Undo an update, the last one."""
    space = edited.space
    sides = edited.sides()
    numbers, counted = tallies(space, len(sides))
    rewritings = [planned(side.store, turned_back(side.store, changes, tally), tally)
                  for side, changes, tally in zip(sides, update.changes, counted)]
    counts = read(space, numbers)
    reserved = [reserve(rewriting, tally, edited.pair_weight)
                for rewriting, tally in zip(rewritings, counts)]
    for rewriting, room in reserved:
        carry_out(rewriting, room)
    for living, died in update.died:
        revive(living, died)
    for living, weighed in update.weighed:
        weigh(living, weighed, backwards=True)
    for birth in update.births:
        unbear(birth)
    _count(edited, update.totals, -1)


class Findings:
    """What is found out about a batch before anything is changed for good."""

    def __init__(self, edited: Edited, batch: Batch) -> None:
        self.edited, self.batch = edited, batch
        space = edited.space
        self.numbers, self.tallies = tallies(space, 2 + len(edited.living))
        self.dying = [(living, dying(space, calls)) for living in edited.living
                      if (calls := _calls(batch, living, deaths=True))]
        self.rewritings: list[Rewriting] = []
        self.weighed: list[tuple[Living, Weighings]] = []

    def tally_of(self, living: Living) -> Tally:
        """What counts ids of a kind."""
        return self.tallies[2 + self.edited.living.index(living)]

    def look(self) -> None:
        """Launch everything that looks at the batch."""
        edited, space = self.edited, self.edited.space
        for living, group in self.dying:
            mark_deaths(living, group, self.tally_of(living))
        for living in edited.living:
            calls = _calls(self.batch, living, deaths=False)
            if calls:
                self.weighed.append((living, weighings(
                    living, _first(space, calls), _weights(space, calls), _times(space, calls),
                    self.tally_of(living))))
        sides = edited.sides()
        operations = self._operations(sides)
        if len(operations.kinds):
            self.rewritings = self._looked(sides, operations)

    def _looked(self, sides: Sequence[Side], operations: Operations) -> list[Rewriting]:
        """What operations come to in the stores."""
        space, edited, number = self.edited.space, self.edited, len(operations.kinds)
        if all(is_small(space, number * side.directions) for side in sides):
            alone = not self.dying and not self.weighed and all(
                living.total_weight + self.batch.given_weight + MAX_IDS < MAX_TOTAL_WEIGHT
                for living in edited.living)
            return looked_at_once(space, [
                Look(side, operations, tally, limits_for(
                    side.store, number * side.directions, edited.pair_weight, alone))
                for side, tally in zip(sides, self.tallies)])
        immortal = not self.dying and all(
            living.num_alive == living.count for living in edited.living)
        return [planned(side.store, net_effect(space, side, operations, tally, immortal), tally)
                for side, tally in zip(sides, self.tallies)]

    def _operations(self, sides: Sequence[Side]) -> Operations:
        space, calls = self.edited.space, _pairs(self.batch)
        operations = Operations(
            *_pairs_of(space, calls),
            _weights(space, calls) if any(call.weights is not None for call in calls) else None,
            _times(space, calls) if len(calls) != len(self.batch.calls) else None)
        return cleared_pairs(space, self.dying, sides, operations)

    def update(self, counts: Sequence[Tally]) -> Update:
        """The result."""
        first = counts[0]
        weight = (first.deltas >> 32) - (first.deltas & 0xFFFFFFFF) + first.extra
        ids = []
        for place, living in enumerate(self.edited.living):
            born = [birth for birth in self.batch.births if birth.living is living]
            tally = counts[2 + place]
            ids.append((living, sum(birth.number for birth in born) - tally.died,
                        sum(map(_weight_of, born)) + tally.weight))
        return Update(
            [rewriting.changes for rewriting in self.rewritings], self.batch.births,
            self.dying, self.weighed,
            first.loops, first.merged, sum(tally.missing for tally in (first, *counts[2:])),
            Totals((first.deltas >> 32) - (first.deltas & 0xFFFFFFFF), weight, ids))


def _reserve_ids(edited: Edited, batch: Batch) -> None:
    """Have rows and weights for all ids that have been given out."""
    for living in edited.living:
        births = [birth for birth in batch.births if birth.living is living]
        dies = living.weights is not None and bool(_calls(batch, living, deaths=True))
        living.reserve(any(birth.weights is not None for birth in births)
                       or dies or bool(_calls(batch, living, deaths=False)))
    edited.reserve_ids()


@contextmanager
def _back_to_life(births: list[Births], groups: list[tuple[Living, Dying]]) -> Iterator[None]:
    """Let ids be born and die for a look; if that fails all is as before."""
    try:
        for birth in births:
            bear(birth)
        yield
    except BaseException:
        for living, group in groups:
            forget_deaths(living, group.ids)
        for birth in births:
            unbear(birth)
        raise


def _refuse(batch: Batch, counts: Sequence[Tally]) -> None:
    refused = min(tally.refused for tally in (counts[0], *counts[2:]))
    if refused < NONE:
        raise batch.refusal(refused // PROBLEMS, refused % PROBLEMS)


def _check_totals(edited: Edited, totals: Totals) -> None:
    found = {"edges": edited.pair_weight + totals.pair_weight}
    for living, _, weight in totals.ids:
        found[living.name] = living.total_weight + weight
    for name, total in found.items():
        if total >= MAX_TOTAL_WEIGHT:
            raise InputError(f"the weights of {name} would add up to {total}, which reaches 2**62")


def _reserved(edited: Edited, rewritings: list[Rewriting], counts: Sequence[Tally],
              totals: Totals) -> list[tuple[Rewriting, int]]:
    """Rewritings that are left to do, and the room of each."""
    return [reserve(rewriting, tally, edited.pair_weight + max(totals.pair_weight, 0))
            for rewriting, tally in zip(rewritings, counts) if not tally.written]


def _count(edited: Edited, totals: Totals, sign: int) -> None:
    edited.num_pairs += sign * totals.pairs
    edited.pair_weight += sign * totals.pair_weight
    for living, number, weight in totals.ids:
        living.num_alive += sign * number
        living.total_weight += sign * weight


def _weight_of(birth: Births) -> int:
    return birth.number if birth.weights is None else int(birth.weights.sum())


def _pairs(batch: Batch) -> list[Call]:
    return [call for call in batch.calls if call.living is None]


def _calls(batch: Batch, living: Living, deaths: bool) -> list[Call]:
    """The calls about ids of a kind: deaths, or new weights."""
    return [call for call in batch.calls
            if call.living is living and (call.weights is None) == deaths]


def _pairs_of(space: ExecutionSpace, calls: list[Call]) -> tuple[Array, Array, Array]:
    """Kinds, first and second ids of operations; from the host they travel together."""
    kinds = np.repeat(np.array([call.kind for call in calls], np.int32),
                      [len(call.first) for call in calls])
    columns = [[call.first for call in calls], [call.second for call in calls]]
    if all(isinstance(array, np.ndarray) for column in columns for array in column):
        length = len(kinds)
        packed = space.asarray(np.concatenate([kinds, *columns[0], *columns[1]]), np.int32)
        return packed[:length], packed[length : 2 * length], packed[2 * length :]
    return (space.asarray(kinds), *(joined(space, column, np.int32) for column in columns))


def _first(space: ExecutionSpace, calls: list[Call]) -> Array:
    return joined(space, [call.first for call in calls], np.int32)


def _weights(space: ExecutionSpace, calls: list[Call]) -> Array:
    ones = (np.ones(len(call.first), np.int64) if call.weights is None else call.weights
            for call in calls)
    return joined(space, list(ones), np.int64)


def _times(space: ExecutionSpace, calls: list[Call]) -> Array:
    return joined(space, [np.arange(call.time, call.time + len(call.first)) for call in calls],
                  np.int64)
