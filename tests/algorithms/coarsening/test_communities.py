"""Communities: modularity as NetworkX counts it, nothing across components, labels that hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from portpart.algorithms.coarsening.cluster_ratings import (
    MAX_NARROW,
    RowRating,
    propose_cluster,
    propose_cluster_by_row,
)
from portpart.algorithms.coarsening.communities import (
    BY_DEGREE,
    BY_MODULARITY,
    BY_SIZE,
    EQUAL,
    clusters_by_modularity,
    communities,
    incidence_graph,
    weighting_of,
)
from portpart.algorithms.coarsening.options import CommunityOptions
from portpart.algorithms.coarsening.proposals import Proposals
from portpart.backends.language import int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import random_graph
from tests.helpers.hash_rows import rows_in_main_memory
from tests.helpers.nets import Rows, circuit, hypergraph_of, nets_of
from tests.helpers.spaces import NO_LIMIT, launch, reference

OPTIONS = CommunityOptions()


def planted(blocks: int, size: int, seed: int) -> Hypergraph:
    """Nets inside blocks, a few across them, and two vertices without any."""
    random = np.random.default_rng(seed)
    n = blocks * size
    rows = [(random.integers(blocks) * size + random.integers(0, size, 4)).tolist()
            for _ in range(4 * n)]
    rows += [random.integers(0, n, 3).tolist() for _ in range(n // 8)]
    return hypergraph_of(rows, n + 2)


def with_volumes(graph: Graph) -> Graph:
    """The same graph, its vertices weighing their weighted degrees."""
    volumes = np.zeros(graph.num_vertices, np.int64)
    for u, _, weight in oracles.arcs(graph):
        volumes[u] += weight
    return Graph(graph.offsets, graph.targets, graph.weights, volumes, graph.space)


def modularity(graph: Graph, label: np.ndarray) -> tuple[float, float]:
    """Of the clusters, and of those that NetworkX finds."""
    plain = nx.Graph()
    plain.add_weighted_edges_from((u, v, w) for u, v, w in oracles.arcs(graph) if w > 0)
    groups = [{v for v in plain if label[v] == c} for c in np.unique(label)]
    known = nx.community.louvain_communities(plain, seed=1)
    return (nx.community.modularity(plain, [group for group in groups if group]),
            nx.community.modularity(plain, known))


@pytest.mark.parametrize("seed", [0, 1])
def test_modularity_is_about_that_of_the_louvain_method(seed: int) -> None:
    """On graphs of pins, where there are communities and where there are hardly any."""
    for hypergraph in (planted(6, 20, seed), circuit(300, seed)):
        graph = incidence_graph(hypergraph, weighting_of(hypergraph))
        found, known = modularity(graph, clusters_by_modularity(graph, seed, OPTIONS))
        assert found > 0.9 * known


def test_planted_blocks_are_found() -> None:
    """Each is one community, or nearly."""
    label = communities(planted(6, 20, 3), 1, OPTIONS)
    for block in range(6):
        inside = label[20 * block : 20 * block + 20]
        assert np.bincount(inside).max() >= 18
    assert len(np.unique(label[:120])) <= 9


def test_components_are_never_mixed_and_isolated_vertices_are_one_community(
    space: ExecutionSpace
) -> None:
    """On every space the same."""
    rows = [[i, i + 1] for i in range(0, 90, 3)] + [[i, i + 1] for i in range(1, 60, 3)]
    hypergraph = hypergraph_of(rows, 100)
    label = oracles.host(communities(hypergraph.to(space), 5, OPTIONS))
    assert np.array_equal(label, communities(hypergraph, 5, OPTIONS))
    graph = incidence_graph(hypergraph, weighting_of(hypergraph))
    _, component = connected_components(graph.to_scipy())
    inside = label[:90][[v for v in range(90) if any(v in row for row in rows)]]
    kept = component[:90][[v for v in range(90) if any(v in row for row in rows)]]
    assert len(np.unique(np.stack([inside, kept]), axis=1).T) == len(np.unique(inside))
    assert len(set(label[90:].tolist())) == 1
    assert label[90] not in inside


def test_every_space_finds_the_same(space: ExecutionSpace) -> None:
    """With a net of many pins, which is a hub."""
    hypergraph = circuit(800, 4, large=500)
    label = oracles.host(communities(hypergraph.to(space), 2, OPTIONS))
    assert np.array_equal(label, communities(hypergraph.to(reference()), 2, OPTIONS))
    assert 2 <= len(np.unique(label)) < 200


def test_lanes_share_the_work() -> None:
    """Whoever takes which arc."""
    hypergraph = circuit(60, 4, large=30)
    assert np.array_equal(communities(hypergraph.to(LanesSpace(3)), 2, OPTIONS),
                          communities(hypergraph.to(reference()), 2, OPTIONS))


ROWS: Rows = [[0, 1, 2], [2, 3], [0, 3, 4, 5]]


@pytest.mark.parametrize("way", [EQUAL, BY_SIZE, BY_DEGREE])
def test_pins_weigh_what_plain_loops_say(space: ExecutionSpace, way: int) -> None:
    """Alike both ways; volumes are their sums."""
    graph = incidence_graph(hypergraph_of(ROWS, 7, [3, 5, 2]).to(space), way)
    degrees = [sum(v in row for row in ROWS) for v in range(7)]
    expected = {}
    for net, (row, weight) in enumerate(zip(ROWS, (3, 5, 2), strict=True)):
        for v in row:
            full = 2**20 * weight * (degrees[v] if way == BY_DEGREE else 1)
            expected[v, 7 + net] = full if way == EQUAL else full // len(row)
    assert {(u, v): w for u, v, w in oracles.arcs(graph) if u < v} == expected
    assert {(v, u): w for u, v, w in oracles.arcs(graph) if u > v} == expected
    volumes = [sum(w for ends, w in expected.items() if u in ends) for u in range(10)]
    assert oracles.vertex_weights(graph) == volumes


def test_what_pins_weigh_depends_on_how_many_nets_there_are() -> None:
    """And on the largest."""
    large = [list(range(1001))]
    assert weighting_of(hypergraph_of(ROWS, 7)) == BY_DEGREE
    assert weighting_of(hypergraph_of(ROWS, 3 + 3)) == BY_DEGREE
    assert weighting_of(hypergraph_of(large + 1000 * [[0, 1]], 1001)) == BY_SIZE
    assert weighting_of(hypergraph_of(large + 3000 * [[0, 1]], 1001)) == EQUAL
    assert weighting_of(hypergraph_of(ROWS + ROWS, 6)) == EQUAL


@pytest.mark.parametrize("way", ["comparing", "row"])
def test_wishes_gain_most_modularity(space: ExecutionSpace, way: str) -> None:
    """Counted anew from the definition, for every cluster around; none if none gains."""
    graph = with_volumes(random_graph(60, 150, 3, weighted=True))
    n, total = 60, sum(weight for _, _, weight in oracles.arcs(graph))
    members = np.arange(n) // 4 * 4
    volumes = np.array(oracles.vertex_weights(graph))
    heavy = np.zeros(n, np.int64)
    np.add.at(heavy, members, volumes)
    here = graph.to(space)
    clusters = Proposals(seed=3, max_weight=NO_LIMIT, label=None, total=total,
                         proposal=space.full(n, -2, np.int32), cluster_weight=space.asarray(heavy),
                         cluster=space.asarray(members.astype(np.int32)))
    everyone = space.asarray(np.arange(n, dtype=np.int32))
    by = BY_MODULARITY.by
    kernel = (propose_cluster.bound(by=by) if way == "comparing"
              else propose_cluster_by_row.bound(by=RowRating(64, int64, by)))
    rows = rows_in_main_memory(space, graph.num_arcs)
    launch(space, n, kernel, {"graph": here.csr, "active": everyone, "wide": everyone,
                              "clusters": clusters, "rows": rows, "above": -1,
                              "max_degree": MAX_NARROW}, 8)
    proposal = oracles.host(clusters.proposal)
    gains: list[dict[int, Fraction]] = [{} for _ in range(n)]
    for u, v, weight in oracles.arcs(graph):
        c = int(members[v])
        others = int(heavy[c]) - (int(volumes[u]) if members[u] == c else 0)
        base = gains[u].setdefault(c, -Fraction(int(volumes[u]) * others, total))
        gains[u][c] = base + weight
    for v in range(n):
        if len(gains[v]) <= MAX_NARROW:
            best = max(gains[v].values(), default=Fraction(0))
            expected = [c for c, value in gains[v].items() if value == best] if best > 0 else [-1]
            assert proposal[v] in expected
    assert (proposal == -1).any()


def test_rows_of_a_hypergraph_are_rows_of_its_graph() -> None:
    """Vertices first, then nets."""
    hypergraph = circuit(40, 2)
    graph = incidence_graph(hypergraph, weighting_of(hypergraph))
    rows = [graph.targets[a:b].tolist() for a, b in pairwise(graph.offsets)]
    assert rows[40:] == nets_of(hypergraph)
    assert all(40 + net in rows[v] for net, row in enumerate(rows[40:]) for v in row)
    assert sum(map(len, rows)) == 2 * hypergraph.num_pins
