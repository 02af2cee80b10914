"""Bounded groups: selections, weights and labels are what the definition says."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening.groups import grouping_rule
from portpart.algorithms.coarsening.options import GroupingOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import drawn_graphs, graphs, random_graph, raw_graph
from tests.helpers.spaces import GRAPHS, NO_LIMIT, number_of, reference, with_int64_offsets


def grouped(space: ExecutionSpace, graph: Graph, limit: int = NO_LIMIT, size: int = 6,
            seed: int = 3, factor: int | None = None, label: Any = None) -> np.ndarray:
    label = None if label is None else space.asarray(label, np.int32)
    rule = grouping_rule(sum(oracles.vertex_weights(graph)), 1, limit,
                         GroupingOptions(group_size=size, score_factor=factor))
    clusters = rule(graph.to(space), seed, label)
    found = oracles.host(clusters.cluster).copy()
    assert sorted(set(found.tolist())) == list(range(number_of(clusters)))
    return found


def members_of(cluster: np.ndarray) -> list[list[int]]:
    members = defaultdict(list)
    for v, c in enumerate(cluster.tolist()):
        members[c].append(v)
    return list(members.values())


def heaviest_group(graph: Graph, limit: int, size: int) -> int:
    """So many mean vertices, or the limit."""
    mean = sum(oracles.vertex_weights(graph)) / max(1, graph.num_vertices)
    return max(1, min(limit, int(size * mean)))


def assert_valid(graph: Graph, cluster: np.ndarray, limit: int, size: int,
                 label: Any = None) -> None:
    """Groups keep their weight and their label."""
    weights, heaviest = oracles.vertex_weights(graph), heaviest_group(graph, limit, size)
    for inside in members_of(cluster):
        assert len(inside) == 1 or sum(weights[v] for v in inside) <= heaviest
        if label is not None:
            assert len({int(label[v]) for v in inside}) == 1


def best_scores(graph: Graph, limit: int, factor: int) -> list[set[int]]:
    """For each vertex the neighbours of the best score c W - degree, by a plain loop."""
    weights, degrees = oracles.vertex_weights(graph), np.diff(oracles.host(graph.offsets))
    scores: list[dict[int, int]] = [{} for _ in weights]
    for u, v, weight in oracles.arcs(graph):
        if weights[u] + weights[v] <= limit:
            scores[u][v] = max(scores[u].get(v, -2**70), factor * weight - int(degrees[v]))
    tops = [max(row.values(), default=0) for row in scores]
    return [{v for v, score in row.items() if score == top} for row, top in zip(scores, tops)]


def assert_groups_follow_selections(graph: Graph, cluster: np.ndarray, limit: int, size: int,
                                    factor: int | None) -> None:
    """One vertex and others that selected it; or vertices beside one group, or isolated ones."""
    factor = graph.max_degree + 1 if factor is None else factor
    best = best_scores(graph, heaviest_group(graph, limit, size), factor)
    near: list[set[int]] = [set() for _ in best]
    for u, v, _ in oracles.arcs(graph):
        near[u].add(int(cluster[v]))
    for inside in members_of(cluster):
        is_star = any(all(centre in best[v] for v in inside if v != centre) for centre in inside)
        beside = [near[v] for v in inside]
        assert is_star or set.intersection(*beside) or not any(beside), inside


@functools.cache
def valid_groups(name: str, limit: int, size: int) -> np.ndarray:
    """What one thread groups, looked through once for all spaces."""
    graph = GRAPHS[name]
    found = grouped(reference(), graph, limit, size)
    assert_valid(graph, found, limit, size)
    assert_groups_follow_selections(graph, found, limit, size, None)
    return found


@looped("size", [2, 6])
@looped("limit", [1, 12, NO_LIMIT])
@looped("name", GRAPHS)
def test_groups_are_valid_and_the_same_everywhere(
    space: ExecutionSpace, name: str, limit: int, size: int
) -> None:
    found = grouped(space, GRAPHS[name], limit, size)
    assert np.array_equal(found, valid_groups(name, limit, size))


@given(graph=graphs(14), limit=st.integers(0, 30), size=st.integers(2, 6),
       factor=st.sampled_from([None, 1, 3]), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=60)
def test_random_graphs(space: ExecutionSpace, graph: Graph, limit: int, size: int,
                       factor: int | None, seed: int) -> None:
    found = grouped(space, graph, limit, size, seed, factor)
    assert_valid(graph, found, limit, size)
    assert_groups_follow_selections(graph, found, limit, size, factor)


@given(graph=graphs(12), size=st.integers(2, 6), data=st.data())
@settings(max_examples=40)
def test_labels_are_kept_apart(space: ExecutionSpace, graph: Graph, size: int,
                               data: st.DataObject) -> None:
    n = graph.num_vertices
    label = data.draw(st.lists(st.sampled_from([-2, -1, 0, 5]), min_size=n, max_size=n))
    found = grouped(space, graph, 25, size, label=np.array(label, np.int32))
    assert_valid(graph, found, 25, size, label)


@pytest.mark.parametrize("lanes", [3, 8])
@pytest.mark.parametrize("name", ["star", "parallel", "all_weights", "random"])
def test_neither_width_nor_order_decides(name: str, lanes: int) -> None:
    graph = {**drawn_graphs(), "random": random_graph(40, 90, 3, weighted=True)}[name]
    found = grouped(LanesSpace(lanes, seed=lanes), graph, 2**42)
    assert np.array_equal(found, grouped(reference(), graph, 2**42))


def test_a_heavier_edge_wins_and_then_the_lower_degree(space: ExecutionSpace) -> None:
    """Figure 1.2 of the dissertation: v3 selects v4, whose degree is lower than that of v2."""
    graph = raw_graph(4, [(0, 1), (1, 2), (2, 3)]).graph()
    assert grouped(space, graph, size=4).tolist() == [0, 0, 1, 1]
    heavy = raw_graph(4, [(0, 1), (1, 2), (2, 3)], [1, 2, 1]).graph()
    assert len(set(grouped(space, heavy, size=4).tolist()[:3])) < 3


def test_a_small_factor_prefers_low_degrees_to_heavy_edges(space: ExecutionSpace) -> None:
    # 0 - 1 weighs 2, but 1 has ten leaves; 0 - 12 weighs 1
    edges = [(0, 1), *((1, leaf) for leaf in range(2, 12)), (0, 12)]
    graph = raw_graph(13, edges, [2] + [1] * 11).graph()
    light = grouped(space, graph, factor=1)
    assert light[0] == light[12] != light[1]
    heavy = grouped(space, graph, size=13)
    assert heavy[0] == heavy[1]


def test_leaves_of_a_star_are_grouped(space: ExecutionSpace) -> None:
    graph = raw_graph(1001, [(0, leaf) for leaf in range(1, 1001)]).graph()
    found = grouped(space, graph)
    assert_valid(graph, found, NO_LIMIT, 6)
    assert found.max() < 0.5 * 1001


def test_a_chain_of_growing_weights_ends(space: ExecutionSpace) -> None:
    n = 500
    graph = raw_graph(n, [(i, i + 1) for i in range(n - 1)], np.arange(1, n)).graph()
    found = grouped(space, graph)
    assert_valid(graph, found, NO_LIMIT, 6)
    assert found.max() < 0.6 * n


def test_weights_near_the_largest_do_not_overflow(space: ExecutionSpace) -> None:
    graph = raw_graph(4, [(0, 1), (1, 2), (2, 3)], [2**59, 2**58, 2**59]).graph()
    assert grouped(space, graph, size=4).tolist() == [0, 0, 1, 1]


def test_isolated_vertices_are_grouped(space: ExecutionSpace) -> None:
    graph = raw_graph(100, [(0, 1)]).graph()
    assert grouped(space, graph).max() < 51


def test_the_order_of_arcs_does_not_matter(space: ExecutionSpace) -> None:
    random = np.random.default_rng(0)
    edges, weights = random.integers(0, 300, (900, 2)), random.integers(0, 4, 900)
    plain, shuffled = (grouped(space, raw_graph(300, edges, weights, shuffle=shuffle).graph())
                       for shuffle in (None, 8))
    assert np.array_equal(plain, shuffled)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    assert np.array_equal(grouped(space, graph), grouped(space, with_int64_offsets(graph)))
