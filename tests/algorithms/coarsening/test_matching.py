"""Heavy-edge matching: valid, and every edge left out lies beside one at least as heavy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.coarsening.options import MatchingOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.spaces import (
    GRAPHS,
    NO_LIMIT,
    heavy_edge_mates,
    number_of,
    reference,
    with_int64_offsets,
)


def matched(space: ExecutionSpace, graph: Graph, limit: int = NO_LIMIT, seed: int = 0) -> Any:
    return heavy_edge_mates(space, graph, limit, seed)


def eligible_edges(graph: Graph, limit: int) -> dict[tuple[int, int], int]:
    """Weight of each edge whose ends together keep the limit; of parallel ones the heaviest."""
    weights = oracles.vertex_weights(graph)
    edges: dict[tuple[int, int], int] = {}
    for u, v, weight in oracles.arcs(graph):
        if weights[u] + weights[v] <= limit:
            edges[u, v] = max(weight, edges.get((u, v), 0))
    return edges


def assert_locally_dominant(graph: Graph, mate: np.ndarray, limit: int) -> None:
    """The matching that a greedy choice of heaviest edges makes, whatever it does about ties.

    So it is maximal, holds a heaviest edge of each component of the eligible edges, and weighs at
    least half of the heaviest matching.
    """
    edges = eligible_edges(graph, limit)
    weight_at = [-1] * graph.num_vertices
    for v, u in enumerate(mate.tolist()):
        if u >= 0:
            assert u != v
            assert mate[u] == v
            weight_at[v] = edges[v, u]
    for (u, v), weight in edges.items():
        assert max(weight_at[u], weight_at[v]) >= weight, (u, v)


@looped("limit", [1, 2, 12, NO_LIMIT])
@looped("name", GRAPHS)
def test_no_eligible_edge_is_heavier_than_the_matched_ones_beside_it(
    space: ExecutionSpace, name: str, limit: int
) -> None:
    graph = GRAPHS[name]
    mate = matched(space, graph, limit, 5)
    assert_locally_dominant(graph, mate, limit)
    assert np.array_equal(mate, matched(reference(), graph, limit, 5))


@given(graph=graphs(14), limit=st.integers(0, 30), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=60)
def test_random_graphs_are_matched_by_local_dominance(
    space: ExecutionSpace, graph: Graph, limit: int, seed: int
) -> None:
    assert_locally_dominant(graph, matched(space, graph, limit, seed), limit)


def test_weights_beyond_32_bits_decide(space: ExecutionSpace) -> None:
    graph = raw_graph(4, [(0, 1), (1, 2), (2, 3)], [2**50, 2**50 + 1, 2**50]).graph()
    assert matched(space, graph).tolist() == [-1, 2, 1, -1]


def test_a_chain_of_growing_weights_is_matched_from_its_heavy_end(space: ExecutionSpace) -> None:
    n = 101
    graph = raw_graph(n, [(i, i + 1) for i in range(n - 1)], np.arange(1, n)).graph()
    mate = matched(space, graph)
    assert mate[0] == -1
    assert all(mate[v] == v + (1 if v % 2 else -1) for v in range(1, n))


def test_edges_of_weight_zero_are_matched_too(space: ExecutionSpace) -> None:
    graph = raw_graph(2, [(0, 1)], [0]).graph()
    assert matched(space, graph).tolist() == [1, 0]


def test_the_order_of_arcs_does_not_matter(space: ExecutionSpace) -> None:
    random = np.random.default_rng(0)
    edges = random.integers(0, 300, (900, 2))
    weights = random.integers(0, 4, 900)
    plain, shuffled = (
        matched(space, raw_graph(300, edges, weights, shuffle=shuffle).graph(), seed=3)
        for shuffle in (None, 8)
    )
    assert np.array_equal(plain, shuffled)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    assert np.array_equal(matched(space, graph), matched(space, with_int64_offsets(graph)))


def test_the_seed_breaks_ties(space: ExecutionSpace) -> None:
    graph = random_graph(500, 2500, 1)
    first, again, other = (matched(space, graph, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def assert_pairs(graph: Graph, clusters: Any, limit: int, label: np.ndarray | None,
                 two_hop: bool) -> None:
    """Clusters are pairs or single vertices; without two hops each pair is an edge."""
    cluster = oracles.host(clusters.cluster)
    weights = oracles.vertex_weights(graph)
    edges = {(u, v) for u, v, _ in oracles.arcs(graph)}
    members = [np.flatnonzero(cluster == c).tolist() for c in range(number_of(clusters))]
    assert [group[0] for group in members] == sorted(group[0] for group in members)
    assert {len(group) for group in members} <= {1, 2}
    for u, v in (group for group in members if len(group) == 2):
        assert weights[u] + weights[v] <= limit
        assert label is None or label[u] == label[v]
        assert two_hop or (u, v) in edges


@given(graph=graphs(14), limit=st.integers(0, 30), two_hop=st.booleans(), data=st.data())
@settings(max_examples=60)
def test_clusters_are_pairs_of_equal_label_within_the_limit(
    space: ExecutionSpace, graph: Graph, limit: int, two_hop: bool, data: st.DataObject
) -> None:
    n = graph.num_vertices
    label = data.draw(st.none() | st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    given_label = None if label is None else space.asarray(np.array(label, np.int32))
    clusters = matched_clusters(graph.to(space), limit, 3, given_label,
                                MatchingOptions(two_hop=two_hop))
    assert_pairs(graph, clusters, limit, label, two_hop)


@pytest.mark.parametrize("two_hop", [False, True])
@pytest.mark.parametrize("name", ["sparse", "skewed"])
def test_clusters_of_large_graphs_are_pairs(space: ExecutionSpace, name: str,
                                            two_hop: bool) -> None:
    graph = GRAPHS[name]
    options = MatchingOptions(two_hop=two_hop)
    clusters = matched_clusters(graph.to(space), NO_LIMIT, 3, options=options)
    assert_pairs(graph, clusters, NO_LIMIT, None, two_hop)
    same = matched_clusters(graph, NO_LIMIT, 3, options=options)
    assert np.array_equal(oracles.host(clusters.cluster), same.cluster)


def test_a_star_shrinks_only_by_two_hops(space: ExecutionSpace) -> None:
    star = raw_graph(41, [(0, leaf) for leaf in range(1, 41)]).graph().to(space)
    assert number_of(matched_clusters(star, NO_LIMIT, 0,
                                      options=MatchingOptions(two_hop=False))) == 40
    assert number_of(matched_clusters(star, NO_LIMIT, 0)) <= 21


def rounds_of_matching(graph: Graph, rounds: int, seed: int) -> list[int]:
    """GP-metis, III.A, by a loop: all propose, then match(match(a)) = a stays, others try again."""
    n, mate = graph.num_vertices, [-1] * graph.num_vertices
    arcs = [(u, v, weight) for u, v, weight in oracles.arcs(graph) if u != v]
    for _ in range(rounds):
        best: dict[int, tuple[int, int, int]] = {}
        for u, v, weight in arcs:
            if mate[u] < 0 and mate[v] < 0:
                rank = (weight, tie(u, v, seed), v)
                best[u] = max(best.get(u, rank), rank)
        match = [best[v][2] if v in best else v for v in range(n)]
        for v in best:
            if match[match[v]] == v:
                mate[v] = match[v]
    return mate


def murmur(value: int) -> int:
    """Murmur3's 64-bit finaliser of a number, read as a signed one."""
    bits = value % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits = (bits ^ bits >> 33) * factor % 2**64
    bits ^= bits >> 33
    return bits - 2**64 * (bits >= 2**63)


def tie(u: int, v: int, seed: int) -> int:
    """What decides between edges of one weight: a hash of their ends."""
    return murmur((max(u, v) << 32 | min(u, v)) ^ murmur(seed))


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("name", ["sparse", "medium", "skewed"])
def test_some_rounds_of_matching(space: ExecutionSpace, name: str, rounds: int) -> None:
    graph = GRAPHS[name]
    found = heavy_edge_mates(space, graph, NO_LIMIT, 7, rounds=rounds)
    assert found.tolist() == rounds_of_matching(graph, rounds, 7)


def offered_matching(graph: Graph, limit: int, seed: int) -> np.ndarray:
    """Rounds of wishes, offers and answers, by plain loops."""
    n = graph.num_vertices
    rows: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for (u, v), weight in eligible_edges(graph, limit).items():
        rows[u].append((v, weight))
    mate = np.full(n, -1)

    def best(v: int, candidates: list[tuple[int, int]]) -> int:
        ranked = [(weight, murmur(u ^ murmur(murmur(v ^ murmur(seed)))), u)
                  for u, weight in candidates]
        return max(ranked)[2] if ranked else -1

    while True:
        proposal = [best(v, [(u, w) for u, w in rows[v] if mate[u] < 0]) if mate[v] < 0 else -1
                    for v in range(n)]
        if max(proposal, default=-1) < 0:
            return mate
        rank = [murmur(v ^ murmur(seed)) for v in range(n)]
        offers = [v for v in range(n) if proposal[v] >= 0 and rank[v] < rank[proposal[v]]]
        for v in range(n):
            if proposal[v] >= 0 and v not in offers:
                found = best(v, [(u, w) for u, w in rows[v] if u in offers and proposal[u] == v])
                if found >= 0:
                    mate[v], mate[found] = found, v


@given(graph=graphs(14), limit=st.integers(0, 30), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=60)
def test_offers_are_made_and_taken_as_said(
    space: ExecutionSpace, graph: Graph, limit: int, seed: int
) -> None:
    found = heavy_edge_mates(space, graph, limit, seed, mutual=False)
    assert np.array_equal(found, offered_matching(graph, limit, seed))


def test_weights_differ_less_where_one_wish_makes_a_pair() -> None:
    """After some levels of a mesh, and there are fewer of them."""
    connectivity, sizes = [], []
    for mutual in (True, False):
        level = delaunay(20_000)
        for seed in range(9):
            level = contract(level, matched_clusters(
                level, NO_LIMIT, seed, options=MatchingOptions(mutual=mutual)),
                np.dtype(np.int64))
        weights = oracles.host(level.vertex_weights)
        connectivity.append(weights.std() / weights.mean())
        sizes.append(len(weights))
    assert connectivity[1] < 0.95 * connectivity[0]
    assert sizes[1] < sizes[0]
