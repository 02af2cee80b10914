"""Prefix sums and stable compaction against NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from portpart.backends.programs.program import Program
from portpart.primitives import scan, select
from tests.helpers.each import looped
from tests.primitives.oracle import (
    INTEGERS,
    SIGNED,
    any_array,
    assert_same,
    drawn,
    random_array,
    sizes_around,
)

SIZES = sizes_around(scan.SCAN_TILE)


def offsets(values: np.ndarray, dtype: object = np.int64) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.concatenate([[0], np.cumsum(values, dtype=np.int64)]).astype(dtype)


@looped("size", SIZES)
@looped("dtype", ["int32", "int64"])
def test_scans_equal_cumsum(space, size, dtype):
    values = random_array(size, np.int8)
    array = space.asarray(values)
    expected = offsets(values, dtype)
    assert_same(space, scan.offsets_from_counts(space, array, dtype), expected)


@looped("dtype", [*INTEGERS, "bool"])
def test_every_dtype_scans_in_int64(space, dtype):
    values = (np.arange(10_000) * 7 % 100).astype(dtype)
    assert_same(space, scan.offsets_from_counts(space, space.asarray(values)), offsets(values))


@drawn
@given(any_array(SIGNED))
def test_scan_of_drawn_arrays(space, values):
    assert_same(space, scan.offsets_from_counts(space, space.asarray(values)), offsets(values))


@looped("size", SIZES)
def test_recorded_scan_reads_its_size_from_memory(space, size):
    values = random_array(size + 10, np.int8)
    program = Program("scan")
    source, result = program.array("values", np.int8), program.array("result", np.int64)
    sums, sizes = program.array("sums", np.int64), program.array("sizes", np.int64)
    scan.record_scan(program, source, result, sums, sizes[0], sizes[1])
    tiles = scan.tiles_of(size)
    arrays = {
        "values": space.asarray(values), "result": space.zeros(size + 1, np.int64),
        "sums": space.empty(tiles, np.int64),
        "sizes": space.asarray(np.array([size, tiles], np.int64)),
    }
    executable = space.executable(program)
    for _ in range(2):
        executable.run(arrays, size=size)
    assert_same(space, arrays["result"], offsets(values[:size]))


@looped("share", [0.0, 0.01, 0.5, 1.0])
@looped("size", SIZES)
def test_positions_are_those_of_nonzero(space, size, share):
    flags = (np.random.default_rng(size).random(size) < share).astype(np.int8)
    found = select.positions_of(space, space.asarray(flags))
    assert_same(space, found, np.flatnonzero(flags).astype(np.int32))


@drawn
@given(any_array((*SIGNED, "bool")))
def test_any_nonzero_value_is_a_flag(space, flags):
    found = select.positions_of(space, space.asarray(flags))
    assert_same(space, found, np.flatnonzero(flags).astype(np.int32))
