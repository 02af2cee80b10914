"""The two sides of a bisection in the making: gains, moves and the best vertex to move.

A bisection is the work of one team.  Its vertices stand side by side, at the positions lower ...
upper - 1 of a candidate, and positions, not ids, name them here.  The key of a position holds the
gain of moving its vertex and, below it, a number of its own, so that one comparison decides and the
larger key is the position itself in disguise.  The largest key of every group of positions is kept:
a move touches the groups of its neighbours only, and the best vertex is the best of the groups.
"""

from __future__ import annotations

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

GROUP = 32
"""Positions of a group."""

LOWEST = -(2**63)

BARRED = 2
"""Added to the side (0 or 1) of a position that may not move."""


@device
def groups_of(lower, upper):
    """Number of groups of the positions lower ... upper - 1."""
    return (upper - lower + GROUP - 1) // GROUP


@device
def group_words(n, k):
    """Words that the groups of a candidate take: each of its bisections has its own."""
    return n // 16 + 2 * k + 2


@device
def best_in_group(first, upper, wanted, own, side, key):
    """Largest key among the positions of the group from `first` on that may leave side `wanted`."""
    top = int64(LOWEST)
    for p in range(first, min(first + GROUP, upper)):
        if side[own + p] == wanted:
            top = max(top, key[own + p])
    return top


@device
def find_best_of_groups(lower, upper, at, own, side, key, best):
    """Fill in the largest keys of all groups, for both sides.  The team together."""
    groups = groups_of(lower, upper)
    for g in range(lane(), 2 * groups, team_size()):
        first = lower + GROUP * (g % groups)
        best[at + g] = best_in_group(first, upper, g // groups, own, side, key)
    team_sync()


@device
def best_of_side(here, lower, upper, at, best):
    """Largest key of all that may leave side `here`; all lanes get it."""
    groups = groups_of(lower, upper)
    top = int64(LOWEST)
    for g in range(lane(), groups, team_size()):
        top = max(top, best[at + here * groups + g])
    return team_max(top)


@device
def begin_key(
    p, base, own, lower, upper, mask, bits, shift, offsets, targets, weights, order, place, side, key
):
    """Compute the key of position p; returns the weight of its arcs to the other side."""
    v = order[base + p]
    here = int64(side[own + p] & 1)
    outside = int64(0)
    inside = int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        q = int64(place[base + targets[arc]])
        if lower <= q and q < upper:
            weight = value_or(weights, arc, 1) >> shift
            if (side[own + q] & 1) == here:
                inside += weight
            else:
                outside += weight
    key[own + p] = (outside - inside) * (int64(1) << bits) + (p ^ mask)
    return outside


@device
def keep_best(q, own, lower, upper, at, bits, side, key, best):
    """Correct the best of q's group after a change of its key.

    The group is looked through if its best changed.  Several lanes that do so write the same.
    """
    there = int64(side[own + q])
    if there < BARRED:
        g = (q - lower) // GROUP
        slot = at + there * groups_of(lower, upper) + g
        now = key[own + q]
        before = best[slot]
        if now > before and team_size() == 1:
            best[slot] = now
        elif now > before or (now != before and ((now ^ before) & ((int64(1) << bits) - 1)) == 0):
            best[slot] = best_in_group(lower + GROUP * g, upper, there, own, side, key)


@device
def change_keys(
    p, here, opening, keeping, base, own, lower, upper, at, bits, shift, offsets, targets,
    weights, order, place, side, key, best,
):
    """Move the vertex at p off side `here` and bar it; its neighbours' gains follow.

    Neighbours in the state `opening` may leave side 1 from now on.  A lane alone corrects the best
    of the groups on the way.
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
            if keeping and team_size() == 1:
                keep_best(q, own, lower, upper, at, bits, side, key, best)
    if lane() == 0:
        tie = key[own + p] & ((int64(1) << bits) - 1)
        key[own + p] = 2 * tie - key[own + p]
        side[own + p] = int8(1 - here + BARRED)
    team_sync()
    return v


@device
def move(
    p, here, opening, base, own, lower, upper, at, bits, shift, offsets, targets, weights, order,
    place, side, key, best,
):
    """Move the vertex at p off side `here`, and correct the best of the groups that it touches."""
    v = change_keys(p, here, opening, True, base, own, lower, upper, at, bits, shift, offsets,
                    targets, weights, order, place, side, key, best)
    if team_size() > 1:
        for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
            q = int64(place[base + targets[arc]])
            if lower <= q and q < upper:
                keep_best(q, own, lower, upper, at, bits, side, key, best)
    if lane() == team_size() - 1:
        first = lower + (p - lower) // GROUP * GROUP
        slot = at + here * groups_of(lower, upper) + (p - lower) // GROUP
        best[slot] = best_in_group(first, upper, here, own, side, key)
    team_sync()
    return v
