"""Kernels whose generated source is kept in ``golden/``; moving a line here changes those files."""

from __future__ import annotations

from portpart.backends.language import (
    atomic_add,
    device,
    float64,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sum,
    team_sync,
    uint32,
    uint64,
    value_or,
)


@kernel
def count_internal_arcs(v, offsets, targets, part, internal):
    """internal[v] = number of neighbours in v's own block."""
    same = 0
    for e in range(offsets[v], offsets[v + 1]):
        if part[targets[e]] == part[v]:
            same += 1
    internal[v] = same


@device
def mixed(key, seed):
    """A hash of `key`."""
    bits = uint64(key) ^ uint64(seed)
    bits ^= bits >> 33
    bits *= uint64(0xFF51AFD7ED558CCD)
    return uint32(bits >> 32)


@device
def goes_first(gain, v, u):
    """The order of moves: by gain, then by a hash, then by number."""
    if gain[v] != gain[u]:
        return gain[v] > gain[u]
    first = mixed(v, 7)
    second = mixed(u, 7)
    return first < second or (first == second and v < u)


@kernel
def keep_paying_moves(u, offsets, targets, weights, part, wish, gain, keep, kept):
    """Keep the wish of vertex u if it still pays once better moves are made."""
    here = part[u]
    there = wish[u]
    total = int64(0)
    for arc in range(offsets[u] + lane(), offsets[u + 1], team_size()):
        v = targets[arc]
        block = part[v]
        if goes_first(gain, v, u):
            block = wish[v]
        saved = int64(block == there) - int64(block == here)
        total += value_or(weights, arc, 1) * saved
    total = team_sum(total)
    if lane() == 0:
        keep[u] = here != there and total >= 0
        if total >= 0:
            atomic_add(kept, 0, 1)


@kernel
def odds_and_ends(i, double, new, out):
    """Names that C++ reserves, divisions that floor, loops in odd steps."""
    int = double[i] // 2.5
    for this in range(10, 0, -3):
        if this % 4 == 1:
            continue
        elif this == new:
            break
        int = int if this > 5 else -int
    out[(i + 1) // 2] += int * 0.5


@kernel
def turn_around(i, values):
    """The four values of item i in reverse, through an array of the team."""
    own = team_array(float64, 4)
    for k in range(lane(), 4, team_size()):
        own[k] = values[4 * i + k]
    team_sync()
    for k in range(lane(), 4, team_size()):
        values[4 * i + k] = own[3 - k]
