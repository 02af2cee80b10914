"""Targets, fixed vertices, a start, starts and time of mappings: kept, as by plain answers."""

from __future__ import annotations

import json
import time
import warnings
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import portpart
from portpart import io
from portpart.algorithms.mapping.mappers import MAPPERS, mapper_of
from portpart.algorithms.mapping.sections import section_balance
from portpart.algorithms.multilevel.problem import Constraints, MappingProblem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.api.bounds import bounds_for
from portpart.api.mapping_call import mapped_by
from portpart.backends.programs.interface import ExecutionSpace
from portpart.cli import main
from portpart.errors import InputError
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.graph import Graph
from portpart.graphs.topology import Topology
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.spaces import reference
from tests.oracles import mappings as plain
from tests.oracles.wanted import Case, cases

MESH = delaunay(3000)
LEVELS = ([4, 3, 2], [1, 10, 100])
TREE = Topology(*LEVELS)
K = 24
LINE = abs(np.subtract.outer(np.arange(K), np.arange(K)))
MACHINES = {"tree": (TREE, plain.distances(*LEVELS)),
            "line": (Topology.from_matrix(LINE), LINE.tolist())}
ALGORITHMS = tuple(MAPPERS)
PAIRS = [(name, machine) for machine in MACHINES for name in ALGORITHMS
         if machine == "tree" or not MAPPERS[name].needs_hierarchy]
UNEVEN = [1 + i % 4 for i in range(K)]


def mapped(graph: Graph, machine: str = "tree", *, target: Any = None, fixed: Any = None,
           **options: Any) -> portpart.MappingResult:
    """The result; what it says of weights, limits and costs is what plain loops find."""
    topology, distances = MACHINES[machine]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = portpart.map_processes(graph, topology=topology, target=target, fixed=fixed,
                                        **options)
    part, k = result.part, topology.num_elements
    weights = oracles.block_weights(graph, part, k)
    limits = oracles.block_weight_limits(sum(weights), k, options.get("imbalance", "0.03"), target)
    assert result.cost == plain.cost(graph, part, distances)
    assert result.block_weights.tolist() == weights
    assert result.block_weight_limits is not None
    assert result.block_weight_limits.tolist() == [min(most, sum(weights)) for most in limits]
    assert result.imbalance == pytest.approx(float(oracles.imbalance_of(weights, target)))
    kept = all(weight <= most for weight, most in zip(weights, limits)) and min(weights) > 0
    assert result.feasible == kept
    assert len(caught) == (not kept)
    if fixed is not None:
        assert (part == fixed)[np.asarray(fixed) >= 0].all()
    return result


def scattered(n: int, share: float, seed: int = 3) -> np.ndarray:
    """Fixed vertices, anywhere, on elements at random."""
    random = np.random.default_rng(seed)
    return np.where(random.random(n) < share, random.integers(0, K, n), -1)


@pytest.mark.parametrize(("algorithm", "machine"), PAIRS)
def test_elements_get_the_shares_they_are_to_get(algorithm: str, machine: str) -> None:
    result = mapped(MESH, machine, algorithm=algorithm, target=UNEVEN)
    assert result.feasible
    assert mapped(MESH, machine, algorithm=algorithm, target=UNEVEN, imbalance=0).feasible
    assert result.cost < 2 * mapped(MESH, machine, algorithm=algorithm).cost


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equal_shares_are_no_target(algorithm: str) -> None:
    expected = mapped(MESH, algorithm=algorithm).part
    for target in ([1] * K, [125] * K, ["1/24"] * K):
        assert np.array_equal(mapped(MESH, algorithm=algorithm, target=target).part, expected)


@pytest.mark.parametrize("share", [0.002, 0.1, 0.6, 1.0])
@pytest.mark.parametrize(("algorithm", "machine"), PAIRS)
def test_fixed_vertices_stay_and_the_others_are_balanced(algorithm: str, machine: str,
                                                         share: float) -> None:
    result = mapped(MESH, machine, algorithm=algorithm, fixed=scattered(3000, share),
                    imbalance=0.03 if share < 0.5 else 0.4)
    assert result.feasible


@pytest.mark.parametrize("algorithm", ["hm", "im", "hm-ultra"])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_good_mapping_grows_around_fixed_vertices(algorithm: str, share: float) -> None:
    """Nodes exchange their names: all others have to take the places that suit them."""
    grid = grid_2d(40)
    free = mapped(grid, algorithm=algorithm)
    other = np.roll(np.arange(K), 12)[free.part]
    fixed = np.where(np.random.default_rng(2).random(1600) < share, other, -1)
    assert mapped(grid, algorithm=algorithm, fixed=fixed).cost <= 1.15 * free.cost


def test_what_is_fixed_beyond_a_limit_is_said_and_the_rest_is_balanced() -> None:
    fixed = np.where(np.arange(3000) < 300, 5, -1)
    for algorithm in ALGORITHMS:
        result = mapped(MESH, algorithm=algorithm, fixed=fixed)
        assert not result.feasible
        assert result.block_weights[5] == 300
        assert np.delete(result.block_weights, 5).max() <= result.max_block_weight_allowed
    with pytest.warns(UserWarning, match="fixed to block 5 weigh 300, more than the 128"):
        portpart.map_processes(MESH, topology=TREE, fixed=fixed)


@pytest.mark.parametrize(("algorithm", "machine"), PAIRS)
@pytest.mark.parametrize("graph", [MESH, rmat(11, 8)], ids=["mesh", "rmat"])
def test_a_start_gets_better_and_never_worse(graph: Graph, algorithm: str, machine: str) -> None:
    good = mapped(graph, machine, algorithm=algorithm)
    again = mapped(graph, machine, algorithm=algorithm, initial=good, seed=1)
    assert again.feasible
    assert again.cost <= good.cost
    poor = np.random.default_rng(1).permutation(graph.num_vertices) % K
    kept = poor.copy()
    better = mapped(graph, machine, algorithm=algorithm, initial=poor)
    assert better.feasible
    before = plain.cost(graph, poor, MACHINES[machine][1])
    assert better.cost < before or (algorithm == "identity" and better.cost == before)
    assert np.array_equal(poor, kept)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_start_within_its_bounds_is_never_made_worse_whatever_else_is_wanted(
    algorithm: str
) -> None:
    first = mapped(MESH, algorithm=algorithm, target=UNEVEN)
    fixed = np.where(np.arange(3000) % 11 == 0, first.part, -1)
    for seed in range(3):
        again = mapped(MESH, algorithm=algorithm, target=UNEVEN, fixed=fixed, initial=first.part,
                       seed=seed, starts=2)
        assert again.cost <= first.cost


def rank(case: Case, machine: plain.Machine, part: Any) -> tuple[int, ...]:
    return case.excess(part), case.empty(part), plain.cost(case.graph, part, machine)


FILLED_AT_A_COST = Case(
    graph=portpart.as_graph((np.array([0, 0, 0, 1, 2]), np.array([3, 2])),
                            vertex_weights=np.array([0, 3, 1, 1])),
    k=3, imbalance="0", target=None, fixed=None, initial=np.array([0, 0, 1, 1], np.int32), least=0)
"""One vertex is heavier than the limit, and one block of the start is empty."""


@given(case=cases(), seed=st.integers(0, 9), algorithm=st.sampled_from(ALGORITHMS))
@example(case=FILLED_AT_A_COST, seed=0, algorithm="hm")
@settings(max_examples=150)
def test_any_mixture_of_wishes_on_small_graphs(case: Case, seed: int, algorithm: str) -> None:
    case = Case(case.graph, case.k, case.imbalance, case.target, case.fixed, case.initial, 0)
    if case.graph.num_vertices < case.k:
        return
    machine = plain.distances([case.k], [3])
    options = {name: value for name, value in case.options.items() if name != "min_block_weight"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = portpart.map_processes(case.graph, [case.k], [3], algorithm=algorithm, seed=seed,
                                        **options)
    assert result.feasible == case.keeps(result.part) == case.can_be_kept()
    assert result.cost == plain.cost(case.graph, result.part, machine)
    if case.fixed is not None:
        assert (result.part == case.fixed)[case.fixed >= 0].all()
    elif case.initial is not None:
        assert rank(case, machine, result.part) <= rank(case, machine, case.initial)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_starts_are_tried(algorithm: str) -> None:
    """More work, and on the whole a better result, by what starts are compared by."""
    value = attrgetter("cut" if algorithm in ("two-phase", "identity") else "cost")
    few, many = ([mapped(MESH, algorithm=algorithm, starts=starts, seed=seed)
                  for seed in range(4)] for starts in (1, 12))
    assert sum(map(value, many)) < sum(map(value, few))
    assert all(result.feasible for result in (*few, *many))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_time_is_enough_for_a_mapping(algorithm: str) -> None:
    preset = "strong" if "strong" in MAPPERS[algorithm].presets else "default"
    late = mapped(MESH, algorithm=algorithm, preset=preset, time_limit=0)
    assert late.feasible
    assert "swaps" not in late.stats["phases"]
    in_time = mapped(MESH, algorithm=algorithm, preset=preset, time_limit=1000)
    assert np.array_equal(in_time.part, mapped(MESH, algorithm=algorithm, preset=preset).part)


@pytest.mark.parametrize("algorithm", ["hm", "im"])
def test_after_the_limit_no_pass_begins(algorithm: str) -> None:
    """Progress is told at the end of a pass: a clock that runs out leaves one for each level."""
    passes: list[tuple[str, int]] = []

    def note(phase: str, level: int, _: int) -> None:
        if phase.endswith("refinement"):
            passes.append((phase, level))
            time.sleep(0.02)

    options: dict[str, Any] = {"algorithm": algorithm, "preset": "strong", "progress": note}
    mapped(MESH, **options)
    without = len(passes)
    passes.clear()
    mapped(MESH, time_limit=0.01, **options)
    assert len(passes) == len(set(passes)) < without


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", ["target", "fixed", "initial", "all"])
def test_every_space_finds_the_same(space: ExecutionSpace, name: str, algorithm: str) -> None:
    graph = delaunay(900)
    every = {"target": UNEVEN, "fixed": scattered(900, 0.05),
             "initial": np.random.default_rng(1).permutation(900) % K}
    proposal = every if name == "all" else {name: every[name]}
    expected = in_space(reference(), graph, algorithm, proposal)
    assert np.array_equal(in_space(space, graph, algorithm, proposal), expected)


def in_space(space: ExecutionSpace, graph: Graph, algorithm: str, proposal: Any) -> np.ndarray:
    here = graph.to(space)
    fixed, initial = (None if proposal.get(name) is None
                      else space.asarray(proposal[name], np.int32)
                      for name in ("fixed", "initial"))
    if fixed is not None and initial is not None:
        initial = space.asarray(np.where(proposal["fixed"] >= 0, proposal["fixed"],
                                         proposal["initial"]),
                                np.int32)
    bounds = bounds_for(here, K, 0.03, proposal.get("target"), fixed, 0)
    problem = MappingProblem(here, bounds.balance, 4, Trace(space, here, None),
                             Constraints(fixed, initial), topology=TREE,
                             distances=distances_on(space, TREE))
    mapper, config = mapper_of(algorithm, "fast" if algorithm in ("hm", "im") else "default")
    return oracles.host(mapped_by(mapper, problem, config, swapped=True)[0])


@given(st.lists(st.lists(st.integers(1, 40), min_size=3, max_size=3), min_size=1, max_size=4),
       st.integers(1, 3), st.data())
def test_limits_of_uneven_blocks_leave_room_for_all(
    capacities: list[list[int]], levels_left: int, data: st.DataObject
) -> None:
    """What a section weighs fits into its blocks, and no block gets more than its elements hold."""
    weights = np.array([data.draw(st.integers(0, sum(own))) for own in capacities])
    flat = [capacity for own in capacities for capacity in own]
    balance = section_balance(weights, flat, levels_left, data.draw(st.floats(0, 1)), False)
    limits = balance.limits.reshape(-1, 3)
    assert (limits.sum(axis=1) >= weights).all()
    assert (limits <= np.minimum(np.array(capacities), weights.sum())).all()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "target short": ({"target": [1, 2]}, "target holds 2 numbers for 6 blocks"),
    "target zero": ({"target": [0] * 6}, "target holds 6 zeros"),
    "fixed short": ({"fixed": [0]}, "fixed has shape .1,. for 144 vertices"),
    "fixed high": ({"fixed": [-1] * 143 + [6]}, r"fixed\[143\] is 6: .*0 ... 5 and not free"),
    "initial low": ({"initial": [0, -1] + [0] * 142}, r"initial\[1\] is -1"),
    "initial partial": ({"initial": {0: 1}}, "initial has no block for vertex 1"),
    "starts zero": ({"starts": 0}, "starts is 0"),
    "starts float": ({"starts": 1.5}, "starts is 1.5"),
    "time negative": ({"time_limit": -1}, "time_limit is -1"),
    "time text": ({"time_limit": "soon"}, "time_limit is 'soon'"),
}


@looped("name", BAD)
@looped("algorithm", ALGORITHMS)
def test_bad_wishes_are_refused(name: str, algorithm: str) -> None:
    options, message = BAD[name]
    with pytest.raises(InputError, match=message):
        portpart.map_processes(grid_2d(12), "3:2", "1:9", algorithm=algorithm, **options)


def test_names_of_vertices_stand_for_them() -> None:
    import networkx as nx

    graph = nx.path_graph(["a", "b", "c", "d", "e", "f"])
    first = portpart.map_processes(graph, "2", "1", fixed={"a": 1, "f": 0})
    assert first.blocks() == [["d", "e", "f"], ["a", "b", "c"]]
    again = portpart.map_processes(graph, "2", "1", initial=first)
    assert again.cost == first.cost == 1


@pytest.mark.parametrize("algorithm", ["hm", "im", "two-phase"])
def test_the_command_takes_them(algorithm: str, tmp_path: Path,
                                capsys: pytest.CaptureFixture) -> None:
    grid = grid_2d(12)
    fixed = np.where(np.arange(144) % 10 == 0, np.arange(144) // 24, -1)
    io.write(grid, tmp_path / "graph.metis")
    for name, values in (("fixed", fixed), ("initial", np.arange(144) % 6)):
        (tmp_path / name).write_text("\n".join(map(str, values)))
    files = [str(tmp_path / name) for name in ("graph.metis", "fixed", "initial", "out")]
    assert main(["map", files[0], "-H", "3:2", "-D", "1:9", "--algorithm", algorithm, "--json",
                 "--fixed", files[1], "--initial", files[2], "--target", "1,1,1,1,2,2", "-q",
                 "--starts", "3", "--time-limit", "60", "-o", files[3]]) == 0
    printed = json.loads(capsys.readouterr().out)
    part = io.read_partition(files[3], 144)
    expected = portpart.map_processes(
        grid, "3:2", "1:9", algorithm=algorithm, fixed=fixed, initial=np.arange(144) % 6,
        target=[1, 1, 1, 1, 2, 2], starts=3)
    assert np.array_equal(part, expected.part)
    assert (part == fixed)[fixed >= 0].all()
    assert printed["fixed"] == files[1]
    assert printed["starts"] == 3
    assert printed["cost"] == plain.cost(grid, part, plain.distances([3, 2], [1, 9]))
