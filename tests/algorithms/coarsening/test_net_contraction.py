"""Contracted hypergraphs are what sets of clusters say."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening import net_merging
from portpart.algorithms.coarsening.net_contraction import contract_nets, merged_nets
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.nets import circuit, hypergraph_of, hypergraphs, nets_of, rows_of, weights_of
from tests.helpers.spaces import clusters_of, reference


def quotient(hypergraph: Hypergraph, cluster: list[int],
             max_size: int) -> dict[tuple[int, ...], int]:
    """Weights by pins, in the order of the first net that has them."""
    found: dict[tuple[int, ...], int] = {}
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    for row, weight in zip(nets_of(hypergraph), weights, strict=True):
        pins = tuple(sorted({cluster[v] for v in row}))
        if 2 <= len(pins) <= max_size:
            found[pins] = found.get(pins, 0) + weight
    return found


def check(space: ExecutionSpace, hypergraph: Hypergraph, cluster: np.ndarray, count: int,
          max_size: int = 10**9) -> None:
    """Compare all arrays and totals with the quotient."""
    clusters = clusters_of(space, cluster, count)
    coarse = contract_nets(hypergraph.to(space), clusters, max_net_size=max_size)
    expected = quotient(hypergraph, cluster.tolist(), max_size)
    assert nets_of(coarse) == [list(pins) for pins in expected]
    assert oracles.host(coarse.net_weights).tolist() == list(expected.values())
    assert rows_of(coarse.vertex_offsets, coarse.vertex_nets) == [
        [net for net, pins in enumerate(expected) if c in pins] for c in range(count)]
    sums = np.zeros(count, np.int64)
    np.add.at(sums, cluster, weights_of(hypergraph.vertex_weights, hypergraph.num_vertices))
    assert oracles.host(coarse.vertex_weights).tolist() == sums.tolist()
    assert coarse.total_vertex_weight == sums.sum()
    assert coarse.total_net_weight == sum(expected.values())
    assert coarse.max_net_size == max(map(len, expected), default=0)


def random_clusters(n: int, seed: int, count: int) -> tuple[np.ndarray, int]:
    """A map onto all of 0 ... count - 1, or fewer."""
    drawn = np.random.default_rng(seed).integers(0, count, n)
    return np.unique(drawn, return_inverse=True)[1], len(np.unique(drawn))


@given(hypergraph=hypergraphs(), seed=st.integers(0, 99), max_size=st.integers(2, 6))
@settings(max_examples=60)
def test_quotients_of_random_hypergraphs(hypergraph: Hypergraph, seed: int, max_size: int) -> None:
    """Nets without pins, of one pin, repeated ones, and weights beyond 32 bits."""
    cluster, count = random_clusters(hypergraph.num_vertices, seed, 5)
    check(reference(), hypergraph, cluster, count, max_size)


@pytest.mark.parametrize("weighted", [False, True])
def test_quotients_of_larger_ones_on_all_spaces(space: ExecutionSpace, weighted: bool) -> None:
    """Several runs of pins, several tiles of nets, and a net of most of the vertices."""
    hypergraph = circuit(1500, 3, large=1200, weighted=weighted)
    check(space, hypergraph, *random_clusters(1500, 5, 700))
    check(space, hypergraph, *random_clusters(1500, 6, 900), max_size=500)
    check(space, hypergraph, np.zeros(1500, np.int64), 1)


def test_nothing_comes_of_nothing(space: ExecutionSpace) -> None:
    """No nets, and none with pins."""
    for rows in ([], [[], []]):
        check(space, hypergraph_of(rows, 4), np.array([0, 1, 1, 0]), 2)


def test_one_number_of_lanes_is_as_good_as_another() -> None:
    """Lanes one after the other, and items in any order."""
    check(LanesSpace(3, seed=2), circuit(300, 4, large=200, weighted=True),
          *random_clusters(300, 1, 150))


def test_the_host_waits_once(space: ExecutionSpace) -> None:
    """To learn how large the coarse hypergraph is."""
    hypergraph = circuit(300, 4).to(space)
    assert hypergraph.total_vertex_weight == 300
    clusters = clusters_of(space, *random_clusters(300, 1, 150))
    space.counters.synchronizations = 0
    contract_nets(hypergraph, clusters)
    assert space.counters.synchronizations <= 1


def test_large_nets_and_repetitions_are_left_out() -> None:
    """Vertices stay as they are."""
    made = merged_nets(hypergraph_of([[0, 1, 2], [3], [1, 0], [0, 1, 2, 3], [0, 1]], 5),
                       max_net_size=3)
    assert nets_of(made) == [[0, 1, 2], [0, 1]]
    assert weights_of(made.net_weights, 2) == [1, 2]
    assert made.num_vertices == 5


def test_nets_of_one_digest_are_compared_pin_by_pin() -> None:
    """A digest that is nearly always the same merges no nets that differ."""
    rows = [[0, 1], [2, 3], [4, 5, 9], [0, 1], [2, 3]]
    hypergraph = hypergraph_of(rows, 10).to(LanesSpace(1))
    assert nets_of(merged_nets(hypergraph, 10)) == rows[:3]
    with mock.patch.object(net_merging, "mixed", lambda value: value & 1):
        made = merged_nets(hypergraph, 10)
    assert nets_of(made) == [*rows[:3], [2, 3]]
    assert weights_of(made.net_weights, 4) == [2, 1, 1, 1]
