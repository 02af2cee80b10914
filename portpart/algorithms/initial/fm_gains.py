"""The two sides of a bisection in the making: gains, moves and the best vertex to move.

A bisection is the work of one team.  Its vertices stand at the positions lower ... upper - 1 of a
candidate's order, and positions name them here.  `order` and `place`, which are the candidate's,
begin at `base`; `side`, `key` and `moves`, which belong to one attempt, at `own`.

The key of a position holds the gain of moving its vertex and, below it, the position under a mask:
one comparison decides, ties go to a random vertex, and the largest key tells its position.  Where
one lane does the work, the largest key of every group of positions is kept: a step looks at groups,
and a move only into the groups of its neighbours.  Several lanes look at all keys in every step.
That takes them less time than to keep groups: lanes that look through groups wait for each other.
"""

from __future__ import annotations

from portpart.algorithms.initial import bisection_state as word
from portpart.backends.language import (
    device,
    int8,
    int64,
    lane,
    team_atomic_add,
    team_max,
    team_size,
    team_sync,
    value_or,
)
from portpart.primitives.hashing import hash_of

GROUP = 32
"""Positions of a group."""

LOWEST = -(2**63)

BARRED = 2
"""Added to the side, 0 or 1, of a position that may not move."""

WEIGHT, COUNT, CUT = word.WEIGHT, word.COUNT, word.CUT


@device
def groups_of(lower, upper):
    """Number of groups of the positions lower ... upper - 1."""
    return (upper - lower + GROUP - 1) // GROUP


@device
def group_words(n, k):
    """Words for the groups of one attempt at all bisections of a level."""
    return n // (GROUP // 2) + 2 * k + 2


@device
def first_group(attempt, n, k, lower, block):
    """Where the groups of an attempt begin whose bisection is the one of `block` and others.

    Two sides of groups fit between it and the next: their numbers round up by less than 2.
    """
    return attempt * group_words(n, k) + lower // (GROUP // 2) + 2 * block


@device
def mask_of(attempt, state):
    """What the positions in the keys of an attempt are masked with: its order among equal gains."""
    return hash_of(attempt, state[word.SEED]) & ((int64(1) << state[word.KEY_BITS]) - 1)


@device
def key_of(p, gain, mask, bits):
    """The key of position p."""
    return gain * (int64(1) << bits) + (p ^ mask)


@device
def position_in(key, mask, bits):
    """The position that a key names."""
    return (key & ((int64(1) << bits) - 1)) ^ mask


@device
def best_in_group(first, upper, wanted, own, side, key):
    """Largest key of the group from `first` on among those that may leave side `wanted`."""
    top = int64(LOWEST)
    for p in range(first, min(first + GROUP, upper)):
        if side[own + p] == wanted:
            top = max(top, key[own + p])
    return top


@device
def find_best_of_groups(lower, upper, at, own, side, key, best):
    """Fill in the largest keys of all groups, for both sides, where one lane is the team."""
    if team_size() == 1:
        groups = groups_of(lower, upper)
        for g in range(2 * groups):
            first = lower + GROUP * (g % groups)
            best[at + g] = best_in_group(first, upper, g // groups, own, side, key)


@device
def best_of_side(here, lower, upper, at, own, side, key, best):
    """Largest key of all that may leave side `here`; all lanes get it."""
    top = int64(LOWEST)
    if team_size() == 1:
        groups = groups_of(lower, upper)
        for g in range(groups):
            top = max(top, best[at + here * groups + g])
    else:
        for p in range(lower + lane(), upper, team_size()):
            found = key[own + p]
            if side[own + p] == here:
                top = max(top, found)
    return team_max(top)


@device
def keep_best(q, own, lower, upper, at, bits, side, key, best):
    """Correct the best of q's group after a change of its key: look through it if that was it."""
    there = int64(side[own + q])
    if there < BARRED:
        g = (q - lower) // GROUP
        slot = at + there * groups_of(lower, upper) + g
        now = key[own + q]
        before = best[slot]
        if now > before:
            best[slot] = now
        elif now != before and position_in(now ^ before, 0, bits) == 0:
            best[slot] = best_in_group(lower + GROUP * g, upper, there, own, side, key)


@device
def move(
    p, here, opening, base, own, lower, upper, at, bits, shift, offsets, targets, weights, order,
    place, side, key, best,
):
    """Move the vertex at p off side `here` and bar it; its neighbours' gains follow.

    Neighbours in the state `opening` may leave side 1 from now on.
    """
    v = order[base + p]
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        q = int64(place[base + targets[arc]])
        if lower <= q and q < upper:
            change = (value_or(weights, arc, 1) >> shift) << (bits + 1)
            if (side[own + q] & 1) != here:
                change = -change
            team_atomic_add(key, own + q, change)
            if side[own + q] == opening:
                side[own + q] = int8(1)
            if team_size() == 1:
                keep_best(q, own, lower, upper, at, bits, side, key, best)
    if lane() == 0:
        tie = key[own + p] & ((int64(1) << bits) - 1)
        key[own + p] = 2 * tie - key[own + p]
        side[own + p] = int8(1 - here + BARRED)
    if team_size() == 1:
        g = (p - lower) // GROUP
        slot = at + here * groups_of(lower, upper) + g
        best[slot] = best_in_group(lower + GROUP * g, upper, here, own, side, key)
    team_sync()
    return v


@device
def store_tally(tally, begin, weight, count, cut):
    """Keep weight and number of vertices of side 0 and the cut; the team together."""
    if lane() == 0:
        tally[begin + WEIGHT] = weight
        tally[begin + COUNT] = count
        tally[begin + CUT] = cut
    team_sync()
