"""Rebalancing until blocks are balanced: those that were too heavy take nobody meanwhile."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay
from tests import oracles
from tests.algorithms.refinement.test_refinement import lopsided_part
from tests.helpers.refining import balance_of, copied, refiner_at
from tests.helpers.spaces import GRAPHS

MESH = delaunay(2000)
LARGE = {**{name: GRAPHS[name] for name in ("medium", "skewed")}, "mesh": MESH}
UNTIL = {"until_balanced": True, "weak_limit": 10**9}


def after(space: ExecutionSpace, name: str, k: int, iterations: int, **options: Any
          ) -> tuple[np.ndarray, int]:
    """The partition after so many iterations, and how many count as without progress."""
    graph = LARGE[name]
    start = lopsided_part(graph, k, seed=3)
    refiner, here = refiner_at(space, graph, start, k, iteration_limit=iterations,
                               **{**UNTIL, **options})
    refiner.refine(here, 0.25)
    return copied(refiner.run.moves.part), int(refiner.level.stalled)


@pytest.mark.parametrize("k", [3, 16, 60])
@pytest.mark.parametrize("name", LARGE)
def test_a_block_that_was_too_heavy_takes_nobody_until_all_are_balanced(
    space: ExecutionSpace, name: str, k: int
) -> None:
    graph = LARGE[name]
    limit = balance_of(graph, k).max_block_weight
    part, was_heavy, rebalancings = lopsided_part(graph, k, seed=3), np.zeros(k, bool), 0
    for iterations in range(1, 12):
        weights = np.array(oracles.block_weights(graph, part, k))
        was_heavy |= weights > limit
        if weights.max() <= limit:
            break
        reached, _ = after(space, name, k, iterations)
        moved = reached != part
        assert moved.any()
        assert (weights[part[moved]] > limit).all()
        open_ones = np.flatnonzero(~was_heavy & (weights < balance_of(graph, k).open_below))
        if len(open_ones):
            assert not was_heavy[reached[moved]].any()
        part, rebalancings = reached, rebalancings + 1
    assert rebalancings >= 1


@pytest.mark.parametrize("name", LARGE)
def test_iterations_on_the_way_to_balance_do_not_count(space: ExecutionSpace, name: str) -> None:
    """A pass that would end there goes on."""
    limit = balance_of(LARGE[name], 16).max_block_weight
    part, stalled = after(space, name, 16, 1)
    assert np.array(oracles.block_weights(LARGE[name], part, 16)).max() > limit
    assert stalled == 0
    part, _ = after(space, name, 16, 1000, stall_limit=1)
    assert np.array(oracles.block_weights(LARGE[name], part, 16)).max() <= limit


@pytest.mark.parametrize("weak_limit", [0, 1])
def test_strong_rebalancing_counts_again(space: ExecutionSpace, weak_limit: int) -> None:
    """Else a pass whose blocks cannot be balanced would go on to the limit of iterations."""
    graph, k = GRAPHS["skewed"], 8
    weights = np.where(np.arange(graph.num_vertices) < 4, 10**6, 1)
    heavy = portpart.as_graph((graph.offsets, graph.targets), vertex_weights=weights)
    refiner, here = refiner_at(space, heavy, np.arange(graph.num_vertices) % 3, k, stall_limit=4,
                               until_balanced=True, weak_limit=weak_limit)
    refiner.refine(here, 0.25)
    assert refiner.level.iteration >= 4
    assert refiner.level.best_is_balanced == 0
    assert refiner.level.iteration < 20


def test_few_move_at_a_time_where_all_at_once_were_too_many(space: ExecutionSpace) -> None:
    """From blocks drawn at random a third of all vertices move, to those of hubs."""
    graph, k = GRAPHS["skewed"], 32
    start = np.random.default_rng(5).integers(0, k, graph.num_vertices)
    balance, total = balance_of(graph, k, "0.3"), graph.total_vertex_weight

    def surplus(part: np.ndarray) -> int:
        weights = np.array(oracles.block_weights(graph, part, k))
        return int(np.maximum(weights - balance.max_block_weight, 0).sum())

    first, later, parts = 0, [], [start]
    for iterations in range(1, 16):
        refiner, here = refiner_at(space, graph, start, k, "0.3", iteration_limit=iterations,
                                   **{**UNTIL, "stall_limit": 100})
        refiner.refine(here, 0.75)
        parts.append(copied(refiner.run.moves.part))
    for before, after_it in pairwise(parts):
        moves = int((before != after_it).sum())
        if surplus(before) == 0 and first > 0:
            later.append(moves)
        elif surplus(before) == 0 and surplus(after_it) > total // 8:
            first = moves
    assert first > graph.num_vertices // 3
    assert later
    assert max(later) < 0.4 * first
