"""Pairing by key: each two in a row of a key are a pair, then each two that share a matchmaker."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening.clusters import Numbering
from portpart.algorithms.coarsening.matching import Matching
from portpart.algorithms.coarsening.options import FineSizes
from portpart.algorithms.coarsening.two_hop import (
    TWIN_BITS,
    UNMATCHED,
    UNMATCHED_SHARE,
    TwoHop,
    record_pairing,
)
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.graphs.structure import Csr
from portpart.primitives.recorded_sort import SortWords, sort_arrays
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.spaces import NO_LIMIT


def hashed(matchmakers: np.ndarray, twins: np.ndarray | int = 0) -> np.ndarray:
    """Keys in 0 ... 2^63-1; equal numbers have equal keys."""
    product = matchmakers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (product >> np.uint64(1 + TWIN_BITS) << np.uint64(TWIN_BITS)).astype(np.int64) | twins


def paired(space: ExecutionSpace, keys: Any, weights: Any = None,
           limit: int = NO_LIMIT) -> np.ndarray:
    n, sorting = len(keys), sort_arrays(space, len(keys))
    weights = None if weights is None else space.asarray(weights, np.int64)
    mate = space.full(n, UNMATCHED, np.int32)
    for name, value in (("keys", n), ("bits", 32)):
        sorting.words.array[SortWords.indices[name]] = value
    two_hop = TwoHop(0, sorting, mate, space.asarray(np.arange(n, dtype=np.int32)),
                     space.empty(n, np.int32), space.asarray(np.array(keys, np.int64)))
    bound = {"graph": Csr(None, None, None, None, weights, None), "numbering": Numbering.of(n),
             "matching": Matching(seed=0, max_weight=limit, label=None, mate=mate),
             "two_hop": two_hop.with_words(unmatched=n, sorted_bits=2**32 - 1)}
    program = Program("pairs of equal keys")
    program.declare(bound)
    record_pairing(program)
    space.executable(program).run(bound, n, FineSizes(n))
    return oracles.host(mate).copy()


def expected(keys: np.ndarray, weights: Any = None, limit: int = NO_LIMIT) -> np.ndarray:
    """By a loop: vertices of a key in the order of keys and ids, two by two; then those left."""
    mate = np.full(len(keys), UNMATCHED)
    for ignored in (0, TWIN_BITS):
        left = np.flatnonzero(mate == UNMATCHED)
        if ignored == 0 or len(left) > UNMATCHED_SHARE * len(keys):
            left = left[np.argsort(keys[left], kind="stable")]
            groups = keys[left] >> ignored
            for row in np.split(left, np.flatnonzero(np.diff(groups)) + 1):
                row = row[: len(row) // 2 * 2].reshape(-1, 2)
                if weights is not None:
                    row = row[weights[row].sum(1) <= limit]
                mate[row[:, 0]], mate[row[:, 1]] = row[:, 1], row[:, 0]
    return mate


DRAWN = np.random.default_rng(1)
KEYS = {
    "one vertex": hashed(np.full(1, 5)),
    "all of one key": hashed(np.full(30_001, 5)),
    "two by two, far apart": hashed(np.arange(40_000) % 20_000),
    "two by two, side by side": hashed(np.arange(40_000) // 2),
    "all different": hashed(np.arange(30_000)),
    "skewed": hashed(DRAWN.zipf(1.3, 40_000) % 5000),
    "relatives without twins": hashed(np.arange(40_000) % 3000, np.arange(40_000) // 3000),
    "few left after twins": hashed(np.arange(40_000) % 5000, np.arange(40_000) // 30_000),
    "relatives of equal 24 bits": np.arange(768) // 3 << 24 | np.arange(768) % 3,
    "drawn": hashed(DRAWN.integers(0, 9000, 40_000), DRAWN.integers(0, 16, 40_000)),
}


@looped("name", KEYS)
def test_two_by_two_of_a_key_are_pairs(space: ExecutionSpace, name: str) -> None:
    assert np.array_equal(paired(space, KEYS[name]), expected(KEYS[name]))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=60))
@settings(max_examples=60)
def test_drawn_keys(space: ExecutionSpace, drawn: list[tuple[int, int]]) -> None:
    numbers = np.array(drawn, np.int64).reshape(-1, 2)
    keys = hashed(numbers[:, 0], numbers[:, 1])
    assert np.array_equal(paired(space, keys), expected(keys))


def test_no_pair_is_too_heavy(space: ExecutionSpace) -> None:
    random = np.random.default_rng(3)
    keys = hashed(random.integers(0, 900, 20_000), random.integers(0, 2, 20_000))
    weights = random.integers(0, 12, 20_000)
    assert np.array_equal(paired(space, keys, weights, 12), expected(keys, weights, 12))


def test_keys_of_equal_low_bits_make_no_pair(space: ExecutionSpace) -> None:
    """They are sorted as one key: some pairs are missed, none is wrong."""
    keys = np.array([7, 7, 7 + 2**32, 7, 7 + 2**33, 7 + 2**33, 9, 9], np.int64)
    assert paired(space, keys).tolist() == [1, 0, -1, -1, 5, 4, 7, 6]
    random = np.random.default_rng(2)
    keys = random.integers(0, 3, 20_000) << 32 | random.integers(0, 900, 20_000)
    mate = paired(space, keys)
    inside = np.flatnonzero(mate >= 0)
    assert len(inside) > 3000
    assert (keys[mate[inside]] >> TWIN_BITS == keys[inside] >> TWIN_BITS).all()
    assert (mate[mate[inside]] == inside).all()
