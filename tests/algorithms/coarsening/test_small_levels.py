"""All levels below a small graph, made by one program, are those that are made one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.coarsening import level_loop, small_levels
from portpart.algorithms.coarsening.cluster_rules import ClustersOfLevels, cluster_rule
from portpart.algorithms.coarsening.clustering import HEAVY_ARCS
from portpart.algorithms.coarsening.communities import BY_MODULARITY
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.hierarchy import coarsen, label_of_clusters
from portpart.algorithms.coarsening.level_loop import UNLIMITED, ClusterLimit
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes
from portpart.backends.cuda.requirements import check_program
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import raw_graph
from tests.helpers.spaces import reference

LOUVAIN = ClusteringOptions(improve_rounds=2, max_left=1)

SLOW = ClusteringOptions(growth=2.5)

GRAPHS = {
    "mesh": lambda: generators.grid_2d(40),
    "triangles": lambda: generators.delaunay(1500, seed=1),
    "network": lambda: generators.rmat(10, 8, seed=3),
    "star": lambda: raw_graph(300, [(0, i) for i in range(1, 300)]).graph(),
    "heavy": lambda: raw_graph(60, [(i, (i + 1) % 60) for i in range(60)], [2**40] * 60,
                               [2**35] * 60).graph(),
    "edgeless": lambda: raw_graph(50, []).graph(),
}


@pytest.fixture(autouse=True)
def all_graphs_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is small on a device."""
    monkeypatch.setattr(small_levels, "MAX_SIZES", dict.fromkeys((False, True), (2**17, 2**20)))


def rule_for(graph: Graph, options: ClusteringOptions, coarsest: int = 20) -> ClustersOfLevels:
    """The rule for clusters down to about this many vertices."""
    return cluster_rule(graph, coarsest, graph.total_vertex_weight, options)


def assert_same(graph: Graph, coarse: Graph) -> None:
    """Two graphs have the same rows, in any order, and know the same measures."""
    of_rows = [(each.to_scipy().sorted_indices(), each.space.to_host(each.vertex_weights))
               for each in (graph, coarse)]
    (one, weights), (other, others) = of_rows
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert np.array_equal(weights, others)
    assert graph.weights.dtype == coarse.weights.dtype
    for name in ("num_vertices", "num_arcs", "max_degree", "total_arc_weight",
                 "total_vertex_weight"):
        assert getattr(graph, name) == getattr(coarse, name)


def assert_levels_are_those_made_one_by_one(graph: Graph, rule: ClustersOfLevels, seed: int,
                                            label: Any = None, stop_at: int = 20) -> list[int]:
    space, weight_type = graph.space, graph.weight_sum_dtype
    made = rule.below(graph, seed, stop_at, 0.95, weight_type, label)
    fine = graph
    for number, level in enumerate(made):
        clusters = rule(fine, (seed + number) % 2**63, label)
        coarse = contract(fine, clusters, weight_type)
        assert np.array_equal(space.to_host(clusters.cluster),
                              space.to_host(level.clusters.cluster))
        assert_same(coarse, level.coarse)
        if label is None:
            assert level.label is None
        else:
            label = label_of_clusters(space, label, clusters.cluster, coarse.num_vertices)
            assert np.array_equal(space.to_host(label), space.to_host(level.label))
        fine = coarse
    return [graph.num_vertices, *(level.coarse.num_vertices for level in made)]


@pytest.mark.parametrize("name", GRAPHS)
def test_levels_are_those_made_one_by_one(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]().to(space)
    n = graph.num_vertices
    label = space.asarray(np.arange(n, dtype=np.int32) % 3)
    for options in (ClusteringOptions(), ClusteringOptions(improve_rounds=1)):
        rule = rule_for(graph, options)
        assert len(assert_levels_are_those_made_one_by_one(graph, rule, 5, label)) > 1
        sizes = assert_levels_are_those_made_one_by_one(graph, rule, 5)
        assert len(sizes) > (3 if name in ("mesh", "triangles", "network") else 1)


def test_seeds_wrap_and_communities_have_no_limit(space: ExecutionSpace) -> None:
    graph = generators.delaunay(1000, seed=2).to(space)
    rule = ClustersOfLevels(UNLIMITED, LOUVAIN, BY_MODULARITY)
    assert len(assert_levels_are_those_made_one_by_one(graph, rule, 2**63 - 2)) > 3


def test_a_real_graph_has_the_same_levels(space: ExecutionSpace, data_folder: Path) -> None:
    graph = portpart.as_graph(data_folder / "graphs" / "3elt.graph").to(space)
    rule = rule_for(graph, ClusteringOptions())
    assert len(assert_levels_are_those_made_one_by_one(graph, rule, 1)) > 3


@pytest.mark.parametrize("lanes", [1, 3])
def test_lanes_and_their_order_do_not_matter(lanes: int) -> None:
    graph = generators.rmat(6, 4, seed=1)
    expected = rule_for(graph, LOUVAIN).below(graph, 1, 8, 0.95, graph.weight_sum_dtype)
    other = graph.to(LanesSpace(lanes))
    found = rule_for(other, LOUVAIN).below(other, 1, 8, 0.95, graph.weight_sum_dtype)
    assert len(found) == len(expected) > 1
    for one, level in zip(expected, found, strict=True):
        assert np.array_equal(one.clusters.cluster, level.clusters.cluster)
        assert_same(one.coarse, level.coarse)


def test_the_limit_of_clusters_is_that_of_each_level() -> None:
    """Fractions are rounded down; huge limits are exact."""
    assert ClusterLimit(100.0, 1.0, 0.0, 9).on(30) == 3
    assert ClusterLimit(100.0, 1.0, 0.0, 9).on(3) == 9
    assert ClusterLimit(100.0, 1.0, 0.0, 9).on(1000) == 1
    assert ClusterLimit(150.0, 2.0, 50.0, 9).on(30) == 3
    assert ClusterLimit(150.0, 2.0, 10.0, 99).on(30) == 10
    assert ClusterLimit(2.0**70, 1.0, 0.0, 2**61 + 1).on(5) == 2**61 + 1


def test_vertices_without_weight_form_clusters(space: ExecutionSpace) -> None:
    """The limit is 1 at least, though all weights together are 0."""
    pairs = [(i, i + 1) for i in range(99)]
    graph = raw_graph(100, pairs, None, [0] * 100).graph().to(space)
    rule = rule_for(graph, ClusteringOptions())
    assert rule.limit.on(100) == 1
    assert len(assert_levels_are_those_made_one_by_one(graph, rule, 1)) > 1


@pytest.mark.parametrize("options", [ClusteringOptions(), SLOW])
@pytest.mark.parametrize("space_for", [2.0, 1.0, 0.3])
def test_a_hierarchy_is_the_same_without_levels_at_once(
    space: ExecutionSpace, monkeypatch: pytest.MonkeyPatch, options: ClusteringOptions,
    space_for: float,
) -> None:
    """Also if there is not enough space for all levels, or only the last ones are small."""
    graph = generators.delaunay(1500, seed=4).to(space)

    def levels(max_vertices: int) -> list[Any]:
        sizes = dict.fromkeys((False, True), (max_vertices, 2**20))
        monkeypatch.setattr(small_levels, "MAX_SIZES", sizes)
        return coarsen(space, graph, rule_for(graph, options), stop_at=20, max_kept=0.95, seed=3)

    def with_less_space(stop_at: int, max_kept: float, most_levels: int, vertices: int,
                        arcs: int) -> level_loop.WhenToEnd:
        return level_loop.WhenToEnd(stop_at, max_kept, most_levels, vertices,
                                    max(int(space_for * arcs), 500))

    expected = levels(0)
    if space_for < 1:
        monkeypatch.setattr(small_levels, "WhenToEnd", with_less_space)
    for most in (10**6, 600):
        found = levels(most)
        assert len(found) == len(expected) > 3
        for one, other in zip(expected, found, strict=True):
            assert one.graph.num_arcs == other.graph.num_arcs
            assert (one.cluster is None) == (other.cluster is None)
            if one.cluster is not None:
                assert np.array_equal(space.to_host(one.cluster), space.to_host(other.cluster))


def test_the_host_waits_once_for_all_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    space, reads = reference(), list[int]()
    graph = generators.delaunay(1500, seed=4).to(space)
    read = ExecutionSpace.read
    monkeypatch.setattr(ExecutionSpace, "read", lambda self, array, guess: (
        reads.append(len(array)), read(self, array, guess))[1])
    rule = rule_for(graph, ClusteringOptions())
    assert len(coarsen(space, graph, rule, stop_at=20, max_kept=0.95)) > 4
    assert reads.count(1 + level_loop.SIZES * level_loop.MAX_LEVELS) == 1
    assert len(reads) <= 2  # the other one measures degrees


@pytest.mark.parametrize("rule", [HEAVY_ARCS, BY_MODULARITY])
@pytest.mark.parametrize("sum_type", [np.int32, np.int64])
@pytest.mark.parametrize("has_label", [False, True])
def test_team_arrays_fit_into_the_memory_of_a_block(rule: Any, sum_type: type,
                                                    has_label: bool) -> None:
    space, sizes = reference(), FineSizes(100, 1000, 100, np.dtype(sum_type))
    kept = level_loop.KeptLevels.allocate(space, sizes)
    present = level_loop.PresentLevel.outliving(space, sizes,
                                                label=kept.label if has_label else None)
    records = {"kept": kept, "limit": UNLIMITED, "members": small_levels.NO_MEMBERS,
               "when": level_loop.WhenToEnd(1, 0.9, 9, 100, 1000),
               "present": present.with_words(goes_on=1)}
    for options in (ClusteringOptions(), LOUVAIN):
        check_program(level_loop.record_levels(records, sizes, options, rule, True, False))
