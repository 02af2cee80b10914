"""Kernels that take parts of words, and scopes."""

from __future__ import annotations

from typing import Any

from portpart.backends.language import Record, Scope, Words, atomic_add, device, kernel


class Counts(Words):
    """What has been counted."""

    odd: int
    even: int


class Limits(Words):
    """What is counted."""

    least: int
    most: int


class Level(Counts, Limits):
    """The words of all pieces."""

    rounds: int


class Values(Record):
    """What is looked at."""

    numbers: Any


class Looking(Scope):
    """What tells whether a number counts."""

    values: Values
    limits: Limits


class Counting(Scope):
    """What numbers are counted by."""

    values: Values
    limits: Limits
    counts: Counts


@device
def counts_at(i, state: Looking):
    """Whether number i is within the limits."""
    return (state.values.numbers[i] >= state.limits.least
            and state.values.numbers[i] <= state.limits.most)


@kernel
def count_parity(i, state: Counting):
    """Count number i if it is within the limits."""
    if counts_at(i, state):
        if state.values.numbers[i] % 2 == 0:
            atomic_add(state.counts, Counts.even, 1)
        else:
            atomic_add(state.counts, Counts.odd, 1)


@kernel
def swap_counts(_, counts: Counts, limits: Limits, level: Level):
    """Swap the counts, forget the limit, and count the round."""
    odd = counts.odd
    counts.odd = counts.even
    counts.even = odd
    limits.most = 0
    level.rounds += 1
