"""Refinement on the communication cost: true costs and gains, balance, and never worse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import backends
from portpart.algorithms.initial.deep_multilevel import grown_partitions
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.mapping.sections import splits_along
from portpart.algorithms.objectives import communication
from portpart.algorithms.objectives.communication import communication_cost
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.objective import Shape
from portpart.algorithms.refinement.gains import state as active_sets
from portpart.algorithms.refinement.rebalancing.rule import ALL, ONLY_MOVABLE
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import Word, int32, int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from tests import oracles
from tests.algorithms.placement.test_swaps import MACHINES
from tests.helpers import refining
from tests.helpers.each import looped
from tests.helpers.refining import copied, counted_rows, recorded, widest
from tests.helpers.spaces import GRAPHS, heavy_edge_mates
from tests.oracles import mappings as plain

NAMES = ["sparse", "medium", "dense", "skewed", "isolated", "weighted", "heavy_vertex", "edgeless"]


def refiner_at(space: ExecutionSpace, graph: Graph, part: np.ndarray, topology: Topology,
               **options: Any) -> tuple[Refiner, Graph]:
    objective = communication_cost(distances_on(space, topology))
    return refining.refiner_at(space, graph, part, topology.num_elements, objective=objective,
                               **options)


def drawn_part(n: int, k: int) -> np.ndarray:
    """Nearly balanced, in drawn order."""
    return np.random.default_rng(n).permutation(np.arange(n) % k).astype(np.int32)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_costs_are_true_and_fall(space: ExecutionSpace, name: str, machine: str) -> None:
    graph, (topology, table) = GRAPHS[name], MACHINES[machine]
    part = drawn_part(graph.num_vertices, topology.num_elements)
    refiner, here = refiner_at(space, graph, part, topology)
    outcome = refiner.refine(here, 0.5)
    best = oracles.host(refiner.best)
    assert outcome["cut"] == plain.cost(graph, best, table)
    assert outcome["cut"] <= plain.cost(graph, part, table) or not outcome["balanced"]
    weights = oracles.block_weights(graph, best, topology.num_elements)
    assert outcome["overload"] == max(weights) - refiner.balance.max_block_weight


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES[:4])
def test_cached_gains_are_the_best_ones(space: ExecutionSpace, name: str, machine: str) -> None:
    graph, (topology, table) = GRAPHS[name], MACHINES[machine]
    part = drawn_part(graph.num_vertices, topology.num_elements)
    refiner, here = refiner_at(space, graph, part, topology, iteration_limit=1, stall_limit=1)
    words = refiner.run.level
    refiner.refine(here, 0.0)
    assert refiner.run.before is words
    target, gain = copied(refiner.run.cache.best_target), copied(refiner.run.cache.gain)
    for v, row in enumerate(counted_rows(graph, part)):
        costs = {b: sum(w * table[b][other] for other, w in row.items()) for b in row}
        here_cost = sum(w * table[part[v]][other] for other, w in row.items())
        others = {b: cost for b, cost in costs.items() if b != part[v]}
        if others:
            assert gain[v] == here_cost - min(others.values())
            passes = here_cost >= min(others.values())
            assert (target[v] >= 0) == passes
            chosen = target[v] if passes else -2 - target[v]
            assert others[int(chosen)] == min(others.values())


def test_overloaded_blocks_are_emptied(space: ExecutionSpace) -> None:
    graph, topology = delaunay(2000), MACHINES["tree"][0]
    part = np.minimum(drawn_part(2000, 12), 5)
    refiner, here = refiner_at(space, graph, part, topology)
    outcome = refiner.refine(here, 0.25)
    assert outcome["balanced"]
    weights = oracles.block_weights(graph, oracles.host(refiner.best), 12)
    assert max(weights) <= refiner.balance.max_block_weight
    assert outcome["iterations"] == refiner.level.iteration


@pytest.mark.parametrize("machine", MACHINES)
def test_rating_movable_vertices_first_changes_nothing(space: ExecutionSpace, machine: str) -> None:
    """As for the cut, on a graph large enough that not everything is rated."""
    graph, topology = grid_2d(220), MACHINES[machine][0]
    assert graph.num_vertices > active_sets.FEW
    shares = np.where(np.arange(topology.num_elements) == 0, 1.1, 1)
    start = np.random.default_rng(5).choice(len(shares), graph.num_vertices,
                                            p=shares / shares.sum())
    parts = []
    for scope in (ONLY_MOVABLE, ALL):
        refiner, here = refiner_at(space, graph, start, topology, iteration_limit=1,
                                   weak_limit=10**9)
        refiner.run.rebalancing.scope[:] = scope
        refiner.refine(here, 0.25)
        parts.append(copied(refiner.run.moves.part))
    assert (parts[0] != start).any()
    assert np.array_equal(*parts)


@looped("name", GRAPHS)
def test_matchings_are_maximal_and_keep_the_limit(space: ExecutionSpace, name: str) -> None:
    graph, masses = GRAPHS[name], oracles.vertex_weights(GRAPHS[name])
    limit = 2 * max(masses, default=1)
    mate = heavy_edge_mates(space, graph, limit, 3, rated=True)
    for v, u in enumerate(mate):
        assert u < 0 or (mate[u] == v and masses[u] + masses[v] <= limit)
    for u, v, _ in oracles.arcs(graph):
        assert mate[u] >= 0 or mate[v] >= 0 or masses[u] + masses[v] > limit


def test_light_vertices_and_heavy_edges_are_matched_first(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    mate = heavy_edge_mates(space, graph, 10**6, 1, rated=True)
    masses = oracles.vertex_weights(graph)

    def rating(u: int, v: int, weight: int) -> float:
        return weight * weight / (max(1, masses[u]) * max(1, masses[v]))

    matched = {u: rating(u, v, w) for u, v, w in oracles.arcs(graph) if mate[u] == v}
    for u, v, weight in oracles.arcs(graph):  # of two free ends one has a match as good
        assert rating(u, v, weight) <= max(matched.get(u, -1), matched.get(v, -1)) + 1e-9


@pytest.mark.parametrize(("hierarchy", "rows"), [
    ("2:2", [(0, 2, 4), (0, 1, 2), (2, 3, 4)]),
    ("2:3", [(0, 2, 6), (0, 1, 2), (2, 4, 6), (2, 3, 4), (4, 5, 6)]),
    ("1:3:1", [(0, 1, 3), (1, 2, 3)]),
])
def test_bisections_go_along_the_hierarchy(hierarchy: str, rows: list[tuple[int, ...]]) -> None:
    found, begins = splits_along(Topology(hierarchy, [1] * (hierarchy.count(":") + 1)))
    assert found[:, :3].tolist() == [list(row) for row in rows]
    assert begins[0] == 0
    assert begins[-1] == len(rows)


@pytest.mark.parametrize("hierarchy", ["4:8:6", "2:3", "1:3:1", "1:1:5:1:2"])
def test_what_a_bisection_cuts_costs_the_distance_of_its_sides(hierarchy: str) -> None:
    arities = [int(arity) for arity in hierarchy.split(":")]
    lengths = [7 * 3**level for level in range(len(arities))]
    table = plain.distances(arities, lengths)
    for first, middle, last, price in splits_along(Topology(hierarchy, lengths))[0].tolist():
        assert table[first][middle] == table[middle - 1][last - 1] == price


def test_starts_that_cost_least_come_first(space: ExecutionSpace) -> None:
    graph, (topology, table) = GRAPHS["medium"], MACHINES["tree"]
    k, total = topology.num_elements, graph.total_vertex_weight
    parts = oracles.host(grown_partitions(
        [graph.to(space)], [], np.ones(k), np.full(k, total), 5, GrowingOptions(candidates=6),
        splits=splits_along(topology))).reshape(6, -1)
    costs = [plain.cost(graph, part, table) for part in parts]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]


def test_a_matrix_has_plain_bisections() -> None:
    rows = splits_along(MACHINES["matrix"][0])[0]
    assert rows.shape == (8, 4)
    assert (rows[:, 3] == 1).all()


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_depends_on_how_gains_are_found(machine: str,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """Arc by arc, from scratch memory or not, or by counting: the same mapping."""
    graph, topology = GRAPHS["skewed"], MACHINES[machine][0]
    part = drawn_part(graph.num_vertices, topology.num_elements)
    found = []
    for few, capacity in ((12, 512), (0, 512), (48, 512), (8, 512), (3, 0)):
        monkeypatch.setattr(communication, "ONE_LANE_FEW", few)
        monkeypatch.setattr(communication, "capacity_for", lambda _, most=capacity: most)
        space = backends.space("cpu", threads=2)
        refiner, here = refiner_at(space, graph, part, topology)
        outcome = refiner.refine(here, 0.5)
        found.append((outcome, oracles.host(refiner.best).tolist()))
    assert all(other == found[0] for other in found)


def test_more_elements_than_can_be_counted() -> None:
    graph = rmat(13, 8)
    result = portpart.map_processes(graph, "10:50:10", "1:10:100", algorithm="im", preset="fast")
    assert result.k == 5000
    assert result.feasible
    assert result.cost == sum(plain.level_costs(graph, result.part, [10, 50, 10], [1, 10, 100]))


@looped("k", [192, 4096, 5000])
@looped("counter", [int32, int64])
@looped("team", [8, 32])
@looped("one_lane", [False, True])
@looped("max_degree", [4, 100])
def test_the_program_has_room_for_the_arrays_of_all_teams(
    max_degree: int, one_lane: bool, team: int, counter: Word, k: int,
) -> None:
    graph, topology = GRAPHS["medium"], Topology([k], [1])
    refiner, _ = refiner_at(graph.space, graph, np.zeros(graph.num_vertices), topology)
    shape = Shape(team, 256, k, counter, graph.mean_degree, max_degree)
    check_program(recorded(refiner, graph, widest(refiner.objective, shape, one_lane)))
