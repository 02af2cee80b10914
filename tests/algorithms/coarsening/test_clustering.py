"""Clustering: weights and labels are kept, clusters are of close vertices, and nothing stalls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.csgraph import connected_components

from portpart import as_graph, generators
from portpart.algorithms.coarsening import clustering
from portpart.algorithms.coarsening.cluster_ratings import (
    HEAVY_EDGE,
    MAX_NARROW,
    MAX_ROW,
    HashRows,
    RowRating,
    propose_cluster,
    propose_cluster_by_row,
)
from portpart.algorithms.coarsening.cluster_rounds import ARCS_OF_LANE
from portpart.algorithms.coarsening.cluster_rules import is_skewed
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes
from portpart.algorithms.coarsening.proposals import Proposals
from portpart.backends.language import int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.primitives.hashing import SLOTS
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.hash_rows import rows_in_main_memory
from tests.helpers.spaces import (
    GRAPHS,
    NO_LIMIT,
    launch,
    number_of,
    reference,
    with_int64_offsets,
)

NO_GROUPS = ClusteringOptions(max_left=1.0)
ALL_GROUPED = ClusteringOptions(max_left=0.0)


def clustered(space: ExecutionSpace, graph: Graph, limit: int = NO_LIMIT, seed: int = 0,
              options: ClusteringOptions = ALL_GROUPED, label: Any = None) -> np.ndarray:
    """Cluster of each vertex; checks the numbers of the clusters."""
    here = None if label is None else space.asarray(np.asarray(label, np.int32))
    found = cluster(space, graph.to(space), limit, seed, options, here)
    result = oracles.host(found.cluster)
    assert np.array_equal(np.unique(result), np.arange(number_of(found)))
    return result


def assert_within_limit(graph: Graph, cluster: np.ndarray, limit: int) -> None:
    """No cluster of several vertices weighs more than `limit`."""
    weights = np.zeros(len(cluster), np.int64)
    np.add.at(weights, cluster, oracles.vertex_weights(graph))
    several = np.bincount(cluster, minlength=len(cluster)) > 1
    assert (weights[several] <= limit).all()


@looped("name", GRAPHS)
@looped("limit", [0, 1, 3, 20, NO_LIMIT])
def test_clusters_keep_the_weight_limit(space: ExecutionSpace, name: str, limit: int) -> None:
    found = clustered(space, GRAPHS[name], limit)
    assert_within_limit(GRAPHS[name], found, limit)
    assert np.array_equal(found, clustered(reference(), GRAPHS[name], limit))


@looped("options", [ClusteringOptions(join_rounds=1),
                    ClusteringOptions(join_rounds=2, improve_rounds=3)])
@looped("name", ["skewed", "medium", "dense", "all_weights"])
def test_every_number_of_rounds_gives_the_same_on_all_spaces(
    space: ExecutionSpace, name: str, options: ClusteringOptions
) -> None:
    for seed in range(3):
        found = clustered(space, GRAPHS[name], 8, seed, options)
        assert_within_limit(GRAPHS[name], found, 8)
        assert np.array_equal(found, clustered(reference(), GRAPHS[name], 8, seed, options))


@pytest.mark.parametrize("name", ["sparse", "medium", "skewed"])
def test_clusters_are_connected_without_moving_members_and_groups(name: str) -> None:
    graph = GRAPHS[name]
    found = clustered(reference(), graph, 12, options=NO_GROUPS)
    matrix = graph.to_scipy().tocoo()
    inside = found[matrix.row] == found[matrix.col]
    matrix.data = inside.astype(np.int64)
    matrix.eliminate_zeros()
    parts, _ = connected_components(matrix, directed=False)
    assert parts == found.max() + 1


@given(graph=graphs(), limit=st.integers(0, 40), seed=st.integers(0, 9),
       labels=st.lists(st.integers(-1, 2), min_size=12, max_size=12))
@settings(max_examples=60)
def test_labels_are_never_mixed(graph: Graph, limit: int, seed: int, labels: list[int]) -> None:
    label = np.array(labels[: graph.num_vertices])
    found = clustered(reference(), graph, limit, seed, label=label)
    assert_within_limit(graph, found, limit)
    pairs = np.unique(np.stack([found, label]), axis=1)
    assert pairs.shape[1] == len(np.unique(found))


@pytest.mark.parametrize("labels", [2, 7, 500])
def test_labels_are_respected_and_do_not_keep_clusters_from_growing(
    space: ExecutionSpace, labels: int
) -> None:
    graph = random_graph(3000, 6000, 3)
    label = np.arange(3000) % labels
    found = clustered(space, graph, 8, label=label)
    assert len(np.unique(found * 1000 + label)) == len(np.unique(found))
    assert found.max() + 1 < (0.5 if labels < 100 else 0.95) * 3000
    assert np.array_equal(found, clustered(reference(), graph, 8, label=label))


@pytest.mark.parametrize("name", ["medium", "skewed"])
def test_offsets_of_64_bits_change_nothing(name: str) -> None:
    wide = with_int64_offsets(GRAPHS[name])
    assert np.array_equal(clustered(reference(), wide, 8), clustered(reference(), GRAPHS[name], 8))


@pytest.mark.parametrize("name", ["medium", "skewed", "parallel"])
def test_the_order_of_arcs_does_not_matter(name: str) -> None:
    graph = GRAPHS[name]
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in
                            zip(graph.offsets[:-1], graph.offsets[1:])]).astype(int)
    weights = None if graph.weights is None else graph.weights[order]
    turned = Graph(graph.offsets, graph.targets[order], weights, graph.vertex_weights, graph.space)
    assert np.array_equal(clustered(reference(), turned, 8), clustered(reference(), graph, 8))


def star(leaves: int) -> Graph:
    return raw_graph(leaves + 1, [(0, i) for i in range(1, leaves + 1)]).graph()


HARD = {
    "star": lambda: star(20_000),
    "isolated": lambda: raw_graph(5000, []).graph(),
    "path": lambda: raw_graph(5000, [(i, i + 1) for i in range(4999)]).graph(),
    "rising path": lambda: raw_graph(5000, [(i, i + 1) for i in range(4999)],
                                     np.arange(1, 5000)).graph(),
    "clique": lambda: raw_graph(150, [(i, j) for i in range(150) for j in range(i)]).graph(),
    "two hubs": lambda: raw_graph(6000, [(i % 2, i) for i in range(2, 6000)]).graph(),
    "rmat": lambda: generators.rmat(13, 8),
}


@looped("limit", [3, 8])
@looped("name", HARD)
def test_no_graph_stalls(space: ExecutionSpace, name: str, limit: int) -> None:
    graph = HARD[name]()
    found = clustered(space, graph, limit)
    assert_within_limit(graph, found, limit)
    assert found.max() + 1 < 0.7 * graph.num_vertices
    assert np.array_equal(found, clustered(reference(), graph, limit))



def graph_with_long_rows() -> Graph:
    """Rows of 300, 700 and 2500 arcs: scratch memory has no room for the last one on any device."""
    stars = [(hub, 3 + v) for hub, leaves in enumerate((300, 700, 2500)) for v in range(leaves)]
    ring = [(3 + v, 3 + (v + 1) % 2500) for v in range(2500)]
    return raw_graph(2503, stars + ring).graph()


def test_long_rows_share_as_many_slots_as_they_have_arcs(
    space: ExecutionSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted or not, and taken anew in every round."""
    graph, improved = graph_with_long_rows(), ClusteringOptions(improve_rounds=2)
    whole = clustered(reference(), graph, 8, options=improved)
    monkeypatch.setattr(clustering, "MAX_UNCOUNTED", 0)
    around = clustering.HEAVY_ARCS.around(graph.to(space), 1)
    assert HashRows.num_bytes(around.sizes) == (4 + 4) * (300 + 700 + 2500)
    assert np.array_equal(clustered(space, graph, 8, options=improved), whole)


@pytest.mark.parametrize(("team", "slots"), [(1, 2), (1, 8), (8, 8), (8, 64), (32, 192)])
@pytest.mark.parametrize("name", ["sparse", "medium", "dense", "skewed"])
def test_all_ways_to_add_up_arcs_give_the_same_wishes(
    space: ExecutionSpace, name: str, team: int, slots: int
) -> None:
    graph = GRAPHS[name].to(space)
    n = graph.num_vertices
    cluster = np.arange(n) // 5 * 5
    weights = np.zeros(n, np.int64)
    np.add.at(weights, cluster, oracles.vertex_weights(GRAPHS[name]))
    everyone = space.asarray(np.arange(n, dtype=np.int32))
    clusters = Proposals(
        seed=3, max_weight=30, label=None, proposal=None,
        cluster=space.asarray(cluster.astype(np.int32)), cluster_weight=space.asarray(weights),
    )
    arrays = {
        "graph": graph.csr, "active": everyone, "wide": everyone,
        "rows": rows_in_main_memory(space, graph.num_arcs),
        "above": -1, "max_degree": MAX_NARROW,
    }
    proposals = []
    for kernel in (propose_cluster.bound(by=HEAVY_EDGE),
                   propose_cluster_by_row.bound(by=RowRating(slots, int64, HEAVY_EDGE))):
        proposal = space.full(n, -2, np.int32)
        launch(space, n, kernel, {**arrays, "clusters": clusters.replaced(proposal=proposal)}, team)
        proposals.append(oracles.host(proposal).copy())
    assert np.array_equal(*proposals)
    wide = np.diff(oracles.host(graph.offsets)) > MAX_NARROW
    assert ((proposals[0] == -2) == wide).all()
    found = proposals[0] >= 0
    assert found.any() or wide.all()
    moving = found & (cluster != proposals[0])
    vertex_weights = np.asarray(oracles.vertex_weights(GRAPHS[name]))
    joined = weights[proposals[0][moving]] + vertex_weights[moving]
    assert (joined <= 30).all()


def test_rows_up_to_a_degree_are_in_scratch_memory_on_every_device() -> None:
    """Those of higher degrees are in main memory, where only graphs that have some have any."""
    assert min(SLOTS[size][team] for size in SLOTS for team in (32, 256)) >= MAX_ROW
    sizes = [FineSizes(10**6, 10**7, max_degree=degree) for degree in (MAX_ROW, MAX_ROW + 1)]
    assert [HashRows.num_bytes(each) for each in sizes] == [0, 8 * 10**7]


@pytest.mark.parametrize("lanes", [2, 3])
def test_lanes_share_hash_rows(lanes: int) -> None:
    """Vertices of degrees below and above that of rows in scratch memory of narrow teams."""
    hub = [(0, i) for i in range(30, MAX_ROW + 20)]
    clique = [(i, j) for i in range(30) for j in range(i)]
    graph = raw_graph(MAX_ROW + 20, [*hub, *clique]).graph()
    assert np.array_equal(clustered(LanesSpace(lanes), graph, 8), clustered(reference(), graph, 8))


def test_the_widest_teams_are_for_vertices_that_would_hold_up_others() -> None:
    """They have more arcs than a usual team takes, with so many for each lane."""
    given: dict[int, int] = {}

    class Spying(LanesSpace):
        def run_flat(self, n: int, kernel: Any, args: Any, team: int) -> None:
            if kernel.name == "propose_neighbour":
                given[team] = max(n, given.get(team, 0))
            super().run_flat(n, kernel, args, team)

    ring = [(v, (v + step) % 600) for v in range(600) for step in range(1, 4)]
    stars = [(hub, 100 + v) for hub, leaves in enumerate((30, 90, 180, 300, 400))
             for v in range(leaves)]
    graph = raw_graph(600, ring + stars).graph()
    clustered(Spying(1), graph)
    usual = min(given)
    degrees = np.diff(oracles.host(graph.offsets))
    assert given == {usual: 600, 256: np.count_nonzero(degrees > ARCS_OF_LANE * usual)}
    assert given[256] > 0
    assert usual > 1


def test_groups_are_leaves_of_one_hub_and_isolated_vertices() -> None:
    """Vertex i > 2 is a leaf of hub i % 3, or isolated where that is 2."""
    graph = raw_graph(3000, [(i % 3, i) for i in range(3, 3000) if i % 3 < 2]).graph()
    found = clustered(reference(), graph, 6)
    kinds = np.unique(np.stack([found, np.arange(3000) % 3]), axis=1)
    assert kinds.shape[1] == found.max() + 1


def test_weights_of_zero_and_huge_ones_are_taken() -> None:
    ring = [(i, (i + 1) % 8) for i in range(8)]
    zero = raw_graph(8, ring, [0] * 8, [0] * 8).graph()
    assert_within_limit(zero, clustered(reference(), zero, 0), 0)
    huge = raw_graph(8, ring, [2**58] * 8, [2**58] * 8).graph()
    found = clustered(reference(), huge, 2**59)
    assert_within_limit(huge, found, 2**59)
    assert found.max() + 1 < 8


def test_a_vertex_heavier_than_the_limit_stays_alone() -> None:
    graph = raw_graph(6, [(0, i) for i in range(1, 6)], None, [100, 1, 1, 1, 1, 1]).graph()
    found = clustered(reference(), graph, 5)
    assert (found == found[0]).sum() == 1
    assert len(np.unique(found)) < 6


def test_skew_is_that_of_all_degrees_and_one_hub_makes_none() -> None:
    """Against NumPy: the mean square of the degrees over the square of their mean."""
    mesh = generators.grid_2d(60).to_scipy().tolil()
    mesh[0, 2000:2200] = mesh[2000:2200, 0] = 1
    graphs_of = {"hub": as_graph(mesh.tocsr()), "mesh": generators.grid_2d(9),
                 "network": generators.rmat(12), "empty": generators.grid_2d(0)}
    for name, graph in graphs_of.items():
        degrees = np.diff(graph.offsets).astype(float)
        skew = (degrees**2).mean() / degrees.mean() ** 2 if len(degrees) else 0
        assert is_skewed(graph, 2) == (skew > 2) == (name == "network")
        assert is_skewed(graph, 16) == (skew > 16)
    assert graphs_of["hub"].max_degree > 32 * graphs_of["hub"].mean_degree
