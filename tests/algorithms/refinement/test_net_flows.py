"""Flow refinement of hypergraphs: cuts are minimum ones, limits hold, and all spaces agree.

Networks are checked against exhaustive search, and against `scipy.sparse.csgraph.maximum_flow` and
searches in the residual of Lawler's network; whole refinements against plain sums over nets.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

import portpart
from portpart import generators
from portpart.algorithms.multilevel import refiners
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import NET_COSTS, net_objective
from portpart.algorithms.recipes.portpart_nets import PRESETS, portpart_nets
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.algorithms.refinement.flows import net_blocks, state
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.algorithms.refinement.options import FlowOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import changed
from tests import oracles
from tests.algorithms.multilevel.test_level_flows import watched
from tests.algorithms.refinement.test_flows import NAMES, ROOMY, SPACES, USUAL
from tests.helpers.data_folder import hypergraph_path
from tests.helpers.each import every_other, looped
from tests.helpers.nets import circuit, hypergraph_of
from tests.helpers.refining import balance_of
from tests.helpers.spaces import check_rooms, reference
from tests.oracles.lawler import cost_between, counted_nets, free_ones, lawler
from tests.oracles.nets import rows, values, weights

OBJECTIVES = ["km1", "cut", "soed"]


def refined(space: ExecutionSpace, host: Hypergraph, part: Any, balance: Balance,
            objective: str = "km1", options: FlowOptions = USUAL, fixed: Any = None,
            slack: int = 0) -> tuple[np.ndarray, int]:
    """The partition after refinement, and the gain that is reported."""
    graph = host.to(space)
    here = space.copy(space.asarray(np.asarray(part, np.int32)))
    held = None if fixed is None else space.asarray(np.asarray(fixed, np.int32))
    refiner = FlowRefiner(space, graph, balance, options, 1, NET_COSTS[objective])
    gain = refiner.refine(graph, here, held, slack)
    return oracles.host(here).copy(), gain


def loads(graph: Hypergraph, part: np.ndarray, k: int) -> np.ndarray:
    """What the blocks weigh."""
    heavy = graph.vertex_weights
    return np.bincount(part, None if heavy is None else oracles.host(heavy), k).astype(np.int64)


# One pair: the cut is a minimum one ------------------------------------------------------------

Case = tuple[Hypergraph, np.ndarray, np.ndarray, Balance]


def between_cores(seed: int, free: int, heaviest: int = 9, third: bool = True) -> Case:
    """Free vertices between two dense cores of fixed ones, and a full third block of fixed ones.

    The cores are large enough for a corridor to have room for all free vertices.
    """
    random = np.random.default_rng(seed)
    core = 2 * free
    others = 6 if third else 0
    n = free + 2 * core + others
    a, b = np.arange(free, free + core), np.arange(free + core, free + 2 * core)
    nets = [random.permutation(free)[:size] for size in random.integers(2, 6, 2 * free)]
    for block in (a, b):
        nets += [np.append(random.permutation(free)[:size], random.choice(block))
                 for size in random.integers(1, 4, free // 2)]
        nets += [random.permutation(block)[: min(core, 6)] for _ in range(3 * core)]
    for i in range(len(nets) if third else 0):
        if random.random() < 0.15:
            nets[i] = np.append(nets[i], random.integers(n - others, n))
    part = np.concatenate([random.integers(0, 2, free), np.zeros(core), np.ones(core),
                           np.full(others, 2)]).astype(int)
    k = 3 if third else 2
    graph = hypergraph_of([net.tolist() for net in nets], n,
                          random.integers(1, heaviest, len(nets)))
    limits = np.array([n, n, others][:k])
    fixed = np.where(np.arange(n) < free, -1, part)
    return graph, part, fixed, Balance(k, n, n // k, limits, np.full(k, n // k))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(20))
def test_the_cut_is_a_minimum_cut(seed: int, objective: str) -> None:
    graph, part, fixed, balance = between_cores(seed, [6, 24, 60][seed % 3], 2 + seed % 9)
    found, gain = refined(reference(), graph, part, balance, objective, ROOMY, fixed)
    nets = counted_nets(graph, part, objective)
    network, _ = lawler(nets, part, free_ones(nets, part, fixed))
    assert cost_between(nets, found) == maximum_flow(network, 0, 1).flow_value
    assert gain == values(graph, part)[objective] - values(graph, found)[objective]
    assert np.array_equal(found[fixed >= 0], part[fixed >= 0])


@looped("objective", OBJECTIVES)
@looped("seed", range(8))
def test_no_assignment_of_the_free_vertices_is_better(seed: int, objective: str) -> None:
    graph, part, fixed, balance = between_cores(seed, 7)
    found, _ = refined(reference(), graph, part, balance, objective, ROOMY, fixed)
    nets = counted_nets(graph, part, objective)
    free = np.flatnonzero(free_ones(nets, part, fixed))
    costs = []
    for blocks in product((0, 1), repeat=len(free)):
        other = part.copy()
        other[free] = blocks
        costs.append(values(graph, other)[objective])
    assert values(graph, found)[objective] == min(costs)


@pytest.mark.parametrize("seed", range(12))
def test_of_two_minimum_cuts_the_better_balanced_one_is_taken(seed: int) -> None:
    """Around all that the source reaches, or around all that reaches the sink (unit weights)."""
    graph, part, fixed, balance = between_cores(seed, 24, 2, third=False)
    found, gain = refined(reference(), graph, part, balance, "km1", ROOMY, fixed)
    if gain == 0:
        assert np.array_equal(found, part)
        return
    nets = counted_nets(graph, part, "km1")
    network, name = lawler(nets, part, free_ones(nets, part, fixed))
    residual = network - maximum_flow(network, 0, 1).flow
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    with_source = np.zeros(network.shape[0], bool)
    with_source[breadth_first_order(residual, 0, return_predecessors=False)] = True
    with_sink = np.zeros(network.shape[0], bool)
    with_sink[breadth_first_order(residual.T.tocsr(), 1, return_predecessors=False)] = True
    sides = [np.where(with_source, 0, 1)[name], np.where(with_sink, 1, 0)[name]]
    largest = [np.bincount(side, minlength=2).max() for side in sides]
    assert np.array_equal(found, sides[int(largest[1] < largest[0])])


@pytest.mark.parametrize("most", [2**29, 2**30, 2**50])
def test_huge_weights_do_not_overflow(most: int) -> None:
    """Sums of capacities beyond 2^31 are int64."""
    graph, part, fixed, balance = between_cores(1, 24)
    factor = most // sum(weights(graph))
    heavy = hypergraph_of(rows(graph), graph.num_vertices,
                          factor * np.array(weights(graph), np.int64))
    found, gain = refined(reference(), heavy, part, balance, "soed", ROOMY, fixed)
    plain, less = refined(reference(), graph, part, balance, "soed", ROOMY, fixed)
    assert np.array_equal(found, plain)
    assert gain == factor * less


# Whole refinements -----------------------------------------------------------------------------

HYPERGRAPHS = {
    "netlist": (generators.netlist(900), 8), "two": (generators.netlist(900), 2),
    "weighted": (circuit(500, 3, 80, weighted=True), 6),
    "huge net": (circuit(3000, 4, 1500), 4),
    "many blocks": (generators.netlist(900), 70),
    "few": (circuit(24, 5), 3),
    "no nets": (hypergraph_of([], 20), 4),
    "single pins": (hypergraph_of([[v] for v in range(20)] + [[]], 20), 4),
}


def start_of(graph: Hypergraph, k: int, objective: str = "km1") -> np.ndarray:
    """A partition with room for improvement."""
    return np.asarray(portpart.partition(graph, k, preset="fast", seed=3, objective=objective).part)


SIZES = {"usual": USUAL, "wide": FlowOptions(9, 16.0, 10, 3), "narrow": FlowOptions(9, 1.0, 0)}


@pytest.mark.parametrize(("size", "name", "objective"), every_other(SIZES, HYPERGRAPHS, OBJECTIVES))
def test_the_gain_is_true_and_limits_hold(size: str, name: str, objective: str) -> None:
    graph, k = HYPERGRAPHS[name]
    part, balance = start_of(graph, k, objective), balance_of(graph, k)
    random = np.random.default_rng(2)
    fixed = np.where(random.random(graph.num_vertices) < 0.1, part, -1)
    found, gain = refined(reference(), graph, part, balance, objective, SIZES[size], fixed)
    assert gain == values(graph, part)[objective] - values(graph, found)[objective] >= 0
    assert (loads(graph, found, k) <= np.maximum(balance.limits, loads(graph, part, k))).all()
    assert np.array_equal(found[fixed >= 0], part[fixed >= 0])
    assert len(np.unique(found)) == len(np.unique(part))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_finds_what_single_moves_do_not(objective: str) -> None:
    """It improves what is refined already; else these tests could not fail."""
    graph = generators.netlist(6000)
    without = changed(PRESETS["default"], {"small": None})
    part = np.asarray(portpart.partition(graph, 8, preset=without, seed=1,
                                         objective=objective).part)
    _, gain = refined(reference(), graph, part, balance_of(graph, 8), objective)
    assert gain > 0


def test_limits_of_blocks_that_differ_hold() -> None:
    graph = generators.netlist(2000)
    target = [1, 2, 3, 4]
    part = np.asarray(portpart.partition(graph, 4, target=target, preset="fast", seed=1).part)
    limits = np.array([oracles.block_weight_limit(200 * each, 1, "0.03") for each in target])
    balance = Balance(4, int(limits.max()), 500, limits, np.array([200, 400, 600, 800]))
    found, gain = refined(reference(), graph, part, balance)
    assert gain == values(graph, part)["km1"] - values(graph, found)["km1"] > 0
    assert (np.bincount(found) <= np.maximum(limits, np.bincount(part))).all()


def test_a_corridor_has_no_more_pins_than_asked_for() -> None:
    graph, options = generators.netlist(4000), FlowOptions(max_entries=40)
    part = np.array(start_of(graph, 2))
    refiner = FlowRefiner(reference(), graph, balance_of(graph, 2), options, 1, NET_COSTS["km1"])
    refiner.refine(graph, part, None, 0)
    vertices = refiner._corridors.vertex[: refiner._quotient.size[0]]
    assert 0 < np.diff(graph.vertex_offsets)[vertices].sum() <= 40


def test_vertices_of_many_nets_stay() -> None:
    graph = generators.netlist(4000)
    part = start_of(graph, 8)
    found, gain = refined(reference(), graph, part, balance_of(graph, 8),
                          options=FlowOptions(round_limit=10, max_degree=5))
    assert gain > 0
    degrees = np.diff(oracles.host(graph.vertex_offsets))
    assert (degrees[found != part] <= 5).all()


def test_large_nets_make_no_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all nets are large, no vertex is beside another block."""
    graph, k = HYPERGRAPHS["netlist"]
    monkeypatch.setattr(net_blocks, "MAX_SPREAD", 1)
    part = start_of(graph, k)
    space = portpart.backends.space("cpu", threads=1)
    found, gain = refined(space, graph, part, balance_of(graph, k))
    assert gain == 0
    assert np.array_equal(found, part)


@pytest.mark.parametrize("space", NAMES)
@pytest.mark.parametrize("objective", ["km1", "cut"])
@pytest.mark.parametrize("name", ["netlist", "two", "weighted", "huge net", "many blocks", "few"])
def test_all_spaces_find_the_same(space: str, name: str, objective: str) -> None:
    graph, k = HYPERGRAPHS[name]
    if space.endswith("lanes"):
        graph = circuit(80, 6, 30) if name == "netlist" else graph
        if graph.num_vertices > 200:
            pytest.skip("it would take minutes on emulated lanes")
    part, balance = start_of(graph, k), balance_of(graph, k)
    expected = refined(reference(), graph, part, balance, objective)
    here = SPACES[space]()
    found = refined(here, graph, part, balance, objective)
    assert np.array_equal(found[0], expected[0])
    assert found[1] == expected[1]
    check_rooms(here)


@pytest.mark.parametrize("name", ["netlist", "two", "weighted", "huge net"])
def test_large_networks_come_to_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that do not fit into memory of a team are worked on in main memory."""
    graph, k = HYPERGRAPHS[name]
    part, balance = start_of(graph, k), balance_of(graph, k)
    expected = refined(reference(), graph, part, balance)
    monkeypatch.setattr(state, "TEAM_BYTES", 64)
    found = refined(portpart.backends.space("cpu", threads=2), graph, part, balance)
    assert np.array_equal(found[0], expected[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["weighted", "netlist"])
def test_the_order_of_nets_decides_nothing(name: str, seed: int) -> None:
    graph, k = HYPERGRAPHS[name]
    part, balance = start_of(graph, k), balance_of(graph, k)
    order = np.random.default_rng(seed).permutation(graph.num_nets)
    nets = rows(graph)
    shuffled = hypergraph_of([nets[i] for i in order], graph.num_vertices,
                             np.array(weights(graph))[order],
                             None if graph.vertex_weights is None
                             else oracles.host(graph.vertex_weights))
    expected = refined(reference(), graph, part, balance)
    found = refined(reference(), shuffled, part, balance)
    assert np.array_equal(found[0], expected[0])


def test_a_refiner_takes_levels_of_any_size() -> None:
    """Work arrays are those of the largest level, and nothing is left of other levels."""
    space = reference()
    levels = [generators.netlist(n).to(space) for n in (300, 1200, 600)]
    balance, cost = balance_of(levels[1], 4), NET_COSTS["km1"]
    refiner = FlowRefiner(space, levels[1], balance, USUAL, 1, cost)
    for graph in levels:
        part = start_of(graph, 4)
        here = space.copy(space.asarray(part))
        refiner.refine(graph, here, None, 10**6)
        alone = space.copy(space.asarray(part))
        FlowRefiner(space, graph, balance, USUAL, 1, cost).refine(graph, alone, None, 10**6)
        assert np.array_equal(oracles.host(here), oracles.host(alone))


# Partitions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["km1", "cut"])
@pytest.mark.parametrize("name", ["ibm01", "dynamic_node", "bayer10_rownet"])
def test_flows_improve_real_hypergraphs(name: str, objective: str) -> None:
    graph = portpart.io.read_hypergraph(hypergraph_path(name))
    without, flows = (changed(PRESETS["default"], {"flows.levels": levels}) for levels in (0, 100))
    sums = {preset: sum(values(graph, portpart.partition(graph, k, preset=preset, seed=seed,
                                                         objective=objective).part)[objective]
                        for k in (2, 8, 64) for seed in range(5)) for preset in (without, flows)}
    assert sums[flows] < sums[without]


def test_presets_use_flows_on_all_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, graph = watched(monkeypatch), generators.netlist(6000)
    portpart.partition(graph, 4, preset="fast")
    assert sizes == []
    result = portpart.partition(graph, 4, preset="strong", threads=1)  # one walk at a time
    levels = [level["vertices"] for level in result.stats["levels"]]
    assert sizes[: len(levels)] == levels[::-1]


def test_networks_of_strong_fit_into_memory_of_a_team(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a phase is several times faster on a GPU."""
    most, refine = [], FlowRefiner.refine

    def noted(self: FlowRefiner, *arguments: Any) -> int:
        self._quotient.nodes[:] = 0
        gain = refine(self, *arguments)
        most.append(int(self._quotient.nodes.max()))
        return gain

    monkeypatch.setattr(FlowRefiner, "refine", noted)
    for name, k in (("ibm05", 8), ("bayer10_rownet", 2), ("NDC-substances", 2)):
        graph = portpart.io.read_hypergraph(hypergraph_path(name))
        portpart.partition(graph, k, preset="strong")
    assert 2000 < max(most) <= state.NodeMemory.of(np.dtype(np.int32)).max_nodes


def test_levels_are_counted_from_the_finest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, graph = watched(monkeypatch), generators.netlist(6000)
    portpart.partition(graph, 4, preset=changed(PRESETS["default"], {"flows.levels": 1,
                                                                     "small": None}))
    assert sizes == [6000]


def test_only_costs_without_migration_are_refined() -> None:
    """A smaller cut may not be worth the moves."""
    graph = generators.netlist(200)
    previous = PreviousBlocks(graph.space.zeros(200, np.int32),
                              graph.space.full(200, 1, np.int64))

    def flows_of(objective: str, **wanted: Any) -> Any:
        problem = Problem(graph, balance_of(graph, 4), 1, Trace(graph.space, graph, None),
                          Constraints(**wanted), net_objective(objective))
        config = changed(PRESETS["default"], {"flows.levels": 1})
        return refiners.level_flows(problem, portpart_nets(problem, config).flows, [graph])

    for objective in OBJECTIVES:
        assert flows_of(objective) is not None
        assert flows_of(objective, previous_blocks=previous) is None
