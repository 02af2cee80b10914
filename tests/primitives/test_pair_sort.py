"""Pairs of a row and a column against NumPy's sort of their keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import portpart
from portpart.primitives import recorded_sort as pair_sort
from portpart.primitives.recorded_sort import LONG, sort_rows, sorted_pairs
from portpart.primitives.sort import SMALL, TILE
from tests.helpers.each import looped
from tests.primitives.oracle import assert_same, drawn


def keys_of(rows, columns):
    return (np.asarray(rows, np.int64) << 32) | np.asarray(columns, np.int64)


def assert_sorts_rows(space, sizes, columns):
    ends = np.cumsum(np.asarray(sizes, np.int64))
    keys = keys_of(np.arange(len(sizes)).repeat(sizes), columns)
    found = space.asarray(keys.copy())
    sort_rows(space, space.asarray(ends - sizes), space.asarray(ends), found)
    assert_same(space, found, np.sort(keys))


@looped("sizes", [
    [], [0], [1], [2, 0, 3], [4, 40, 400], [LONG - 1, 3, LONG, 0, LONG + 1, 2 * LONG]])
@looped("limit", [1, 3, 2**31 - 1])
def test_rows_of_any_length(space, sizes, limit):
    columns = np.random.default_rng(sum(sizes)).integers(0, limit, sum(sizes))
    assert_sorts_rows(space, sizes, columns)


@pytest.mark.parametrize("columns", [np.arange(200), np.arange(200)[::-1],
                                     np.tile([1, 0], 100)])
def test_rows_in_order_and_in_the_opposite_order(space, columns):
    assert_sorts_rows(space, [200], columns)


@drawn
@given(st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=30), max_size=20))
def test_drawn_rows(space, rows):
    assert_sorts_rows(space, [len(row) for row in rows],
                      [column for row in rows for column in row])


@looped("size", [0, 1, SMALL, SMALL + 1, 2 * TILE + 1, 50_001])
@looped(("rows", "columns"), [
    (1, 1), (3, 1025), (70_000, 2), (2**31 - 1, 2**31 - 1)])
def test_pairs_in_any_order(space, size, rows, columns):
    random = np.random.default_rng(size)
    keys = keys_of(random.integers(0, rows, size), random.integers(0, columns, size))
    expected = np.sort(keys)
    assert_same(space, sorted_pairs(space, space.asarray(keys), rows, columns), expected)


@looped("spare", [True, False])
@looped("rows", [1, 5, 2000, 10**6, 2**31 - 1])
def test_pairs_whose_columns_ascend_already(space, rows, spare):
    size = SMALL + 1000
    keys = keys_of(np.random.default_rng(rows).integers(0, rows, size), np.arange(size) // 3)
    expected = np.sort(keys)
    other = space.empty(size, np.int64) if spare else None
    assert_same(space, sorted_pairs(space, space.asarray(keys), rows, None, other), expected)


def test_long_rows_are_left_to_the_library_alone(monkeypatch):
    """A row sorted by one item takes that thread as long as all others have to wait."""
    cpu, seen = portpart.space("cpu"), []
    monkeypatch.setattr(pair_sort.np, "flatnonzero",
                        lambda mask, real=np.flatnonzero: seen.append(real(mask)) or seen[-1])
    assert_sorts_rows(cpu, [3, LONG, 5], np.arange(LONG + 8)[::-1])
    assert [list(rows) for rows in seen] == [[1]]
    assert_sorts_rows(cpu, [3, LONG - 1], np.arange(LONG + 2)[::-1])
    assert len(seen) == 1
