"""Partitions in place of old ones where bounds are hard to keep, or sizes alone decide."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.final_balance import overload
from portpart.algorithms.multilevel import walk
from portpart.algorithms.refinement.refiner import Refiner
from portpart.api import request
from portpart.api.bounds import bounds_for
from portpart.api.repartition_call import MAX_HARD_PASSES
from portpart.graphs.graph import Graph
from tests.api.test_repartition import assert_result_is_true, repartitioned


def random_edges(n: int, seed: int) -> Graph:
    pairs = np.random.default_rng(seed).integers(0, n, (2 * n, 2))
    return portpart.from_edges(pairs[pairs[:, 0] != pairs[:, 1]], num_vertices=n)


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """The arguments of each call of a function from now on."""
    function, calls = getattr(owner, name), []

    def counting(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return function(*args, **options)

    monkeypatch.setattr(owner, name, counting)
    return calls


def test_no_block_is_empty_however_heavy_some_vertices_are() -> None:
    graph = portpart.from_edges([[1, 6], [0, 4], [1, 3], [1, 2]], num_vertices=8)
    result = repartitioned(graph, [7, 1, -1, 6, -1, -1, 5, 3], 7, imbalance=0.5, migration=2.5,
                           vertex_weights=[50, 1, 3, 50, 2, 0, 1, 1])
    assert result.block_weights.min() > 0


@pytest.mark.parametrize(("weights", "start", "edges"), [
    ([3, 2, 9], [2, 2, 1], [[0, 1], [1, 2]]),
    ([2, 1, 50], [0, 0, 1], [[0, 1]]),
    ([50, 2, 9], [2, 0, 0], [[1, 2], [0, 1]]),
])
def test_a_start_with_an_empty_block_is_not_kept_beside_a_heavy_vertex(
        weights: list[int], start: list[int], edges: list[list[int]]) -> None:
    with pytest.warns(UserWarning, match="heavy|weighs"):
        result = portpart.partition(portpart.from_edges(edges, num_vertices=3), 3, initial=start,
                                    vertex_weights=weights, imbalance=0.03)
    assert sorted(result.block_weights) == sorted(weights)


def test_no_search_for_a_packing_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that no partition keeps, over and over in the search for a price."""
    n, k = 40, 5
    weights = np.where(np.random.default_rng(5).random(n) < 0.4, 2**40, 1)
    graph, old = random_edges(n, 5), np.arange(n) * k // n
    asked = counted(monkeypatch, overload, "packed_within")
    result = repartitioned(graph, old, k, vertex_weights=weights, imbalance=0.001,
                           max_migration=0)
    assert not result.feasible
    assert asked
    assert len(asked) == len({(tuple(weights), tuple(rooms)) for weights, rooms in asked})


@pytest.mark.parametrize("price", [0, 1])
@pytest.mark.parametrize("heavy", [0.3, 0.6])
def test_few_partitions_are_made_where_weights_are_hard_to_pack(
    heavy: float, price: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two a block that fill it nearly, and light ones: nobody can stay, whatever moving costs."""
    n, k = 200, 5
    weights = np.ones(n, np.int64)
    weights[::n // (2 * k)] = [int(heavy * 400), int((0.9 - heavy) * 400)] * k
    graph, old = random_edges(n, 3), np.random.default_rng(4).integers(0, k, n)
    made = counted(monkeypatch, request.Request, "partition")
    result = repartitioned(graph, old, k, vertex_weights=weights, imbalance=0.01,
                           migration=price, max_migration=0)
    assert result.migration > 0
    assert len(made) <= 2 + MAX_HARD_PASSES  # a new one, from the old, and these


def test_passes_are_brief_where_weights_are_hard_to_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    """From another partition than the old blocks few vertices may merge: levels would be many."""
    n, k = 3000, 8
    rng = np.random.default_rng(0)
    weights = np.ones(n, np.int64)
    weights[rng.permutation(n)[: 3 * k]] = rng.integers(n // 5, n // 2, 3 * k)
    graph, old = random_edges(n, 6), rng.integers(0, k, n)
    walks: list[tuple[bool, list[int], int]] = []
    upwards, refine, asked = walk.refine_upwards, Refiner.refine, [0]

    def counting(self: Refiner, *given: Any, **options: Any) -> Any:
        asked[0] += 1
        return refine(self, *given, **options)

    def watching(problem: Any, recipe: Any, refiner: Any, levels: Any, *others: Any) -> Any:
        asked[0], sizes = 0, [level.graph.num_vertices for level in levels]
        outcome = upwards(problem, recipe, refiner, levels, *others)
        walks.append((problem.constraints.is_brief, sizes, asked[0]))
        return outcome

    monkeypatch.setattr(Refiner, "refine", counting)
    monkeypatch.setattr(walk, "refine_upwards", watching)
    result = repartitioned(graph, old, k, vertex_weights=weights, imbalance=0.01, max_migration=0)
    assert result.feasible
    brief = [(sizes, count) for is_brief, sizes, count in walks if is_brief]
    others = [(sizes, count) for is_brief, sizes, count in walks if not is_brief]
    assert brief
    assert all(count > len(sizes) for sizes, count in others)
    for sizes, count in brief:
        assert count == len(sizes)
        assert all(4 * coarse <= 3 * fine for fine, coarse in pairwise(sizes))


@pytest.mark.parametrize(("imbalance", "target", "share"), [
    ("0.08", None, 0), ("0.2", [1, 2, 3, 4], 0), ("0.5", None, 0.92)])
def test_weights_that_are_not_hard_to_pack_fit_in_any_order(imbalance: str, target: Any,
                                                            share: float) -> None:
    """Each goes to the block with most room."""
    easy = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, rng.integers(3, 40), 100)
        graph = portpart.from_edges([], num_vertices=100, vertex_weights=weights)
        least = int(share * weights.sum() / 4)
        bounds = bounds_for(graph, 4, imbalance, target, None, least)
        easy.append(not bounds.may_be_missed(graph))
        loads = np.zeros(4, np.int64)
        for weight in weights:
            loads[np.argmax(bounds.limits - loads)] += weight
        assert not easy[-1] or (loads <= bounds.limits).all()
        assert not easy[-1] or loads.min() >= least
    assert set(easy) == {False, True}


def test_a_highest_price_is_one_that_no_sum_passes() -> None:
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    graph = portpart.from_edges(edges, edge_weights=[2**57, 3, 2**58], num_vertices=4)
    old, sizes = np.array([0, 0, 1, 1]), np.array([7, 1, 1, 1])
    result = repartitioned(graph, old, 2, vertex_weights=[5, 1, 3, 6], imbalance=0,
                           vertex_sizes=sizes, max_migration=0)
    assert_result_is_true(graph, result, old, 2, result.price, sizes)


@pytest.mark.parametrize("price", [0, 1])
def test_the_search_for_a_price_ends_when_time_is_over(price: int,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    graph, old = random_edges(60, 2), np.arange(60) * 3 % 4
    made = counted(monkeypatch, request.Request, "partition")
    result = repartitioned(graph, old, 4, migration=price, max_migration=0, time_limit=0)
    assert len(made) <= 2
    assert result.feasible
    if price:
        assert result.migration == 0
    assert result.moved == (np.asarray(result.part) != old).sum()


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_vertices_move_where_sizes_alone_decide(seed: int) -> None:
    """Nothing is joined to anything, and blocks must give three vertices and two."""
    sizes = np.random.default_rng(seed).permutation(24) + 1
    old = np.repeat([0, 1, 2], [11, 10, 3])
    graph = portpart.from_edges([], num_vertices=24)
    result = portpart.repartition(graph, old, 3, vertex_sizes=sizes, imbalance=0, migration=1)
    least = np.sort(sizes[old == 0])[:3].sum() + np.sort(sizes[old == 1])[:2].sum()
    assert result.feasible
    assert_result_is_true(graph, result, old, 3, 1, sizes)
    assert result.migration == least


def test_vertices_that_are_not_fixed_stay_at_home_where_moving_is_dear() -> None:
    graph, old = random_edges(60, 2), np.arange(60) * 3 % 4
    fixed = np.where(np.arange(60) < 6, old, -1)
    result = repartitioned(graph, old, 4, migration=1000, fixed=fixed)
    assert result.feasible
    assert result.moved == 0
