"""Clusters of graphs that belong to several ranks are those of one device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import backends, generators
from portpart.algorithms.coarsening.cluster_rounds import ClusterRounds, VertexList
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.ranks import clustering as rank_clustering
from portpart.algorithms.coarsening.ranks.clustering import cluster_ranks
from portpart.algorithms.coarsening.ranks.rounds import GhostItems
from portpart.algorithms.coarsening.two_hop_clusters import TwoHopGroups
from portpart.backends import language as kl
from portpart.backends.communication import Local, One
from portpart.errors import InputError, PortpartError
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.primitives.messages import Message, held
from portpart.primitives.owners import Halo
from tests.helpers.graphs import drawn_graphs, graphs, random_graph, raw_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_rows import SIZES, cut_graphs, with_sizes

GRAPHS = {
    **drawn_graphs(),
    "grid": generators.grid_2d(20, 20),
    "mesh": generators.delaunay(600),
    "skewed": generators.rmat(9),
    "weighted": random_graph(300, 700, 1, weighted=True, vertex_weighted=True),
    "sparse": random_graph(400, 250, 2),
    "isolated": random_graph(900, 90, 2),
    "hub": raw_graph(500, [*((0, v) for v in range(1, 500)),
                           *((v, v + 1) for v in range(1, 300))]).graph(),
}
OPTIONS = {"rounds": ClusteringOptions(max_left=1.0), "groups": ClusteringOptions(max_left=0.0),
           "usual": ClusteringOptions()}


def check(whole: Graph, first: list[int], limit: int, seed: int, options: ClusteringOptions,
          label: np.ndarray | None = None) -> None:
    """All ranks have the clusters of one device, for their vertices and ghosts."""
    space = backends.space("cpu", threads=1)
    found = cluster(space, whole, limit, seed, options, label)
    wanted, count = found.cluster, int(found.count[0])

    def main(comm):
        begin, end = first[comm.rank : comm.rank + 2]
        graph = distributed(comm, rows_of(whole, begin, end, space))
        own = None if label is None else label[begin:end]
        made = held(comm, space, cluster_ranks(graph, limit, seed, options, own))
        assert made.cluster.tolist() == wanted[graph.local.global_ids].tolist()
        assert made.first[-1] == count

    Local(len(first) - 1).run(main)


@pytest.mark.parametrize(("name", "options", "size"), with_sizes(GRAPHS, OPTIONS))
def test_clusters_are_those_of_one_device(name, options, size):
    whole = GRAPHS[name]
    for seed, limit in enumerate((3, 40)):
        check(whole, borders(whole.num_vertices, size, seed), limit, seed, OPTIONS[options])


@pytest.mark.parametrize(("name", "options", "size"), with_sizes(GRAPHS, ["groups", "usual"]))
def test_vertices_of_unequal_labels_share_no_cluster(name, options, size):
    whole, n = GRAPHS[name], GRAPHS[name].num_vertices
    for seed, kinds in enumerate((2, 300)):  # many of these share a key of isolated vertices
        label = np.random.default_rng(seed).integers(-3, kinds - 3, n).astype(np.int32)
        check(whole, borders(n, size, seed), 40, seed, OPTIONS[options], label)


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
       st.sampled_from(list(OPTIONS)), st.sampled_from([0, 1, 2, 200]))
def test_clusters_of_any_graph(drawn, limit, seed, options, kinds):
    label = np.random.default_rng(seed).integers(0, kinds, drawn[0].num_vertices).astype(
        np.int32) if kinds else None
    check(*drawn, limit, seed, OPTIONS[options], label)


def labelled(whole: Graph, seed: int) -> np.ndarray:
    """Labels of which neighbours often have the same."""
    return np.random.default_rng(seed).integers(0, 2, whole.num_vertices).astype(np.int32)


@pytest.mark.parametrize("name", ["mesh", "skewed", "weighted", "hub"])
def test_a_rank_knows_the_labels_of_ghosts_and_of_all_leaders(name, monkeypatch):
    whole = GRAPHS[name]
    label = labelled(whole, 1)
    compared = []

    def numbered(state, ghosts_know):
        leaders = np.unique(state.rounds.cluster[: state.local if ghosts_know else state.own])
        for handles in (np.arange(state.local), leaders):
            known = state.rounds.label[handles]
            assert known.tolist() == label[state.handles.names[handles]].tolist()
        compared.append(int((leaders >= state.local).sum()))
        return (yield from own(state, ghosts_know))

    own = rank_clustering.numbered
    monkeypatch.setattr(rank_clustering, "numbered", numbered)
    for size in SIZES:
        check(whole, borders(whole.num_vertices, size, size), 40, size, OPTIONS["rounds"], label)
    assert sum(compared) > 0  # leaders that are no ghosts


def untold(state, labels):
    """Ghosts are not told labels."""
    labels[state.own :] = 0
    yield Message([])


@kl.kernel
def label_nobody(i, firsts, size, halo: Halo, items: GhostItems, handles, label):
    """Leaders further away have another label."""
    if handles[i] >= halo.ghost_first[size]:
        label[handles[i]] = kl.int32(-9)


@kl.kernel
def join_of_any_label(i, listed: VertexList, rounds: ClusterRounds, groups: TwoHopGroups):
    """A vertex joins its group, whatever the label of the leader."""
    v = listed.active[i]
    if rounds.join_requests[v] != 0:
        group = rounds.proposal[v]
        if groups.group_granted[group] <= rounds.max_weight:
            rounds.cluster[v] = groups.group_leader[group]


@pytest.mark.parametrize(("place", "mutation"), [
    (f"{rank_clustering.__name__}.send_labels", untold),
    ("portpart.algorithms.coarsening.ranks.rounds.label_leader", label_nobody),
    ("portpart.algorithms.coarsening.join_group", join_of_any_label)])
def test_labels_that_are_left_out_are_noticed(place, mutation, monkeypatch):
    monkeypatch.setattr(place, mutation)
    noticed = 0
    for seed, name in enumerate(("mesh", "skewed", "weighted", "isolated")):
        whole = GRAPHS[name]
        label = np.arange(whole.num_vertices, dtype=np.int32) % 500 if name == "isolated" else (
            labelled(whole, 1))
        try:
            check(whole, borders(whole.num_vertices, 8, seed), 40, seed, OPTIONS["groups"], label)
        except (PortpartError, AssertionError):
            noticed += 1
    assert noticed
