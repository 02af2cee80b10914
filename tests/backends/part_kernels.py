"""Kernels that take parts of words, and scopes."""

from __future__ import annotations

from typing import Any

from portpart.backends.language import (
    Record,
    Scope,
    Words,
    atomic_add,
    atomic_next,
    device,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sync,
    word,
)


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


class Listed(Record):
    """A list, how many are on it, and how many more there would have been."""

    members: Any
    length: int = word()
    lost: int = word()


class Hidden(Record):
    """Another piece."""

    seen: int = word()


class Together(Listed.own_words, Hidden.own_words):
    """The words of both."""

    most: int


class Everything(Record):
    """What a run of both takes."""

    listed: Listed
    hidden: Hidden
    together: Together


class Taking(Scope):
    """What lists numbers."""

    values: Values
    listed: Listed
    hidden: Hidden


@device
def lose_one(listed: Listed):
    """Another one has no place; nothing but words is used."""
    listed.lost += 1
    return listed.lost


@kernel
def list_even(i, state: Taking):
    """List an even number; at last tell how many there are."""
    if state.values.numbers[i] % 2 == 0:
        state.listed.members[atomic_next(state.listed, Listed.length)] = state.values.numbers[i]
    atomic_add(state.hidden, Hidden.seen, 1)


@kernel
def shorten_in_a_copy(_, together: Together):
    """Lose those behind the third in a copy of the words, which is written back.  One team."""
    copy = Together(team_array(int64, 4))
    for i in range(lane(), 4, team_size()):
        copy[i] = together[i]
    team_sync()
    if lane() == 0:
        while copy.length > copy.most:
            copy.length -= 1
            lose_one(copy)
    team_sync()
    for i in range(lane(), 4, team_size()):
        together[i] = copy[i]


@device
def lengthen(listed: Listed):
    """Make the list longer by one."""
    return atomic_next(listed, Listed.length)


@kernel
def lengthen_copies(i, found):
    """found[i] = the length of a list of the team, which its lanes make longer 20 times."""
    copy = Together(team_array(int64, 4))
    for place in range(lane(), 4, team_size()):
        copy[place] = 0
    team_sync()
    for _ in range(lane(), 20, team_size()):
        lengthen(copy)
    team_sync()
    if lane() == 0:
        found[i] = copy.length


class Stack(Record):
    """Nothing but how long it is."""

    length: int = word()


@kernel
def push(i, stack: Stack, seen):
    """seen[i] = how long the stack was."""
    seen[i] = atomic_next(stack, Stack.length)
