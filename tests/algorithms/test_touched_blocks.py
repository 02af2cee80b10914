"""The ways to count the blocks that a vertex touches, against sums made by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.connectivity import (
    COUNTED,
    MOST_IN_TABLE,
    MOST_PAIRWISE,
    SLOTS,
    Way,
    degree_of,
    in_table,
    most_of_few,
    pairwise,
    way_for_few,
)
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import (
    Kernel,
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
from portpart.graphs.graph import Graph
from tests import oracles
from tests.algorithms.spaces import launch
from tests.graphs import random_graph, raw_graph

HUGE = 2**40


def counting(way: Way, counter: Word, most: int) -> Kernel:
    """A kernel that adds what a way tells of vertices with at most so many arcs to sums."""
    bring, number, block_of, weight_of = way.functions
    num_heads, num_counts, num_order = way.scratch

    @kernel
    def count(v, offsets, targets, weights, part, sums, candidates, state):
        """Add up what is told of v."""
        heads = team_array(int32, num_heads)
        counts = team_array(counter, num_counts)
        order = team_array(int8, num_order)
        first = int64(0)
        if degree_of(v, offsets) > most:
            first = state[at.BLOCKS]
        while first < state[at.BLOCKS]:
            end = bring(v, first, offsets, targets, weights, part, heads, counts, order, state)
            for j in range(lane(), number(v, first, end, offsets, counts), team_size()):
                block = block_of(j, v, first, end, offsets, targets, part, heads, order)
                weight = weight_of(j, v, block, first, end, offsets, heads, counts, order)
                if weight > 0:
                    atomic_add(sums, int64(v) * state[at.BLOCKS] + block, weight)
                    atomic_add(candidates, int64(v) * state[at.BLOCKS] + block, 1)
            team_sync()
            first = end

    return count


def told(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int, kernel: Kernel,
         team: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights that are told, and how often, by vertex and block."""
    n = graph.num_vertices
    state = np.zeros(at.SIZE, np.int64)
    state[at.BLOCKS] = k
    there = graph.to(space)
    arrays = {**there.arrays, "part": space.asarray(part), "state": space.asarray(state),
              "sums": space.zeros(n * k, np.int64), "candidates": space.zeros(n * k, np.int64)}
    launch(space, n, kernel, arrays, team)
    return (oracles.host(arrays["sums"]).reshape(n, k),
            oracles.host(arrays["candidates"]).reshape(n, k))


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
    "pairwise": (pairwise(MOST_PAIRWISE), MOST_PAIRWISE),
    "table": (in_table(SLOTS), MOST_IN_TABLE),
    "full table": (in_table(16), 16),
    "counted": (COUNTED, 10**6),
}
TEAMS = [(way, team) for way in WAYS for team in ((32, 256) if way == "counted" else (8, 32))]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("k", [1, 7, 64, 600])
@pytest.mark.parametrize(("way", "team"), TEAMS)
def test_a_way_tells_the_weight_into_each_block_once(
    space: ExecutionSpace, way: str, team: int, k: int, name: str
) -> None:
    """Blocks whose numbers meet in a slot, too: all parts, and those that are equal modulo 64."""
    graph, (functions, most) = GRAPHS[name], WAYS[way]
    draw = np.random.default_rng(k)
    spread = draw.integers(0, k, graph.num_vertices)
    for part in (spread, spread // SLOTS * SLOTS, np.zeros_like(spread)):
        part = part.astype(np.int32)
        sums, candidates = told(space, graph, part, k, counting(functions, int32, most), team)
        expected = true_sums(graph, part, k, most)
        assert np.array_equal(sums, expected)
        assert np.array_equal(candidates, expected > 0)


@pytest.mark.parametrize("way", ["pairwise", "full table", "counted"])
def test_weights_may_be_huge(space: ExecutionSpace, way: str) -> None:
    graph = raw_graph(5, [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)],
                      [HUGE, HUGE + 1, 3, 2 * HUGE, 1]).graph()
    part = np.array([0, 1, 1, 0, 2], np.int32)
    functions, most = WAYS[way]
    sums, _ = told(space, graph, part, 3, counting(functions, int64, most), 32)
    assert np.array_equal(sums, true_sums(graph, part, 3, most))


def test_a_table_is_never_more_than_full() -> None:
    """Else a search for a free slot would not end."""
    for team, widest in ((1, 1), (1, 256), (8, 256), (32, 256)):
        for k in (2, 10**4):
            for counter in (int32, int64):
                for mean_degree in (1.0, 12.0, 1000.0):
                    most = most_of_few(team, widest, k, counter, mean_degree)
                    assert most < max(2, way_for_few(most).heads + 1)
    assert way_for_few(MOST_IN_TABLE).heads == SLOTS > MOST_IN_TABLE
