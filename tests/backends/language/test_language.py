"""Words and kernels as plain Python, and what the CPU space makes of the same source."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import backends
from portpart.backends import language
from portpart.backends.language import (
    clz,
    ctz,
    device,
    float32,
    int8,
    int32,
    int64,
    kernel,
    lane,
    popcount,
    team_last,
    team_max,
    team_min,
    team_scan,
    team_size,
    team_sum,
    team_sync,
    uint8,
    uint32,
    uint64,
    value_or,
)

OFFSET = 100
HALF = 0.5
VERBOSE = False


@device
def clamped(value, low, high):
    """Value within bounds."""
    return max(low, min(value, high))


@device
def twice_clamped(value):
    """A device function that calls another."""
    return 2 * clamped(value, -OFFSET, OFFSET)


@kernel
def use_everything(i, values, weights, result):
    """Every statement of the language."""
    total = int64(0)
    for j in range(i):
        if j % 3 == 1:
            continue
        if total > 50 or not values[j] < 90:
            break
        total += values[j]
    left = i
    while left > 0 and total < 10_000:
        left -= 2
        total = total * 2 if (left & 1) == 1 else total + 1
    for j in range(10, 0, -3):
        total ^= j << 2
    if VERBOSE:
        total = 0
    elif values[i] < 0:
        total -= twice_clamped(values[i])
    else:
        pass
    total += value_or(weights, i, 5) + abs(values[i]) + -values[i] // 7 + ~values[i] % 5
    total += popcount(values[i]) + ctz(values[i]) - clz(values[i])
    total += int64(float32(values[i]) * HALF)
    result[i] = total


@kernel
def act_alone(i, values, result):
    """Team words with one lane."""
    team_sync()
    here = values[i] + lane()
    total = team_sum(here)
    total += team_max(here)
    total += team_min(here)
    total += team_scan(here)
    total += team_last(here)
    result[i] = total * team_size()


def stepped(made, size, *arguments):
    for i in range(size):
        made(i, *arguments)


@pytest.mark.parametrize("weighted", [False, True])
def test_stepping_through_python_gives_the_compiled_answer(weighted):
    values = np.random.default_rng(4).integers(-300, 300, 60)
    weights = np.arange(60, dtype=np.int32) if weighted else None
    expected, found = np.zeros(60, np.int64), np.zeros(60, np.int64)
    stepped(use_everything, 60, values, weights, expected)
    backends.space("cpu").parallel_for(60, use_everything, values, weights, found)
    np.testing.assert_array_equal(found, expected)


def test_kernels_give_the_same_on_every_space(space):
    values = np.random.default_rng(4).integers(-300, 300, 60)
    expected = np.zeros(60, np.int64)
    stepped(use_everything, 60, values, None, expected)
    found = space.zeros(60, np.int64)
    space.parallel_for(60, use_everything, space.asarray(values), None, found)
    np.testing.assert_array_equal(space.to_host(found), expected)


def test_team_words_alone(space):
    values = np.arange(10) - 4
    found = space.zeros(10, np.int64)
    space.parallel_for(10, act_alone, space.asarray(values), found)
    np.testing.assert_array_equal(space.to_host(found), 5 * values)


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70), st.sampled_from(["int8", "int32", "int64", "uint8", "uint32",
                                                      "uint64"]))
def test_plain_casts_wrap_as_numpy_does(value, name):
    low = value & (2**64 - 1)
    expected = np.array(low, np.uint64).astype(name)
    assert getattr(language, name)(value) == int(expected)


def test_plain_atomic_sums_wrap():
    for name, value in (("int32", 2**31 - 1), ("int64", -(2**63)), ("uint64", 2**64 - 1)):
        array = np.array([value], name)
        assert language.atomic_add(array, 0, value) == value
        assert array[0] == getattr(language, name)(2 * value)


def test_bits():
    assert [popcount(x) for x in (0, 1, 255, -1)] == [0, 1, 8, 64]
    assert [ctz(x) for x in (0, 1, 8, -1, 2**63)] == [64, 0, 3, 0, 63]
    assert [clz(x) for x in (0, 1, 8, -1, 2**63)] == [64, 63, 60, 0, 0]


def test_plain_atomics_return_the_value_before():
    values = np.array([5, 2**31 - 1], np.int32)
    assert language.atomic_add(values, 0, 3) == 5
    assert language.atomic_min(values, 0, 2) == 8
    assert language.atomic_max(values, 0, 9) == 2
    assert language.atomic_cas(values, 0, 1, 7) == 9
    assert language.atomic_cas(values, 0, 9, 7) == 9
    assert language.atomic_load(values, 0) == 7
    assert language.team_atomic_add(values, 1, 1) == 2**31 - 1
    assert language.atomic_next(values, 0) == 7
    assert values.tolist() == [8, -(2**31)]


def test_constants_are_taken_from_the_enclosing_function(space):
    @functools.cache
    def multiplier(factor):
        @kernel
        def multiply(i, values):
            values[i] *= factor

        return multiply

    assert multiplier(3) is multiplier(3)
    for factor in (3, -7):
        values = space.full(4, 2, np.int64)
        space.parallel_for(4, multiplier(factor), values)
        assert space.to_host(values).tolist() == [2 * factor] * 4


@kernel
def convert(i, values, bytes_, words, wide, flags):
    """Stores convert: integers wrap, bool becomes 0 or 1."""
    bytes_[i] = values[i]
    words[i] = uint32(values[i])
    wide[i] = uint64(int8(values[i])) + uint64(uint8(values[i]))
    flags[i] = int32(values[i]) > 0


def test_stores_convert(space):
    values = np.array([-1, 0, 255, 256, 2**31, 2**40 + 5, -(2**63)])
    arrays = [space.zeros(7, dtype) for dtype in ("int8", "uint32", "uint64", "bool")]
    space.parallel_for(7, convert, space.asarray(values), *arrays)
    low = values.astype(np.int8).astype(np.uint64) + values.astype(np.uint8)
    expected = [values.astype(np.int8), values.astype(np.uint32), low, values.astype(np.int32) > 0]
    for found, right in zip(arrays, expected):
        np.testing.assert_array_equal(space.to_host(found), right)


def test_kernels_describe_themselves():
    assert use_everything.name == "use_everything"
    assert use_everything.parameters == ["i", "values", "weights", "result"]
    assert use_everything.__doc__ == "Every statement of the language."
    assert __file__ in repr(use_everything)
    assert repr(popcount) == "<kernel word popcount>"
    assert act_alone.uses_team_words
    assert not use_everything.uses_team_words
