"""The plan of a batch: its checks and its changes, before it is applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.batch import (
    MAX_IDS,
    Batch,
    BatchCall,
    InsertedIds,
    insert_ids,
    times_of,
)
from portpart.algorithms.edits.counters import (
    BatchCounters,
    EditCounters,
    batch_counters,
    counted,
    joined,
    new_counters,
    read,
)
from portpart.algorithms.edits.fused import (
    StoreInputs,
    capacity_for_deletions,
    check_fused,
    is_small,
    limits_for,
)
from portpart.algorithms.edits.id_table import (
    DeletedIds,
    IdTable,
    WeightChanges,
    mark_deletions,
    weight_changes,
)
from portpart.algorithms.edits.operations import Changes, Edited, Operations, combined_changes
from portpart.algorithms.edits.rewrite import RowRewrite, planned, reserve
from portpart.algorithms.edits.update import TotalChanges, Update
from portpart.algorithms.edits.upload import (
    cleared_pairs,
    deleted_of,
    operations_of,
    upload,
    weights_of,
)
from portpart.graphs import MAX_TOTAL_WEIGHT

NO_INSERTION = InsertedIds(None, 0, 0, None)  # type: ignore[arg-type]  # of no kind
"""No new ids."""


class PredictedOutcome(NamedTuple):
    """The predicted outcome of a batch, before the space has reported it.

    Attributes
    ----------
    update : Update
        The update without sums; its changes have unused places at the end.
    operations, directions, stores : int
        Given operations, without those of deletions; changes for each of them in the last store;
        number of stores.
    outcome : BatchCounters
        The actual outcome, in the space.
    inserted, deleted : int
        Number of inserted and deleted vertices, all of weight 1.
    """

    update: Update
    operations: int
    directions: int
    stores: int
    outcome: BatchCounters
    inserted: int
    deleted: int


class BatchPlan:
    """The plan of a batch: its changes, determined before the batch is applied.

    Attributes
    ----------
    deleted : list of (IdTable, DeletedIds)
    weighed : list of (IdTable, WeightChanges)
    changes : list of Changes
        Changes of each store; empty if no pair was edited.
    rewrites : list of RowRewrite
        Planned rewrites of these changes.
    """

    def __init__(self, edited: Edited, batch: Batch) -> None:
        self.edited, self.batch, self.space = edited, batch, edited.space
        self.deleted: list[tuple[IdTable, DeletedIds]] = []
        self.weighed: list[tuple[IdTable, WeightChanges]] = []
        self.changes: list[Changes] = []
        self._reserved_changes: list[Changes] = []
        self.rewrites: list[RowRewrite] = []
        self._deletions = in_order(edited, batch.deletions)
        self._weighs = in_order(edited, batch.weight_changes)
        self._to_insert = batch.insertions
        self._timed = bool(self._deletions or self._weighs)
        self._given = self._capacity = batch.num_pairs
        for table, calls in self._deletions:
            number = sum([len(call.first) for call in calls])
            self._capacity += sum([capacity_for_deletions(side, number) for side in edited.sides
                                   if side.table is table])
        self._fetched: Callable[[], np.ndarray] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the batch is empty."""
        return not (self.batch.insertions or self.batch.calls)

    def counters_of(self, table: IdTable) -> EditCounters:
        """Return the counters of the ids of a table."""
        return self.counters[2 + self.edited.tables.index(table)]

    def begin(self) -> None:
        """Check the batch; a small one is also written if nothing prevents it."""
        # a single run cannot set weights after deletions
        fused = self._capacity > 0 and not (self._deletions and self._weighs) and all(
            is_small(self.space, self._capacity * side.directions) for side in self.edited.sides)
        operations = self._upload() if fused else None
        if not (fused and self._follow_each_other()):
            for insertion in self.batch.insertions:
                insert_ids(insertion)
            self._to_insert = []
        if operations is None:
            self._begin_steps()
        for table, calls in self._weighs:
            self._weigh(table, calls)
        if operations is not None:
            self._check_fused(operations)
            self._fetched = self.space.fetch(self.numbers)

    def expected(self) -> PredictedOutcome | None:
        """Return the predicted outcome of the batch, if the host can predict it."""
        vertices, insertions = self.edited.vertices, self.batch.insertions
        of_vertices = [insertion for insertion in insertions if insertion.table is vertices]
        deleted = sum([group.length_of("ids") for table, group in self.deleted
                       if table is vertices])
        if (self._fetched is None or self.weighed or (deleted and not vertices.weigh_one)
                or any(insertion.weights is not None for insertion in of_vertices)):
            return None
        return PredictedOutcome(
            Update(self.changes, insertions, self.deleted), self._given,
            self.edited.sides[-1].directions, len(self.edited.sides), batch_counters(self.numbers),
            sum([insertion.number for insertion in of_vertices]), deleted)

    def counts(self) -> Sequence[EditCounters]:
        """Return the counts of the batch; without a complete fused run, check it in steps first."""
        if self._fetched is not None:
            counts = counted(self._fetched())
            if self._given + counts[0].cleared <= self._capacity:
                return counts if self._given == self._capacity else self._cut(counts)
        self._check_in_steps()
        return read(self.space, self.numbers)

    def _upload(self) -> Operations:
        """Copy all arrays of a small batch to the space."""
        brought = upload(self.space, 2 + len(self.edited.tables),
                         [calls for _, calls in self._deletions], self.batch.of_pairs,
                         self._capacity,
                         self._timed, tuple([side.directions for side in self.edited.sides]))
        self.numbers, self.counters = brought.numbers, brought.counters
        self.deleted += zip([table for table, _ in self._deletions], brought.deleted)
        self._reserved_changes = brought.changes
        return brought.operations

    def _begin_steps(self) -> None:
        """Copy the counters to the space, and mark deleted ids."""
        self.numbers, self.counters = new_counters(self.space, 2 + len(self.edited.tables))
        for table, calls in self._deletions:
            group = deleted_of(self.space, calls)
            self.deleted.append((table, group))
            mark_deletions(table, group, self.counters_of(table))

    def _weigh(self, table: IdTable, calls: list[BatchCall]) -> None:
        """Find the changes of weights, after deletions have been marked."""
        space = self.space
        self.weighed.append((table, weight_changes(
            table, joined(space, [call.first for call in calls], np.int32),
            joined(space, weights_of(calls), np.int64),
            joined(space, times_of(calls), np.int64), self.counters_of(table))))

    def _follow_each_other(self) -> bool:
        """Whether new ids of each table are consecutive, and weigh 1 without changes."""
        insertions = self.batch.insertions
        return (not self._weighs and all(insertion.weights is None for insertion in insertions)
                and len(insertions) == len({insertion.table for insertion in insertions}))

    def _check_fused(self, operations: Operations) -> None:
        """Find the changes in one run, which writes them if nothing prevents it."""
        edited, deleted = self.edited, dict(self.deleted)
        given, capacity = self._given, self._capacity
        alone = all(table.total_weight + self.batch.given_weight + MAX_IDS < MAX_TOTAL_WEIGHT
                    for table in edited.tables)
        stores, insertions = [], {insertion.table: insertion for insertion in self._to_insert}
        for side, counters, changes in zip(edited.sides, self.counters, self._reserved_changes):
            group, insertion = deleted.get(side.table), insertions.get(side.table, NO_INSERTION)
            counts = {"length": capacity * side.directions, "given": given,
                      "capacity": capacity * side.directions,
                      "deleted": 0 if group is None else group.length_of("ids"),
                      "inserted": insertion.number, "first": insertion.first}
            stores.append(StoreInputs(side, counters, self.counters_of(side.table),
                                      limits_for(side.store, counts, edited.pair_weight, alone),
                                      group, changes))
        check_fused(self.space, operations, stores)
        self.changes = self._reserved_changes

    def _check_in_steps(self) -> None:
        """Find the changes step by step, and plan their rewrites."""
        space, edited = self.space, self.edited
        operations = cleared_pairs(space, self.deleted, edited.sides,
                                   operations_of(space, self.batch.of_pairs, self._timed))
        if not operations.length_of("kinds"):
            return
        unchanged = not self.deleted and all(
            table.num_alive == table.count for table in edited.tables)
        self.changes = [combined_changes(space, side, operations, counters, unchanged)
                        for side, counters in zip(edited.sides, self.counters)]
        self._plan(self.counters)

    def _plan(self, counted: Sequence[EditCounters]) -> None:
        self.rewrites = [planned(side.store, changes, counters) for side, changes, counters
                         in zip(self.edited.sides, self.changes, counted)]

    def _cut(self, counts: Sequence[EditCounters]) -> Sequence[EditCounters]:
        """Cut the unused places of the changes."""
        number = self._given + int(counts[0].cleared)
        self.changes = [each.cut_to(number * side.directions)
                        for side, each in zip(self.edited.sides, self.changes) if number]
        return counts

    def reserved(self, counts: Sequence[EditCounters],
                 totals: TotalChanges) -> list[tuple[RowRewrite, int]]:
        """Return the rewrites that must be applied, and the space that each claims."""
        if self.changes and not self.rewrites:
            numbers, counted = new_counters(self.space, len(self.edited.sides))
            self._plan(counted)
            before, counts = counts, read(self.space, numbers)
            for counters, first in zip(counts, before):
                counters.unusual = first.unusual
        weight = self.edited.pair_weight + max(totals.pair_weight, 0)
        return [reserve(row_rewrite, counters, weight)
                for row_rewrite, counters in zip(self.rewrites, counts)]

    def update(self, counts: Sequence[EditCounters]) -> Update:
        """Return the update of the batch."""
        first, deltas, ids = counts[0], counts[0].deltas, []
        pairs = (deltas >> 32) - (deltas & 0xFFFFFFFF)
        for place, table in enumerate(self.edited.tables):
            counters = counts[2 + place]
            number, gained = -counters.deleted, counters.weight
            for insertion in self.batch.insertions:
                if insertion.table is table:
                    number, gained = number + insertion.number, gained + _weight_of(insertion)
            ids.append((table, number, gained))
        return Update(
            self.changes, self.batch.insertions,
            self.deleted, self.weighed,
            first.loops, first.merged, sum(counters.missing for counters in (first, *counts[2:])),
            TotalChanges(pairs, pairs + first.extra, ids))


def _weight_of(insertion: InsertedIds) -> int:
    return insertion.number if insertion.weights is None else int(insertion.weights.sum())


def in_order(edited: Edited,
             calls: dict[IdTable, list[BatchCall]]) -> list[tuple[IdTable, list[BatchCall]]]:
    """Return calls that edit ids, in the order of the tables of `edited`."""
    return [(table, calls[table]) for table in edited.tables if table in calls]
