"""Swaps of places: never worse, no swap left that gains, and the same on every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import portpart
from portpart.algorithms.objectives.communication import communication_cost, cost_of
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.placement.swaps import swapped_places
from portpart.algorithms.placement.traffic import has_table, traffic_of, with_swaps
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from tests import oracles
from tests.graphs.test_topology import HIERARCHIES
from tests.helpers.each import looped
from tests.helpers.spaces import GRAPHS, reference
from tests.oracles import mappings as plain

MACHINES = {
    "tree": (Topology("2:3:2", "1:5:30"), plain.distances([2, 3, 2], [1, 5, 30])),
    "matrix": (Topology.from_matrix(abs(np.subtract.outer(range(9), range(9)))),
               [[abs(i - j) for j in range(9)] for i in range(9)]),
}


def cost_on(space: ExecutionSpace, topology: Topology) -> Objective:
    return communication_cost(distances_on(space, topology))


def drawn_traffic(k: int, seed: int) -> Graph:
    random = np.random.default_rng(seed)
    table = np.triu(random.integers(0, 50, (k, k)) * (random.random((k, k)) < 0.4), 1)
    matrix = csr_array(table + table.T)
    matrix.sort_indices()
    return Graph(matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32),
                 matrix.data.astype(np.int64), None, reference())


@looped(("arities", "lengths"), HIERARCHIES)
def test_distances_in_kernels(space: ExecutionSpace, arities: list[int],
                              lengths: list[int]) -> None:
    machine, graph = Topology(arities, lengths), GRAPHS["medium"]
    k = machine.num_elements
    part = np.random.default_rng(k).integers(0, k, graph.num_vertices).astype(np.int32)
    table = plain.distances(arities, lengths)
    for topology in (machine, Topology.from_matrix(table)):
        found = cost_of(graph.to(space), space.asarray(part), distances_on(space, topology))
        assert found == plain.cost(graph, part, table)


@looped("name", MACHINES)
@looped("seed", range(4))
def test_no_swap_is_left_that_gains(space: ExecutionSpace, name: str, seed: int) -> None:
    topology, machine = MACHINES[name]
    k = topology.num_elements
    traffic = drawn_traffic(k, seed)
    place = oracles.host(swapped_places(traffic.to(space), cost_on(space, topology), seed))
    assert sorted(place) == list(range(k))
    cost = plain.cost(traffic, place, machine)
    assert cost <= plain.cost(traffic, np.arange(k), machine)
    for a in range(k):
        for b in range(a):
            other = place.copy()
            other[[a, b]] = place[[b, a]]
            assert plain.cost(traffic, other, machine) >= cost


@pytest.mark.parametrize("name", MACHINES)
def test_every_space_finds_the_same_places(space: ExecutionSpace, name: str) -> None:
    topology, traffic = MACHINES[name][0], drawn_traffic(MACHINES[name][0].num_elements, 9)
    found, expected = (
        oracles.host(swapped_places(traffic.to(where), cost_on(where, topology), 5))
        for where in (space, reference()))
    assert np.array_equal(found, expected)


def test_large_weights() -> None:
    traffic = drawn_traffic(12, 1)
    heavy = Graph(traffic.offsets, traffic.targets, traffic.weights * 2**45, None, traffic.space)
    topology, machine = MACHINES["tree"]
    place = swapped_places(heavy, cost_on(traffic.space, topology), 0)
    assert plain.cost(heavy, place, machine) < plain.cost(heavy, np.arange(12), machine)


@pytest.mark.parametrize("name", ["medium", "isolated", "edgeless", "skewed"])
def test_traffic_follows_the_swaps(space: ExecutionSpace, name: str) -> None:
    graph, (topology, machine) = GRAPHS[name], MACHINES["tree"]
    part = np.random.default_rng(2).integers(0, 12, graph.num_vertices).astype(np.int32)
    here = graph.to(space)
    traffic = traffic_of(here, space.asarray(part), 12)
    assert np.array_equal(traffic.toarray(), plain.traffic(graph, part, 12))
    moved, after = with_swaps(here, space.asarray(part), traffic, cost_on(space, topology), 0)
    moved = oracles.host(moved)
    assert np.array_equal(after.toarray(), plain.traffic(graph, moved, 12))
    assert plain.cost(graph, moved, machine) <= plain.cost(graph, part, machine)


@looped("k", [2, 70, 90, 128, 129, 1100])
@looped("name", ["skewed", "dense"])
def test_traffic_is_counted_in_a_table_or_by_contraction(space: ExecutionSpace, name: str,
                                                         k: int) -> None:
    graph = GRAPHS[name]
    part = np.random.default_rng(k).integers(0, k, graph.num_vertices).astype(np.int32)
    traffic = traffic_of(graph.to(space), space.asarray(part), k)
    assert traffic.has_sorted_indices
    assert traffic.dtype == np.int64
    assert np.array_equal(traffic.toarray(), plain.traffic(graph, part, k))


def test_both_ways_of_counting_traffic_are_tested() -> None:
    arcs = {GRAPHS[name].num_arcs for name in ("skewed", "dense")}
    assert {has_table(a, k) for a in arcs for k in (128, 1100)} == {True, False}


def test_a_shuffled_ring_is_put_in_order() -> None:
    """Blocks of a ring on a ring of elements: swaps alone get near the best, one step a block."""
    k = 16
    names: Any = np.random.default_rng(0).permutation(k)
    ring = np.minimum(abs(np.subtract.outer(range(k), range(k))),
                      k - abs(np.subtract.outer(range(k), range(k))))
    graph = portpart.as_graph([(names[i], names[(i + 1) % k]) for i in range(k)])
    objective = cost_on(graph.space, Topology.from_matrix(ring))
    part, _ = with_swaps(graph, np.arange(k, dtype=np.int32),
                         traffic_of(graph, np.arange(k, dtype=np.int32), k), objective, 0)
    assert plain.cost(graph, part, ring.tolist()) <= 2 * k


def test_swaps_begin_where_blocks_are_put(space: ExecutionSpace) -> None:
    """A row on a row of elements in one of the two best orders: nothing is left to swap."""
    k = 12
    graph = portpart.as_graph([(i, i + 1) for i in range(k - 1)]).to(space)
    topology = Topology.from_matrix(abs(np.subtract.outer(range(k), range(k))))
    backwards = space.asarray(np.arange(k)[::-1], np.int32)
    part = space.asarray(np.arange(k), np.int32)
    moved, _ = with_swaps(graph, part, traffic_of(graph, part, k), cost_on(space, topology), 0,
                          lambda blocks: backwards)
    assert np.array_equal(oracles.host(moved), oracles.host(backwards))
