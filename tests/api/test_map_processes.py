"""`portpart.map_processes`: true results for all sorts of graphs and machines, and clear errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array, triu

import portpart
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.mapping.integrated_mapping import IntegratedConfig
from portpart.algorithms.mapping.mappers import MAPPERS, PartitionedConfig
from portpart.algorithms.mapping.multisection import MultisectionConfig
from portpart.algorithms.mapping.sections import adaptive_limit
from portpart.algorithms.multilevel.problem import MappingProblem
from portpart.algorithms.multilevel.search import SearchOptions
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.limits import Balance
from portpart.errors import InputError
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.topology import Topology
from tests.helpers.each import looped
from tests.helpers.graphs import RawGraph, raw_graph, raw_graphs
from tests.helpers.mapped import check, mapped
from tests.oracles import mappings as plain

MESH = delaunay(3000)
ALGORITHMS = tuple(MAPPERS)


def two_meshes() -> portpart.Graph:
    """Two components and some isolated vertices."""
    mesh = delaunay(600)
    tails = np.repeat(np.arange(600), np.diff(mesh.offsets))
    edges = np.stack([tails, mesh.targets], 1)
    return raw_graph(1250, np.concatenate([edges, edges + 620])[:, :]).graph()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("arities", "lengths"), [
    ([4, 8, 6], [1, 10, 100]), ([3, 5], [2, 7]), ([7], [1]), ([1, 4, 1, 2], [1, 2, 3, 4]),
    ([1], [1]),
])
def test_meshes_on_machines(algorithm: str, arities: list[int], lengths: list[int]) -> None:
    assert mapped(MESH, arities, lengths, algorithm=algorithm).feasible


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights(algorithm: str) -> None:
    random = np.random.default_rng(0)
    own = random.integers(1, 50, 3000)
    tails = np.repeat(np.arange(3000), np.diff(MESH.offsets))
    graph = portpart.as_graph(MESH, vertex_weights=random.integers(1, 9, 3000),
                              edge_weights=own[tails] + own[MESH.targets])
    assert mapped(graph, [3, 4, 2], [1, 5, 20], algorithm=algorithm).feasible


@pytest.mark.parametrize("imbalance", [0, "10%"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_other_imbalances(algorithm: str, imbalance: Any) -> None:
    assert mapped(grid_2d(12), [2, 3], [1, 7], algorithm=algorithm, imbalance=imbalance).feasible


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_large_weights(algorithm: str) -> None:
    tails = np.repeat(np.arange(3000), np.diff(MESH.offsets))
    masses = np.random.default_rng(0).integers(1, 2**40, 3000)
    graph = portpart.as_graph(MESH, vertex_weights=masses,
                              edge_weights=(tails + MESH.targets) * 2**28)
    assert mapped(graph, [2, 4], [1, 50], algorithm=algorithm).feasible


@looped("algorithm", ALGORITHMS)
@looped("graph", [two_meshes(), raw_graph(100, []).graph(), rmat(10, 8),
                  raw_graph(50, [(0, i) for i in range(1, 50)]).graph()])
def test_odd_graphs(algorithm: str, graph: portpart.Graph) -> None:
    assert mapped(graph, [2, 3, 2], [1, 3, 9], algorithm=algorithm).feasible


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(raw=raw_graphs(14, loops=False))
@settings(max_examples=25)
def test_random_graphs(algorithm: str, raw: RawGraph) -> None:
    graph = raw.graph()
    if graph.num_vertices >= 4:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mapped(graph, [2, 2], [1, 4], algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_element_for_every_vertex(algorithm: str) -> None:
    grid = grid_2d(4, 6)
    result = mapped(grid, [4, 3, 2], [1, 10, 100], algorithm=algorithm)
    assert sorted(result.part) == list(range(24))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nearly_an_element_for_every_vertex(algorithm: str) -> None:
    assert mapped(grid_2d(5, 6), [4, 7], [1, 10], algorithm=algorithm).feasible


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "hm-ultra"])
def test_many_elements(algorithm: str) -> None:
    graph = grid_2d(150)
    result = portpart.map_processes(graph, "4:16:64", "1:10:100", algorithm=algorithm)
    assert result.k == 4096
    assert result.feasible
    assert result.cost == sum(plain.level_costs(graph, result.part, [4, 16, 64], [1, 10, 100]))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_elements_than_vertices_of_different_weights_are_refused(algorithm: str) -> None:
    graph = portpart.as_graph(grid_2d(3), vertex_weights=range(9))
    with pytest.raises(InputError, match="there are 16 processing elements for 9 vertices"):
        portpart.map_processes(graph, "4:4", "1:2", algorithm=algorithm)


@pytest.mark.parametrize("algorithm", [None, "im", "two-phase", "identity"])
def test_a_matrix_of_distances(algorithm: str | None) -> None:
    line = abs(np.subtract.outer(np.arange(6), np.arange(6)))
    result = portpart.map_processes(grid_2d(12, 4), topology=Topology.from_matrix(line),
                                    algorithm=algorithm)
    check(grid_2d(12, 4), result, line.tolist())
    assert len(result.level_costs) == 1
    with pytest.raises(InputError, match="multisection needs a hierarchy"):
        portpart.map_processes(grid_2d(12, 4), topology=Topology.from_matrix(line), algorithm="hm")


def test_multisection_is_better_than_swaps_and_these_than_nothing() -> None:
    mesh = delaunay(6000)
    costs = [portpart.map_processes(mesh, "4:8:6", "1:10:100", algorithm=algorithm).cost
             for algorithm in ("hm", "two-phase", "identity", "im")]
    assert costs[:3] == sorted(costs[:3])
    assert max(costs[0], costs[3]) < 0.8 * costs[2]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_and_seeds(algorithm: str) -> None:
    one, two, other = (
        portpart.map_processes(MESH, "2:5:3", "1:4:9", algorithm=algorithm, threads=threads,
                               seed=seed).part
        for threads, seed in ((1, 3), (2, 3), (2, 4)))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(("options", "message"), [
    ({"algorithm": "magic"}, "algorithm is 'magic'; it must be one of 'hm'"),
    ({"algorithm": "hm", "preset": "x"}, "preset is 'x'"),
    ({"preset": 3}, "preset must be a name or a MultisectionConfig"),
    ({"algorithm": "im", "preset": MultisectionConfig()}, "a name or a IntegratedConfig"),
    ({"seed": -1}, "seed is -1"),
    ({"imbalance": -1}, "imbalance is -1"),
    ({"topology": 3}, "not both"),
    ({"edge_weights": np.full(12, 2**57)}, r"may cost more than 2\^61"),
    ({"progress": 3}, "progress is 3"),
    ({"swaps": "no"}, "swaps is 'no'"),
])
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.map_processes([(i, i + 1) for i in range(12)], "2:3", "1:9", **options)


@pytest.mark.parametrize("options", [{}, {"hierarchy": "2:2"}, {"topology": "2:2"}])
def test_a_machine_is_needed(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="topology"):
        portpart.map_processes(MESH, **options)


def test_a_configuration_as_preset() -> None:
    of_level = portpart.PortpartConfig(search=SearchOptions(cycles=1))
    for algorithm, config in (
            ("two-phase", PartitionedConfig(partitioner="jet", swaps=False)),
            ("hm", MultisectionConfig(of_level, swaps=False)),
            ("im", IntegratedConfig(clustering=None, search=SearchOptions(2, 1), swaps=False))):
        result = mapped(MESH, [2, 2], [1, 10], algorithm=algorithm, preset=config)
        assert "swaps" not in result.stats["phases"]
        result = mapped(MESH, [2, 2], [1, 10], algorithm=algorithm, preset=config, swaps=True)
        assert "swaps" in result.stats["phases"]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: PartitionedConfig(partitioner="x"), "algorithm is 'x'"),
    (lambda: MultisectionConfig("x"), "preset is 'x'"),
    (lambda: MultisectionConfig(starts=0), "starts is 0"),
    (lambda: MultisectionConfig(runs=()), r"runs is \(\)"),
    (lambda: MultisectionConfig(runs=(4, 0)), r"runs is \(4, 0\)"),
    (lambda: MultisectionConfig(slack_shares=()), r"slack_shares is \(\)"),
    (lambda: MultisectionConfig(slack_shares=(0, 1.5)), r"slack_shares is \(0, 1.5\)"),
    (lambda: MultisectionConfig(cycles=-1), "cycles is -1"),
    (lambda: MultisectionConfig(min_coarsest=-1), "min_coarsest is -1"),
    (lambda: IntegratedConfig(coarsening="x"), "coarsening is 'x'"),  # type: ignore[arg-type]
    (lambda: IntegratedConfig(clustering=ClusteringOptions(growth=1)), "growth is 1"),
])
def test_bad_configurations_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(("algorithm", "preset"), [
    (name, preset) for name in MAPPERS for preset in MAPPERS[name].presets if preset != "default"])
def test_every_preset(algorithm: str, preset: str) -> None:
    result = mapped(MESH, [4, 3], [1, 10], algorithm=algorithm, preset=preset)
    assert result.feasible


def test_a_configuration_tells_the_algorithm() -> None:
    for config, algorithm in ((IntegratedConfig(), "im"), (MultisectionConfig(), "hm"),
                              (PartitionedConfig(), "two-phase")):
        parts = [portpart.map_processes(MESH, "2:3", "1:10", algorithm=name, preset=config).part
                 for name in (None, algorithm)]
        assert np.array_equal(*parts)


def test_results_unpack_and_print() -> None:
    cost, part = result = portpart.map_processes(MESH, "2:2", "1:10")
    assert cost == result.cost
    assert part is result.part
    assert "3,000 vertices on 4 elements" in repr(result)


def test_a_vertex_heavier_than_an_element_is_named() -> None:
    weights = np.ones(3000, int)
    weights[17] = 10_000
    with pytest.warns(UserWarning, match="vertex 17 weighs 10000"):
        result = portpart.map_processes(MESH, "2:4", "1:9", vertex_weights=weights)
    assert not result.feasible


@pytest.mark.parametrize(("algorithm", "preset", "phases"), [
    ("im", "default", ["coarsening", "refinement"]),
    ("hm", "default", [f"level {level}, {phase}" for level in (2, 1)
                       for phase in ("coarsening", "refinement")]),
    ("hm", MultisectionConfig("fast", cycles=1), ["level 2, refinement", "search, refinement"]),
    ("two-phase", "default", ["coarsening", "refinement"]),
])
def test_progress_is_told_of_every_level(algorithm: str, preset: Any, phases: list[str]) -> None:
    mesh = delaunay(9000)
    quiet = portpart.map_processes(mesh, "2:3", "1:9", algorithm=algorithm, preset=preset)
    calls: list[tuple[str, int, int]] = []
    told = portpart.map_processes(mesh, "2:3", "1:9", algorithm=algorithm, preset=preset,
                                  progress=lambda *call: calls.append(call))
    assert np.array_equal(told.part, quiet.part)
    assert set(phases) <= {phase for phase, _, _ in calls}
    assert all(0 <= level < total for _, level, total in calls)


@pytest.mark.parametrize("swaps", [None, True, False])
@pytest.mark.parametrize("algorithm", ["identity", "two-phase"])
def test_a_partitioner_of_ones_own(algorithm: str, swaps: bool | None) -> None:
    """Swaps are what the algorithm says, unless the configuration does."""
    config = PartitionedConfig(partitioner="gkway", swaps=swaps)
    result = portpart.map_processes(MESH, "3:4", "1:9", algorithm=algorithm, preset=config)
    assert ("swaps" in result.stats["phases"]) == (algorithm == "two-phase" if swaps is None
                                                   else swaps)


@pytest.mark.parametrize("elements", [4, 200])
def test_edges_without_weight_are_no_traffic(elements: int) -> None:
    """Whether it is counted in a table of all pairs or, with many elements, by contraction."""
    edges = grid_2d(20).to_scipy().tocoo()
    weights = (edges.row + edges.col) % 2 * (abs(edges.row - edges.col) == 1)
    graph = portpart.as_graph(csr_array((weights, edges.coords), shape=(400, 400)))
    result = portpart.map_processes(graph, [elements], [3], algorithm="im")
    assert (result.traffic.data > 0).all()


def test_room_for_more_than_all_there_is() -> None:
    weights = np.full(600, 2**62 // 600)
    result = portpart.map_processes(delaunay(600), "2:2:2:2", "1:10:100:1000", imbalance=7,
                                    algorithm="hm", vertex_weights=weights)
    assert result.feasible


@pytest.mark.parametrize("wrong", [
    {"runs": 5}, {"runs": (1.5,)}, {"runs": ()}, {"slack_shares": 0.5}, {"slack_shares": ("a",)},
    {"slack_shares": (float("nan"),)}, {"starts": "3"}, {"cycles": None}, {"starts": 0},
    {"cycles": 1.5},
    {"min_coarsest": 2.5}], ids=str)  # fmt: skip
def test_wrong_parameters_are_told_before_the_work(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is "):
        MultisectionConfig(**wrong)


def torus(width: int) -> np.ndarray:
    """Hops between the elements of a square torus."""
    place = np.arange(width)
    apart = abs(np.subtract.outer(place, place))
    around = np.minimum(apart, width - apart)
    return (around[:, None, :, None] + around[None, :, None, :]).reshape(width**2, width**2)


@pytest.mark.parametrize("shuffled", [False, True])
def test_machines_that_are_no_hierarchies_are_looked_at_from_the_start(shuffled: bool) -> None:
    """Integrated mapping is no worse than places for the blocks of a partition."""
    order = np.random.default_rng(1).permutation(36) if shuffled else np.arange(36)
    machine = Topology.from_matrix(torus(6)[np.ix_(order, order)])
    im, two_phase = (
        sum(portpart.map_processes(MESH, topology=machine, algorithm=algorithm, seed=seed).cost
            for seed in range(4)) for algorithm in ("im", "two-phase"))
    assert im < two_phase


def test_what_progress_raises_comes_through() -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        portpart.map_processes(MESH, "2:3", "1:9", progress=stop)


def test_arcs_without_direction_can_be_symmetrized() -> None:
    arcs = csr_array((np.ones(len(MESH.targets)), MESH.targets, MESH.offsets))
    upper = csr_array(triu(arcs))
    with pytest.raises(InputError, match="symmetr"):
        portpart.map_processes(upper, "2:3", "1:9")
    found = portpart.map_processes(upper, "2:3", "1:9", symmetrize=True)
    assert np.array_equal(found.part, portpart.map_processes(MESH, "2:3", "1:9").part)


@given(st.integers(1, 40), st.lists(st.integers(2, 5), min_size=1, max_size=4), st.data())
def test_adaptive_limits_lead_to_the_limit(slack: int, arities: list[int],
                                           data: st.DataObject) -> None:
    """Whatever sizes the blocks have within their limits, single elements keep theirs."""
    elements = int(np.prod(arities))
    weight = data.draw(st.integers(elements, 10_000))
    limit = -(-weight // elements) + slack - 1
    for depth in range(len(arities), 0, -1):
        arity = arities[depth - 1]
        most = adaptive_limit(limit * elements // arity, weight, limit * elements, depth)
        assert most * arity >= weight
        weight = data.draw(st.integers(max(0, weight - (arity - 1) * most), min(most, weight)))
        elements //= arity
        assert weight <= limit * elements


def test_blocks_in_a_bad_order_get_better_places() -> None:
    """Four cliques of blocks on a machine of four nodes, numbered across the nodes."""
    shuffled = np.random.default_rng(3).permutation(16)
    near = np.kron(np.eye(4, dtype=int), np.ones((4, 4), int)) + np.ones((16, 16), int)
    np.fill_diagonal(near, 0)
    traffic = portpart.as_graph(csr_array(near[shuffled][:, shuffled] * 100))
    topology = Topology("4:4", "1:100")
    space = traffic.space
    problem = MappingProblem(traffic, Balance(16, 1, 1), 0, Trace(space, traffic, None),
                             topology=topology, distances=distances_on(space, topology))
    places = MAPPERS["two-phase"].places(problem, traffic)
    assert sorted(places) == list(range(16))
    assert len(set(zip(shuffled // 4, places // 4))) == 4


def test_blocks_in_the_best_order_stay() -> None:
    assert portpart.map_processes(grid_2d(1, 8), "2:2:2", "1:10:100", algorithm="two-phase",
                                  imbalance=0).cost == 100 + 2 * 10 + 4


def test_runs_are_given_from_the_outermost_level_on() -> None:
    config = MultisectionConfig("fast", runs=(9, 3))
    assert [level.search.runs for level in islice(config.of_levels(8), 4)] == [9, 3, 3, 3]
    best = MultisectionConfig("best").of_levels(8)
    assert [level.search.runs for level in islice(best, 2)] == [4, 4]


def test_starts_of_a_preset_can_be_replaced() -> None:
    """The preset default has four, each refined."""
    own, four, one = ([mapped(MESH, [3, 2, 2], [1, 10, 100], algorithm="hm", preset=config,
                              seed=seed) for seed in range(6)]
                      for config in (MultisectionConfig(), MultisectionConfig(starts=4),
                                     MultisectionConfig(starts=1)))
    assert all(np.array_equal(a.part, b.part) for a, b in zip(own, four))
    assert sum(result.cost for result in four) < sum(result.cost for result in one)


def test_mappings_that_are_combined_are_no_worse_than_the_first() -> None:
    first, both = (mapped(MESH, [3, 2, 2], [1, 10, 100], algorithm="hm", preset=config)
                   for config in (MultisectionConfig("fast", slack_shares=(0.0,)),
                                  MultisectionConfig("fast", slack_shares=(0.0, 0.4), cycles=1)))
    assert both.cost < first.cost
    assert both.feasible


def test_room_moves_limits_outwards_and_never_beyond_those_of_elements() -> None:
    for weight in (300, 380, 400, 412):
        limits = [adaptive_limit(206, weight, 412, 2, room) for room in (0.0, 0.3, 0.6, 1.0)]
        assert limits == sorted(limits)
        assert limits[-1] == 2 * 103
        assert adaptive_limit(206, weight, 412, 1, 0.5) == 2 * 103
