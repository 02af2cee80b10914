"""Histograms: each of many teams counts a share of the keys, and the counts are added.

With few bins a team counts in scratch memory and then writes a stripe of counters; with more bins
it counts in its stripe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

COUNTERS = (256, 1024, 4096)
"""Possible numbers of counters in a team's own memory."""

SHARE = 8192
"""Minimum keys of a share: a constant, and a few for each bin."""

SHARE_PER_BIN = 8

SHARE_PER_ROOT = 5
"""Minimum keys of a share per square root of all keys: with more keys there are more and longer
shares.
"""

MAX_SHARES = 2048
"""Maximum number of shares, sufficient for any GPU: a share is the work of 256 lanes."""

MAX_COUNTERS = 3 << 20
"""Maximum number of counters of all shares together."""

MAX_STRIPES = 256
"""Maximum number of shares if every share is counted in main memory."""

ADDED_KEYS, ADDED_STRIPES = 256, 16
"""Size of the part of all stripes that one team adds up."""


def histogram(space: ExecutionSpace, keys: Array, bins: int, weights: Array | None = None,
              counts: Array | None = None) -> Array:
    """Count the occurrences of 0 ... bins-1 among the integers `keys`, which must be in that range.

    With `weights` (integers, one per key), sum the weights. Add to `counts` (int64, shape (bins,))
    if it is given.

    Returns
    -------
    array of int64, shape (bins,)

    Notes
    -----
    Needs up to 3 million counters of 4 bytes (8 with weights), and with more than 4096 bins up to
    ``min(256 * bins, n)`` of 8 bytes. With fewer than two shares, all elements are counted in the
    result; with many bins they seldom collide.
    """
    n = len(keys)
    counts = space.zeros(bins, np.int64) if counts is None else counts
    shares = shares_for(n, bins)
    if shares < 2:
        space.parallel_for(n, count_key, keys, weights, counts)
        return counts
    length = -(-n // shares)
    stride = bins | 16  # stripes a power of two apart would use few sets of a cache
    if bins <= COUNTERS[-1]:
        counter = kl.int32 if weights is None else kl.int64
        own = TeamCounters(next(size for size in COUNTERS if bins <= size), counter)
        count = count_share.bound(own_memory=own)
        stripes = space.empty(shares * stride, counter.name)
    else:
        count = count_stripe
        stripes = space.zeros(shares * stride, np.int64)
    shared = Shares(n, length, bins, stride)
    space.parallel_for(shares, count, keys, weights, shared, stripes, team=256)
    parts = -(-shares // ADDED_STRIPES) * -(-bins // ADDED_KEYS)
    space.parallel_for(parts, add_stripes, stripes, shares, bins, stride, counts, team=256)
    return counts


def shares_for(n: int, bins: int) -> int:
    """Return the number of shares of `n` keys with `bins` counters each; fewer than two are not
    worth it.
    """
    if n < 2 * SHARE:
        return 0
    if bins > COUNTERS[-1]:
        return min(MAX_STRIPES, n // max(SHARE, bins))
    min_share = max(SHARE, SHARE_PER_BIN * bins, SHARE_PER_ROOT * math.isqrt(n))
    return min(MAX_SHARES, MAX_COUNTERS // max(1, bins), n // min_share)


class Shares(kl.Record):
    """Shares of keys, with separate counters.

    Attributes
    ----------
    size : int
        Number of keys.
    length : int
        Number of keys of a share.
    bins : int
    stride : int
        Distance of the counters of consecutive shares, in elements.
    """

    size: int
    length: int
    bins: int
    stride: int


@dataclass(frozen=True)
class TeamCounters(kl.Static):
    """Counters in a team's own memory: up to `capacity` bins of a type.

    Shares are far smaller than 2^31 keys, so int32 holds their counts, if not sums of weights.
    """

    capacity: int
    counter: kl.Word


@kl.kernel
def count_share(share, keys, weights, shares: Shares, stripes, own_memory: TeamCounters):
    """Count the keys of one share in memory of the team, and write the counts to its stripe.

    Each lane reads four keys before it counts the first of them, so that the loads overlap.
    """
    own = kl.team_array(own_memory.counter, own_memory.capacity)
    for key in range(kl.lane(), shares.bins, kl.team_size()):
        own[key] = 0
    kl.team_sync()
    step = kl.team_size()
    start = min(share * shares.length, shares.size)
    end = min(start + shares.length, shares.size)
    rest = start + (end - start) // (4 * step) * (4 * step)
    for i in range(start + kl.lane(), rest, 4 * step):
        first = keys[i]
        second = keys[i + step]
        third = keys[i + 2 * step]
        fourth = keys[i + 3 * step]
        first_weight = kl.value_or(weights, i, 1)
        second_weight = kl.value_or(weights, i + step, 1)
        third_weight = kl.value_or(weights, i + 2 * step, 1)
        fourth_weight = kl.value_or(weights, i + 3 * step, 1)
        kl.team_atomic_add(own, kl.int64(first), first_weight)
        kl.team_atomic_add(own, kl.int64(second), second_weight)
        kl.team_atomic_add(own, kl.int64(third), third_weight)
        kl.team_atomic_add(own, kl.int64(fourth), fourth_weight)
    for i in range(rest + kl.lane(), end, step):
        kl.team_atomic_add(own, kl.int64(keys[i]), kl.value_or(weights, i, 1))
    kl.team_sync()
    for key in range(kl.lane(), shares.bins, kl.team_size()):
        stripes[share * shares.stride + key] = own[key]


@kl.kernel
def count_key(i, keys, weights, counts):
    """counts[keys[i]] += 1 or the weight; atomic, independent of order."""
    kl.atomic_add(counts, kl.int64(keys[i]), kl.value_or(weights, i, 1))


@kl.kernel
def count_stripe(share, keys, weights, shares: Shares, stripes):
    """Count the keys of one share in its stripe, which is zero; atomic."""
    end = min((share + 1) * shares.length, shares.size)
    for i in range(share * shares.length + kl.lane(), end, kl.team_size()):
        kl.team_atomic_add(stripes, share * shares.stride + kl.int64(keys[i]), kl.value_or(weights,
                                                                                           i, 1))


@kl.kernel
def add_stripes(part, stripes, shares, bins, stride, counts):
    """Add some bins of a few stripes to counts; atomic, independent of order."""
    groups = (shares + ADDED_STRIPES - 1) // ADDED_STRIPES
    first = part % groups * ADDED_STRIPES
    start = part // groups * ADDED_KEYS
    for key in range(start + kl.lane(), min(start + ADDED_KEYS, bins), kl.team_size()):
        total = kl.int64(0)
        for share in range(first, min(first + ADDED_STRIPES, shares)):
            total += stripes[share * stride + key]
        if total != 0:
            kl.atomic_add(counts, key, total)
