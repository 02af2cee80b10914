"""Applying a batch: all or nothing.

First it is found out what the batch comes to, which may refuse it; then memory is taken; only then
anything is written, and nothing can fail any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from portpart.algorithms.edits.batch import Batch, unbear
from portpart.algorithms.edits.edited import Edited
from portpart.algorithms.edits.findings import Expected, Findings
from portpart.algorithms.edits.living import forget_deaths, let_die, revive, weigh
from portpart.algorithms.edits.operations import Changes, turned_back
from portpart.algorithms.edits.rewrite import carry_out, planned, reserve
from portpart.algorithms.edits.tally import NONE, PROBLEMS, Tally, read, tallies
from portpart.algorithms.edits.update import Totals, Update
from portpart.graphs.weights import exact_total

OF_IDS = {"vertices": "vertex weights", "nets": "net weights"}


class Applying:
    """A batch that is being applied: it is looked at, and in the end all of it is written.

    Parameters
    ----------
    edited : Edited
    batch : Batch

    Attributes
    ----------
    came_true : bool
        Whether it has come to what was expected, known after `end`.
    """

    def __init__(self, edited: Edited, batch: Batch) -> None:
        self.edited, self.batch = edited, batch
        self.came_true = False
        self._expected: Expected | None = None
        self._found = Findings(edited, batch)
        if self._found.is_empty:
            return
        _reserve_ids(edited, batch)
        try:
            self._found.begin()
        except BaseException:
            self._bring_back()
            raise

    def expect(self) -> Expected | None:
        """What the batch comes to if nothing stands against it, if that is known before `end`."""
        self._expected = None if self._found.is_empty else self._found.expected()
        return self._expected

    def end(self) -> Update:
        """What the batch has come to.

        Raises
        ------
        InputError
            Of the first entry that is refused; nothing has changed then.
        """
        edited, found = self.edited, self._found
        if found.is_empty:
            return Update()
        try:
            counts = found.counts()
            _refuse(self.batch, counts)
            update = found.update(counts)
            _check_totals(edited, update.totals)
            written = _are_written(found.changes, counts)
            reserved = [] if written else found.reserved(counts, update.totals)
        except BaseException:
            self._bring_back()
            raise
        if written:
            for side, tally in zip(edited.sides, counts):
                side.store.used += int(tally.room)
        for rewriting, room in reserved:
            carry_out(rewriting, room)
        for living, weighed in update.weighed:
            weigh(living, weighed)
        for living, died in [] if written else update.died:
            let_die(living, died)
        _count(edited, update.totals, 1)
        expected = self._expected
        self.came_true = written and expected is not None and counts[2].weight == -expected.died
        return update

    def _bring_back(self) -> None:
        """Forget who has been born and has died in a look."""
        for living, group in self._found.dying:
            forget_deaths(living, group.ids)
        for birth in self.batch.births:
            unbear(birth)


def take_back(edited: Edited, update: Update) -> None:
    """Undo an update, the last one."""
    space = edited.space
    numbers, counted = tallies(space, len(edited.sides))
    rewritings = [planned(side.store, turned_back(side.store, changes, tally), tally)
                  for side, changes, tally in zip(edited.sides, update.changes, counted)]
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
    for names, named in reversed(update.named):
        names.take_back(named)
    _count(edited, update.totals, -1)


def _reserve_ids(edited: Edited, batch: Batch) -> None:
    """Have rows and weights for all ids that have been given out."""
    weighted = {birth.living for birth in batch.births if birth.weights is not None}
    for living in edited.living:
        dies = living.weights is not None and living in batch.deaths
        living.reserve(dies or living in weighted or living in batch.weighings)
    edited.reserve_ids()


def _refuse(batch: Batch, counts: Sequence[Tally]) -> None:
    refused = min(tally.refused for tally in (counts[0], *counts[2:]))
    if refused < NONE:
        raise batch.refusal(refused // PROBLEMS, refused % PROBLEMS)


def _are_written(changes: Sequence[Changes], counts: Sequence[Tally]) -> bool:
    """Whether rows have been changed, and ids have died, when the batch was looked at."""
    return bool(changes) and all(tally.written for tally in counts[: len(changes)])


def _check_totals(edited: Edited, totals: Totals) -> None:
    """Refuse sums that grow beyond the limit."""
    if totals.pair_weight > 0:
        exact_total(0, edited.pair_weight + totals.pair_weight,
                    "weights of edges, counted at both ends,")
    for living, _, weight in totals.ids:
        if weight > 0:
            exact_total(0, living.total_weight + weight, OF_IDS[living.name])


def _count(edited: Edited, totals: Totals, sign: int) -> None:
    edited.num_pairs += sign * totals.pairs
    edited.pair_weight += sign * totals.pair_weight
    for living, number, weight in totals.ids:
        living.num_alive += sign * number
        living.total_weight += sign * weight
