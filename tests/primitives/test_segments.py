"""Segmented reductions and scans, and runs, against plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portpart.primitives import segments
from portpart.primitives.reduce import INT64_MAX, INT64_MIN
from tests.primitives.oracle import any_array, assert_same, drawn, random_array

LENGTHS = {
    "one lane": lambda rng: rng.integers(0, 5, 20_000),
    "eight lanes": lambda rng: rng.integers(0, 30, 3_000),
    "a warp": lambda rng: rng.integers(0, 300, 500),
    "a block": lambda rng: rng.integers(2_000, 4_000, 5),
    "one hub": lambda rng: np.r_[np.ones(1000, int), 30_000, np.zeros(1000, int)],
    "all empty": lambda rng: np.zeros(40, int),
    "no segment": lambda rng: np.zeros(0, int),
}


def offsets_of(lengths, dtype=np.int32):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)


def per_segment(offsets, values, function, empty):
    pairs = itertools.pairwise(offsets)
    return np.array([function(values[a:b]) if a < b else empty for a, b in pairs], np.int64)


def assert_reductions(space, offsets, values):
    arrays = space.asarray(offsets), space.asarray(values)
    wide = values.astype(np.int64)
    for function, oracle, empty in (
        (segments.segment_sum, np.sum, 0),
        (segments.segment_max, np.max, INT64_MIN),
        (segments.segment_min, np.min, INT64_MAX),
    ):
        assert_same(space, function(space, *arrays), per_segment(offsets, wide, oracle, empty))


def assert_scans(space, offsets, values):
    arrays = space.asarray(offsets), space.asarray(values)
    parts = [np.cumsum(values[a:b], dtype=np.int64) for a, b in itertools.pairwise(offsets)]
    inclusive = np.concatenate([np.zeros(0, np.int64), *parts])
    assert_same(space, segments.segment_scan(space, *arrays, inclusive=True), inclusive)
    assert_same(space, segments.segment_scan(space, *arrays), inclusive - values)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_segments_of_all_lengths(space, lengths, index):
    offsets = offsets_of(lengths(np.random.default_rng(5)), index)
    values = random_array(offsets[-1], np.int32)
    assert_reductions(space, offsets, values)
    assert_scans(space, offsets, values)


@drawn
@given(st.lists(st.integers(0, 6), max_size=20), st.integers(0, 1000))
def test_drawn_segments(space, lengths, seed):
    offsets = offsets_of(np.array(lengths, int))
    values = random_array(offsets[-1], np.int8, seed)
    assert_reductions(space, offsets, values)
    assert_scans(space, offsets, values)


@pytest.mark.parametrize("size", [0, 1, 2, 4095, 4096, 100_000])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_runs_of_sorted_keys(space, size, dtype):
    keys = np.sort(np.random.default_rng(size).integers(0, size // 3 + 1, size)).astype(dtype)
    assert_runs(space, keys)


@drawn
@given(any_array(("int8", "uint64"), 60))
def test_runs_of_drawn_keys(space, keys):
    assert_runs(space, np.sort(keys))


def assert_runs(space, keys):
    values, starts = np.unique(keys, return_index=True)
    unique, offsets = segments.unique_of(space, space.asarray(keys))
    assert_same(space, unique, values)
    assert_same(space, offsets, np.append(starts, len(keys)).astype(np.int32))
