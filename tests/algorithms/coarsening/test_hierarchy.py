"""The hierarchy ends when it should, on graphs that refuse to shrink too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.hierarchy import ClusterRule, Level, coarsen
from portpart.algorithms.coarsening.matching import matching_rule
from portpart.algorithms.coarsening.options import ClusteringOptions, MatchingOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import oracles
from tests.helpers.graphs import random_graph, raw_graph
from tests.helpers.nets import circuit
from tests.helpers.spaces import GRAPHS, NO_LIMIT, clusters_of, reference

SPACE = reference()


def groups_of(size: int) -> ClusterRule:
    """Clusters of so many consecutive vertices."""
    def clusters(graph: Graph, seed: int, label: Any) -> Clusters:
        n = graph.num_vertices
        return clusters_of(graph.space, np.arange(n) // size, -(-n // size))

    return clusters


def two_hop_rule(space: ExecutionSpace, limit: int) -> ClusterRule:
    return matching_rule(limit, MatchingOptions())


def sizes(levels: list[Level]) -> list[int]:
    return [level.graph.num_vertices for level in levels]


def coarse_sizes(graph: Graph, rule: ClusterRule, stop_at: int) -> list[int]:
    return sizes(coarsen(SPACE, graph, rule, stop_at=stop_at, max_kept=0.95))


def test_coarsening_ends_at_the_first_small_enough_graph() -> None:
    graph = random_graph(640, 2000, 1)
    assert coarse_sizes(graph, groups_of(2), 160) == [640, 320, 160]
    assert coarse_sizes(graph, groups_of(2), 159) == [640, 320, 160, 80]
    assert coarse_sizes(graph, groups_of(2), 640) == [640]


def test_a_level_below_a_quarter_of_the_target_is_dropped() -> None:
    graph = random_graph(640, 2000, 1)
    assert coarse_sizes(graph, groups_of(8), 320) == [640, 80]
    assert coarse_sizes(graph, groups_of(8), 321) == [640]


def test_a_stalled_rule_ends_coarsening() -> None:
    graph = random_graph(600, 2000, 1)
    calls: list[int] = []

    def hardly(graph: Graph, seed: int, label: Any) -> Clusters:
        calls.append(seed)
        n = graph.num_vertices
        return clusters_of(graph.space, np.maximum(np.arange(n) - 3, 0), n - 3)

    assert coarse_sizes(graph, hardly, 10) == [600]
    assert calls == [0]


def test_the_rule_sees_graph_and_seed_and_levels_are_reported() -> None:
    graph = random_graph(640, 2000, 1)
    seen: list[tuple[int, int]] = []
    reported: list[int] = []

    def rule(graph: Graph, seed: int, label: Any) -> Clusters:
        seen.append((graph.num_vertices, seed))
        return groups_of(2)(graph, seed, label)

    coarsen(SPACE, graph, rule, stop_at=200, max_kept=0.95, seed=30,
            on_level=lambda coarse, instead: reported.append(coarse.num_vertices))
    assert seen == [(640, 30), (320, 31)]
    assert reported == [320, 160]


def test_labels_reach_the_rule_on_every_level(space: ExecutionSpace) -> None:
    graph = random_graph(640, 2000, 1).to(space)
    label = (np.arange(640) // 100).astype(np.int32)
    seen: list[Any] = []

    def rule(fine: Graph, seed: int, label: Any) -> Clusters:
        seen.append(oracles.host(label).copy())
        halves = np.arange(fine.num_vertices) // 2
        return clusters_of(space, halves, -(-fine.num_vertices // 2))

    levels = coarsen(space, graph, rule, stop_at=160, max_kept=0.95,
                     labels=(space.asarray(label),))
    assert np.array_equal(seen[0], label)
    assert np.array_equal(seen[1], label[::2])
    assert np.array_equal(oracles.host(levels[2].label), label[::4])


def test_labels_that_stall_give_way_to_the_next(space: ExecutionSpace) -> None:
    """From the level on where they stall; the next ones hold to the end."""
    graph = random_graph(640, 2000, 1).to(space)
    parts, halves = np.arange(640) // 8, np.arange(640) // 320
    seen: list[tuple[int, int]] = []

    def rule(fine: Graph, seed: int, label: Any) -> Clusters:
        found = oracles.host(label)
        seen.append((fine.num_vertices, len(np.unique(found))))
        pairs = np.arange(fine.num_vertices) // 2
        apart = np.unique(pairs * 640 + found, return_inverse=True)[1].reshape(-1)
        return clusters_of(space, apart, int(apart.max()) + 1)

    levels = coarsen(space, graph, rule, stop_at=1, max_kept=0.95, drop_below=0,
                     labels=[space.asarray(each.astype(np.int32)) for each in (parts, halves)])
    assert seen == [(640, 80), (320, 80), (160, 80), (80, 80), (80, 2), (40, 2), (20, 2), (10, 2),
                    (6, 2), (4, 2), (2, 2)]
    assert oracles.host(levels[-1].label).tolist() == [0, 1]


@pytest.mark.parametrize("name", ["medium", "skewed"])
def test_levels_are_quotients_of_each_other(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name].to(space)
    levels = coarsen(space, graph, two_hop_rule(space, 500), stop_at=200, max_kept=0.95)
    assert len(levels) > 2
    for fine, coarse in pairwise(levels):
        cluster = oracles.host(fine.cluster)
        expected = oracles.quotient(fine.graph, cluster, coarse.graph.num_vertices)
        oracles.assert_same_graph(coarse.graph, expected)
        assert coarse.graph.total_vertex_weight == graph.total_vertex_weight
    assert levels[-1].cluster is None


STUBBORN: dict[str, Callable[[], Graph]] = {
    "star": lambda: raw_graph(3000, [(0, i) for i in range(1, 3000)]).graph(),
    "two stars": lambda: raw_graph(
        3000, [(i % 2, i) for i in range(2, 3000)] + [(0, 1)]).graph(),
    "isolated": lambda: raw_graph(3000, []).graph(),
    "bipartite": lambda: raw_graph(
        1004, [(i, j) for i in range(4) for j in range(4, 1004)]).graph(),
    "path": lambda: raw_graph(3000, [(i, i + 1) for i in range(2999)]).graph(),
}


@pytest.mark.parametrize("name", STUBBORN)
def test_two_hops_shrink_what_matching_cannot(space: ExecutionSpace, name: str) -> None:
    graph = STUBBORN[name]().to(space)
    levels = coarsen(space, graph, two_hop_rule(space, 1500), stop_at=64, max_kept=0.98)
    assert sizes(levels)[-1] <= 64


def test_nothing_merges_above_the_weight_limit(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"].to(space)
    levels = coarsen(space, graph, two_hop_rule(space, 40), stop_at=10, max_kept=0.98)
    assert max(oracles.vertex_weights(levels[-1].graph)) <= 40


def test_a_level_reads_once(space: ExecutionSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four numbers of the coarse graph."""
    graph = GRAPHS["skewed"].to(space)
    assert graph.total_arc_weight > graph.max_degree > 0  # known from here on
    assert graph.total_vertex_weight > 0
    read: list[int] = []
    to_host = space.to_host
    monkeypatch.setattr(space, "to_host", lambda array: read.append(len(array)) or to_host(array))
    levels = coarsen(space, graph, two_hop_rule(space, NO_LIMIT), stop_at=100, max_kept=0.98)
    assert read == [4] * (len(levels) - 1)


def test_a_level_of_clusters_takes_few_allocations_and_programs(
    space: ExecutionSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is microseconds of the host; a program's work arrays are one allocation of them."""
    graph = GRAPHS["medium"].to(space)

    def clusters(fine: Graph, seed: int, label: Any) -> Clusters:
        return cluster(space, fine, 8, seed, ClusteringOptions())

    def levels() -> list[Level]:
        return coarsen(space, graph, clusters, stop_at=100, max_kept=0.98)

    steps = len(levels()) - 1
    made: list[int] = []
    empty, launches = space.empty, space.counters.launches
    monkeypatch.setattr(space, "empty", lambda n, dtype: made.append(n) or empty(n, dtype))
    assert len(levels()) - 1 == steps > 1
    assert len(made) <= 14 * (steps + 1)  # the last clusters may be too many to go on with
    assert space.counters.launches - launches <= 3 * (steps + 1)


@pytest.mark.parametrize("skip_above", [0.7, 0.4])
def test_a_level_that_hardly_shrinks_is_skipped(space: ExecutionSpace, skip_above: float) -> None:
    """Levels that are left, and the maps between them, are those of the whole hierarchy."""
    graph = GRAPHS["medium"].to(space)

    def levels_above(share: float) -> tuple[list[Any], list[tuple[int, bool]]]:
        told: list[tuple[int, bool]] = []
        made = coarsen(space, graph, two_hop_rule(space, 500), stop_at=100, max_kept=0.95,
                       skip_above=share, labels=(space.zeros(graph.num_vertices, np.int32),),
                       on_level=lambda coarse, instead: told.append((coarse.num_arcs, instead)))
        return made, told

    (every, _), (some, told) = levels_above(1), levels_above(skip_above)
    sizes_of_all = [level.graph.num_arcs for level in every]
    kept = [0]
    for number in range(1, len(every)):
        last = number == len(every) - 1
        if last or sizes_of_all[number] <= skip_above * sizes_of_all[kept[-1]]:
            kept.append(number)
    assert 2 < len(some) == len(kept) < len(every)
    assert [arcs for arcs, _ in told] == sizes_of_all[1:]
    assert len(told) - sum(instead for _, instead in told) == len(some) - 1
    for level, (begin, end) in zip(some, pairwise(kept)):
        through = np.arange(every[begin].graph.num_vertices)
        for number in range(begin, end):
            through = oracles.host(every[number].cluster)[through]
        assert np.array_equal(oracles.host(level.cluster), through)
    for level, number in zip(some, kept):
        oracles.assert_same_graph(level.graph, every[number].graph)
        assert len(oracles.host(level.label)) == level.graph.num_vertices


def test_skipped_levels_are_in_no_statistics() -> None:
    nets = circuit(3000, 5, large=900)
    found = {share: portpart.partition(nets, 2, device="cpu", preset=changed(
        portpart.HypergraphConfig(), {"coarsening.min_coarsest": 768,
                                      "coarsening.skip_above": share})) for share in (1.0, 0.3)}
    levels = {share: result.stats["levels"] for share, result in found.items()}
    assert 1 < len(levels[0.3]) < len(levels[1.0])
    assert levels[0.3][-1]["vertices"] == levels[1.0][-1]["vertices"]
    for few in levels[0.3]:
        assert few["iterations"] >= 0
        assert few["pins"] in [level["pins"] for level in levels[1.0]]
