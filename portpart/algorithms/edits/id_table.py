"""Ids that have been given out, their state, and their weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from portpart.algorithms.edits.counters import MISSING, MISSING_FIRST, EditCounters, refuse
from portpart.algorithms.edits.names import IdNames
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import SPARE_ROWS, extended, with_spare
from portpart.primitives import positions_of, sort_keys

ALIVE = 2**31 - 1
"""Deletion time of existing ids; -1 for deleted ids; in a batch, the time of their deletion."""


class IdTable:
    """Ids 0 ... count - 1, of vertices or of nets.

    Parameters
    ----------
    name : str
        Their name in messages.
    space : ExecutionSpace
    count : int
    weights : array or None
        None means that each weighs 1.
    total_weight : int
        Total weight of all existing ids.
    names : sequence, optional
        Names of all ids.

    Attributes
    ----------
    names : IdNames or None
    weights : array or None
        Weights of all ids, 0 for deleted ones; None means that each weighs 1.
    deletions : array of int32
        Deletion time of each id; its length is the reserved number of ids.
    num_alive : int
    weigh_one : bool
        Whether all existing ids are known to weigh 1.
    """

    def __init__(self, name: str, space: ExecutionSpace, count: int, weights: Array | None,
                 total_weight: int, names: Sequence[Hashable] | None = None) -> None:
        self.name, self.space, self.count, self.num_alive = name, space, count, count
        self.deletions = space.empty(with_spare(count, SPARE_ROWS), np.int32)
        space.parallel_for(len(self.deletions), begin_ids, count, self.deletions)
        self.weights = weights
        self.total_weight = total_weight
        self.lent = True
        self.weigh_one = weights is None
        self.names = None if names is None else IdNames(name, names)

    def give(self, count: int) -> int:
        """Give out `count` ids, which do not exist until they are inserted; return the first."""
        self.count += count
        return self.count - count

    def reserve(self, weighted: bool) -> None:
        """Reserve space for all ids; also for own weights, if `weighted` or necessary."""
        space = self.space
        if self.count > len(self.deletions):
            deletions = extended(space, self.deletions, with_spare(self.count, SPARE_ROWS), -1)
            if not self.lent:
                assert self.weights is not None
                self.weights = extended(space, self.weights, len(deletions), 0)
            self.deletions = deletions
        is_short = self.weights is not None and self.count > len(self.weights)
        if self.lent and (weighted or is_short):
            weights = space.empty(len(self.deletions), np.int64)
            given = 0 if self.weights is None else len(self.weights)
            space.parallel_for(len(weights), take_over_weight, self.weights, given, self.deletions,
                               weights)
            self.weights, self.lent = weights, False

    def set_ids(self, first: int, number: int, deletion: int, weights: Array | None,
                weight: int) -> None:
        """Set deletion time and weights of ids: the given weights, or one for all."""
        self.weigh_one &= weights is None
        if self.weights is None:
            self.space.parallel_for(number, write_deletion, first, deletion, self.deletions)
        else:
            self.space.parallel_for(number, write_ids, first, deletion, weights, weight,
                                    self.deletions, self.weights)

    def exclude(self, ids: np.ndarray) -> None:
        """Mark ids of a new table as deleted; their weights, if any, must be 0."""
        self.deletions[self.space.asarray(ids)] = -1
        self.num_alive -= len(ids)
        if self.weights is None:
            self.total_weight -= len(ids)

    def are_alive(self, ids: Sequence[int]) -> list[bool]:
        """Return for each id whether it exists, on the host.

        Does not change the table: a batch may be filled while another thread applies one.
        """
        given, deletions = np.array(ids, np.int64), self.deletions
        known = (given >= 0) & (given < len(deletions))
        times = self.space.to_host(deletions[self.space.asarray(np.where(known, given, 0))])
        found: list[bool] = (known & (times == ALIVE)).tolist()
        return found

    def alive(self) -> Array | None:
        """Return the existing ids, ascending; None if all exist."""
        if self.num_alive == self.count:
            return None
        return positions_of(self.space, self.deletions[: self.count] == ALIVE)

    def ids(self) -> np.ndarray:
        """Return the existing ids, ascending, on the host."""
        alive = self.alive()
        return (np.arange(self.count) if alive is None
                else self.space.to_host(alive).astype(np.int64))

    def existing_names(self) -> Sequence[Hashable] | None:
        """Return the names of existing ids, in the order of ids."""
        return None if self.names is None else self.names.listed(self.ids(), self.count)

    def labels(self) -> Sequence[Hashable] | None:
        """Return the name of each id, None for ids that have no name or do not exist."""
        if self.names is None:
            return None
        names = self.names.all(self.count)
        if self.num_alive == self.count:
            return names
        found: list[Hashable] = [None] * self.count
        for id in self.ids().tolist():
            found[id] = names[id]
        return found

    def renamed(self) -> np.ndarray:
        """Return the place of each id among the existing ones, -1 for others."""
        ids, new = self.ids(), np.full(self.count, -1, np.int64)
        new[ids] = np.arange(len(ids))
        return new

    def weights_of_all(self) -> Array | None:
        """Return the weights of all ids."""
        return None if self.weights is None else self.weights[: self.count]

    def weights_of(self, chosen: Array | None) -> Array | None:
        """Return a copy of the weights of these ids, or of all."""
        weights = self.weights_of_all()
        if weights is None:
            return None
        return self.space.copy(weights) if chosen is None else weights[chosen]


class WeightChanges(kl.Record):
    """New weights of ids, sorted by id and time; only the last entry of an id counts.

    Attributes
    ----------
    ids : array of int32
    was, will : array of int64
        Weights before and after; -1 for entries that do not count.
    length : int
    """

    ids: Array
    was: Array
    will: Array
    length: int


class DeletedIds(kl.Sliced, kl.Record):
    """Ids that a batch deletes, with deletion times.

    Attributes
    ----------
    ids, times, lenient : array of int32
        Entries of the batch; `lenient` says whether the id may be missing.
    effective : array of int32
        The ids that these entries delete, else -1.
    weights : array of int64
        Weights of the ids.
    """

    ids: Array
    times: Array
    lenient: Array
    effective: Array
    weights: Array


def mark_deletions(table: IdTable, deleted: DeletedIds, counters: EditCounters) -> None:
    """Mark the ids that a batch deletes."""
    space, number = table.space, deleted.length_of("ids")
    space.parallel_for(number, mark_deleted, deleted, table.deletions)
    space.parallel_for(number, check_deletion, deleted, table.deletions, table.weights, counters)


def unmark_deletions(table: IdTable, ids: Array) -> None:
    """Unmark ids that the current batch would delete."""
    table.space.parallel_for(len(ids), unmark_deleted, ids, table.deletions)


def delete_ids(table: IdTable, deleted: DeletedIds) -> None:
    """Delete the marked ids and set their weights to 0."""
    _set_deletions(table, deleted, -1, None)


def restore_ids(table: IdTable, deleted: DeletedIds) -> None:
    """Restore deleted ids, with their weights."""
    _set_deletions(table, deleted, ALIVE, deleted.weights)


def _set_deletions(table: IdTable, deleted: DeletedIds, value: int, weights: Array | None) -> None:
    space, number = table.space, deleted.length_of("effective")
    space.parallel_for(number, set_for_deleted, deleted.effective, None, value, table.deletions)
    if table.weights is not None:
        space.parallel_for(number, set_for_deleted, deleted.effective, weights, 0, table.weights)


def weight_changes(table: IdTable, ids: Array, weights: Array, times: Array,
                   counters: EditCounters) -> WeightChanges:
    """Return the changes of weights by a batch."""
    space, length = table.space, len(ids)
    keys, order = sort_keys(space, ids)
    result = WeightChanges(keys, space.empty(length, np.int64), space.empty(length, np.int64),
                           length)
    space.parallel_for(length, find_last_weight, result, order, weights, times, table.deletions,
                       table.weights, counters)
    return result


def weigh(table: IdTable, found: WeightChanges, backwards: bool = False) -> None:
    """Set the new weights, or with `backwards` the old ones."""
    values = found.was if backwards else found.will
    table.weigh_one = False
    table.space.parallel_for(len(values), set_weight, found.ids, values, table.weights)


@kl.kernel
def begin_ids(v, count, deletions):
    """Mark the first `count` ids as existing, others as unused."""
    deletions[v] = kl.int32(ALIVE) if v < count else kl.int32(-1)


@kl.kernel
def take_over_weight(v, lent, given, deletions, weights):
    """Copy the weight of id v into own weights: 0 for ids that do not exist."""
    weight = kl.int64(0)
    if deletions[v] == ALIVE:
        weight = kl.int64(1)
        if v < given:
            weight = kl.int64(kl.value_or(lent, v, 1))
    weights[v] = weight


@kl.kernel
def write_deletion(i, first, deletion, deletions):
    """Set the deletion time of id first + i."""
    deletions[first + i] = deletion


@kl.kernel
def write_ids(i, first, deletion, given, otherwise, deletions, weights):
    """Set the deletion time and the weight of id first + i."""
    deletions[first + i] = deletion
    weights[first + i] = kl.value_or(given, i, otherwise)


@kl.kernel
def mark_deleted(j, deleted: DeletedIds, deletions):
    """Set the deletion time of an existing id to its first deleting entry; by atomic_min."""
    if deletions[deleted.ids[j]] >= 0:
        kl.atomic_min(deletions, kl.int64(deleted.ids[j]), deleted.times[j])


@kl.kernel
def check_deletion(j, deleted: DeletedIds, deletions, weights, counters: EditCounters):
    """Set effective[j] to the id if this entry deletes it, else to -1: refused unless lenient."""
    v = kl.int64(deleted.ids[j])
    deleted.effective[j] = -1
    deleted.weights[j] = kl.value_or(weights, v, 1)
    if deletions[v] == deleted.times[j]:
        deleted.effective[j] = v
        kl.atomic_add(counters, EditCounters.deleted, 1)
        kl.atomic_add(counters, EditCounters.weight, -kl.value_or(weights, v, 1))
    elif deleted.lenient[j] != 0:
        kl.atomic_add(counters, EditCounters.missing, 1)
    else:
        refuse(counters, kl.int64(deleted.times[j]), MISSING)


@kl.kernel
def unmark_deleted(j, ids, deletions):
    """Unmark an id that the current batch would delete."""
    if deletions[ids[j]] >= 0:
        deletions[ids[j]] = ALIVE


@kl.kernel
def set_for_deleted(j, effective, given, otherwise, values):
    """Set a value of a deleted id: the given value, or one for all."""
    if effective[j] >= 0:
        values[effective[j]] = kl.value_or(given, j, otherwise)


@kl.kernel
def find_last_weight(i, found: WeightChanges, order, weights, times, deletions, old,
                     counters: EditCounters):
    """Store the weight of an id before and after, at its last entry; refused if it is missing."""
    v = kl.int64(found.ids[i])
    j = kl.int64(order[i])
    found.was[i] = -1
    found.will[i] = -1
    last = True
    if i + 1 < found.length:
        last = found.ids[i + 1] != v
    if deletions[v] <= times[j]:
        refuse(counters, kl.int64(times[j]), MISSING_FIRST)
    elif last:
        found.was[i] = kl.value_or(old, v, 1)
        found.will[i] = weights[j]
        if deletions[v] == ALIVE:
            kl.atomic_add(counters, EditCounters.weight, kl.int64(weights[j])
                          - kl.value_or(old, v, 1))


@kl.kernel
def set_weight(i, ids, values, weights):
    """Set the weight of an id, if the entry counts."""
    if values[i] >= 0:
        weights[ids[i]] = values[i]
