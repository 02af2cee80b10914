"""Applies a batch completely or not at all.

First the changes of the batch are determined, or the batch is refused.  Then memory is allocated.
Last the changes are written, which cannot fail.
"""

from __future__ import annotations

from collections.abc import Sequence

from portpart.algorithms.edits.batch import Batch, retract_ids
from portpart.algorithms.edits.counters import NONE, PROBLEMS, EditCounters, new_counters, read
from portpart.algorithms.edits.id_table import delete_ids, restore_ids, unmark_deletions, weigh
from portpart.algorithms.edits.operations import Edited, inverted
from portpart.algorithms.edits.plan import BatchPlan, PredictedOutcome
from portpart.algorithms.edits.rewrite import apply_rows, planned, reserve
from portpart.algorithms.edits.update import TotalChanges, Update
from portpart.graphs import exact_total

OF_IDS = {"vertices": "vertex weights", "nets": "net weights"}


class Applying:
    """A batch that is being applied: checked first, written by `end`.

    Parameters
    ----------
    edited : Edited
    batch : Batch

    Attributes
    ----------
    prediction_held : bool
        Whether the outcome equals the prediction; known after `end`.
    """

    def __init__(self, edited: Edited, batch: Batch) -> None:
        self.edited, self.batch = edited, batch
        self.prediction_held = False
        self._expected: PredictedOutcome | None = None
        self._found = BatchPlan(edited, batch)
        if self._found.is_empty:
            return
        _reserve_ids(edited, batch)
        try:
            self._found.begin()
        except BaseException:
            self._bring_back()
            raise

    def expect(self) -> PredictedOutcome | None:
        """Return the predicted outcome of the batch, if it is known before `end`."""
        self._expected = None if self._found.is_empty else self._found.expected()
        return self._expected

    def end(self) -> Update:
        """Complete the batch and return its update.

        Raises
        ------
        InputError
            For the first entry that is refused; nothing has changed then.
        """
        edited, found = self.edited, self._found
        if found.is_empty:
            return Update()
        try:
            counts = found.counts()
            _refuse(self.batch, counts)
            update = found.update(counts)
            _check_totals(edited, update.totals)
            # the check of a small batch has already written rows and deleted ids
            written = bool(found.changes) and all(
                counters.written for counters in counts[: len(found.changes)])
            reserved = [] if written else found.reserved(counts, update.totals)
        except BaseException:
            self._bring_back()
            raise
        if written:
            for side, counters in zip(edited.sides, counts):
                side.store.used += int(counters.claimed)
        for row_rewrite, claimed in reserved:
            apply_rows(row_rewrite, claimed)
        for table, weighed in update.weighed:
            weigh(table, weighed)
        for table, deleted in [] if written else update.deleted:
            delete_ids(table, deleted)
        _count(edited, update.totals, 1)
        expected = self._expected
        self.prediction_held = (written and expected is not None
                                and counts[2].weight == -expected.deleted)
        return update

    def _bring_back(self) -> None:
        """Undo the provisional insertions and deletions."""
        for table, group in self._found.deleted:
            unmark_deletions(table, group.ids)
        for insertion in self.batch.insertions:
            retract_ids(insertion)


def undo(edited: Edited, update: Update) -> None:
    """Undo the last update."""
    space = edited.space
    numbers, counted = new_counters(space, len(edited.sides))
    rewrites = [planned(side.store, inverted(side.store, changes, counters), counters)
                for side, changes, counters in zip(edited.sides, update.changes, counted)]
    counts = read(space, numbers)
    reserved = [reserve(row_rewrite, counters, edited.pair_weight)
                for row_rewrite, counters in zip(rewrites, counts)]
    for row_rewrite, claimed in reserved:
        apply_rows(row_rewrite, claimed)
    for table, deleted in update.deleted:
        restore_ids(table, deleted)
    for table, weighed in update.weighed:
        weigh(table, weighed, backwards=True)
    for insertion in update.insertions:
        retract_ids(insertion)
    for names, named in reversed(update.named):
        names.undo(named)
    _count(edited, update.totals, -1)


def _reserve_ids(edited: Edited, batch: Batch) -> None:
    """Reserve rows and weights for all ids given out."""
    weighted = {insertion.table for insertion in batch.insertions if insertion.weights is not None}
    for table in edited.tables:
        deletes = table.weights is not None and table in batch.deletions
        table.reserve(deletes or table in weighted or table in batch.weight_changes)
    edited.reserve_ids()


def _refuse(batch: Batch, counts: Sequence[EditCounters]) -> None:
    refused = min(counters.refused for counters in (counts[0], *counts[2:]))
    if refused < NONE:
        raise batch.refusal(refused // PROBLEMS, refused % PROBLEMS)


def _check_totals(edited: Edited, totals: TotalChanges) -> None:
    """Raise if a sum grows beyond its limit."""
    if totals.pair_weight > 0:
        exact_total(0, edited.pair_weight + totals.pair_weight,
                    "weights of edges, counted at both ends,")
    for table, _, weight in totals.ids:
        if weight > 0:
            exact_total(0, table.total_weight + weight, OF_IDS[table.name])


def _count(edited: Edited, totals: TotalChanges, sign: int) -> None:
    edited.num_pairs += sign * totals.pairs
    edited.pair_weight += sign * totals.pair_weight
    for table, number, weight in totals.ids:
        table.num_alive += sign * number
        table.total_weight += sign * weight
