"""The ways to find the ties of a vertex to the blocks around it, against sums made by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.objectives import communication, cut
from portpart.algorithms.objectives.connectivity import (
    ALONG_ARCS,
    COUNTED,
    MAX_PAIRWISE,
    SLOTS,
    Connectivity,
    ConnectivityTable,
    in_table,
    pairwise,
    summed_up,
)
from portpart.algorithms.objectives.cut import MAX_IN_TABLE
from portpart.algorithms.objectives.objective import Rules, Shape
from portpart.backends.language import (
    Kernel,
    StaticValue,
    Word,
    atomic_add,
    int8,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sync,
)
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.structure import Csr, degree_of
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import random_graph, raw_graph
from tests.helpers.spaces import launch

HUGE = 2**40


@kernel
def add_up(v, graph: Csr, part, sums, candidates, k, by: Connectivity, counter: StaticValue,
           most: StaticValue):
    """Add what is told of v, if it has at most so many arcs, to sums."""
    connections = ConnectivityTable(blocks=team_array(int32, by.blocks),
                                    weights=team_array(counter, by.weights),
                                    order=team_array(int8, by.order))
    first = int64(0)
    if degree_of(v, graph) > most:
        first = int64(k)
    while first < k:
        end = by.load(v, first, graph, part, connections, k)
        count = by.count(v, first, end, graph, connections)
        for j in range(lane(), count, team_size()):
            block = by.block_of(j, v, first, end, graph, part, connections)
            weight = by.weight_of(j, count, v, block, first, end, graph, connections)
            if weight > 0:
                atomic_add(sums, int64(v) * k + block, weight)
                atomic_add(candidates, int64(v) * k + block, 1)
        team_sync()
        first = end


def counting(connectivity: Connectivity, counter: Word, most: int) -> Kernel:
    """The kernel for a connectivity, and vertices with at most so many arcs."""
    return add_up.bound(by=connectivity, counter=counter, most=most)


def told(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int, kernel: Kernel,
         team: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights that are told, and how often, by vertex and block."""
    n, there = graph.num_vertices, graph.to(space)
    arguments = {"graph": there.csr, "part": space.asarray(part), "k": k,
                 "sums": space.zeros(n * k, np.int64), "candidates": space.zeros(n * k, np.int64)}
    launch(space, n, kernel, arguments, team)
    return (oracles.host(arguments["sums"]).reshape(n, k),
            oracles.host(arguments["candidates"]).reshape(n, k))


def true_sums(graph: Graph, part: np.ndarray, k: int, most: int) -> np.ndarray:
    """Weight of the arcs of each vertex into each block, for those with at most so many arcs."""
    offsets, targets = oracles.host(graph.offsets), oracles.host(graph.targets)
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(offsets))
    weights = np.ones(len(targets), np.int64)
    if graph.weights is not None:
        weights = oracles.host(graph.weights).astype(np.int64)
    sums = np.zeros((graph.num_vertices, k), np.int64)
    np.add.at(sums, (sources, part[targets]), weights)
    sums[np.diff(offsets) > most] = 0
    return sums


STAR = raw_graph(41, [(0, leaf) for leaf in range(1, 41)], list(range(40))).graph()
GRAPHS = {
    "random": random_graph(300, 2400, 5, weighted=True),
    "skewed": random_graph(200, 1500, 6, skewed=True),
    "star": STAR,
}
WAYS = {
    "pairwise": (pairwise(MAX_PAIRWISE), MAX_PAIRWISE),
    "table": (in_table(SLOTS), MAX_IN_TABLE),
    "full table": (in_table(16), 16),
    "counted": (COUNTED, 10**6),
    "summed up": (summed_up(600), 10**6),
}
FOR_FEW = ["pairwise", "table", "full table"]
TEAMS = [(way, team) for way in WAYS for team in ((8, 32) if way in FOR_FEW else (32, 256))]


def parts_of(graph: Graph, k: int) -> list[np.ndarray]:
    """Blocks whose numbers meet in a slot, too: all parts, and those that are equal modulo 64."""
    spread = np.random.default_rng(k).integers(0, k, graph.num_vertices)
    return [part.astype(np.int32)
            for part in (spread, spread // SLOTS * SLOTS, np.zeros_like(spread))]


@looped("name", GRAPHS)
@looped("k", [1, 7, 64, 600])
@looped(("way", "team"), TEAMS)
def test_the_weight_into_each_block_is_told_once(
    space: ExecutionSpace, way: str, team: int, k: int, name: str
) -> None:
    graph, (connectivity, most) = GRAPHS[name], WAYS[way]
    for part in parts_of(graph, k):
        sums, candidates = told(space, graph, part, k, counting(connectivity, int32, most), team)
        expected = true_sums(graph, part, k, most)
        assert np.array_equal(sums, expected)
        assert np.array_equal(candidates, expected > 0)


@looped("name", GRAPHS)
@looped("k", [1, 600])
@looped("team", [8, 256])
def test_along_arcs_a_block_is_told_as_often_as_arcs_lead_there(
    space: ExecutionSpace, team: int, k: int, name: str
) -> None:
    graph = GRAPHS[name]
    alike = Graph(graph.offsets, graph.targets, graph.weights, None, graph.space)
    if graph.weights is not None:  # arcs of no weight are told as such
        alike = Graph(graph.offsets, graph.targets, (graph.weights > 0).astype(np.int64), None,
                      graph.space)
    for part in parts_of(graph, k):
        sums, candidates = told(space, graph, part, k, counting(ALONG_ARCS, int32, 10**6), team)
        assert np.array_equal(sums, true_sums(graph, part, k, 10**6))
        assert np.array_equal(candidates, true_sums(alike, part, k, 10**6))


@pytest.mark.parametrize("way", ["pairwise", "full table", "counted", "summed up"])
def test_weights_may_be_huge(space: ExecutionSpace, way: str) -> None:
    graph = raw_graph(5, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)],
                      [HUGE, HUGE + 1, 3, 2 * HUGE, 1]).graph()
    part = np.array([0, 1, 1, 0, 2], np.int32)
    connectivity, most = WAYS[way]
    sums, _ = told(space, graph, part, 3, counting(connectivity, int64, most), 32)
    assert np.array_equal(sums, true_sums(graph, part, 3, most))


@pytest.mark.parametrize("lanes", [2, 3])
@pytest.mark.parametrize("way", WAYS)
def test_lanes_of_a_team_find_the_same(way: str, lanes: int) -> None:
    """Lanes as threads, in any order; a star and a ring around it."""
    ring = [(leaf, leaf % 9 + 1) for leaf in range(1, 10)]
    graph = raw_graph(10, [*[(0, leaf) for leaf in range(1, 10)], *ring], list(range(18))).graph()
    part = np.array([3, 0, 1, 0, 1, 4, 4, 4, 1, 3], np.int32)
    connectivity, most = WAYS[way]
    sums, candidates = told(LanesSpace(lanes, seed=lanes), graph, part, 5,
                            counting(connectivity, int32, most), 8)
    assert np.array_equal(sums, true_sums(graph, part, 5, most))
    assert np.array_equal(candidates, sums > 0)


SHAPES = [Shape(team, widest, k, counter, mean_degree, max_degree)
          for team, widest in ((1, 1), (1, 256), (8, 256), (32, 256)) for k in (2, 10**4)
          for counter in (int32, int64) for mean_degree in (1.0, 12.0, 1000.0)
          for max_degree in (5, 10**4)]


@pytest.mark.parametrize("rules", [cut.CUT.rules, communication.communication_rules("tree", 512)],
                         ids=lambda rules: rules.name)
def test_a_table_is_never_more_than_full(rules: Rules) -> None:
    """Else a search for a free slot would not end.  The cut says what single lanes take."""
    for shape in SHAPES:
        for most in (cut.low_degree_limit(shape), communication.low_degree_limit(shape)):
            assert most <= max(1, rules.low_degree(most).connectivity.blocks)
    assert rules.low_degree(MAX_IN_TABLE).connectivity.blocks == SLOTS > MAX_IN_TABLE
