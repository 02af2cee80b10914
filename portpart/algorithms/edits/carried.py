"""The arrays of a batch on their way to the space where it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.batch import Call, times_of
from portpart.algorithms.edits.columns import Column, Sized, joined, together
from portpart.algorithms.edits.deaths import columns_of_deaths
from portpart.algorithms.edits.living import Dying
from portpart.algorithms.edits.operations import CLEAR, Operations
from portpart.algorithms.edits.tally import Tally, begun, split
from portpart.backends.interface import Array, ExecutionSpace

NOWHERE = 2**31 - 1
"""No id: pairs of it come behind all others."""


class Carried(NamedTuple):
    """What is known of a small batch in the space.

    Attributes
    ----------
    numbers : array of int64
        All tallies.
    tallies : list of Tally
    dying : list of Dying
    operations : Operations
    """

    numbers: Array
    tallies: list[Tally]
    dying: list[Dying]
    operations: Operations


def carried(space: ExecutionSpace, num_tallies: int, deadly: Sequence[Sequence[Call]],
            calls: Sequence[Call], capacity: int, timed: bool) -> Carried:
    """All of a small batch.

    Parameters
    ----------
    deadly : sequence of sequences of Call
        Deaths of each kind of ids.
    calls : sequence of Call
        Those about pairs.
    capacity : int
        How many operations there is room for; behind the given ones there are none.
    timed : bool
        Whether times tell more than the order.
    """
    begin = begun(num_tallies)
    wide: list[Sized] = [(len(begin), [begin])]
    narrow: list[Sized] = []
    for group in deadly:
        own, columns = columns_of_deaths(group)
        wide.append(own)
        narrow += columns
    length, pairs = _pairs(calls, capacity, timed)
    narrow += [(length, column) for column in pairs]
    weighted = any(call.weights is not None for call in calls)
    if weighted:
        wide.append((length, weights_of(calls, capacity)))
    found = iter(together(space, wide, narrow))
    numbers, *weights_of_dead = islice(found, 1 + len(deadly))
    weights_of_pairs = next(found) if weighted else None
    dead = []
    for weights in weights_of_dead:
        ids, times, lenient, died = islice(found, 4)
        dead.append(Dying(ids, times, lenient, died, weights))
    return Carried(numbers, split(numbers), dead, _operations(weights_of_pairs, *found))


def operations_of(space: ExecutionSpace, calls: Sequence[Call], timed: bool) -> Operations:
    """The operations of some calls; from the host all but their weights travel together."""
    weights = None
    if any(call.weights is not None for call in calls):
        weights = joined(space, weights_of(calls), np.int64)
    length, columns = _pairs(calls, 0, timed)
    return _operations(weights, *together(space, [], [(length, column) for column in columns]))


def _operations(weights: Array | None, kinds: Array, first: Array, second: Array,
                times: Array | None = None) -> Operations:
    return Operations(kinds, first, second, weights, times)


def _pairs(calls: Sequence[Call], capacity: int, timed: bool) -> tuple[int, list[Column]]:
    """How many operations there are, and their kinds, first and second ids, and times."""
    given = sum(len(call.first) for call in calls)
    length, at = max(given, capacity), 0
    kinds = np.empty(length, np.int32)
    for call in calls:
        kinds[at : at + len(call.first)] = call.kind
        at += len(call.first)
    kinds[given:] = CLEAR
    columns = [[call.first for call in calls], [call.second for call in calls]]
    if timed:
        columns.append(times_of(calls))
    if length > given:
        nowhere = np.full(length - given, NOWHERE, np.int32)
        for column in columns:
            column.append(nowhere)
    return length, [[kinds], *columns]


def weights_of(calls: Sequence[Call], capacity: int = 0) -> Column:
    """Weights of the entries of calls, 1 where none are given; behind them zeros."""
    weights = [np.ones(len(call.first), np.int64) if call.weights is None else call.weights
               for call in calls]
    rest = capacity - sum(map(len, weights))
    return [*weights, np.zeros(rest, np.int64)] if rest > 0 else weights
