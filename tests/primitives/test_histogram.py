"""Histograms against NumPy's bincount."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.primitives.histogram import MOST_STRIPES, STRIPE_ITEMS, histogram
from tests.primitives.oracle import assert_same

SIZES = [0, 1, 100, 2 * STRIPE_ITEMS - 1, 2 * STRIPE_ITEMS, 200_001,
         (MOST_STRIPES + 3) * STRIPE_ITEMS]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("bins", [1, 7, 256, 100_000])
def test_equals_bincount(space, size, bins):
    keys = np.random.default_rng(size).integers(0, bins, size).astype(np.int32)
    found = histogram(space, space.asarray(keys), bins)
    assert_same(space, found, np.bincount(keys, minlength=bins).astype(np.int64))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_keys_of_other_dtypes(space, dtype):
    keys = (np.arange(50_000) % 100).astype(dtype)
    found = histogram(space, space.asarray(keys), 100)
    assert_same(space, found, np.full(100, 500))


def test_all_keys_in_one_bin(space):
    """Every lane competes for one counter."""
    for bins in (3, 90_000):
        found = space.to_host(histogram(space, space.full(70_000, 2, np.int32), bins))
        assert found[2] == 70_000
        assert found.sum() == 70_000
