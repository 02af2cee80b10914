"""What is found out about a batch before it is applied for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from portpart.algorithms.edits.at_once import (
    Look,
    is_small,
    limits_for,
    looked_at_once,
    room_for_deaths,
)
from portpart.algorithms.edits.batch import MAX_IDS, Batch, Births, Call, bear, times_of
from portpart.algorithms.edits.carried import carried, operations_of, weights_of
from portpart.algorithms.edits.columns import joined
from portpart.algorithms.edits.deaths import cleared_pairs, dying
from portpart.algorithms.edits.edited import Edited
from portpart.algorithms.edits.living import Dying, Living, Weighings, mark_deaths, weighings
from portpart.algorithms.edits.operations import Changes, Operations, net_effect
from portpart.algorithms.edits.rewrite import Rewriting, planned, reserve
from portpart.algorithms.edits.tally import Outcome, Tally, counted, outcome_of, read, tallies
from portpart.algorithms.edits.update import Totals, Update
from portpart.graphs.limits import MAX_TOTAL_WEIGHT

if TYPE_CHECKING:
    from portpart.backends.interface import Array, ExecutionSpace


NOBODY = Births(None, 0, 0, None)  # type: ignore[arg-type]  # of no kind
"""No new ids."""


class Expected(NamedTuple):
    """What a batch comes to if nothing stands against it, while the space has not told yet.

    Attributes
    ----------
    update : Update
        With room for more changes than there may be, and without sums.
    operations, directions, stores : int
        Operations that are given, those of deaths come on top; how many changes each of them comes
        to in the last store; and how many stores there are.
    outcome : Outcome
        What it really comes to, in the space.
    born, died : int
        Vertices that come and go, all of weight 1.
    """

    update: Update
    operations: int
    directions: int
    stores: int
    outcome: Outcome
    born: int
    died: int


class Findings:
    """What is found out about a batch before anything is changed for good.

    Attributes
    ----------
    dying : list of (Living, Dying)
    weighed : list of (Living, Weighings)
    changes : list of Changes
        In each store; empty if no pair was edited.
    rewritings : list of Rewriting
        Of those, where all is ready to be carried out.
    """

    def __init__(self, edited: Edited, batch: Batch) -> None:
        self.edited, self.batch, self.space = edited, batch, edited.space
        self.dying: list[tuple[Living, Dying]] = []
        self.weighed: list[tuple[Living, Weighings]] = []
        self.changes: list[Changes] = []
        self._room_for_changes: list[Changes] = []
        self.rewritings: list[Rewriting] = []
        self._deadly = in_order(edited, batch.deaths)
        self._weighs = in_order(edited, batch.weighings)
        self._to_be_born = batch.births
        self._timed = bool(self._deadly or self._weighs)
        self._given = self._capacity = batch.num_pairs
        for living, calls in self._deadly:
            self._capacity += self._room_for_deaths(living, calls)
        self._fetched: Callable[[], np.ndarray] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the batch."""
        return not (self.batch.births or self.batch.calls)

    def _room_for_deaths(self, living: Living, calls: list[Call]) -> int:
        """Operations that deaths of a kind are likely to come to."""
        number = sum([len(call.first) for call in calls])
        return sum([room_for_deaths(side, number) for side in self.edited.sides
                    if side.living is living])

    def tally_of(self, living: Living) -> Tally:
        """What counts ids of a kind."""
        return self.tallies[2 + self.edited.living.index(living)]

    def begin(self) -> None:
        """Look at the batch; a small one is written if nothing stands against it."""
        at_once = self._capacity > 0 and self._is_small()
        operations = self._carry() if at_once else None
        if not (at_once and self._follow_each_other()):
            for birth in self.batch.births:
                bear(birth)
            self._to_be_born = []
        if operations is None:
            self._begin_steps()
        for living, calls in self._weighs:
            self._weigh(living, calls)
        if operations is not None:
            self._look_at_once(operations)
            self._fetched = self.space.fetch(self.numbers)

    def expected(self) -> Expected | None:
        """What the batch comes to if all goes well, if the host can tell before the space has."""
        vertices, births = self.edited.vertices, self.batch.births
        of_vertices = [birth for birth in births if birth.living is vertices]
        died = sum([group.length_of("ids") for living, group in self.dying if living is vertices])
        if (self._fetched is None or self.weighed or (died and not vertices.weigh_one)
                or any(birth.weights is not None for birth in of_vertices)):
            return None
        return Expected(
            Update(self.changes, births, self.dying), self._given,
            self.edited.sides[-1].directions, len(self.edited.sides), outcome_of(self.numbers),
            sum([birth.number for birth in of_vertices]), died)

    def counts(self) -> Sequence[Tally]:
        """What is counted in the batch, which is looked at in steps unless that has been enough."""
        if self._fetched is not None:
            counts = counted(self._fetched())
            if self._given + counts[0].cleared <= self._capacity:
                return counts if self._given == self._capacity else self._cut(counts)
        self._look_in_steps()
        return read(self.space, self.numbers)

    def _carry(self) -> Operations:
        """Bring all of a small batch to the space."""
        brought = carried(self.space, 2 + len(self.edited.living),
                          [calls for _, calls in self._deadly], self.batch.of_pairs, self._capacity,
                          self._timed, tuple([side.directions for side in self.edited.sides]))
        self.numbers, self.tallies = brought.numbers, brought.tallies
        self.dying += zip([living for living, _ in self._deadly], brought.dying)
        self._room_for_changes = brought.changes
        return brought.operations

    def _begin_steps(self) -> None:
        """Bring what is counted with to the space, and let ids die."""
        self.numbers, self.tallies = tallies(self.space, 2 + len(self.edited.living))
        for living, calls in self._deadly:
            group = dying(self.space, calls)
            self.dying.append((living, group))
            mark_deaths(living, group, self.tally_of(living))

    def _weigh(self, living: Living, calls: list[Call]) -> None:
        """Find new weights, after deaths."""
        space = self.space
        self.weighed.append((living, weighings(
            living, _first(space, calls), _weights(space, calls),
            joined(space, times_of(calls), np.int64), self.tally_of(living))))

    def _is_small(self) -> bool:
        """Whether it is worth a single run; there who dies is not known before."""
        return not (self._deadly and self._weighs) and all(
            is_small(self.space, self._capacity * side.directions) for side in self.edited.sides)

    def _follow_each_other(self) -> bool:
        """Whether new ids of each kind do, and weigh 1, which nobody changes."""
        births = self.batch.births
        return (not self._weighs and all(birth.weights is None for birth in births)
                and len(births) == len({birth.living for birth in births}))

    def _look_at_once(self, operations: Operations) -> None:
        """Find the changes in one run, which writes them if nothing stands against it."""
        edited, dying = self.edited, dict(self.dying)
        given, capacity = self._given, self._capacity
        alone = all(living.total_weight + self.batch.given_weight + MAX_IDS < MAX_TOTAL_WEIGHT
                    for living in edited.living)
        looks, births = [], {birth.living: birth for birth in self._to_be_born}
        for side, tally, changes in zip(edited.sides, self.tallies, self._room_for_changes):
            group, birth = dying.get(side.living), births.get(side.living, NOBODY)
            counts = {"length": capacity * side.directions, "given": given,
                      "capacity": capacity * side.directions,
                      "dying": 0 if group is None else group.length_of("ids"),
                      "born": birth.number, "first": birth.first}
            looks.append(Look(side, tally, self.tally_of(side.living),
                              limits_for(side.store, counts, edited.pair_weight, alone), group,
                              changes))
        looked_at_once(self.space, operations, looks)
        self.changes = self._room_for_changes

    def _look_in_steps(self) -> None:
        """Find the changes step by step, and what it takes to write them."""
        space, edited = self.space, self.edited
        operations = cleared_pairs(space, self.dying, edited.sides,
                                   operations_of(space, self.batch.of_pairs, self._timed))
        if not operations.length_of("kinds"):
            return
        immortal = not self.dying and all(
            living.num_alive == living.count for living in edited.living)
        self.changes = [net_effect(space, side, operations, tally, immortal)
                        for side, tally in zip(edited.sides, self.tallies)]
        self._plan(self.tallies)

    def _plan(self, counted: Sequence[Tally]) -> None:
        self.rewritings = [planned(side.store, changes, tally) for side, changes, tally
                           in zip(self.edited.sides, self.changes, counted)]

    def _cut(self, counts: Sequence[Tally]) -> Sequence[Tally]:
        """Leave the changes away that there was room for, and nothing else."""
        number = self._given + int(counts[0].cleared)
        self.changes = [each.cut_to(number * side.directions)
                        for side, each in zip(self.edited.sides, self.changes) if number]
        return counts

    def reserved(self, counts: Sequence[Tally], totals: Totals) -> list[tuple[Rewriting, int]]:
        """What is left to be carried out, and the room of each."""
        if self.changes and not self.rewritings:
            numbers, counted = tallies(self.space, len(self.edited.sides))
            self._plan(counted)
            before, counts = counts, read(self.space, numbers)
            for tally, first in zip(counts, before):
                tally.unusual = first.unusual
        weight = self.edited.pair_weight + max(totals.pair_weight, 0)
        return [reserve(rewriting, tally, weight)
                for rewriting, tally in zip(self.rewritings, counts)]

    def update(self, counts: Sequence[Tally]) -> Update:
        """The result."""
        first, deltas, ids = counts[0], counts[0].deltas, []
        pairs = (deltas >> 32) - (deltas & 0xFFFFFFFF)
        for place, living in enumerate(self.edited.living):
            tally = counts[2 + place]
            number, gained = -tally.died, tally.weight
            for birth in self.batch.births:
                if birth.living is living:
                    number, gained = number + birth.number, gained + _weight_of(birth)
            ids.append((living, number, gained))
        return Update(
            self.changes, self.batch.births,
            self.dying, self.weighed,
            first.loops, first.merged, sum(tally.missing for tally in (first, *counts[2:])),
            Totals(pairs, pairs + first.extra, ids))


def _weight_of(birth: Births) -> int:
    return birth.number if birth.weights is None else int(birth.weights.sum())


def in_order(edited: Edited, calls: dict[Living, list[Call]]) -> list[tuple[Living, list[Call]]]:
    """Calls about ids, by their kinds as `edited` has them."""
    return [(living, calls[living]) for living in edited.living if living in calls]


def _first(space: ExecutionSpace, calls: list[Call]) -> Array:
    return joined(space, [call.first for call in calls], np.int32)


def _weights(space: ExecutionSpace, calls: list[Call]) -> Array:
    return joined(space, weights_of(calls), np.int64)
