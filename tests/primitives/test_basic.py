"""Fill, iota, copy, gather, scatter against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from portpart.primitives import basic
from tests.primitives.oracle import INTEGERS, any_array, assert_same, drawn, random_array

SIZES = (0, 1, 100, 29_999, 30_001, 200_000)


@pytest.mark.parametrize("size", SIZES)
def test_fill_sets_every_element(space, size):
    array = space.zeros(size, np.int32)
    basic.fill(space, array, -7)
    assert_same(space, array, np.full(size, -7, np.int32))


@pytest.mark.parametrize(("dtype", "value"), [
    ("int8", -128), ("uint8", 255), ("uint32", 2**32 - 1), ("int64", -(2**63)),
    ("uint64", 2**64 - 1), ("float32", 0.1), ("float64", 0.1), ("bool", True),
])
def test_fill_takes_any_value_of_the_dtype(space, dtype, value):
    array = space.zeros(5, dtype)
    basic.fill(space, array, value)
    assert_same(space, array, np.full(5, value, dtype))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_iota_counts_from_zero(space, size, dtype):
    assert_same(space, basic.iota(space, size, dtype), np.arange(size, dtype=dtype))


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64", "bool"])
def test_copy_is_equal_and_apart(space, dtype):
    values = (np.arange(40_000) % 3).astype(dtype)
    source = space.asarray(values.copy())
    result = basic.copy(space, source)
    source[:] = 1
    assert_same(space, result, values)


def test_copy_converts_and_wraps(space):
    values = np.array([-1, 0, 300, 2**31 - 1], np.int32)
    assert_same(space, basic.copy(space, space.asarray(values), np.int64), values.astype(np.int64))
    assert_same(space, basic.copy(space, space.asarray(values), np.uint8), values.astype(np.uint8))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_gather_and_scatter_undo_each_other(space, size, index):
    values = random_array(size, np.int32)
    order = np.random.default_rng(1).permutation(size).astype(index)
    gathered = basic.gather(space, space.asarray(values), space.asarray(order))
    assert_same(space, gathered, values[order])
    back = space.zeros(size, np.int32)
    basic.scatter(space, gathered, space.asarray(order), back)
    assert_same(space, back, values)


@drawn
@given(any_array(("int8", "int64"), 50))
def test_gather_repeats_elements(space, values):
    indices = np.arange(2 * len(values), dtype=np.int32) // 2
    found = basic.gather(space, space.asarray(values), space.asarray(indices))
    assert_same(space, found, values[indices])
