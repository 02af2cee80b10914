"""Blocks that differ and vertices that are fixed, piece by piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.hierarchy import coarsen
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.final_balance.finish import filled
from portpart.algorithms.final_balance.overload import repaired
from portpart.algorithms.final_balance.packing import packed_within
from portpart.algorithms.initial.fixed_vertices import (
    MAX_ASSIGNED,
    grown_partition,
    start_partition,
)
from portpart.algorithms.multilevel.problem import Constraints
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d
from portpart.graphs.graph import Graph
from tests import oracles
from tests.algorithms.final_balance.test_repair import fits
from tests.helpers.graphs import partitioned_graphs, raw_graph
from tests.helpers.spaces import GRAPHS, NO_LIMIT, heavy_edge_mates, reference

MESH = delaunay(2000)


def uneven(limits: Any) -> Balance:
    limits = np.array(limits, np.int64)
    return Balance(len(limits), int(limits.max()), int(limits.max()), limits,
                   np.maximum(limits - limits // 30 - 1, 0))


@pytest.mark.parametrize("name", ["medium", "skewed", "sparse"])
def test_only_vertices_of_equal_label_are_matched(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    label = np.random.default_rng(0).integers(-3, 3, graph.num_vertices).astype(np.int32)

    def matched(where: ExecutionSpace, labels: np.ndarray | None) -> np.ndarray:
        here = None if labels is None else where.asarray(labels)
        return heavy_edge_mates(where, graph, NO_LIMIT, 1, here)

    mate = matched(space, label)
    assert np.array_equal(mate, matched(reference(), label))
    pairs = np.flatnonzero(mate >= 0)
    assert len(pairs)
    assert (label[pairs] == label[mate[pairs]]).all()
    free = mate < 0
    assert not any(free[u] and free[v] and label[u] == label[v]
                   for u, v, _ in oracles.arcs(graph))
    assert np.array_equal(matched(space, np.full_like(label, 7)), matched(space, None))


def test_labels_tell_blocks_and_fixed_vertices_apart(space: ExecutionSpace) -> None:
    fixed, part = (space.asarray(np.array(a, np.int32)) for a in ([-1, 0, -1, 1], [0, 0, 1, 1]))
    assert Constraints().label(space, None) is None
    assert Constraints(fixed).label(space, None) is fixed
    assert Constraints().label(space, part) is part
    assert len(set(oracles.host(Constraints(fixed).label(space, part)).tolist())) == 4


def test_labels_stay_apart_on_every_level(space: ExecutionSpace) -> None:
    label = np.random.default_rng(0).integers(0, 4, 2000).astype(np.int32)

    def rule(fine: Graph, seed: int, labels: Any) -> Clusters:
        return matched_clusters(fine, 100, seed, labels)

    levels = coarsen(space, MESH.to(space), rule, stop_at=1000, max_kept=0.99, seed=1,
                     labels=(space.asarray(label),))
    assert len(levels) > 2
    cluster = np.arange(2000)
    for level in levels[:-1]:
        cluster = oracles.host(level.cluster)[cluster]
    of_cluster = np.zeros(cluster.max() + 1, int)
    of_cluster[cluster] = label
    assert np.array_equal(of_cluster[cluster], label)


@pytest.mark.parametrize("kind", [{}, {"weak_limit": 0}], ids=["weak", "strong"])
def test_refinement_keeps_limits_of_their_own_and_fixed_vertices(
    space: ExecutionSpace, kind: dict[str, int]
) -> None:
    random = np.random.default_rng(2)
    limits = [110, 220, 330, 440, 1100]
    fixed = np.where(random.random(2000) < 0.1, random.integers(0, 5, 2000), -1).astype(np.int32)
    start = np.where(fixed >= 0, fixed, 0).astype(np.int32)

    def refined(where: ExecutionSpace) -> tuple[dict[str, int], np.ndarray]:
        graph = MESH.to(where)
        refiner = Refiner(where, graph, uneven(limits), RefinementOptions(**kind), 3)
        refiner.start(graph, where.asarray(start))
        outcome = refiner.refine(graph, 0.75, where.asarray(fixed))
        return outcome, oracles.host(refiner.best).copy()

    outcome, part = refined(space)
    assert outcome["balanced"]
    weights = np.bincount(part, minlength=5)
    assert outcome["overload"] == (weights - limits).max() <= 0
    assert outcome["cut"] == oracles.cut(MESH, part)
    assert (part == fixed)[fixed >= 0].all()
    assert np.array_equal(part, refined(reference())[1])


@given(weights=st.lists(st.integers(1, 40), max_size=8),
       capacities=st.lists(st.integers(-5, 90), min_size=1, max_size=4))
@settings(max_examples=200)
def test_the_search_packs_into_rooms_that_differ(weights: list[int], capacities: list[int]) -> None:
    weights = sorted(weights, reverse=True)
    found = packed_within(weights, capacities)
    assert (found is not None) == fits(weights, capacities)
    if found:
        used = np.bincount(found, weights, minlength=len(capacities))
        assert all(u <= max(room, 0) for u, room in zip(used, capacities))


def test_repair_moves_free_vertices_only(space: ExecutionSpace) -> None:
    graph = raw_graph(6, [], vertex_weights=[5, 5, 3, 3, 1, 1]).graph().to(space)
    fixed = space.asarray(np.array([0, -1, 0, -1, -1, 1], np.int32))
    start = space.asarray(np.array([0, 0, 0, 0, 0, 1], np.int32))
    part, blocks = repaired(graph, start, uneven([8, 4, 6]), fixed)
    assert blocks.tolist() == [8, 4, 6]
    assert oracles.host(part).tolist() == [0, 2, 0, 1, 2, 1]


@given(case=partitioned_graphs(), least=st.integers(0, 3), imbalance=st.sampled_from([0, 3, 99]))
def test_filling_takes_from_none_below_the_least(
    case: tuple[Graph, np.ndarray, int], least: int, imbalance: int
) -> None:
    graph, part, k = case
    before = np.array(oracles.block_weights(graph, part, k))
    limit = int(before.max(initial=0)) + imbalance
    after_part, after = filled(graph, part.copy(), before.copy(), Balance(k, limit, limit), least)
    assert after.tolist() == oracles.block_weights(graph, after_part, k)
    assert after.max(initial=0) <= limit
    assert after.min() >= min(least, before.min())
    if before.min() >= max(1, least):
        assert np.array_equal(after_part, part)
    positive = sum(weight > 0 for weight in oracles.vertex_weights(graph))
    if least <= 1 and positive >= k:
        assert after.min() > 0


def test_all_is_packed_anew_where_single_moves_do_not_fill_every_block() -> None:
    """As 9, 7 + 3 and 9 + 2 do; single moves leave a block that weighs 5."""
    graph = raw_graph(5, [], vertex_weights=[7, 2, 9, 3, 9]).graph()
    start = np.array([2, 1, 2, 1, 2], np.int32)
    part, blocks = filled(graph, start, np.array([0, 5, 25]), Balance(3, 13, 10), 9)
    assert 9 <= blocks.min() <= blocks.max() <= 13
    assert oracles.block_weights(graph, part, 3) == blocks.tolist()


def test_an_empty_block_takes_what_costs_least() -> None:
    """Two cliques on a path: the leaf at the end of the path is the cheapest."""
    cliques = [(b + i, b + j) for b in (0, 5) for i in range(5) for j in range(i)]
    graph = raw_graph(11, [*cliques, (4, 5), (9, 10)]).graph()
    start = np.array([0] * 5 + [1] * 6, np.int32)
    part, blocks = filled(graph, start, np.array([5, 6, 0]), Balance(3, 6, 3), 0)
    assert blocks.tolist() == [5, 5, 1]
    assert part[10] == 2


@pytest.mark.parametrize("k", [4, MAX_ASSIGNED + 1])
def test_blocks_of_the_start_take_the_numbers_of_fixed_vertices(k: int) -> None:
    """Cliques, of each of which one vertex is fixed."""
    edges = [(5 * c + i, 5 * c + j) for c in range(k) for i in range(5) for j in range(i)]
    wanted = (np.arange(5 * k) // 5)[::-1].astype(np.int32)
    fixed = np.where(np.arange(5 * k) % 5 == 2, wanted, -1).astype(np.int32)
    matrix = raw_graph(5 * k, edges).graph().to_scipy()
    part = start_partition(matrix, None, np.full(k, 6), 0.03, 1, None, fixed)
    assert (part == fixed)[fixed >= 0].all()
    assert (part == wanted).mean() > 0.9


def test_few_free_vertices_go_one_to_a_block() -> None:
    matrix = grid_2d(2, 3).to_scipy()
    fixed = np.array([-1, 2, 2, -1, 2, 2], np.int32)
    part = start_partition(matrix, None, np.full(4, 4), 0.03, 0, None, fixed)
    assert (part == fixed)[fixed >= 0].all()
    assert part[0] != part[3]
    nothing_free = np.array([0, 1, 2, 3, 0, 1], np.int32)
    assert np.array_equal(start_partition(matrix, None, np.full(4, 2), 0.03, 0, None,
                                          nothing_free), nothing_free)


def grown_on_path(fixed: list[int], limits: list[int]) -> list[int] | None:
    path = raw_graph(7, [(i, i + 1) for i in range(6)]).graph().to_scipy()
    grown = grown_partition(path, np.array(fixed, np.int32), np.ones(7, np.int64),
                            np.array(limits))
    return None if grown is None else grown.tolist()


def test_blocks_grow_from_fixed_vertices() -> None:
    fixed = [1, -1, -1, -1, -1, 0, -1]
    assert grown_on_path(fixed, [4, 4]) == [1, 1, 1, 0, 0, 0, 0]
    assert grown_on_path(fixed, [2, 5]) == [1, 1, 1, 1, 0, 0, 1]
    assert grown_on_path(fixed, [3, 3, 3]) is None
    assert grown_on_path([0, 1, 0, 1, 0, 1, 0], [4, 3]) == [0, 1, 0, 1, 0, 1, 0]


def test_what_blocks_cannot_reach_goes_where_there_is_room() -> None:
    apart = raw_graph(5, [(0, 1), (2, 3)]).graph().to_scipy()
    fixed = np.array([0, -1, -1, -1, 1], np.int32)
    grown = grown_partition(apart, fixed, np.array([1, 1, 3, 1, 1]), np.array([3, 5]))
    assert grown is not None
    assert grown.tolist() == [0, 0, 1, 0, 1]


def test_coarse_vertices_stay_light_enough_for_small_blocks() -> None:
    assert Balance(4, 100, 97).cluster_limit(512) == 25
    assert Balance(4, 2, 2).cluster_limit(512) == 1
    assert Balance(4, 100, 97).cluster_limit(512, 1.0) == 100
    assert Balance(4, 2**61 + 3, 2**61).cluster_limit(512) == 2**59
    assert Balance(4, 100, 97).cluster_limit(512, None) >= 4 * 97 + 3
    even, skewed = uneven([4000] * 4), uneven([10, 4000, 4000, 4000])
    assert even.cluster_limit(512) == 1000
    assert 2 <= skewed.cluster_limit(512) <= 50
    assert skewed.cluster_limit(10) == 1000
