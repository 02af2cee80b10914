"""The best candidate: for each row one of those that a plain loop finds, the same everywhere."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from portpart.algorithms.coarsening.proposals import (
    Choice,
    Proposals,
    any_candidate,
    best_candidate,
    keep_best_score,
)
from portpart.backends.language import (
    DeviceFunction,
    Record,
    Word,
    device,
    float64,
    int32,
    int64,
    kernel,
    lane,
    team_max,
)
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.spaces import reference

NO_VERTEX = -1


class Rows(Record):
    """Who stands at the places of each row."""

    begin: Any
    end: Any
    standing: Any


class Scored(Proposals):
    """What candidates are worth, and the score of the best."""

    scores: Any
    best: Any


@device
def standing(place, rows: Rows, search: Scored):
    """Who stands at a place."""
    return rows.standing[place]


@device
def score(place, c, v, rows: Rows, search: Scored):
    """The score of a place."""
    return search.scores[place]


@device
def is_somebody(v, c, own, room, rows: Rows, search: Scored):
    """Whether anybody stands there."""
    return c != NO_VERTEX


@device
def is_even(v, c, own, room, rows: Rows, search: Scored):
    """Whether a candidate is even."""
    return c % 2 == 0


@device
def keep_score(v, best, best_score, search: Scored):
    """The best and its score."""
    top = team_max(best_score)
    if lane() == 0:
        search.best[v] = top
    keep_best_score(v, best, best_score, search)


def finder(admits: DeviceFunction, keep: DeviceFunction, score_type: Word) -> Any:
    """A kernel that looks for the best candidate of a row, which prefers candidate 4."""
    return find_best.bound(by=Choice(standing, is_somebody, score, keep, score_type, admits))


@kernel
def find_best(v, rows: Rows, search: Scored, by: Choice):
    """Find the best candidate of row v."""
    best_candidate(v, int32(4), int64(0), rows.begin[v], rows.end[v], rows, search, by)


def drawn_rows(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets, candidates (nobody at some places) and scores, many of them equal."""
    random = np.random.default_rng(seed)
    lengths = [*20 * [0], *random.integers(0, 9, 400), *random.integers(40, 300, 9)]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    standing = random.integers(-1, 40, offsets[-1]).astype(np.int32)
    return offsets, standing, random.integers(-3, 4, offsets[-1])


def found(space: ExecutionSpace, rows: Any, kernel: Any, scores: np.ndarray,
          team: int = 1, seed: int = 7) -> tuple[list[int], list[int]]:
    """The best candidate and its score for each row."""
    offsets, standing = space.asarray(rows[0]), space.asarray(rows[1])
    n = len(rows[0]) - 1
    proposal, best = space.full(n, -9, np.int32), space.zeros(n, scores.dtype)
    search = Scored(seed=seed, max_weight=0, label=None, proposal=proposal,
                    scores=space.asarray(scores), best=best)
    space.parallel_for(n, kernel, Rows(offsets[:-1], offsets[1:], standing), search, team=team)
    return oracles.host(proposal).tolist(), oracles.host(best).tolist()


def plain_best(rows: Any, scores: np.ndarray, even: bool) -> list[tuple[float, set[int]]]:
    """For each row the best score and all candidates that have it."""
    result = []
    for begin, end in pairwise(rows[0]):
        pairs = [(s, c) for s, c in zip(scores[begin:end].tolist(), rows[1][begin:end].tolist())
                 if c != NO_VERTEX and not (even and c % 2)]
        top = max((s for s, _ in pairs), default=-np.inf)
        result.append((top, {c for s, c in pairs if s == top}))
    return result


@looped("team", [1, 8, 32, 256])
@looped("even", [False, True])
@looped(("score_type", "dtype"), [(int64, np.int64), (float64, np.float64)])
def test_the_best_is_one_of_those_of_the_best_score(
    space: ExecutionSpace, team: int, even: bool, score_type: Word, dtype: type
) -> None:
    rows = drawn_rows(team)
    scores = rows[2].astype(dtype) / 4 if dtype is np.float64 else rows[2]
    kernel = finder(is_even if even else any_candidate, keep_score, score_type)
    proposal, best = found(space, rows, kernel, scores, team)
    ties = 0
    for v, (top, candidates) in enumerate(plain_best(rows, scores, even)):
        assert proposal[v] in (candidates or {NO_VERTEX})
        assert not candidates or best[v] == top
        assert 4 not in candidates or proposal[v] == 4, "the own one comes first"
        ties += len(candidates) > 1
    assert ties > 50
    assert (proposal, best) == found(reference(), rows, kernel, scores)


@pytest.mark.parametrize("lanes", [2, 5])
def test_neither_lanes_nor_the_order_of_places_decide(lanes: int) -> None:
    offsets, standing, scores = drawn_rows(1)
    kernel = finder(any_candidate, keep_best_score, int64)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(offsets)])
    turned = offsets, standing[order], scores[order]
    proposal, _ = found(reference(), (offsets, standing), kernel, scores)
    assert proposal == found(reference(), turned, kernel, turned[2])[0]
    assert proposal == found(LanesSpace(lanes), (offsets, standing), kernel, scores)[0]


def murmur(value: int) -> int:
    """Murmur3's 64-bit finaliser, as an unsigned number."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 1):
        value = (value ^ value >> 33) * factor % 2**64
    return value


def signed(value: int) -> int:
    """The 64 bits of a number as a signed one."""
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_the_hash_of_the_pair_decides_between_equals(space: ExecutionSpace, seed: int) -> None:
    standing = np.array([9, 3, 17, 30, 12], np.int32)
    rows = np.array([0, 5]), standing
    kernel = finder(any_candidate, keep_best_score, int64)
    proposal, _ = found(space, rows, kernel, np.zeros(5, np.int64), seed=seed)
    assert proposal == [max(standing.tolist(),
                            key=lambda c: signed(murmur(c << 32 ^ murmur(seed))))]
