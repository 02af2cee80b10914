"""Operations of a batch on rows, and their combined change of each element.

Each operation becomes a key of row and element.  A stable sort groups the operations on an element
in the order of the batch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from portpart.algorithms.edits.counters import (
    MISSING,
    MISSING_FIRST,
    MISSING_SECOND,
    NARROW,
    WIDE,
    EditCounters,
    refuse,
)
from portpart.algorithms.edits.id_table import ALIVE, IdTable
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import EditableRows, RowStore
from portpart.primitives import lower_bound, sort_keys

INSERT, DELETE, DELETE_IF_THERE, SET, CLEAR = range(5)
"""Kinds of operations; CLEAR deletes a pair of a deleted row or element."""

LOW_HALF = 0xFFFFFFFF

WIDE_CHANGES = ("was", "will", "deltas")
"""The fields of `Changes` of int64, besides the keys."""


class Operations(kl.Sliced, kl.Record):
    """Operations on pairs, in the order of the batch.

    Attributes
    ----------
    kinds, first, second : array of int32
    weights : array of int64, or None
    times : array of int32, or None
        The place of each operation in the whole batch.
    """

    kinds: Array
    first: Array
    second: Array
    weights: Array | None
    times: Array | None


class Directed(kl.Record):
    """Operations of one store, sorted by row, element and time.

    Attributes
    ----------
    order : array of int32
        Operation and direction of each key.
    length : int
    sides : int
        Directions of an operation: 2 if first and second ids are of the same kind.
    swapped : int
        1 if the second id of a pair is the row, else 0.
    adds : int
        1 if inserting an existing pair adds to its weight, 0 if the pair stays unchanged.
    """

    order: Array
    length: int
    sides: int
    swapped: int
    adds: int


class Changes(kl.Sliced, kl.Record):
    """Changes of pairs, in the order of their keys.

    Attributes
    ----------
    keys : array of int64
    was, will : array of int64
        Weight before and after, -1 if the pair is absent; both are -1 if the key is repeated.
    ranks : array of int32
        Number of smaller elements in the row.
    deltas : array of int64
        2^32 for an inserted pair, 1 for a deleted one, else 0.
    """

    keys: Array
    was: Array
    will: Array
    ranks: Array
    deltas: Array

    def cut_to(self, number: int) -> Changes:
        """Return the first changes, with their keys; these changes must be slices."""
        keys = self.slices["keys"]
        return Changes.sliced(self.memory, _first_slices(keys.length, keys.begin, number))


class Deletions(kl.Record):
    """Deletion times of rows and elements, as in `IdTable`; None if none is deleted."""

    rows: Array | None
    elements: Array | None


class Side:
    """One of the stores that operations on pairs change.

    Parameters
    ----------
    store : RowStore
    table, elements : IdTable
        The ids of rows and of elements.
    swapped : bool
        Whether the second id of a pair is the row.

    Attributes
    ----------
    both : bool
        Whether rows and elements have the same ids.  Then a pair is in two rows.
    directions : int
        Number of keys for each pair.
    """

    def __init__(self, store: RowStore, table: IdTable, elements: IdTable, swapped: bool) -> None:
        self.store, self.table, self.elements, self.swapped = store, table, elements, swapped
        self.both = table is elements
        self.directions = 2 if self.both else 1
        self._deletions = Deletions(table.deletions, elements.deletions)

    @property
    def deletions(self) -> Deletions:
        """Deletion times of rows and elements; the same record until an array is replaced."""
        rows, elements = self.table.deletions, self.elements.deletions
        if self._deletions.rows is not rows or self._deletions.elements is not elements:
            self._deletions = Deletions(rows, elements)
        return self._deletions

    def directed(self, order: Any, length: Any) -> Directed:
        """Return the sorted operations for this store."""
        return Directed(order, length, self.directions, int(self.swapped), int(self.both))


def combined_changes(space: ExecutionSpace, side: Side, operations: Operations,
                     counters: EditCounters, unchanged: bool) -> Changes:
    """Return the changes of operations; the first refused operation is stored in the counters.

    `unchanged` says that all ids exist and none is deleted.  Then deletion times are not read,
    which saves much of the time of a large batch.
    """
    length = operations.length_of("kinds") * side.directions
    keys = space.empty(length, np.int64)
    space.parallel_for(length, write_key, operations, side.directed(None, length), keys)
    keys, order = sort_keys(space, keys)
    changes = empty_changes(space, length, keys)
    directed = side.directed(order, length)
    deletions = Deletions(None, None) if unchanged else side.deletions
    space.parallel_for(length, find_combined_change, directed, operations, side.store.rows,
                       deletions, changes, counters)
    return changes


def empty_changes(space: ExecutionSpace, length: int, keys: Array) -> Changes:
    """Return arrays for the changes of sorted keys."""
    cutter = kl.Cutter()
    slices = {name: cutter.next(WIDE, length) for name in WIDE_CHANGES}
    slices["ranks"] = cutter.next(NARROW, length)
    return Changes.sliced(space.empty(cutter.end // NARROW.itemsize, NARROW), slices, keys=keys)


def slices_of_changes(length: int, cutter: kl.Cutter) -> dict[str, kl.Slice]:
    """Return the slices of this many changes and their keys."""
    slices = {name: cutter.next(WIDE, length) for name in ("keys", *WIDE_CHANGES)}
    slices["ranks"] = cutter.next(NARROW, length)
    return slices


@lru_cache(maxsize=256)
def _first_slices(length: int, begin: int, number: int) -> dict[str, kl.Slice]:
    """Return the slices of the first `number` of `length` changes that begin at `begin`."""
    cutter = kl.Cutter()
    cutter.end = begin
    return {name: kl.Slice(each.dtype, each.begin, number)
            for name, each in slices_of_changes(length, cutter).items()}


def inverted(store: RowStore, changes: Changes, counters: EditCounters) -> Changes:
    """Return the changes that undo these changes."""
    space, length = store.space, changes.length_of("keys")
    back = empty_changes(space, length, changes.keys)
    space.parallel_for(length, invert, changes, store.rows, back, counters)
    return back


@kl.device
def rank_of(row, element, rows: EditableRows):
    """Return the number of smaller elements in the row."""
    begin = kl.int64(rows.begin[row])
    return lower_bound(rows.elements, begin, kl.int64(rows.end[row]), element) - begin


@kl.device
def weight_at(rank, row, element, rows: EditableRows):
    """Return the weight of the element if it has that rank in the row, else -1."""
    place = kl.int64(rows.begin[row]) + rank
    found = kl.int64(-1)
    if place < rows.end[row] and rows.elements[place] == element:
        found = kl.value_or(rows.weights, place, 1)
    return found


@kl.device
def deletion_of(v, deletions):
    """Return the deletion time of v."""
    return kl.value_or(deletions, v, ALIVE)


@kl.device
def problem_of(operation, at, key, weight, operations: Operations, deletions: Deletions):
    """Return the problem of an operation on a pair of that weight, 0 if there is none."""
    problem = kl.int64(0)
    kind = kl.int64(operations.kinds[operation])
    if kind != CLEAR:
        if deletion_of(key >> 32, deletions.rows) <= at:
            problem = MISSING_FIRST
        elif deletion_of(key & LOW_HALF, deletions.elements) <= at:
            problem = MISSING_SECOND
        elif kind != INSERT and weight < 0:
            problem = MISSING
    return problem


@kl.device
def count_once(counted, counters: EditCounters, which):
    """Count an event of a pair, in one of its directions only."""
    if counted:
        kl.atomic_add(counters, which, 1)


@kl.device
def applied(j, key, weight, directed: Directed, operations: Operations, deletions: Deletions,
            counters: EditCounters):
    """Return the weight of a pair after the operation at place j."""
    operation = kl.int64(directed.order[j]) // directed.sides
    counted = kl.int64(directed.order[j]) % directed.sides == 0
    kind = kl.int64(operations.kinds[operation])
    at = kl.value_or(operations.times, operation, operation)
    result = weight
    problem = problem_of(operation, at, key, weight, operations, deletions)
    loop = directed.sides == 2 and key >> 32 == key & LOW_HALF
    if loop and problem == MISSING:
        problem = 0
    if problem != 0:
        if kind == DELETE_IF_THERE:
            count_once(counted, counters, EditCounters.missing)
        elif counted:
            refuse(counters, at, problem)
    elif loop:
        count_once(counted, counters, EditCounters.loops)
    elif kind == INSERT:
        given = kl.value_or(operations.weights, operation, 1)
        if weight >= 0:
            count_once(counted, counters, EditCounters.merged)
            given *= directed.adds
        result = max(weight, 0) + given
    elif kind == SET:
        result = kl.value_or(operations.weights, operation, 1)
    else:
        result = kl.int64(-1)
    return result


@kl.device
def store_change(i, was, will, changes: Changes, counters: EditCounters):
    """Write a change, and count weights that differ from 1."""
    changes.was[i] = was
    changes.will[i] = will
    delta = kl.int64(0)
    if was < 0 and will >= 0:
        delta = kl.int64(1) << 32
    elif was >= 0 and will < 0:
        delta = kl.int64(1)
    changes.deltas[i] = delta
    extra = max(will, 0) - max(was, 0) - kl.int64(will >= 0) + kl.int64(was >= 0)
    if extra != 0:
        kl.atomic_add(counters, EditCounters.extra, extra)
    if will >= 0 and will != 1 and will != was:
        kl.atomic_add(counters, EditCounters.unusual, 1)


@kl.kernel
def write_key(i, operations: Operations, directed: Directed, keys):
    """Set keys[i] to the row and element of an operation in one direction."""
    first = kl.int64(operations.first[i // directed.sides])
    second = kl.int64(operations.second[i // directed.sides])
    is_turned = i % directed.sides != directed.swapped
    keys[i] = (second << 32) | first if is_turned else (first << 32) | second


@kl.kernel
def find_combined_change(i, directed: Directed, operations: Operations, rows: EditableRows,
                         deletions: Deletions, changes: Changes, counters: EditCounters):
    """Write the change of a pair at the first place of its key, and none at the other places."""
    key = kl.int64(changes.keys[i])
    was = kl.int64(-1)
    will = kl.int64(-1)
    if i == 0 or changes.keys[i - 1] != key:
        rank = rank_of(key >> 32, key & LOW_HALF, rows)
        changes.ranks[i] = rank
        was = weight_at(rank, key >> 32, key & LOW_HALF, rows)
        will = was
        for j in range(i, directed.length):
            if changes.keys[j] != key:
                break
            will = applied(j, key, will, directed, operations, deletions, counters)
        if min(deletion_of(key >> 32, deletions.rows),
               deletion_of(key & LOW_HALF, deletions.elements)) != ALIVE:
            will = kl.int64(-1)
    store_change(i, was, will, changes, counters)


@kl.kernel
def invert(i, changes: Changes, rows: EditableRows, back: Changes, counters: EditCounters):
    """Write the inverse of a change, with the current rank of its element."""
    key = kl.int64(changes.keys[i])
    back.ranks[i] = rank_of(key >> 32, key & LOW_HALF, rows)
    store_change(i, kl.int64(changes.will[i]), kl.int64(changes.was[i]), back, counters)


# Ids, stores of pairs, and their sums ----------------------------------------------------------


class Edited:
    """The common part of edited graphs and hypergraphs.

    Attributes
    ----------
    space : ExecutionSpace
    tables : list of IdTable
        The tables of ids.
    vertices : IdTable
        The first table.
    num_pairs, pair_weight : int
        Number of arcs or pins, and their total weight.
    sides : list of Side
        The stores, with the tables of their rows and elements.
    numbering : object
        Replaced when ids are renumbered.
    num_blocks : int
        Number of blocks of the partition that is updated after edits; 0 if there is none.
    """

    sides: list[Side]

    def __init__(self, space: ExecutionSpace, tables: list[IdTable], num_pairs: int,
                 pair_weight: int) -> None:
        self.space, self.tables, self.vertices = space, tables, tables[0]
        self.num_pairs, self.pair_weight = num_pairs, pair_weight
        self.numbering = object()
        self.num_blocks = 0

    def reserve_ids(self) -> None:
        """Reserve rows for all ids given out."""
        for table in self.tables:
            table.reserve(weighted=False)
        for side in self.sides:
            side.store.reserve_rows(side.table.count)
