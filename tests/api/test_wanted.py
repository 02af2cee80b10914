"""Targets, fixed vertices, a start, least weights: kept, and never at the price of the others."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.partitioners import ALGORITHMS, lookup
from portpart.api.bounds import bounds_for
from portpart.api.request import _finished
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers import checked, data_folder
from tests.helpers.each import looped
from tests.helpers.spaces import reference
from tests.oracles.wanted import Case, cases

MESH = delaunay(3000)
UNEVEN = [1, 2, 3, 4, 5, 6]
RECIPES = [f"{name} {preset}" for name, algorithm in ALGORITHMS.items()
           for preset in algorithm.presets]


def partition(case: Case, **options: Any) -> portpart.PartitionResult:
    """The result; it says whether it is feasible, and warns if not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = portpart.partition(case.graph, case.k, **case.options, **options)
    oracles.assert_partition_is_true(case.graph, result, case.k, case.imbalance, case.target,
                                     case.fixed, case.least)
    assert result.feasible == case.keeps(result.part)
    assert len(caught) == (not result.feasible)
    return result


def refused_or_infeasible(case: Case) -> None:
    """What cannot be kept is refused at once or found out in the end."""
    try:
        assert not partition(case).feasible
    except InputError as refusal:
        message = str(refusal)
        if case.least == 0 or "min_block_weight" not in message:
            raise


def rank(case: Case, part: Any) -> tuple[int, int, int, int]:
    return (case.excess(part), case.missing(part), case.empty(part),
            oracles.cut(case.graph, part))


@given(case=cases(), seed=st.integers(0, 99),
       recipe=st.sampled_from(RECIPES))
@settings(max_examples=200)
def test_any_mixture_of_wishes_on_small_graphs(case: Case, seed: int, recipe: str) -> None:
    if not case.can_be_kept() and case.least > 0:
        refused_or_infeasible(case)
        return
    algorithm, preset = recipe.split()
    result = partition(case, seed=seed, algorithm=algorithm, preset=preset)
    if case.initial is not None and case.fixed is None:
        assert rank(case, result.part) <= rank(case, case.initial)
    assert result.feasible == case.can_be_kept()
    if result.feasible and case.fixed is None and case.target is None and case.positive >= case.k:
        assert result.block_weights.min() > 0


@given(case=cases(7))
@settings(max_examples=100)
def test_unit_weights_are_balanced_whenever_they_can_be(case: Case) -> None:
    plain = Graph(case.graph.offsets, case.graph.targets, case.graph.weights, None,
                  case.graph.space)
    case = Case(plain, *(getattr(case, name) for name in
                         ("k", "imbalance", "target", "fixed", "initial", "least")))
    if case.can_be_kept():
        assert partition(case).feasible
    else:
        refused_or_infeasible(case)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("k", [2, 6])
def test_blocks_keep_targets_of_their_own(k: int, recipe: str) -> None:
    target = UNEVEN[:k]
    algorithm, preset = recipe.split()
    result = checked.partition(MESH, k, target=target, algorithm=algorithm, preset=preset)
    assert result.feasible
    assert result.imbalance <= 0.03
    tight = checked.partition(MESH, k, target=target, algorithm=algorithm, preset=preset,
                               imbalance=0)
    whole = sum(target)
    assert (tight.block_weights <= [-(-3000 * t // whole) for t in target]).all()
    assert result.cut < 2 * portpart.partition(MESH, k).cut


def test_equal_targets_are_no_targets() -> None:
    expected = portpart.partition(MESH, 6).part
    for target in ([1] * 6, [0.1] * 6, np.full(6, 500), ["1/6"] * 6):
        assert np.array_equal(portpart.partition(MESH, 6, target=target).part, expected)


def test_targets_may_differ_by_far() -> None:
    target = [1, 1, 1000]
    result = checked.partition(MESH, 3, target=target)
    assert result.feasible
    assert result.block_weights.min() > 0
    assert (result.block_weights <= [3, 3, 3084]).all()


def scattered(graph: Graph, k: int, share: float) -> np.ndarray:
    """Fixed vertices, anywhere, in blocks at random."""
    random = np.random.default_rng(3)
    fixed = random.integers(0, k, graph.num_vertices)
    return np.where(random.random(graph.num_vertices) < share, fixed, -1)


@pytest.mark.parametrize("share", [0.002, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("k", [2, 7, 40])
def test_fixed_vertices_stay_and_the_others_are_balanced(k: int, share: float) -> None:
    fixed = scattered(MESH, k, share)
    result = checked.partition(MESH, k, fixed=fixed, imbalance=0.15 if share == 1 else 0.03)
    assert result.feasible or share == 1
    assert (result.part == fixed)[fixed >= 0].all()


def test_a_good_partition_grows_around_fixed_vertices() -> None:
    """Corners fixed the wrong way round: blocks have to take the numbers that suit them."""
    grid = grid_2d(40)
    free = checked.partition(grid, 4)
    swapped = np.array([2, 3, 1, 0])[free.part]
    fixed = np.where(np.arange(1600) % 9 == 0, swapped, -1)
    result = checked.partition(grid, 4, fixed=fixed)
    assert result.feasible
    assert result.cut <= 1.1 * free.cut


def test_what_is_fixed_beyond_a_limit_is_said_and_the_rest_is_balanced() -> None:
    fixed = np.where(np.arange(3000) < 1000, 2, -1)
    with pytest.warns(UserWarning, match="fixed to block 2 weigh 1000, more than the 772"):
        result = checked.partition(MESH, 4, fixed=fixed)
    assert not result.feasible
    assert result.block_weights[2] == 1000
    others = np.delete(result.block_weights, 2)
    assert others.max() <= result.max_block_weight_allowed


def random_part(n: int, k: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(n) % k


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("graph", [MESH, rmat(11, 8)], ids=["mesh", "rmat"])
def test_a_start_gets_better(graph: Graph, recipe: str) -> None:
    n, k = graph.num_vertices, 9
    algorithm, preset = recipe.split()
    options: dict[str, Any] = {"algorithm": algorithm, "preset": preset}
    good = checked.partition(graph, k, **options)
    again = checked.partition(graph, k, initial=good.part, seed=1, **options)
    assert again.feasible
    assert again.cut <= good.cut
    poor = random_part(n, k)
    better = checked.partition(graph, k, initial=poor, **options)
    assert better.feasible
    assert better.cut < oracles.cut(graph, poor)


def test_an_unbalanced_start_is_balanced() -> None:
    for start in (np.zeros(3000, int), np.arange(3000) % 7 // 3):
        result = checked.partition(MESH, 5, initial=start)
        assert result.feasible
        assert result.block_weights.min() > 0


def test_a_tight_start_is_returned_if_nothing_is_better() -> None:
    cliques = [(20 * c + i, 20 * c + j) for c in (0, 1) for i in range(20) for j in range(i)]
    start = np.repeat([1, 0], 20)
    result = checked.partition([*cliques, (0, 20)], 2, initial=start, imbalance=0)
    assert np.array_equal(result.part, start)


def test_a_start_is_left_alone() -> None:
    start = random_part(3000, 4).astype(np.int32)
    kept = start.copy()
    fixed = np.where(np.arange(3000) < 9, 1, -1).astype(np.int32)
    portpart.partition(MESH, 4, initial=start, fixed=fixed)
    assert np.array_equal(start, kept)


@pytest.mark.parametrize("least", [1, 300, 360, 375])
def test_every_block_weighs_the_least(least: int) -> None:
    result = checked.partition(MESH, 8, min_block_weight=least, imbalance=0.2)
    assert result.feasible
    assert result.block_weights.min() >= least
    assert result.cut <= 2 * portpart.partition(MESH, 8, imbalance=0.2).cut


@pytest.mark.parametrize("k", [2, 30, 700, 1499])
def test_no_block_is_empty(k: int) -> None:
    for graph in (delaunay(1500), rmat(11, 2), portpart.as_graph([(0, i) for i in range(1, 1600)])):
        for imbalance in (0.03, 5):
            assert portpart.partition(graph, k, imbalance=imbalance).block_weights.min() > 0


def test_weightless_vertices_fill_no_block() -> None:
    weights = (np.arange(3000) % 100 == 0) * 1
    assert portpart.partition(MESH, 30, vertex_weights=weights).block_weights.tolist() == [1] * 30
    few = checked.partition(MESH, 31, vertex_weights=weights)
    assert few.feasible
    assert few.block_weights.min() == 0


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "target short": ({"target": [1, 2]}, "target holds 2 numbers for 4 blocks"),
    "target zero": ({"target": [0, 0, 0, 0]}, "target holds 4 zeros"),
    "target negative": ({"target": [1, 1, 1, -1.5]}, r"target\[3\] is -1.5"),
    "target nan": ({"target": [1, float("nan"), 1, 1]}, r"target\[1\] is nan"),
    "target infinite": ({"target": [1, float("inf"), 1, 1]}, r"target\[1\] is inf"),
    "target text": ({"target": "1234"}, "4 numbers are needed"),
    "target number": ({"target": 4}, "4 numbers are needed"),
    "fixed short": ({"fixed": [0]}, "fixed has shape .1,. for 144 vertices"),
    "fixed high": ({"fixed": [-1] * 143 + [4]}, r"fixed\[143\] is 4: .*0 ... 3 and not free"),
    "fixed low": ({"fixed": [-2] + [0] * 143}, r"fixed\[0\] is -2"),
    "fixed float": ({"fixed": [0.5] * 144}, r"fixed\[0\] is 0.5"),
    "initial short": ({"initial": np.zeros((144, 1))}, "initial has shape"),
    "initial high": ({"initial": [0] * 9 + [7] + [0] * 134}, r"initial\[9\] is 7: vertex 9 is in"),
    "initial low": ({"initial": [0, -1] + [0] * 142}, r"initial\[1\] is -1: .* of 0 ... 3$"),
    "least negative": ({"min_block_weight": -1}, "min_block_weight is -1"),
    "least float": ({"min_block_weight": 1.5}, "min_block_weight is 1.5"),
    "least above limit": ({"min_block_weight": 38}, "more than the 37 that block 0 may weigh"),
    "least in sum": ({"min_block_weight": 37}, "4 blocks need 148 more, and .* weigh 144"),
    "least beside fixed": ({"min_block_weight": 30, "fixed": [0] * 36 + [1] * 50 + [-1] * 58,
                            "imbalance": 1}, "need 60 more, and the vertices .* weigh 58"),
    "least of heavy": ({"min_block_weight": 1, "vertex_weights": [5] * 3 + [0] * 141},
                       "fewer than 4 vertices weigh something"),
    "starts zero": ({"starts": 0}, "starts is 0"),
    "starts float": ({"starts": 2.5}, "starts is 2.5"),
    "time negative": ({"time_limit": -1}, "time_limit is -1"),
    "time text": ({"time_limit": "soon"}, "time_limit is 'soon'"),
    "several constraints": ({"vertex_weights": np.ones((144, 2))},
                            "several constraints are not supported yet"),
}


@looped("name", BAD)
def test_what_cannot_be_is_refused_and_named(name: str) -> None:
    options, text = BAD[name]
    with pytest.raises(InputError, match=text):
        portpart.partition(grid_2d(12), 4, **options)


def test_the_vertex_at_fault_is_known() -> None:
    with pytest.raises(InputError) as caught:
        portpart.partition(grid_2d(12), 4, initial=[0] * 100 + [4] * 44)
    assert caught.value.vertex == 100


def test_more_starts_and_no_time() -> None:
    usual, many = (portpart.partition(MESH, 64, starts=starts) for starts in (2, 12))
    assert np.array_equal(usual.part, portpart.partition(MESH, 64).part)
    assert many.feasible
    assert many.cut != usual.cut
    hurried = checked.partition(MESH, 16, preset="best", time_limit=0)
    assert hurried.feasible
    unhurried = checked.partition(MESH, 16, preset="best", time_limit=1e9)
    assert np.array_equal(unhurried.part, portpart.partition(MESH, 16, preset="best").part)
    count = [sum(level["iterations"] for level in result.stats["levels"])
             for result in (hurried, unhurried)]
    assert count[0] < count[1]
    searched, stopped = (portpart.partition(MESH, 8, algorithm="portpart", preset="best",
                                            time_limit=limit) for limit in (None, 0))
    assert len(searched.stats["cuts"]) > len(stopped.stats["cuts"]) == 1


def wishes(graph: Graph, k: int) -> dict[str, dict[str, Any]]:
    n = graph.num_vertices
    fixed = scattered(graph, k, 0.05)
    return {
        "target": {"target": list(range(1, k + 1))},
        "fixed": {"fixed": fixed},
        "initial": {"initial": random_part(n, k)},
        "least": {"min_block_weight": graph.total_vertex_weight // k},
        "all": {"target": list(range(2, k + 2)), "fixed": fixed, "initial": random_part(n, k),
                "min_block_weight": 50},
    }


def in_space(space: ExecutionSpace, graph: Graph, k: int, proposal: dict[str, Any],
             algorithm: str) -> np.ndarray:
    """What `portpart.partition` does, in any space."""
    here = graph.to(space)
    fixed, initial = (None if proposal.get(name) is None
                      else space.asarray(proposal[name], np.int32)
                      for name in ("fixed", "initial"))
    if fixed is not None and initial is not None:
        initial = space.asarray(np.where(proposal["fixed"] >= 0, proposal["fixed"],
                                         proposal["initial"]),
                                np.int32)
    bounds = bounds_for(here, k, 0.03, proposal.get("target"), fixed,
                        proposal.get("min_block_weight", 0))
    problem = Problem(here, bounds.balance, 4, Trace(space, here, None),
                      Constraints(fixed, initial))
    run, config = lookup(algorithm, "default")
    return oracles.host(_finished(problem, run(problem, config), bounds)[0])


@functools.cache
def weighted_rmat() -> Graph:
    weights = np.random.default_rng(1).integers(0, 9, 2048)
    return portpart.as_graph(rmat(11, 8), vertex_weights=weights)


@functools.cache
def public_part(graph: Graph, name: str, algorithm: str) -> np.ndarray:
    """What `portpart.partition` finds, and so the reference too."""
    proposal = wishes(graph, 7)[name]
    public = checked.partition(graph, 7, seed=4, algorithm=algorithm, **proposal)
    assert public.feasible
    assert np.array_equal(public.part, in_space(reference(), graph, 7, proposal, algorithm))
    return public.part


NAMES = ["target", "fixed", "initial", "least", "all"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", NAMES)
def test_every_space_finds_the_same(space: ExecutionSpace, name: str, algorithm: str) -> None:
    graph = (MESH, weighted_rmat())[
        (NAMES.index(name) + list(ALGORITHMS).index(algorithm)) % 2]
    found = in_space(space, graph, 7, wishes(graph, 7)[name], algorithm)
    assert np.array_equal(found, public_part(graph, name, algorithm))


@pytest.mark.parametrize("name", ["3elt", "add20", "memplus"])
def test_real_graphs(name: str) -> None:
    graph = portpart.io.read(data_folder.graph_path(name))
    n, k = graph.num_vertices, 8
    plain = checked.partition(graph, k)
    again = checked.partition(graph, k, initial=plain.part, seed=9)
    assert again.feasible
    assert again.cut <= plain.cut
    fixed = np.where(np.arange(n) % 50 == 0, plain.part, -1)
    anchored = checked.partition(graph, k, fixed=fixed)
    assert anchored.feasible
    assert (anchored.part == fixed)[fixed >= 0].all()
    assert anchored.cut <= 1.3 * plain.cut
    assert portpart.partition(graph, k, target=range(1, k + 1)).feasible
    least = n // k
    filled = checked.partition(graph, k, min_block_weight=least)
    assert filled.block_weights.min() >= least
