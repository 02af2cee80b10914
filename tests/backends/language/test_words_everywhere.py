"""The words of the language on every space and at every width of team, against Numba or NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart import backends
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import TEAM_WIDTHS
from tests.backends import sample_kernels as samples
from tests.helpers.each import looped

ROWS = 300


@pytest.fixture(params=TEAM_WIDTHS)
def team(request: pytest.FixtureRequest) -> int:
    return request.param


def run(space: ExecutionSpace, n: int, kernel: Any, *args: Any, team: int = 1) -> list[Any]:
    """Launch on copies in the space's memory; returns all arguments as NumPy arrays."""
    moved = [space.asarray(a.copy()) if isinstance(a, np.ndarray) else a for a in args]
    space.parallel_for(n, kernel, *moved, team=team)
    return [space.to_host(a) if hasattr(a, "dtype") else a for a in moved]


def row_offsets(rows: int, dtype: Any = np.int32) -> np.ndarray:
    """Rows of no, few and many elements."""
    lengths = np.random.default_rng(1).choice([0, 1, 3, 8, 31, 33, 200, 700], rows)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(dtype)


@looped("weighted", [False, True])
def test_hash_rows_hold_the_sums_of_their_keys(space, team, weighted):
    rng = np.random.default_rng(2)
    offsets, clusters = row_offsets(ROWS), 20
    targets = rng.integers(0, ROWS, offsets[-1]).astype(np.int32)
    weights = rng.integers(1, 9, len(targets)) if weighted else None
    cluster = rng.integers(0, clusters, ROWS).astype(np.int32)
    row_begin = np.arange(clusters + 1, dtype=np.int64) * 37
    keys = np.full(row_begin[-1], samples.EMPTY, np.int32)
    sums = np.zeros(len(keys), np.int64)
    *_, keys, sums = run(space, ROWS, samples.insert_arcs, offsets, targets, weights, cluster,
                         row_begin, keys, sums, team=team)
    own = np.repeat(cluster, np.diff(offsets))
    expected = np.zeros((clusters, clusters), np.int64)
    np.add.at(expected, (own, cluster[targets]), 1 if weights is None else weights)
    np.fill_diagonal(expected, 0)
    found = np.zeros_like(expected)
    used = keys != samples.EMPTY
    np.add.at(found, (np.repeat(np.arange(clusters), 37)[used], keys[used]), sums[used])
    assert np.array_equal(found, expected)


@looped("dtype", [np.int32, np.int64, np.int8])
def test_reductions_and_scans_of_a_team(space, team, dtype):
    offsets = row_offsets(ROWS, np.int64)
    values = np.random.default_rng(3).integers(-50, 100, offsets[-1] + 1).astype(dtype)
    results = [np.zeros(ROWS, np.int64) for _ in range(4)]
    *_, sums, lows, tops, lasts, scans, any_negative = run(
        space, ROWS, samples.summarise_rows, offsets, values, *results,
        np.zeros(offsets[-1], np.int64), np.zeros(ROWS, np.bool_), team=team)
    for row in range(ROWS):
        own = values[offsets[row] : offsets[row + 1]].astype(np.int64)
        assert sums[row] == lasts[row] == own.sum()
        assert lows[row] == min(own, default=2**62)
        assert tops[row] == max(own, default=-(2**62))
        assert any_negative[row] == (own < 0).any()
        assert np.array_equal(scans[offsets[row] : offsets[row + 1]], own.cumsum())


@looped("dtype", [np.int32, np.int64, np.int8])
def test_minima_and_scans_of_subgroups(space, team, dtype):
    """Subgroups of a team are at different places of their loops."""
    offsets = row_offsets(ROWS, np.int64)
    values = np.random.default_rng(4).integers(-50, 100, offsets[-1] + 1).astype(dtype)
    *_, lows, scans = run(space, ROWS // 50, samples.summarise_by_subgroups, offsets, values,
                          np.zeros(ROWS, np.int64), np.zeros(offsets[-1], np.int64), team=team)
    for row in range(ROWS):
        own = values[offsets[row] : offsets[row + 1]].astype(np.int64)
        assert lows[row] == min(own, default=2**62)
        assert np.array_equal(scans[offsets[row] : offsets[row + 1]], own.cumsum())


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_every_item_gets_a_place_of_its_own(space, dtype):
    """Also where lanes of a warp take places of several lists at once."""
    n = 4000
    lists = [np.full(n, -1, np.int32) for _ in range(2)]
    counts, threes, fives = run(space, n, samples.list_multiples, np.zeros(3, dtype), *lists)
    assert counts.tolist() == [1334, 400, 400]
    assert sorted(threes[:1334]) == list(range(0, n, 3))
    assert set(fives[:400]) <= set(range(0, n, 5))
    assert (fives[400:] == -1).all()


def test_atomics_of_every_type(space):
    n = 5000
    given = [np.zeros(13, dtype) for dtype in (np.int32, np.int64, np.uint32, np.uint64)]
    given[3][4:8] = 2**64 - 1
    results = run(space, n, samples.compete, *given)
    reference = run(backends.space("cpu", threads=1), n, samples.compete, *given)
    for result, expected in zip(results, reference, strict=True):
        assert np.array_equal(result, expected)
    assert results[1][12] == 3 * n
    assert results[1][4] == -(n - 4) * 2**32


def test_atomics_within_a_team(space, team):
    words = np.zeros(2 * ROWS, np.int64)
    counts, zeros = np.zeros(ROWS, np.int64), np.zeros(ROWS, np.int64)
    words, counts, zeros = run(space, ROWS, samples.mark_bits, words, counts, zeros, team=team)
    bits = 2 * (np.arange(ROWS) % 20)
    assert np.array_equal(words[0::2], 2**bits - 1)
    assert np.array_equal(words[1::2], bits)
    assert np.array_equal(counts, bits)
    shift = np.arange(ROWS) % 50
    trailing = np.where(bits == 0, 64, shift)
    leading = np.where(bits == 0, 64, np.maximum(0, 64 - bits - shift))
    assert np.array_equal(zeros, trailing + 100 * leading)


def test_tallies_in_arrays_of_a_team(space, team):
    offsets = row_offsets(ROWS)
    values = np.random.default_rng(6).integers(-500, 500, offsets[-1]).astype(np.int32)
    *_, sums, ends, words = run(
        space, ROWS, samples.tally_rows, offsets, values, np.zeros(ROWS * samples.BINS, np.int64),
        np.zeros(2 * ROWS, np.int32), np.zeros(2 * ROWS, np.uint64), team=team)
    for row in range(ROWS):
        own = values[offsets[row] : offsets[row + 1]].astype(np.int64)
        by_class = np.zeros(samples.BINS, np.int64)
        np.add.at(by_class, own % samples.BINS, np.arange(offsets[row], offsets[row + 1]))
        assert np.array_equal(sums[row * samples.BINS :][: samples.BINS], by_class)
        extremes = [min(own, default=2**31 - 1), max(own, default=-(2**31) + 1)]
        assert ends[2 * row : 2 * row + 2].tolist() == extremes
        assert words[2 * row] == sum(1 << int(bit) for bit in set(own % 64))
        assert words[2 * row + 1] == own.sum() % 2**32 + 1


def test_statements_do_what_python_does(space):
    rng = np.random.default_rng(5)
    given = [rng.integers(-9, 9, 3).astype(np.int8), rng.integers(-9, 9, ROWS),
             rng.random(ROWS), np.zeros(ROWS, np.int64)]
    results = run(space, ROWS, samples.wander, *given)
    reference = run(backends.space("cpu", threads=1), ROWS, samples.wander, *given)
    for i in range(ROWS):
        samples.wander(i, *given)
    for result, expected, python in zip(results, reference, given, strict=True):
        assert np.array_equal(result, expected)
        np.testing.assert_allclose(result, python, rtol=1e-6 if result.dtype.kind == "f" else 0)
