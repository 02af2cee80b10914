"""Weak and strong rebalancing, each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from portpart.algorithms.objectives.limits import Balance
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay
from portpart.graphs.graph import Graph
from tests import oracles
from tests.algorithms.refinement.test_refinement import lopsided_part
from tests.helpers.each import looped
from tests.helpers.graphs import raw_graph
from tests.helpers.refining import balance_of, copied, counted_rows, refiner_at
from tests.helpers.spaces import GRAPHS

MESH = delaunay(3000)
WEAK = {"weak_limit": 10**9}
STRONG = {"weak_limit": 0}
LARGE = {**{name: GRAPHS[name] for name in ("sparse", "medium", "dense", "skewed")},
         "mesh": MESH}


def once(space: ExecutionSpace, graph: Graph, start: np.ndarray, k: int,
         kind: dict[str, Any]) -> np.ndarray:
    """The partition after one rebalancing, whether it is better or not."""
    refiner, here = refiner_at(space, graph, start, k, iteration_limit=1, **kind)
    refiner.refine(here, 0.25)
    return copied(refiner.run.moves.part)


def lopsided_weights(graph: Graph, k: int) -> tuple[np.ndarray, np.ndarray, Balance]:
    start = lopsided_part(graph, k, seed=3)
    before = np.array(oracles.block_weights(graph, start, k))
    balance = balance_of(graph, k)
    assert before.max() > balance.max_block_weight
    return start, before, balance


@looped("kind", [WEAK, STRONG])
@looped("k", [2, 16, 100])
@looped("name", LARGE)
def test_vertices_leave_heavy_blocks_for_blocks_with_room(
    space: ExecutionSpace, name: str, k: int, kind: dict[str, Any]
) -> None:
    graph = LARGE[name]
    start, before, balance = lopsided_weights(graph, k)
    part = once(space, graph, start, k, kind)
    moved = part != start
    assert moved.any()
    assert (before[start[moved]] > balance.max_block_weight).all()
    assert (before[part[moved]] < balance.open_below[part[moved]]).all()
    assert (np.array(oracles.vertex_weights(graph))[moved] > 0).all()


@looped("k", [2, 16, 100])
@looped("name", LARGE)
def test_weak_rebalancing_relieves_heavy_blocks_from_their_boundary(
    space: ExecutionSpace, name: str, k: int
) -> None:
    graph = LARGE[name]
    start, before, balance = lopsided_weights(graph, k)
    part = once(space, graph, start, k, WEAK)
    after = np.array(oracles.block_weights(graph, part, k))
    rows = counted_rows(graph, start)
    on_boundary = np.array([bool(set(row) - {block}) for row, block in zip(rows, start.tolist())])
    degrees = np.diff(graph.offsets)
    slight = before - balance.mean_block_weight <= balance.max_block_weight // 8
    cheap = on_boundary | (2 * degrees <= int(graph.mean_degree)) | ~slight[start]
    assert cheap[part != start].all()
    if graph.vertex_weights is not None:
        return
    boundary = np.bincount(start[on_boundary], minlength=k)
    for b in np.flatnonzero(before > balance.max_block_weight):
        overload = before[b] - balance.max_block_weight
        assert before[b] - after[b] >= min(overload, boundary[b])


@looped("k", [2, 16, 100])
@looped("name", LARGE)
def test_strong_rebalancing_overfills_no_block_by_more_than_a_vertex(
    space: ExecutionSpace, name: str, k: int
) -> None:
    graph = LARGE[name]
    start, before, balance = lopsided_weights(graph, k)
    after = np.array(oracles.block_weights(graph, once(space, graph, start, k, STRONG), k))
    light = before < balance.open_below
    heaviest_vertex = max(oracles.vertex_weights(graph))
    assert (after[light] < balance.open_below[light] + heaviest_vertex).all()
    assert (after[~light] <= before[~light]).all()
    assert after.max() < before.max()


@pytest.mark.parametrize("name", ["sparse", "dense", "skewed", "mesh"])
def test_strong_rebalancing_alone_balances_unit_weights(space: ExecutionSpace, name: str) -> None:
    graph = LARGE[name]
    for k in (2, 16, 100):
        for start in (lopsided_part(graph, k), np.zeros(graph.num_vertices, np.int32)):
            refiner, here = refiner_at(space, graph, start, k, imbalance="0", iteration_limit=8,
                                       **STRONG)
            assert refiner.refine(here, 0.25)["balanced"], k


def test_weak_rebalancing_prefers_the_best_connected_block(space: ExecutionSpace) -> None:
    """Vertex 0 hangs on block 1 by 5 and on block 2 by 1; all of the rest of block 0 is tied."""
    clique = [(i, j) for i in range(1, 8) for j in range(1, i)]
    edges = [*clique, (0, 8), (0, 11), (8, 9), (9, 10), (11, 12), (12, 13)]
    weights = [9] * len(clique) + [5, 1, 3, 3, 3, 3]
    graph = raw_graph(14, edges, weights).graph()
    start = np.array([0] * 8 + [1] * 3 + [2] * 3)
    refiner, here = refiner_at(space, graph, start, 3, imbalance="0.4", iteration_limit=1, **WEAK)
    assert refiner.balance.max_block_weight == 7
    refiner.refine(here, 0.25)
    part = copied(refiner.run.moves.part)
    assert part[0] == 1
    assert np.array_equal(part[1:], start[1:])


@pytest.mark.parametrize("kind", [WEAK, STRONG], ids=["weak", "strong"])
def test_a_vertex_much_heavier_than_the_overload_stays(
    space: ExecutionSpace, kind: dict[str, Any]
) -> None:
    """Vertex 0 weighs 38, the overload is 7: no rebalancing may throw it around."""
    graph = raw_graph(40, [(0, i) for i in range(1, 40)],
                      vertex_weights=[38] + [1] * 39).graph()
    start = np.zeros(40, np.int32)
    start[10:] = 1
    part = once(space, graph, start, 2, kind)
    assert part[0] == 0
    if kind is STRONG:
        assert oracles.block_weights(graph, part, 2)[0] <= balance_of(graph, 2).max_block_weight


@given(st.integers(1, 2**40), st.integers(1, 2**10), st.integers(0, 2**41))
def test_the_dead_zone_lies_between_mean_and_limit(total: int, k: int, limit: int) -> None:
    limit = max(limit, -(-total // k))
    balance = Balance(k, limit, total // k)
    below = int(balance.open_below[0])
    assert (balance.open_below == below).all()
    assert below <= limit
    assert below >= limit - 100
    # a block of mean weight can take a vertex, or there is no room at all
    assert below > total // k or limit == total // k
    assert k * below >= total


@pytest.mark.parametrize(("limit", "mean", "below"), [
    (1_000_000, 900_000, 999_900), (10_000, 9_000, 9_900), (2_000, 1_900, 1_980),
    (99, 90, 99), (1_000_000, 999_950, 999_951), (10_000, 10_000, 10_000)])
def test_the_dead_zone_is_that_of_the_papers(limit: int, mean: int, below: int) -> None:
    """100 below the limit, or a hundredth where that is less, but a mean block takes a vertex."""
    assert Balance(3, limit, mean).open_below.tolist() == [below] * 3
    limits, means = np.array([limit, 5 * 10**9]), np.array([mean, 10**9])
    uneven = Balance(2, int(limits.max()), int(means.max()), limits, means)
    assert uneven.open_below.tolist() == [below, 5 * 10**9 - 100]


@pytest.mark.parametrize(("leave_by", "sub_buckets"), [("weight", 16), ("loss", 128),
                                                       ("code", 128)])
def test_sub_buckets_of_a_coarse_level_are_those_that_the_rule_asks_for(
    space: ExecutionSpace, leave_by: str, sub_buckets: int
) -> None:
    """About one for 8 vertices of a block: 16 for 500 vertices of 2 blocks, 128 for 3,000."""
    options: dict[str, Any] = {"leave_by": leave_by, "iteration_limit": 1}
    refiner, fine = refiner_at(space, MESH, np.arange(3000) % 2, 2, **options)
    refiner.refine(fine, 0.25)
    assert refiner.run.rebalancing.sub_buckets == 128
    coarse = delaunay(500).to(space)
    refiner.start(coarse, space.asarray(np.arange(500) % 2, np.int32))
    refiner.refine(coarse, 0.25)
    assert refiner.run.rebalancing.sub_buckets == sub_buckets
