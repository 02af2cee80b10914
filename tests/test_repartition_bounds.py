"""Partitions in place of old ones where bounds are hard to keep, or sizes alone decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.balance import exchange, last_resort, overload
from portpart.api import call, repartition
from portpart.graphs.graph import Graph
from tests.test_repartition import assert_result_is_true, repartitioned


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


def test_the_search_for_a_price_ends_early_where_bounds_are_hard_to_keep(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exchanges give up at a hundredth of what they usually may do; so does the search."""
    monkeypatch.setattr(exchange, "MAX_WORK", 10**5)
    monkeypatch.setattr(repartition, "MAX_PACKING_WORK", 10**6, raising=False)
    n, k = 120, 6
    weights = np.random.default_rng(3).integers(1, 10**6, n)
    graph, old = random_edges(n, 3), np.random.default_rng(4).integers(0, k, n)
    tried = counted(monkeypatch, last_resort, "exchanged")
    with pytest.warns(UserWarning, match="imbalance"):
        portpart.partition(graph, k, vertex_weights=weights, imbalance=0)
    once = len(tried)
    tried.clear()
    repartitioned(graph, old, k, vertex_weights=weights, imbalance=0, max_migration=0)
    assert 0 < len(tried) <= 10 * once


@pytest.mark.parametrize("price", [0, 1])
def test_the_search_for_a_price_ends_when_time_is_over(price: int,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    graph, old = random_edges(60, 2), np.arange(60) * 3 % 4
    made = counted(monkeypatch, call.Call, "partition")
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
