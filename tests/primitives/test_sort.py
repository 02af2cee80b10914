"""Stable sorting against NumPy's stable argsort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from portpart.errors import InputError
from portpart.primitives import sort
from tests.helpers.each import looped
from tests.primitives.oracle import INTEGERS, any_array, assert_same, drawn, random_array

SIZES = [0, 1, 2, 100, sort.SMALL - 1, sort.SMALL, sort.SMALL + 1, 3 * sort.TILE, 150_001]


def assert_sorts(space, keys):
    ordered, permutation = sort.sort_keys(space, space.asarray(keys))
    expected = np.argsort(keys, kind="stable")
    assert_same(space, permutation, expected.astype(np.int32))
    assert_same(space, ordered, keys[expected])


@looped("size", SIZES)
@looped("span", [1, 200, 1 << 20, (1 << 31) - 1])
def test_narrow_keys_of_any_size(space, size, span):
    keys = np.random.default_rng(size).integers(0, span, size).astype(np.int32)
    assert_sorts(space, keys)


@looped("size", [1000, 60_000])
@looped("dtype", [*INTEGERS, "bool"])
def test_every_dtype_over_its_whole_range(space, size, dtype):
    assert_sorts(space, random_array(size, "uint8").astype(dtype))
    if dtype != "bool":
        assert_sorts(space, random_array(size, dtype))


def test_keys_far_from_zero_need_few_passes(space):
    low = 2**62
    keys = low + np.random.default_rng(3).integers(0, 100, 20_000)
    before = space.counters.launches
    assert_sorts(space, keys)
    assert space.counters.launches - before < 20


@drawn
@given(any_array(INTEGERS, 80))
def test_drawn_keys(space, keys):
    assert_sorts(space, keys)


def test_input_is_left_alone(space):
    keys = random_array(10_000, np.int32)
    array = space.asarray(keys.copy())
    sort.sort_keys(space, array)
    assert_same(space, array, keys)


def test_floats_are_refused(space):
    with pytest.raises(InputError, match="integers"):
        sort.radix_sort_keys(space, space.zeros(3, np.float64))
