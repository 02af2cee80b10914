"""Iota and gather against NumPy, and what single stores do with every type."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from portpart.backends.language import kernel
from portpart.primitives import basic
from tests.helpers.each import looped
from tests.primitives.oracle import INTEGERS, any_array, assert_same, drawn, random_array


@kernel
def store_value(i, array, value):
    """array[i] = value."""
    array[i] = value


@kernel
def copy_one(i, values, result):
    """result[i] = values[i]."""
    result[i] = values[i]


SIZES = (0, 1, 100, 29_999, 30_001, 200_000)


@looped(("dtype", "value"), [
    ("int8", -128), ("uint8", 255), ("uint32", 2**32 - 1), ("int64", -(2**63)),
    ("uint64", 2**64 - 1), ("float32", 0.1), ("float64", 0.1), ("bool", True),
])
def test_a_store_takes_any_value_of_the_dtype(space, dtype, value):
    array = space.zeros(5, dtype)
    space.parallel_for(5, store_value, array, array.dtype.type(value))
    assert_same(space, array, np.full(5, value, dtype))


@looped("size", SIZES)
@looped("dtype", ["int32", "int64"])
def test_iota_counts_from_zero(space, size, dtype):
    assert_same(space, basic.iota(space, size, dtype), np.arange(size, dtype=dtype))


@looped("dtype", INTEGERS)
def test_a_store_converts_and_wraps(space, dtype):
    values = np.array([-1, 0, 300, 2**31 - 1], np.int32)
    result = space.zeros(4, dtype)
    space.parallel_for(4, copy_one, space.asarray(values), result)
    assert_same(space, result, values.astype(dtype))


@looped("size", SIZES)
@looped("index", ["int32", "int64"])
def test_gather_takes_elements_in_any_order(space, size, index):
    values = random_array(size, np.int32)
    order = np.random.default_rng(1).permutation(size).astype(index)
    gathered = basic.gather(space, space.asarray(values), space.asarray(order))
    assert_same(space, gathered, values[order])


@drawn
@given(any_array(("int8", "int64"), 50))
def test_gather_repeats_elements(space, values):
    indices = np.arange(2 * len(values), dtype=np.int32) // 2
    found = basic.gather(space, space.asarray(values), space.asarray(indices))
    assert_same(space, found, values[indices])
