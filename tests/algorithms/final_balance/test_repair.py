"""The last word on balance finds a packing where greedy packing is exact, and changes little."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from portpart.algorithms.final_balance.overload import attainable, repaired
from portpart.algorithms.final_balance.packing import packed_within
from portpart.algorithms.objectives.limits import Balance
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers.graphs import raw_graph


def repair(space: ExecutionSpace, weights: Any, part: Any, k: int,
           limit: int) -> tuple[np.ndarray, list[int]]:
    graph = raw_graph(len(weights), [], vertex_weights=weights).graph().to(space)
    balance = Balance(k, limit, sum(weights) // k)
    result, blocks = repaired(graph, space.asarray(np.array(part, np.int32)), balance)
    result = oracles.host(result)
    assert blocks.tolist() == oracles.block_weights(graph, result, k)
    return result, blocks.tolist()


def test_a_balanced_partition_is_returned_as_it_is(space: ExecutionSpace) -> None:
    part, blocks = repair(space, [3, 2, 2, 3], [1, 1, 0, 0], 2, 5)
    assert part.tolist() == [1, 1, 0, 0]
    assert blocks == [5, 5]


def test_one_move_is_enough(space: ExecutionSpace) -> None:
    part, _ = repair(space, [5, 1, 1, 4], [0, 0, 0, 1], 2, 6)
    assert (part != [0, 0, 0, 1]).sum() == 1


def test_exact_packing_heaviest_first(space: ExecutionSpace) -> None:
    """Only 8 + 2 and 5 + 5 fit, which no single move reaches."""
    _, blocks = repair(space, [8, 5, 5, 2], [0, 0, 1, 1], 2, 10)
    assert blocks == [10, 10]


def test_an_impossible_limit_still_improves(space: ExecutionSpace) -> None:
    part, blocks = repair(space, [9, 1, 1, 1], [0, 0, 0, 0], 2, 6)
    assert sorted(blocks) == [3, 9]
    assert len(set(part[1:].tolist())) == 1


def test_a_vertex_too_heavy_for_any_block_is_left_alone_in_its_own(space: ExecutionSpace) -> None:
    """Then its block is as light as can be: nothing else moves, but for other blocks' sake."""
    part, blocks = repair(space, [9, 2, 3, 1, 5], [0, 1, 1, 1, 2], 3, 6)
    assert part.tolist() == [0, 1, 1, 1, 2]
    assert blocks == [9, 6, 5]
    part, blocks = repair(space, [9, 2, 3, 2, 1], [0, 1, 1, 1, 2], 3, 6)
    assert blocks == [9, 5, 3]


def test_a_limit_that_a_vertex_cannot_keep_is_its_weight_in_its_block() -> None:
    weights, part = np.array([9, 2, 12, 7, 5, 7]), np.array([1, 0, 1, 2, 0, 2])
    balance = Balance(4, 6, 5)
    assert attainable(balance, part, weights).limits.tolist() == [6, 12, 7, 6]
    assert balance.limits.tolist() == [6] * 4
    assert attainable(balance, part, np.minimum(weights, 6)) is balance


def test_empty_blocks_take_what_is_too_much(space: ExecutionSpace) -> None:
    _, blocks = repair(space, [1] * 12, [0] * 12, 6, 2)
    assert blocks == [2] * 6


def greedy_fits(weights: list[int], k: int, limit: int) -> bool:
    """Whether weights of which each divides the next fit: then greedy packing is exact."""
    blocks = [0] * k
    for weight in sorted(weights, reverse=True):
        place = min(range(k), key=lambda b: blocks[b])
        blocks[place] += weight
    return max(blocks) <= limit


@given(exponents=st.lists(st.integers(0, 5), min_size=1, max_size=24), k=st.integers(1, 5),
       slack=st.integers(0, 8), seed=st.integers(0, 999))
@settings(max_examples=150)
def test_divisible_weights_are_packed_whenever_they_fit(
    space: ExecutionSpace, exponents: list[int], k: int, slack: int, seed: int
) -> None:
    weights = [2**e for e in exponents]
    limit = -(-sum(weights) // k) + slack
    start = np.random.default_rng(seed).integers(0, k, len(weights))
    before = max(np.bincount(start, weights, minlength=k))
    _, blocks = repair(space, weights, start, k, limit)
    assert (max(blocks) <= limit) == (greedy_fits(weights, k, limit) or before <= limit)
    assert max(blocks) <= before


@given(weights=st.lists(st.integers(0, 9), max_size=20), k=st.integers(1, 4),
       slack=st.integers(0, 3), seed=st.integers(0, 999))
def test_no_block_ends_heavier_than_the_heaviest_was(
    space: ExecutionSpace, weights: list[int], k: int, slack: int, seed: int
) -> None:
    limit = -(-sum(weights) // k) + slack
    start = np.random.default_rng(seed).integers(0, k, len(weights))
    before = max(np.bincount(start, weights, minlength=k))
    _, blocks = repair(space, weights, start, k, limit)
    assert max(blocks) <= max(before, limit)


def test_a_search_packs_what_greedy_packing_cannot(space: ExecutionSpace) -> None:
    _, blocks = repair(space, [336, 508, 365, 594, 378, 0], [0, 0, 0, 0, 1, 1], 2, 1102)
    assert sorted(blocks) == [1079, 1102]


def fits(weights: list[int], room: list[int]) -> bool:
    """Whether the weights fit, by trying every block for every weight."""
    if not weights:
        return True
    first, *rest = weights
    return any(
        fits(rest, [*room[:b], room[b] - first, *room[b + 1:]])
        for b in range(len(room)) if room[b] >= first and room[b] not in room[:b]
    )


@given(weights=st.lists(st.integers(1, 40), max_size=9), k=st.integers(1, 4),
       limit=st.integers(0, 90))
@settings(max_examples=200)
def test_the_search_finds_a_packing_exactly_if_there_is_one(
    weights: list[int], k: int, limit: int
) -> None:
    weights = sorted(weights, reverse=True)
    found = packed_within(weights, [limit] * k)
    assert (found is not None) == fits(weights, [limit] * k)
    if found is not None:
        assert max(np.bincount(found, weights, minlength=k), default=0) <= limit


def test_the_search_gives_up_in_time() -> None:
    weights = sorted((np.random.default_rng(0).integers(500, 1000, 400) * 2 + 1).tolist())[::-1]
    limit = -(-sum(weights) // 50)
    assert packed_within(weights, [limit] * 50, max_steps=1000) is None


def test_the_search_takes_thousands_of_weights() -> None:
    blocks = packed_within([3] * 9000 + [1] * 9000, [36] * 1000)
    assert blocks is not None
    assert len(blocks) == 18_000
