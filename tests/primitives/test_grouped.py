"""Numbers grouped by the rank whose range they are in, as NumPy groups them."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.primitives.ranks import FEW_RANKS, grouped
from portpart.primitives.scan import SCAN_TILE
from tests.helpers.ranks.rank_rows import DEVICES, space_of


@pytest.mark.parametrize("name", ["cpu-1", "cpu-2", "lanes", "host-cuda", *DEVICES])
@pytest.mark.parametrize("size", [1, 2, 5, FEW_RANKS, FEW_RANKS + 1, 40])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_numbers_are_grouped_by_rank_without_negative_ones(name, size, kind):
    space, rng = space_of(name), np.random.default_rng(size)
    for count in (0, 1, 100, SCAN_TILE, SCAN_TILE + 1, 5000):
        borders = np.sort(rng.integers(0, 1000, size - 1))  # some ranges are empty
        firsts = np.concatenate([[0], borders, [1000]])
        numbers = rng.integers(0, 1000, count).astype(kind)
        numbers[rng.random(count) < 0.3] = -1
        order, counts = grouped(space, space.asarray(firsts), size, space.asarray(numbers))
        ranks = np.searchsorted(firsts, numbers, side="right") - 1
        places = [np.flatnonzero((ranks == rank) & (numbers >= 0)) for rank in range(size)]
        assert counts.tolist() == list(map(len, places))
        assert order.dtype == np.int32
        parts = np.split(space.to_host(order), np.cumsum(counts)[:-1])
        assert [sorted(part) for part in parts] == [place.tolist() for place in places]


@pytest.mark.parametrize("name", ["cpu-1", *DEVICES])
@pytest.mark.parametrize("size", [3, FEW_RANKS + 1])
def test_if_all_numbers_are_negative_nothing_is_grouped(name, size):
    space = space_of(name)
    firsts = space.asarray(np.arange(size + 1, dtype=np.int64))
    order, counts = grouped(space, firsts, size, space.asarray(np.full(50, -1, np.int32)))
    assert len(order) == 0
    assert counts.tolist() == [0] * size
