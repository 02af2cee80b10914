"""The sort inside programs against NumPy's stable argsort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.primitives.recorded_sort import (
    DIGIT_BITS,
    TILE,
    SortArrays,
    SortSlots,
    SortWords,
    record_sort,
    sort_arrays,
)
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.primitives.oracle import drawn

NAMES = ("keys", "items", "other_keys", "other_items")


def recorded(work_arrays: SortArrays) -> Program:
    program = Program("sort")
    slots = [program.array(name, np.int64 if "keys" in name else np.int32) for name in NAMES]
    record_sort(program, program.record("sorting", work_arrays), SortSlots(*slots))
    return program


def sorted_in(space: ExecutionSpace, keys: np.ndarray, bits: int,
              room: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Keys and their old positions, sorted by a program with room for more keys."""
    n = len(keys)
    room = n if room is None else room
    words = SortWords.zeros()
    words.keys, words.bits = n, bits
    work_arrays = sort_arrays(space, room).replaced(words=SortWords(space.asarray(words.array)))
    rest = np.full(room - n, -1)
    arrays = {
        "keys": space.asarray(np.concatenate([keys, rest]).astype(np.int64)),
        "items": space.asarray(np.arange(room).astype(np.int32)),
        "other_keys": space.empty(room, np.int64), "other_items": space.empty(room, np.int32),
    }
    executable = space.cached_executable("sort of a test", lambda: recorded(work_arrays))
    executable.run({**arrays, "sorting": work_arrays}, max(1, room))
    return space.to_host(arrays["keys"])[:n], space.to_host(arrays["items"])[:n]


def assert_sorts(space: ExecutionSpace, keys: np.ndarray, bits: int,
                 room: int | None = None) -> None:
    ordered, order = sorted_in(space, keys, bits, room)
    expected = np.argsort(keys, kind="stable")
    assert np.array_equal(order, expected)
    assert np.array_equal(ordered, keys[expected])


@looped("size", [0, 1, 2, TILE - 1, TILE, TILE + 1, 5 * TILE + 7, 40_000])
@looped("bits", [1, DIGIT_BITS, 2 * DIGIT_BITS, 2 * DIGIT_BITS + 1, 40, 63])
def test_keys_of_any_number_and_width(space: ExecutionSpace, size: int, bits: int) -> None:
    assert_sorts(space, np.random.default_rng(size).integers(0, 2**bits, size), bits)


def test_equal_keys_keep_their_order(space: ExecutionSpace) -> None:
    assert_sorts(space, np.random.default_rng(1).integers(0, 3, 9000), 2)
    assert_sorts(space, np.zeros(3000, np.int64), 0)


def test_what_lies_behind_the_keys_does_not_matter(space: ExecutionSpace) -> None:
    assert_sorts(space, np.random.default_rng(2).integers(0, 900, 700), 10, room=5000)


@drawn
@given(keys=st.lists(st.integers(0, 2**63 - 1), max_size=60))
def test_drawn_keys(space: ExecutionSpace, keys: list[int]) -> None:
    assert_sorts(space, np.array(keys, np.int64), 63)


@pytest.mark.parametrize("lanes", [3, 8])
def test_the_width_of_a_team_decides_nothing(lanes: int) -> None:
    keys = np.random.default_rng(lanes).integers(0, 300, TILE + 40)
    assert_sorts(LanesSpace(lanes), keys, 9)
