"""Pairing by key: all that fit find a partner, whatever the number and order of the vertices."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening.key_matching import (
    NO_KEY,
    UNMATCHED,
    ActiveVertices,
    KeyMatching,
    Matching,
    record_pairing,
)
from portpart.algorithms.coarsening.options import FineSizes
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.graphs.structure import Csr
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.spaces import NO_LIMIT, reference


def hashed(numbers: np.ndarray) -> np.ndarray:
    """Keys in 0 ... 2^63-1; equal numbers have equal keys."""
    product = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (product >> np.uint64(1)).astype(np.int64)


def paired(space: ExecutionSpace, keys: Any, weights: Any = None,
           limit: int = NO_LIMIT) -> np.ndarray:
    n = len(keys)
    weights = None if weights is None else space.asarray(weights, np.int64)
    mate = space.full(n, UNMATCHED, np.int32)
    bound = {"graph": Csr(None, None, None, None, weights, None),
             "active": ActiveVertices().with_words(vertices=n),
             "matching": Matching(seed=0, max_weight=limit, label=None, mate=mate),
             "key_matching": KeyMatching.of(n, keys=space.asarray(np.array(keys, np.int64)))}
    program = Program("key_matching")
    program.declare(bound)
    record_pairing(program)
    space.executable(program).run(bound, n, FineSizes(n))
    return oracles.host(mate).copy()


def assert_pairs_of_equal_keys(keys: np.ndarray, mate: np.ndarray) -> None:
    inside = np.flatnonzero(mate >= 0)
    assert (mate[mate[inside]] == inside).all()
    assert (mate[inside] != inside).all()
    assert (keys[mate[inside]] == keys[inside]).all()
    assert (keys[inside] != NO_KEY).all()


def left_of_keys(keys: np.ndarray, mate: np.ndarray) -> Counter[int]:
    return Counter(keys[(mate < 0) & (keys != NO_KEY)].tolist())


KEYS = {
    "none": np.full(100, NO_KEY),
    "all of one key": hashed(np.full(30_001, 5)),
    "two by two, far apart": hashed(np.arange(40_000) % 20_000),
    "two by two, side by side": hashed(np.arange(40_000) // 2),
    "all different": hashed(np.arange(30_000)),
    "skewed": hashed(np.random.default_rng(1).zipf(1.3, 40_000) % 5000),
    "some without": np.where(np.arange(40_000) % 3, hashed(np.arange(40_000) % 777), NO_KEY),
}


@looped("name", KEYS)
def test_at_most_one_vertex_of_a_key_is_left(space: ExecutionSpace, name: str) -> None:
    keys = KEYS[name]
    mate = paired(space, keys)
    assert_pairs_of_equal_keys(keys, mate)
    assert max(left_of_keys(keys, mate).values(), default=0) <= 1
    assert np.array_equal(mate, paired(reference(), keys))


@given(st.lists(st.integers(-1, 4), max_size=60))
@settings(max_examples=60)
def test_drawn_keys(space: ExecutionSpace, drawn: list[int]) -> None:
    numbers = np.array(drawn, np.int64)
    keys = np.where(numbers < 0, NO_KEY, hashed(numbers))
    mate = paired(space, keys)
    assert_pairs_of_equal_keys(keys, mate)
    assert max(left_of_keys(keys, mate).values(), default=0) <= 1


def test_vertices_side_by_side_are_paired_first(space: ExecutionSpace) -> None:
    keys = hashed(np.array([1, 1, 2, 1, 1, 2, 3, 3] + 4 * [7] + 4 * [8]))
    pairs = [1, 0, 5, 4, 3, 2, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14]
    assert paired(space, keys).tolist() == pairs


def test_no_pair_is_too_heavy_and_none_that_fits_is_left(space: ExecutionSpace) -> None:
    random = np.random.default_rng(3)
    keys, weights = hashed(random.integers(0, 900, 20_000)), random.integers(0, 12, 20_000)
    mate = paired(space, keys, weights, 12)
    assert_pairs_of_equal_keys(keys, mate)
    inside = np.flatnonzero(mate >= 0)
    assert (weights[inside] + weights[mate[inside]]).max() == 12
    lightest: dict[int, int] = {}
    for v in np.flatnonzero(mate < 0).tolist():
        assert lightest.get(keys[v], 99) + weights[v] > 12
        lightest[keys[v]] = min(lightest.get(keys[v], 99), weights[v])
    assert np.array_equal(mate, paired(reference(), keys, weights, 12))


def test_rounds_end_where_nobody_fits(space: ExecutionSpace) -> None:
    keys = hashed(np.arange(5000) % 3)
    assert (paired(space, keys, np.full(5000, 3), 5) == UNMATCHED).all()

