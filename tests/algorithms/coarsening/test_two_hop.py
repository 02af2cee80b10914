"""Two-hop matching: twins and relatives pair what they claim to pair, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening.clusters import Numbering
from portpart.algorithms.coarsening.matching import Matching
from portpart.algorithms.coarsening.options import sizes_of
from portpart.algorithms.coarsening.two_hop import UNMATCHED_SHARE, TwoHop, record_two_hop
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.graphs.csr import team_for
from portpart.graphs.graph import Graph
from portpart.inputs.convert import as_graph
from portpart.primitives.recorded_sort import sort_arrays
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.graphs import graphs, raw_graph
from tests.helpers.spaces import GRAPHS, NO_LIMIT, heavy_edge_mates, reference

ANY_DEGREE = 10**6


def neighbours(graph: Graph) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(graph.num_vertices)]
    for u, v, _ in oracles.arcs(graph):
        lists[u].append(v)
    return [sorted(row) for row in lists]


def paired(space: ExecutionSpace, graph: Graph, mate: Any, limit: int = NO_LIMIT,
           max_degree: int = ANY_DEGREE) -> np.ndarray:
    here = graph.to(space)
    result = space.copy(space.asarray(mate, np.int32))
    pair_at_two_hops(space, here, result, limit, max_degree)
    return oracles.host(result).copy()


def pair_at_two_hops(space: ExecutionSpace, here: Graph, mate: Any, limit: int,
                     max_degree: int) -> None:
    """Pair vertices in `mate`, whatever matching that is."""
    n = here.num_vertices
    records = {"graph": here.csr, "numbering": Numbering.of(n),
               "matching": Matching(seed=1, max_weight=limit, label=None, mate=mate),
               "two_hop": TwoHop(max_degree, sort_arrays(space, n), mate, space.empty(n, np.int32),
                                 space.empty(n, np.int32)).with_words(unmatched=n)}
    program = Program("two-hop matching")
    program.declare(records)
    record_two_hop(program, team_for(here.mean_degree))
    space.executable(program).run(records, n, sizes_of(here))


def one_hop(graph: Graph, limit: int = NO_LIMIT) -> np.ndarray:
    space = reference()
    return heavy_edge_mates(space, graph, limit, 1).astype(np.int32)


def assert_only_two_hop_pairs_added(graph: Graph, before: np.ndarray, after: np.ndarray,
                                    limit: int) -> None:
    near, weights = neighbours(graph), oracles.vertex_weights(graph)
    assert (after[before >= 0] == before[before >= 0]).all()
    for v in np.flatnonzero((before < 0) & (after >= 0)).tolist():
        u = int(after[v])
        assert u != v
        assert after[u] == v
        assert before[u] < 0
        assert weights[u] + weights[v] <= limit
        assert set(near[u]) & set(near[v]) or not (near[u] or near[v]), (u, v)


def assert_nothing_left_to_pair(graph: Graph, mate: np.ndarray) -> None:
    """No two unmatched vertices are leaves of one vertex, twins, or share a matchmaker."""
    near = neighbours(graph)
    seen = set()
    for v in np.flatnonzero(mate < 0).tolist():
        matchmaker = min(((len(near[u]), u) for u in near[v]), default=None)
        for key in (("twins", *near[v]), ("matchmaker", matchmaker)):
            assert key not in seen, (v, key)
            seen.add(key)


def check(space: ExecutionSpace, graph: Graph, limit: int) -> None:
    before = one_hop(graph, limit)
    after = paired(space, graph, before, limit)
    assert_only_two_hop_pairs_added(graph, before, after, limit)
    few = UNMATCHED_SHARE * graph.num_vertices
    if (before < 0).sum() <= few:
        assert np.array_equal(before, after)
    if limit == NO_LIMIT and (after < 0).sum() > few:
        assert_nothing_left_to_pair(graph, after)


@looped("limit", [2, NO_LIMIT])
@looped("name", GRAPHS)
def test_pairs_are_two_hops_apart_and_none_is_left(
    space: ExecutionSpace, name: str, limit: int
) -> None:
    check(space, GRAPHS[name], limit)


@given(graph=graphs(16), limit=st.sampled_from([4, 20, NO_LIMIT]))
@settings(max_examples=60)
def test_random_graphs_are_paired_at_two_hops(
    space: ExecutionSpace, graph: Graph, limit: int
) -> None:
    check(space, graph, limit)


def test_leaves_of_a_star_pair_up(space: ExecutionSpace) -> None:
    star = raw_graph(12, [(0, i) for i in range(1, 12)]).graph()
    after = paired(space, star, one_hop(star))
    assert (after < 0).sum() == 0


def shuffled_star() -> Graph:
    """Four hubs and 10^5 leaves, each of a hub drawn for it, in drawn order."""
    random = np.random.default_rng(8)
    number = random.permutation(100_004)
    hubs = np.concatenate([[0, 1, 2], random.integers(0, 4, 100_000)])
    leaves = np.concatenate([[1, 2, 3], np.arange(4, 100_004)])
    return as_graph(np.stack([number[hubs], number[leaves]], 1))


@pytest.fixture(scope="module")
def star() -> tuple[Graph, np.ndarray]:
    graph = shuffled_star()
    return graph, one_hop(graph)


def test_leaves_of_large_stars_pair_up(space: ExecutionSpace, star: Any) -> None:
    graph, before = star
    after = paired(space, graph, before)
    assert (after < 0).sum() <= 4
    assert np.array_equal(after, paired(reference(), graph, before))


def test_nothing_returns_to_the_host(space: ExecutionSpace, star: Any,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    graph, before = star
    here, mate = graph.to(space), space.asarray(before)
    monkeypatch.setattr(space, "to_host", None)
    monkeypatch.setattr(space, "synchronize", None)
    synchronizations = space.counters.synchronizations
    pair_at_two_hops(space, here, mate, NO_LIMIT, ANY_DEGREE)
    if getattr(space, "program_mode", None) != "walk":  # there the host reads the flags
        assert space.counters.synchronizations == synchronizations


def test_isolated_vertices_pair_up(space: ExecutionSpace) -> None:
    empty = raw_graph(9, []).graph()
    after = paired(space, empty, np.full(9, -1))
    assert (after < 0).sum() == 1


def test_twins_have_equal_neighbours(space: ExecutionSpace) -> None:
    """Six vertices see {0, 1, 2}, three see {0, 1}, all of them unmatched."""
    edges = [(i, j) for i in range(3) for j in range(4, 10)]
    edges += [(i, j) for i in range(2) for j in range(10, 13)] + [(2, 3)]
    graph = raw_graph(13, edges, shuffle=4).graph()
    mate = np.full(13, -1)
    mate[[0, 1, 2, 3]] = [1, 0, 3, 2]
    # relatives may pair no one here: every vertex is of degree above zero
    after = paired(space, graph, mate, max_degree=0)
    near = neighbours(graph)
    pairs = [(v, int(u)) for v, u in enumerate(after.tolist()) if v >= 4 and u > v]
    assert len(pairs) == 4
    assert all(near[u] == near[v] for u, v in pairs)


def relatives() -> tuple[Graph, np.ndarray]:
    """Eight unmatched vertices; 2 j and 2 j + 1 share hub j (degree 3), the rest is a clique.

    Vertices: 0-7 unmatched, 8-11 hubs, 12-15 partners of the hubs, 16-23 the clique.
    """
    edges = [(i, 8 + i // 2) for i in range(8)] + [(i, 16 + i) for i in range(8)]
    edges += [(8 + j, 12 + j) for j in range(4)]
    edges += [(16 + i, 16 + j) for i in range(8) for j in range(i)]
    mate = np.full(24, -1)
    mate[8:12], mate[12:16] = np.arange(12, 16), np.arange(8, 12)
    mate[16:24] = np.arange(16, 24) ^ 1
    return raw_graph(24, edges).graph(), mate


def test_relatives_meet_at_the_neighbour_of_least_degree(space: ExecutionSpace) -> None:
    graph, mate = relatives()
    assert paired(space, graph, mate)[:8].tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


def test_busy_matchmakers_are_left_out(space: ExecutionSpace) -> None:
    graph, mate = relatives()
    assert (paired(space, graph, mate, max_degree=2)[:8] == -1).all()


def test_pairs_keep_the_weight_limit(space: ExecutionSpace) -> None:
    graph = raw_graph(6, [], vertex_weights=[3, 3, 2, 2, 9, 2]).graph()
    after = paired(space, graph, np.full(6, -1), limit=4)
    assert after.tolist() == [-1, -1, 3, 2, -1, -1]


def test_few_unmatched_vertices_are_left_alone(space: ExecutionSpace) -> None:
    """Two leaves of one vertex among eight vertices are a quarter, not more."""
    graph = raw_graph(8, [(0, 1), (0, 2), (0, 3), (4, 5), (6, 7)]).graph()
    mate = np.array([1, 0, -1, -1, 5, 4, 7, 6])
    assert np.array_equal(paired(space, graph, mate), mate)
