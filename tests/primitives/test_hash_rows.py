"""Hash rows under competition, and the winner of a team, against dictionaries and plain maxima."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from portpart.backends.language import (
    int32,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_max,
    team_size,
    team_sync,
)
from portpart.primitives.hashing import EMPTY, LOWEST, claim_slot_in_team, team_winner


@kernel
def add_in_team(row, offsets, keys_to_add, row_begin, keys, sums):
    """The lanes of a team compete for the slots of their row."""
    begin = int64(row_begin[row])
    end = int64(row_begin[row + 1])
    for slot in range(begin + lane(), end, team_size()):
        keys[slot] = int32(EMPTY)
        sums[slot] = 0
    team_sync()
    for i in range(offsets[row] + lane(), offsets[row + 1], team_size()):
        slot = claim_slot_in_team(keys, begin, end, keys_to_add[i])
        team_atomic_add(sums, slot, 1)


@kernel
def pick(row, offsets, scores, hashes, winners):
    """winners[row] = position of the largest (score, hash) of the row."""
    best = int64(-1)
    best_hash = int64(LOWEST)
    candidate = int32(-1)
    for i in range(offsets[row] + lane(), offsets[row + 1], team_size()):
        if scores[i] > best or (scores[i] == best and hashes[i] > best_hash):
            best = int64(scores[i])
            best_hash = int64(hashes[i])
            candidate = int32(i)
    candidate = team_winner(best == team_max(best), best_hash, candidate)
    if lane() == 0:
        winners[row] = candidate


def drawn_rows(seed):
    """Rows of which each has exactly as many slots as different keys: no room to spare."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.integers(0, 300, 30_000)).astype(np.int32)
    keys = (rng.integers(0, 2**31, 40)[rng.integers(0, 40, len(rows))]).astype(np.int32)
    expected: list[dict[int, int]] = [{} for _ in range(300)]
    for row, key in zip(rows.tolist(), keys.tolist(), strict=True):
        expected[row][key] = expected[row].get(key, 0) + 1
    begin = np.concatenate([[0], np.cumsum([len(row) for row in expected])]).astype(np.int32)
    return rows, keys, begin, expected


def contents(begin, keys, sums):
    """Each row as a dictionary; a key with two slots shows as one entry too few."""
    return [dict(zip(keys[a:b].tolist(), sums[a:b].tolist(), strict=True))
            for a, b in itertools.pairwise(begin)]


@pytest.mark.parametrize("team", [1, 8, 32, 256])
def test_lanes_that_compete_give_each_key_one_slot(space, team):
    rows, added, begin, expected = drawn_rows(7)
    offsets = np.searchsorted(rows, np.arange(301)).astype(np.int32)
    keys = space.empty(int(begin[-1]), np.int32)
    sums = space.empty(int(begin[-1]), np.int64)
    given = [space.asarray(a) for a in (offsets, added, begin)]
    space.parallel_for(300, add_in_team, *given, keys, sums, team=team)
    assert contents(begin, space.to_host(keys), space.to_host(sums)) == expected


@pytest.mark.parametrize("team", [1, 8, 32, 256])
def test_the_winner_of_a_team_has_the_largest_score_then_hash(space, team):
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 600, 50)
    lengths[:3] = 0
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    scores = rng.integers(0, 4, offsets[-1])
    hashes = rng.permutation(offsets[-1]) - offsets[-1] // 2
    winners = space.empty(50, np.int32)
    space.parallel_for(50, pick, *map(space.asarray, (offsets, scores, hashes)), winners,
                       team=team)
    expected = [max(range(a, b), key=lambda i: (scores[i], hashes[i]), default=-1)
                for a, b in itertools.pairwise(offsets)]
    assert space.to_host(winners).tolist() == expected
