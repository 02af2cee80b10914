"""Clusters of graphs that belong to several ranks are those of one device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portpart import backends, generators
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.rank_clustering import cluster_ranks
from portpart.backends.communication import Local, One
from portpart.errors import InputError
from portpart.graphs.distribution import distributed
from portpart.graphs.graph import Graph
from portpart.primitives.messages import held
from tests.graphs import drawn_graphs, graphs, random_graph, raw_graph
from tests.ranks import SIZES, borders, cut_graphs, rows_of

GRAPHS = {
    **drawn_graphs(),
    "grid": generators.grid_2d(20, 20),
    "mesh": generators.delaunay(600),
    "skewed": generators.rmat(9),
    "weighted": random_graph(300, 700, 1, weighted=True, vertex_weighted=True),
    "sparse": random_graph(400, 250, 2),
    "hub": raw_graph(500, [*((0, v) for v in range(1, 500)),
                           *((v, v + 1) for v in range(1, 300))]).graph(),
}
OPTIONS = {"rounds": ClusteringOptions(max_left=1.0), "groups": ClusteringOptions(max_left=0.0),
           "usual": ClusteringOptions()}


def check(whole: Graph, first: list[int], limit: int, seed: int,
          options: ClusteringOptions) -> None:
    """All ranks have the clusters of one device, for their vertices and ghosts."""
    space = backends.space("cpu", threads=1)
    found = cluster(space, whole, limit, seed, options)
    wanted, count = found.cluster, int(found.count[0])

    def main(comm):
        graph = distributed(comm, rows_of(whole, first[comm.rank], first[comm.rank + 1], space))
        made = held(comm, space, cluster_ranks(graph, limit, seed, options))
        assert made.cluster.tolist() == wanted[graph.local.global_ids].tolist()
        assert made.first[-1] == count

    Local(len(first) - 1).run(main)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", GRAPHS)
def test_clusters_are_those_of_one_device(name, options, size):
    whole = GRAPHS[name]
    for seed, limit in enumerate((3, 40)):
        check(whole, borders(whole.num_vertices, size, seed), limit, seed, OPTIONS[options])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [2, 3, 8])
def test_chains_of_wishes_that_are_too_long_are_cut_where_one_device_cuts_them(size, seed):
    n, rng = 150, np.random.default_rng(seed)
    names = np.arange(n) if seed % 2 else rng.permutation(n)
    ends = np.stack([names[:-1], names[1:]], axis=1)
    weights = 1 + np.arange(n - 1) + 1000 * (np.arange(n - 1) % 50 == 49)
    whole = raw_graph(n, ends, weights).graph()
    check(whole, borders(n, size, seed), 2 + seed, seed, OPTIONS["rounds"])


def test_rounds_of_improvement_are_refused():
    graph = distributed(One(), rows_of(GRAPHS["grid"], 0, 400))
    with pytest.raises(InputError, match="no rounds of improvement"):
        held(One(), graph.space,
             cluster_ranks(graph, 9, 0, ClusteringOptions(improve_rounds=1)))


@settings(max_examples=120)
@given(cut_graphs(graphs(25, loops=False)), st.integers(1, 30), st.integers(0, 2**40),
       st.sampled_from(list(OPTIONS)))
def test_clusters_of_any_graph(drawn, limit, seed, options):
    check(*drawn, limit, seed, OPTIONS[options])
