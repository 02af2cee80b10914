"""Operations of a batch on rows, and their combined change of one element.

Each operation becomes a key of row and element; the keys are sorted, stable, so that those on one
element stand together in the order of the batch.
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
"""Kinds of operation; CLEAR deletes each pair of a deleted row or element."""

LOW_HALF = 0xFFFFFFFF

WIDE_CHANGES = ("was", "will", "deltas")
"""The fields of int64 besides their keys."""


class Operations(kl.Sliced, kl.Record):
    """What is done to pairs, in the order of the batch.

    Attributes
    ----------
    kinds, first, second : array of int32
    weights : array of int64, or None
    times : array of int32, or None
        The place of each in the whole batch.
    """

    kinds: Array
    first: Array
    second: Array
    weights: Array | None
    times: Array | None


class Directed(kl.Record):
    """Operations as rows see them, sorted by row, element and time.

    Attributes
    ----------
    order : array of int32
        Operation and direction, of each key.
    length : int
    sides : int
        Directions of an operation: 2 if first and second are of the same kind.
    swapped : int
        1 if the second of a pair is the row, else 0.
    adds : int
        1 if the weights of a pair that is inserted again add up, 0 if it stays as it is.
    """

    order: Array
    length: int
    sides: int
    swapped: int
    adds: int


class Changes(kl.Sliced, kl.Record):
    """What becomes of pairs, in the order of their keys.

    Attributes
    ----------
    keys : array of int64
    was, will : array of int64
        Weight before and after, -1 where the pair is absent; both are -1 where a key is repeated.
    ranks : array of int32
        Smaller elements of the row.
    deltas : array of int64
        2^32 for a pair that comes, 1 for one that goes.
    """

    keys: Array
    was: Array
    will: Array
    ranks: Array
    deltas: Array

    def cut_to(self, number: int) -> Changes:
        """The first of changes that are slices, with their keys."""
        keys = self.slices["keys"]
        return Changes.sliced(self.memory, _first_slices(keys.length, keys.begin, number))


class Deletions(kl.Record):
    """When rows and elements are deleted, as in `IdTable`; None if none is."""

    rows: Array | None
    elements: Array | None


class Side:
    """One of the stores that operations on pairs change.

    Parameters
    ----------
    store : RowStore
    table, elements : IdTable
        What the rows and their elements are.
    swapped : bool
        Whether the second of a pair is the row.

    Attributes
    ----------
    both : bool
        Whether rows and elements are the same, so that a pair stands in two rows.
    directions : int
        Keys for each pair.
    """

    def __init__(self, store: RowStore, table: IdTable, elements: IdTable, swapped: bool) -> None:
        self.store, self.table, self.elements, self.swapped = store, table, elements, swapped
        self.both = table is elements
        self.directions = 2 if self.both else 1
        self._deletions = Deletions(table.deletions, elements.deletions)

    @property
    def deletions(self) -> Deletions:
        """When rows and elements are deleted; the same record until they get other arrays."""
        rows, elements = self.table.deletions, self.elements.deletions
        if self._deletions.rows is not rows or self._deletions.elements is not elements:
            self._deletions = Deletions(rows, elements)
        return self._deletions

    def directed(self, order: Any, length: Any) -> Directed:
        """Operations as these rows see them."""
        return Directed(order, length, self.directions, int(self.swapped), int(self.both))


def combined_changes(space: ExecutionSpace, side: Side, operations: Operations,
                     counters: EditCounters, unchanged: bool) -> Changes:
    """Return the changes of operations; the counters get the first that is refused.

    `unchanged` says that all ids exist and none is deleted.  Then deletion times are not read,
    which saves a large batch a good part of its time.
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
    """Arrays for the changes of sorted keys."""
    cutter = kl.Cutter()
    slices = {name: cutter.next(WIDE, length) for name in WIDE_CHANGES}
    slices["ranks"] = cutter.next(NARROW, length)
    return Changes.sliced(space.empty(cutter.end // NARROW.itemsize, NARROW), slices, keys=keys)


def slices_of_changes(length: int, cutter: kl.Cutter) -> dict[str, kl.Slice]:
    """Where this many changes and their keys are."""
    slices = {name: cutter.next(WIDE, length) for name in ("keys", *WIDE_CHANGES)}
    slices["ranks"] = cutter.next(NARROW, length)
    return slices


@lru_cache(maxsize=256)
def _first_slices(length: int, begin: int, number: int) -> dict[str, kl.Slice]:
    """Where the first are of this many changes, which begin there."""
    cutter = kl.Cutter()
    cutter.end = begin
    return {name: kl.Slice(each.dtype, each.begin, number)
            for name, each in slices_of_changes(length, cutter).items()}


def inverted(store: RowStore, changes: Changes, counters: EditCounters) -> Changes:
    """The changes that undo these."""
    space, length = store.space, changes.length_of("keys")
    back = empty_changes(space, length, changes.keys)
    space.parallel_for(length, invert, changes, store.rows, back, counters)
    return back


@kl.device
def rank_of(row, element, rows: EditableRows):
    """How many elements of the row are smaller."""
    begin = kl.int64(rows.begin[row])
    return lower_bound(rows.elements, begin, kl.int64(rows.end[row]), element) - begin


@kl.device
def weight_at(rank, row, element, rows: EditableRows):
    """Weight of the element if it stands at that rank of the row, else -1."""
    place = kl.int64(rows.begin[row]) + rank
    found = kl.int64(-1)
    if place < rows.end[row] and rows.elements[place] == element:
        found = kl.value_or(rows.weights, place, 1)
    return found


@kl.device
def deletion_of(v, deletions):
    """When v is deleted."""
    return kl.value_or(deletions, v, ALIVE)


@kl.device
def problem_of(operation, at, key, weight, operations: Operations, deletions: Deletions):
    """What is wrong with an operation on a pair of that weight, 0 if nothing is."""
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
    """Count what happens to a pair, but not in both of its directions."""
    if counted:
        kl.atomic_add(counters, which, 1)


@kl.device
def applied(j, key, weight, directed: Directed, operations: Operations, deletions: Deletions,
            counters: EditCounters):
    """Weight of a pair after the operation that stands at place j."""
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
    """Write a change, and count its weight unless it is that of one pair of weight 1."""
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
    """keys[i] = row and element of an operation in one direction."""
    first = kl.int64(operations.first[i // directed.sides])
    second = kl.int64(operations.second[i // directed.sides])
    is_turned = i % directed.sides != directed.swapped
    keys[i] = (second << 32) | first if is_turned else (first << 32) | second


@kl.kernel
def find_combined_change(i, directed: Directed, operations: Operations, rows: EditableRows,
                         deletions: Deletions, changes: Changes, counters: EditCounters):
    """Write the change of a pair where its key stands first, and none elsewhere."""
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
    """Write the change that undoes another, and its place in the row as it is now."""
    key = kl.int64(changes.keys[i])
    back.ranks[i] = rank_of(key >> 32, key & LOW_HALF, rows)
    store_change(i, kl.int64(changes.will[i]), kl.int64(changes.was[i]), back, counters)


# What is edited: kinds of ids, stores of pairs, and their sums ---------------------------------


class Edited:
    """What graphs and hypergraphs have in common that are edited.

    Attributes
    ----------
    space : ExecutionSpace
    tables : list of IdTable
        The kinds of ids.
    vertices : IdTable
        The first of them.
    num_pairs, pair_weight : int
        Arcs or pins, and their total weight.
    sides : list of Side
        The stores, and what their rows are.
    numbering : object
        Another one after ids have been given again.
    num_blocks : int
        Of the partition that follows the edits; 0 if there is none.
    """

    sides: list[Side]

    def __init__(self, space: ExecutionSpace, tables: list[IdTable], num_pairs: int,
                 pair_weight: int) -> None:
        self.space, self.tables, self.vertices = space, tables, tables[0]
        self.num_pairs, self.pair_weight = num_pairs, pair_weight
        self.numbering = object()
        self.num_blocks = 0

    def reserve_ids(self) -> None:
        """Have rows for all ids that have been given out."""
        for table in self.tables:
            table.reserve(weighted=False)
        for side in self.sides:
            side.store.reserve_rows(side.table.count)
