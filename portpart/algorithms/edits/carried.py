"""The arrays of a batch on their way to the space where it is applied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.batch import Call, times_of
from portpart.algorithms.edits.columns import Column, Sized, together
from portpart.algorithms.edits.deaths import columns_of_deaths, dying_of
from portpart.algorithms.edits.living import Dying
from portpart.algorithms.edits.operations import CLEAR, Operations
from portpart.algorithms.edits.tally import Tally, begun, split
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Slice

NOWHERE = 2**31 - 1
"""No id: pairs of it come behind all others."""


class Carried(NamedTuple):
    """What is known of a small batch in the space.

    Attributes
    ----------
    numbers : array of int32
        The halves of the words of all tallies.
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
    packed, slices = together(space, wide, narrow)
    found = iter(slices)
    numbers, *weights_of_dead = islice(found, 1 + len(deadly))
    weights_of_pairs = next(found) if weighted else None
    dead = [dying_of(packed, weights, found) for weights in weights_of_dead]
    return Carried(packed[: 2 * numbers.length], split(packed, num_tallies), dead,
                   _operations(packed, weights_of_pairs, found))


def operations_of(space: ExecutionSpace, calls: Sequence[Call], timed: bool) -> Operations:
    """The operations of some calls."""
    length, columns = _pairs(calls, 0, timed)
    weighted = any(call.weights is not None for call in calls)
    packed, found = together(space, [(length, weights_of(calls))] if weighted else [],
                             [(length, column) for column in columns])
    rest = iter(found)
    return _operations(packed, next(rest) if weighted else None, rest)


def _operations(packed: Array, weights: Slice | None, columns: Iterator[Slice]) -> Operations:
    """Operations of slices for weights, for kinds, first and second ids, and times."""
    given = dict(zip(("kinds", "first", "second", "times"), columns))
    others: dict[str, None] = {}
    if weights is None:
        others["weights"] = None
    else:
        given["weights"] = weights
    if "times" not in given:
        others["times"] = None
    return Operations.sliced(packed, given, **others)


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
