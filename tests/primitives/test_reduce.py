"""Reductions against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from portpart.errors import InputError
from portpart.primitives import reduce
from tests.helpers.each import looped
from tests.primitives.oracle import (
    INTEGERS,
    SIGNED,
    any_array,
    drawn,
    random_array,
    sizes_around,
)

SIZES = sizes_around(reduce.TILE)


@looped("size", SIZES)
def test_sum_max_min_equal_numpy(space, size):
    values = random_array(size, np.int32)
    array = space.asarray(values)
    assert reduce.sum_of(space, array) == values.sum(dtype=np.int64)
    assert reduce.max_of(space, array) == (values.max() if size else reduce.INT64_MIN)
    assert reduce.min_of(space, array) == (values.min() if size else reduce.INT64_MAX)


@pytest.mark.parametrize("dtype", [*INTEGERS[:-1], "bool"])
def test_every_dtype_reduces_as_int64(space, dtype):
    values = (np.arange(20_000) * 7 % 100).astype(dtype)
    array = space.asarray(values)
    assert reduce.sum_of(space, array) == values.sum(dtype=np.int64)
    assert reduce.max_of(space, array) == values.max()
    assert reduce.min_of(space, array) == values.min()


@drawn
@given(any_array(SIGNED))
def test_reductions_of_drawn_arrays(space, values):
    array = space.asarray(values)
    with np.errstate(over="ignore"):
        assert reduce.sum_of(space, array) == values.sum(dtype=np.int64)
    assert reduce.argmax_of(space, array) == (values.argmax() if len(values) else -1)


@looped("rows", SIZES)
def test_rows_above_a_length_are_counted_and_added_up(space, rows):
    lengths = np.abs(random_array(rows, np.int8).astype(np.int64)) % 20
    offsets = space.asarray(np.concatenate([[0], lengths.cumsum()]))
    above, elements = (space.to_host(found)[0] for found in (
        reduce.rows_above(space, offsets, 7, counts_rows) for counts_rows in (True, False)))
    longest, squares = space.to_host(reduce.row_measures(space, offsets))
    assert longest == max(lengths, default=0)
    assert squares == (lengths**2).sum()
    assert above == np.count_nonzero(lengths > 7)
    assert elements == lengths[lengths > 7].sum()


@looped("size", SIZES[1:])
def test_argmax_is_the_first_of_equals(space, size):
    values = random_array(size, np.int8) // 16
    assert reduce.argmax_of(space, space.asarray(values)) == values.argmax()


@pytest.mark.parametrize("place", [0, 1, reduce.TILE - 1, reduce.TILE, 3 * reduce.TILE + 5])
def test_argmax_finds_a_lone_top_and_the_smallest_integer(space, place):
    values = np.full(4 * reduce.TILE, -(2**63))
    assert reduce.argmax_of(space, space.asarray(values)) == 0
    values[place:] = -(2**63) + 1
    assert reduce.argmax_of(space, space.asarray(values)) == place


def test_floats_are_refused(space):
    with pytest.raises(InputError, match="float64"):
        reduce.sum_of(space, space.zeros(3, np.float64))
