"""Refinement over ranks ends with the bits of one device; ghosts know what their owners know."""
from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from portpart import generators
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.ranks.cut_rows import borders
from tests.helpers.ranks.rank_refining import (
    OPTIONS,
    Watching,
    balance_of,
    refined,
    refined_by_ranks,
)
from tests.helpers.ranks.rank_rows import cut_graphs, with_sizes

CASES = {
    "mesh": (generators.delaunay(700), 5, 0.03),
    "geometric, tight": (generators.random_geometric(600), 4, 0.0),
    "skewed": (generators.rmat(9), 3, 0.03),
    "weights": (random_graph(500, 1500, 1, weighted=True, vertex_weighted=True), 7, 0.05),
    "heavy vertices": (random_graph(400, 900, 3, vertex_weighted=True), 16, 0.01),
    "hub": (random_graph(600, 3000, 4, skewed=True), 2, 0.03),
}


@pytest.mark.parametrize(("name", "size"), with_sizes(CASES))
def test_ranks_come_to_the_partition_of_one_device(name, size):
    graph, k, imbalance = CASES[name]
    balance = balance_of(graph, k, imbalance)
    for passes, options in (((0.75, 0.25), OPTIONS), ((0.0,), replace(OPTIONS, weak_limit=0))):
        wanted = refined(graph, balance, passes, size, options)
        first = borders(graph.num_vertices, size, size)
        assert refined_by_ranks(graph, first, balance, passes, size, options) == wanted
        assert refined_by_ranks(graph, first, balance, passes, size, options,
                                moved_by=size) == wanted


@pytest.mark.parametrize("size", [1, 2])
def test_a_single_rank_sends_nothing(size, monkeypatch):
    """It has no ghosts; lists of changes for none would take a twentieth of its time."""
    graph, k, imbalance = CASES["mesh"]
    balance, first, sent = balance_of(graph, k, imbalance), borders(graph.num_vertices, size, 1), []
    monkeypatch.setattr(Watching, "all_to_all", lambda self, parcel: sent.append(
        self.comm.all_to_all(parcel)))
    refined_by_ranks(graph, first, balance, (0.75, 0.25), 1, OPTIONS)
    assert bool(sent) == (size > 1)


@settings(max_examples=60)
@given(cut_graphs(graphs(40, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.3]), st.integers(0, 99))
def test_any_graph_is_refined_by_ranks_as_by_one_device(drawn, k, imbalance, seed):
    graph, first = drawn
    balance, passes = balance_of(graph, k, imbalance), (0.5, 0.0)
    assert refined_by_ranks(graph, first, balance, passes, seed, OPTIONS) == refined(
        graph, balance, passes, seed, OPTIONS)


@settings(max_examples=60)
@given(cut_graphs(graphs(40, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.3]), st.integers(0, 99))
def test_any_graph_is_refined_as_by_one_device_wherever_vertices_are(drawn, k, imbalance, seed):
    """All rebalancing is strong, which goes by the order of global ids."""
    graph, first = drawn
    balance, passes = balance_of(graph, k, imbalance), (0.5, 0.0)
    options = replace(OPTIONS, weak_limit=0)
    assert refined_by_ranks(graph, first, balance, passes, seed, options, moved_by=seed) == refined(
        graph, balance, passes, seed, options)


