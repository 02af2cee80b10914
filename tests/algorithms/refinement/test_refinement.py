"""Jet refinement: what it reports is true, what it returns is no worse, and balanced."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Shape
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import Word, int32, int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.refining import (
    balance_of,
    copied,
    counted_rows,
    recorded,
    refiner_at,
    widest,
)
from tests.helpers.spaces import GRAPHS, clusters_of, reference, with_int64_offsets

MESH = delaunay(2000)
GRID = grid_2d(40)
LARGE = {**{name: GRAPHS[name] for name in ("sparse", "medium", "dense", "skewed")},
         "mesh": MESH, "grid": GRID}


def balanced_part(graph: Graph, k: int) -> np.ndarray:
    """Stripes of vertices of equal number; balanced for unit weights."""
    return (np.arange(graph.num_vertices) * k // max(1, graph.num_vertices)).astype(np.int32)


def lopsided_part(graph: Graph, k: int, seed: int = 0) -> np.ndarray:
    """Most vertices in the first blocks, perhaps all."""
    drawn = np.random.default_rng(seed).random(graph.num_vertices) ** 4
    return (k * drawn).astype(np.int32)


def refined(space: ExecutionSpace, graph: Graph, part: Any, k: int, ratio: float = 0.25,
            **options: Any) -> tuple[dict[str, int], np.ndarray]:
    refiner, here = refiner_at(space, graph, part, k, **options)
    outcome = refiner.refine(here, ratio)
    return outcome, copied(refiner.best)


def assert_outcome_is_true(graph: Graph, k: int, outcome: dict[str, int], part: np.ndarray,
                           imbalance: str = "0.03") -> None:
    weights = oracles.block_weights(graph, part, k)
    assert outcome["cut"] == oracles.cut(graph, part)
    limit = balance_of(graph, k, imbalance).max_block_weight
    assert outcome["overload"] == max(weights) - limit
    assert bool(outcome["balanced"]) == (max(weights) <= limit)


@looped("k", [2, 9, 64])
@looped("name", LARGE)
def test_a_balanced_start_stays_balanced_and_gets_no_worse(
    space: ExecutionSpace, name: str, k: int
) -> None:
    graph = LARGE[name]
    part = balanced_part(graph, k)
    outcome, better = refined(space, graph, part, k)
    assert_outcome_is_true(graph, k, outcome, better)
    limit = balance_of(graph, k).max_block_weight
    if max(oracles.block_weights(graph, part, k)) <= limit:
        assert outcome["balanced"]
        assert outcome["cut"] <= oracles.cut(graph, part)


@looped("k", [2, 9, 64])
@looped("name", LARGE)
def test_an_unbalanced_start_ends_balanced(space: ExecutionSpace, name: str, k: int) -> None:
    graph = LARGE[name]
    outcome, part = refined(space, graph, lopsided_part(graph, k), k)
    assert_outcome_is_true(graph, k, outcome, part)
    assert outcome["balanced"]


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.03", "0.5"]),
       data=st.data())
@settings(max_examples=80)
def test_random_starts_on_random_graphs(
    space: ExecutionSpace, graph: Graph, k: int, imbalance: str, data: st.DataObject
) -> None:
    n = graph.num_vertices
    if n == 0:
        return
    start = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    outcome, part = refined(space, graph, start, k, imbalance=imbalance)
    assert_outcome_is_true(graph, k, outcome, part, imbalance)
    limit = balance_of(graph, k, imbalance).max_block_weight
    before = max(oracles.block_weights(graph, start, k))
    if before <= limit:
        assert outcome["balanced"]
        assert outcome["cut"] <= oracles.cut(graph, start)
    else:
        assert outcome["overload"] <= before - limit
    if graph.vertex_weights is None:
        assert outcome["balanced"]


@pytest.mark.parametrize("name", LARGE)
def test_every_space_finds_the_same_partition(space: ExecutionSpace, name: str) -> None:
    graph = LARGE[name]
    for start in (balanced_part(graph, 8), lopsided_part(graph, 8)):
        outcome, part = refined(space, graph, start, 8)
        wanted, expected = refined(reference(), graph, start, 8)
        assert outcome == wanted
        assert np.array_equal(part, expected)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    start = lopsided_part(graph, 5)
    _, plain = refined(space, graph, start, 5)
    _, wide = refined(space, with_int64_offsets(graph), start, 5)
    assert np.array_equal(plain, wide)


def test_weights_whose_sums_pass_32_bits(space: ExecutionSpace) -> None:
    graph = random_graph(600, 2500, 3, weighted=True)
    large = Graph(graph.offsets, graph.targets, graph.weights * 2**45, None, graph.space)
    start = lopsided_part(graph, 4)
    outcome, part = refined(space, large, start, 4)
    assert_outcome_is_true(large, 4, outcome, part)
    assert outcome["balanced"]
    assert outcome["cut"] < oracles.cut(large, start)


def test_a_mesh_is_improved_much(space: ExecutionSpace) -> None:
    part = np.random.default_rng(0).permutation(MESH.num_vertices) % 4
    outcome, _ = refined(space, MESH, part, 4, 0.75)
    assert outcome["cut"] < 0.5 * oracles.cut(MESH, part)


def test_the_iteration_limit_is_kept(space: ExecutionSpace) -> None:
    start = lopsided_part(MESH, 6)
    for limit in (0, 1, 5):
        outcome, part = refined(space, MESH, start, 6, iteration_limit=limit)
        assert outcome["iterations"] == limit
        assert_outcome_is_true(MESH, 6, outcome, part)
    outcome, part = refined(space, MESH, start, 6, iteration_limit=0)
    assert np.array_equal(part, start)


def propagated(graph: Graph, part: np.ndarray, ratio: float, seed: int) -> np.ndarray:
    """Algorithm 4.2 once: first filter, and the afterburner by the order of equation 4.1."""
    rows, proposals = counted_rows(graph, part), {}
    for v, row in enumerate(rows):
        own = row.pop(int(part[v]), 0)
        top = max(row.values(), default=0)
        if top > 0 and (top >= own or own - top < int(ratio * own)):
            proposals[v] = top - own, max((b for b in row if row[b] == top),
                                          key=lambda b: oracles.hash_of_pair(v, b, seed))
    gains = dict.fromkeys(proposals, 0)
    for v, u, weight in oracles.arcs(graph):
        if v in proposals:
            goes_first = u in proposals and (-proposals[u][0], u) < (-proposals[v][0], v)
            block = proposals[u][1] if goes_first else part[u]
            gains[v] += weight * (int(block == proposals[v][1]) - int(block == part[v]))
    after = part.copy()
    for v, gain in gains.items():
        if gain >= 0:
            after[v] = proposals[v][1]
    return after


@looped("ratio", [0.25, 0.75])
@looped("name", ["sparse", "medium", "skewed", "grid"])
def test_a_propagation_is_that_of_the_paper(space: ExecutionSpace, name: str,
                                            ratio: float) -> None:
    """Equal gains go by the smaller vertex, of which a grid has many."""
    graph, k = LARGE[name], 5
    start = np.random.default_rng(4).integers(0, k, graph.num_vertices).astype(np.int32)
    refiner, here = refiner_at(space, graph, start, k, "1", iteration_limit=1)
    seed = int(refiner.words.seed)
    refiner.refine(here, ratio)
    expected = propagated(graph, start, ratio, seed)
    assert (expected != start).any()
    assert np.array_equal(copied(refiner.run.moves.part)[: graph.num_vertices], expected)


def test_refinement_ends_where_nobody_can_move(space: ExecutionSpace) -> None:
    two_cliques = np.repeat([0, 1], 20)
    edges = [(20 * s + i, 20 * s + j) for s in (0, 1) for i in range(20) for j in range(i)]
    outcome, part = refined(space, raw_graph(40, [*edges, (0, 20)]).graph(), two_cliques, 2)
    assert outcome == {"cut": 1, "overload": 0, "balanced": 1, "iterations": 1}
    assert np.array_equal(part, two_cliques)


def test_refinement_stops_once_nothing_improves(space: ExecutionSpace) -> None:
    """As long as somebody may move at a loss that the filter lets through."""
    start = balanced_part(GRID, 2)
    outcome, _ = refined(space, GRID, start, 2, 1.5, stall_limit=7)
    again, _ = refined(space, GRID, start, 2, 1.5, stall_limit=9)
    assert outcome["iterations"] + 2 == again["iterations"]
    assert outcome["cut"] == again["cut"]


def test_options_may_be_whole_numbers(space: ExecutionSpace) -> None:
    """One program runs for all of them, whichever comes first."""
    start = balanced_part(GRID, 3)
    for whole, tolerance in (((0, 1), (0.0, 1.0)), ((0.5, 0.9), (0.5, 0.9))):
        (_, part), (_, same) = (refined(space, GRID, start, 3, ratio, tolerance=share)
                                for ratio, share in (whole, tolerance))
        assert np.array_equal(part, same)


@pytest.mark.parametrize("counter", [int32, int64])
@pytest.mark.parametrize("team", [8, 32])
@pytest.mark.parametrize("one_lane", [False, True])
@pytest.mark.parametrize("mean_degree", [4, 20])
def test_the_program_has_room_for_the_arrays_of_all_teams(
    mean_degree: int, one_lane: bool, team: int, counter: Word,
) -> None:
    graph = LARGE["medium"]
    refiner, _ = refiner_at(graph.space, graph, balanced_part(graph, 4), 4)
    shape = Shape(team, 256, 4, counter, mean_degree, graph.max_degree)
    check_program(recorded(refiner, graph, widest(CUT, shape, one_lane)))


def values_without_refining(refiner: Refiner, graph: Graph) -> dict[str, int]:
    refiner.options = refiner.finest_options = RefinementOptions(iteration_limit=0)
    return refiner.refine(graph, 0.25)


@pytest.mark.parametrize("start", [balanced_part, lopsided_part])
def test_a_restart_goes_back_to_the_best(space: ExecutionSpace, start: Any) -> None:
    refiner, graph = refiner_at(space, MESH, start(MESH, 300), 300)
    first = refiner.refine(graph, 0.75)
    refiner.restart(graph)
    again = values_without_refining(refiner, graph)
    assert {**again, "iterations": first["iterations"]} == first
    assert_outcome_is_true(MESH, 300, again, copied(refiner.best))


@pytest.mark.parametrize("k", [3, 40])
def test_projection_keeps_blocks_weights_and_cut(space: ExecutionSpace, k: int) -> None:
    fine = GRAPHS["medium"].to(space)
    n = fine.num_vertices
    cluster = np.random.default_rng(3).permutation(n) // 3
    count = int(cluster.max()) + 1
    coarse = contract(fine, clusters_of(space, cluster, count))
    refiner = Refiner(space, fine, balance_of(fine, k), RefinementOptions(), 1)
    refiner.start(coarse, space.asarray(lopsided_part(coarse, k)))
    outcome = refiner.refine(coarse, 0.75)
    best = copied(refiner.best)[:count]
    refiner.project(fine, space.asarray(cluster, np.int32))
    projected = values_without_refining(refiner, fine)
    assert projected["cut"] == outcome["cut"]
    assert projected["overload"] == outcome["overload"]
    assert np.array_equal(copied(refiner.best), best[cluster])
    assert_outcome_is_true(GRAPHS["medium"], k, projected, copied(refiner.best))


@pytest.mark.parametrize("slack", [0, 1, 3])
def test_blocks_of_a_coarse_level_weigh_no_more_than_the_slack_above_their_limit(
    space: ExecutionSpace, slack: int
) -> None:
    """The start is so heavy that what leaves fills the rest of the limit, and the slack if any."""
    coarse, fine, k = delaunay(1500), delaunay(3000), 5
    weighted = Graph(coarse.offsets, coarse.targets, None,
                     np.full(1500, 7, np.int64), coarse.space).to(space)
    balance = balance_of(weighted, k, "0")
    refiner = Refiner(space, fine.to(space), balance, RefinementOptions(slack=slack), 1)
    refiner.start(weighted, space.asarray(lopsided_part(coarse, k)))
    assert refiner.refine(weighted)["balanced"]
    weights = np.bincount(copied(refiner.best)[:1500], minlength=k) * 7
    assert weights.max() <= balance.max_block_weight + slack * 7
    assert (weights.max() > balance.max_block_weight) == (slack > 0)


@pytest.mark.parametrize("name", ["medium", "skewed", "mesh"])
def test_more_iterations_never_make_it_worse(space: ExecutionSpace, name: str) -> None:
    graph = LARGE[name]
    start = np.random.default_rng(5).permutation(graph.num_vertices) % 6
    outcomes = [refined(space, graph, start, 6, 0.75, iteration_limit=limit)[0]
                for limit in range(0, 40, 3)]
    cuts = [outcome["cut"] for outcome in outcomes if outcome["balanced"]]
    assert len(cuts) > 5
    assert cuts == sorted(cuts, reverse=True)


@functools.cache
def good_partition(graph: Graph) -> portpart.PartitionResult:
    return portpart.partition(graph, 6, preset="best")


@pytest.mark.parametrize("ratio", [0.85, 0.5, 0.1])
def test_a_good_partition_never_gets_worse(space: ExecutionSpace, ratio: float) -> None:
    for graph in (MESH, GRAPHS["skewed"]):
        good = good_partition(graph)
        outcome, _ = refined(space, graph, good.part, 6, ratio)
        assert outcome["balanced"]
        assert outcome["cut"] <= good.cut
