"""Histograms against NumPy's bincount."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends import cuda
from portpart.backends.language import int32, int64
from portpart.primitives.histogram import (
    COUNTERS,
    MAX_COUNTERS,
    MAX_SHARES,
    MAX_STRIPES,
    SHARE,
    Shares,
    TeamCounters,
    count_share,
    histogram,
    shares_for,
)
from tests.helpers.each import looped
from tests.primitives.oracle import assert_same

SIZES = [0, 1, 100, 2 * SHARE - 1, 2 * SHARE, 2 * SHARE + 1, 200_001, (MAX_STRIPES + 3) * SHARE]
LIMITS = [bins + more for bins in COUNTERS for more in (-1, 0, 1)]


def counted(keys, bins, weights=None):
    """What a histogram must be; bincount alone would add weights as floats."""
    result = np.zeros(bins, np.int64)
    np.add.at(result, keys, 1 if weights is None else weights)
    return result


@looped("size", SIZES)
@looped("bins", [1, 7, 256, 4096, 100_000])
def test_equals_bincount(space, size, bins):
    keys = np.random.default_rng(size).integers(0, bins, size).astype(np.int32)
    found = histogram(space, space.asarray(keys), bins)
    assert_same(space, found, np.bincount(keys, minlength=bins).astype(np.int64))


@looped("weight_type", [None, "int32", "int64"])
@looped("bins", LIMITS)
def test_bins_at_the_limits_of_a_teams_memory(space, bins, weight_type):
    rng = np.random.default_rng(bins)
    keys = rng.integers(0, bins, 150_003).astype(np.int32)
    keys[:2] = 0, bins - 1
    weights, given = None, None
    if weight_type is not None:
        weights = rng.integers(-(2**30), 2**31 - 1, len(keys)).astype(weight_type)
        given = space.asarray(weights)
    assert_same(space, histogram(space, space.asarray(keys), bins, given),
                counted(keys, bins, weights))


def test_no_bins_and_no_keys(space):
    for weights in (None, space.zeros(0, np.int64)):
        assert_same(space, histogram(space, space.zeros(0, np.int32), 0, weights), np.zeros(0, int))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_keys_of_other_dtypes(space, dtype):
    keys = (np.arange(50_000) % 100).astype(dtype)
    found = histogram(space, space.asarray(keys), 100)
    assert_same(space, found, np.full(100, 500))


@pytest.mark.parametrize("bins", [3, 256, 4096, 90_000])
def test_all_keys_in_one_bin(space, bins):
    """Every lane competes for one counter."""
    keys = space.full(700_000, 2, np.int32)
    for weights, total in ((None, 700_000), (space.full(700_000, 2**31, np.int64), 700_000 << 31)):
        found = space.to_host(histogram(space, keys, bins, weights))
        assert found[2] == total
        assert found.sum() == total


def test_many_keys_give_enough_shares_for_a_gpu_and_few_counters():
    assert shares_for(10**8, 256) >= 1000
    for n in (0, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9, 2**40):
        for bins in (1, 256, 1024, 4096):
            shares = shares_for(n, bins)
            assert shares <= MAX_SHARES
            assert shares * bins <= min(n, MAX_COUNTERS)
            assert shares < 2 or -(-n // shares) < 2**31, "a share is counted in int32"


@pytest.mark.parametrize("room", COUNTERS)
def test_a_team_has_room_for_its_counters(room):
    for counter in (int32, int64):
        types = "*int32", "*int64", Shares(*["int64"] * 4), f"*{counter.name}"
        share = count_share.bound(own_memory=TeamCounters(room, counter))
        text = cuda.source(share, *types, team=256)
        assert f"<TEAM, {counter.name}, {room}, 0>" in text
