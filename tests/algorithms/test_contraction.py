"""Contraction equals the sparse triple product without its diagonal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from portpart.algorithms.coarsening.contraction import (
    Clusters,
    clusters_of_matching,
    contract,
)
from portpart.backends.interface import ExecutionSpace
from portpart.graph import Graph
from tests import oracles
from tests.algorithms.spaces import GRAPHS, with_int64_offsets
from tests.graphs import graphs, raw_graph


def contracted(space: ExecutionSpace, graph: Graph, cluster: np.ndarray, count: int) -> Graph:
    return contract(space, graph.to(space), Clusters(space.asarray(cluster, np.int32), count))


def random_clusters(graph: Graph, seed: int) -> tuple[np.ndarray, int]:
    """A map onto all of 0 ... count - 1."""
    n = graph.num_vertices
    drawn = np.random.default_rng(seed).integers(0, max(1, n // 2), n)
    return np.unique(drawn, return_inverse=True)[1], len(np.unique(drawn))


@pytest.mark.parametrize("name", GRAPHS)
def test_quotient_of_graphs(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    cluster, count = random_clusters(graph, 7)
    coarse = contracted(space, graph, cluster, count)
    oracles.assert_same_graph(coarse, oracles.quotient(graph, cluster, count))
    oracles.assert_valid_graph(coarse)
    assert coarse.total_vertex_weight == graph.total_vertex_weight


@given(graph=graphs(12, large_weights=True), data=st.data())
@settings(max_examples=60)
def test_quotient_of_random_graphs(
    space: ExecutionSpace, graph: Graph, data: st.DataObject
) -> None:
    n = graph.num_vertices
    cluster = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.int32)
    coarse = contracted(space, graph, cluster, 5)
    oracles.assert_same_graph(coarse, oracles.quotient(graph, cluster, 5))


@pytest.mark.parametrize("name", ["medium", "dense", "skewed"])
def test_quotient_equals_the_sparse_triple_product(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    cluster, count = random_clusters(graph, 3)
    n = graph.num_vertices
    map_matrix = sp.csr_array((np.ones(n, np.int64), (np.arange(n), cluster)), shape=(n, count))
    product = (map_matrix.T @ graph.to_scipy() @ map_matrix).toarray()
    np.fill_diagonal(product, 0)
    coarse = contracted(space, graph, cluster, count).to_scipy()
    assert np.array_equal(coarse.toarray(), product)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    cluster, count = random_clusters(graph, 1)
    oracles.assert_same_graph(
        contracted(space, with_int64_offsets(graph), cluster, count),
        contracted(space, graph, cluster, count),
    )


def test_sums_beyond_32_bits(space: ExecutionSpace) -> None:
    graph = raw_graph(4, [(0, 2), (1, 3), (0, 1)], np.array([2**31 - 1] * 3, np.int32)).graph()
    coarse = contracted(space, graph, np.array([0, 0, 1, 1]), 2)
    assert oracles.arcs(coarse) == [(0, 1, 2**32 - 2), (1, 0, 2**32 - 2)]


def test_everything_in_one_cluster(space: ExecutionSpace) -> None:
    graph = GRAPHS["skewed"]
    coarse = contracted(space, graph, np.zeros(graph.num_vertices), 1)
    assert (coarse.num_vertices, coarse.num_arcs) == (1, 0)
    assert oracles.vertex_weights(coarse) == [graph.total_vertex_weight]


@given(st.lists(st.booleans(), max_size=30), st.integers(0, 99))
@settings(max_examples=40)
def test_pairs_and_single_vertices_are_numbered_by_their_first_vertex(
    space: ExecutionSpace, is_pair: list[bool], seed: int
) -> None:
    n = sum(1 + pair for pair in is_pair)
    ids = iter(np.random.default_rng(seed).permutation(n).tolist())
    groups = sorted(sorted([next(ids) for _ in range(1 + pair)]) for pair in is_pair)
    mate = np.full(n, -1, np.int32)
    expected = np.empty(n, np.int32)
    for number, group in enumerate(groups):
        expected[group] = number
        if len(group) == 2:
            mate[group] = group[::-1]
    clusters = clusters_of_matching(space, space.asarray(mate))
    assert clusters.count == len(groups)
    assert np.array_equal(oracles.host(clusters.cluster), expected)
