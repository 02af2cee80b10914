"""Histograms: each of a few teams counts into a stripe of its own, then the stripes are added."""

from __future__ import annotations

import numpy as np

from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    atomic_add,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_size,
    value_or,
)

STRIPE_ITEMS = 8192
"""Elements that make a stripe worth its clearing and adding."""

MOST_STRIPES = 256


def histogram(
    space: ExecutionSpace, keys: Array, bins: int, weights: Array | None = None
) -> Array:
    """Occurrences of 0 ... bins-1 among the integers `keys`, which must lie in that range.

    With `weights` (integers, one per key) their sums instead.

    Returns
    -------
    array of int64, shape (bins,)

    Notes
    -----
    Takes ``min(256, n / max(bins, 8192))`` stripes of `bins` counters; with less than two of them
    all elements share the counters, which collide seldom when there are many.
    """
    n = len(keys)
    stripes = min(MOST_STRIPES, n // max(bins, STRIPE_ITEMS))
    if stripes < 2:
        counts = space.zeros(bins, np.int64)
        space.parallel_for(n, count_key, keys, weights, counts)
        return counts
    striped = space.zeros(stripes * bins, np.int64)
    space.parallel_for(stripes, count_stripe, keys, weights, n, stripes, bins, striped, team=256)
    counts = space.empty(bins, np.int64)
    space.parallel_for(bins, add_stripes, striped, stripes, bins, counts)
    return counts


@kernel
def count_key(i, keys, weights, counts):
    """counts[keys[i]] += 1 or the weight; atomic, order-free."""
    atomic_add(counts, int64(keys[i]), value_or(weights, i, 1))


@kernel
def count_stripe(stripe, keys, weights, size, stripes, bins, striped):
    """Count the keys of one stripe into its own counters; the lanes of the team compete."""
    share = (size + stripes - 1) // stripes
    for i in range(stripe * share + lane(), min((stripe + 1) * share, size), team_size()):
        team_atomic_add(striped, stripe * bins + int64(keys[i]), value_or(weights, i, 1))


@kernel
def add_stripes(key, striped, stripes, bins, counts):
    """counts[key] = sum over the stripes."""
    total = int64(0)
    for stripe in range(stripes):
        total += striped[stripe * bins + key]
    counts[key] = total
