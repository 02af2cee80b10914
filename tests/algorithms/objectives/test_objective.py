"""An objective of one's own, written here alone: every edge pays a toll that depends on its blocks.

It refines and rebalances like those of the library, and what is reported is what a plain loop says.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.final_balance.overload import repaired
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.communication import low_degree_limit
from portpart.algorithms.objectives.connectivity import COUNTED
from portpart.algorithms.objectives.cut import COUNTING_TEAM, CUT
from portpart.algorithms.objectives.distances import (
    LowDegreeByDistance,
    far_from_all,
    high_degree_by_distance,
    value_along_arcs,
)
from portpart.algorithms.objectives.objective import BlockScore, Objective, Rules, Tables
from portpart.algorithms.objectives.total import total_cost
from portpart.algorithms.recipes.partitioners import ALGORITHMS, lookup
from portpart.algorithms.refinement import options as sizes, work_arrays as of_levels
from portpart.algorithms.refinement.options import IndependentOptions
from portpart.algorithms.refinement.prefix.independent_sets import independent_set_refiner
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.language import device, int64
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.each import every_other, looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.refining import balance_of, copied, refiner_at
from tests.helpers.spaces import GRAPHS, reference

TOLLS = (1, 2, 5)


class Tolls(Tables):
    """Tolls of edges between blocks, by the remainder of the sum of the two blocks."""

    tolls: Array
    period: int


@device
def toll(a, b, tables: Tolls):
    """What an edge between two blocks pays, times its weight."""
    price = int64(0)
    if a != b:
        price = tables.tolls[(int64(a) + int64(b)) % tables.period]
    return price


def toll_rules() -> Rules:
    """The functions of the objective."""
    return Rules("tolls", toll, False, far_from_all, LowDegreeByDistance(toll),
                 high_degree_by_distance(toll),
                 COUNTING_TEAM)


def tolls_on(space: ExecutionSpace) -> Objective:
    """The objective on a space."""
    tables = Tolls(max(TOLLS), space.asarray(np.array(TOLLS)), len(TOLLS))
    return Objective(toll_rules(), tables, low_degree_limit, wide_degree=16)


def counted_rules() -> Rules:
    """The same functions, but weights into all blocks are counted, 512 blocks at a time."""
    many = BlockScore(COUNTED, value_along_arcs.bound(distance=toll))
    return replace(toll_rules(), name="tolls, counted", high_degree=many)


def test_an_objective_takes_forty_lines() -> None:
    written = (Tolls, toll.function, toll_rules, tolls_on)
    assert sum(len(inspect.getsource(each).splitlines()) for each in written) <= 40


def paid(graph: Graph, part: Any) -> int:
    """All tolls, each edge once, by a plain loop."""
    blocks = part.tolist()
    return sum(weight * TOLLS[(blocks[u] + blocks[v]) % len(TOLLS)]
               for u, v, weight in edges_of(graph) if blocks[u] != blocks[v])


@functools.lru_cache(maxsize=4)
def edges_of(graph: Graph) -> list[tuple[int, int, int]]:
    """Each edge once, with its weight."""
    return [(u, v, weight) for u, v, weight in oracles.arcs(graph) if u < v]


def with_hubs() -> Graph:
    """Two vertices with 400 neighbours each, some with many, and weights of both kinds."""
    few = random_graph(900, 2500, 3)
    random = np.random.default_rng(4)
    edges = {(u, v) for u, v, _ in oracles.arcs(few) if u < v}
    edges |= {(hub, int(v)) for hub, count in ((0, 400), (1, 400), (2, 60), (3, 30))
              for v in random.choice(np.arange(4, 900), count, replace=False)}
    return raw_graph(900, sorted(edges), random.integers(0, 20, len(edges)),
                     random.integers(1, 5, 900)).graph()


IMBALANCE = {2: "0.1", 9: "0.1", 600: "4"}
"""By the number of blocks: few vertices a block do not pack tightly."""

LARGE = {"medium": GRAPHS["medium"], "dense": GRAPHS["dense"], "hubs": with_hubs()}


def light_part(graph: Graph, k: int) -> np.ndarray:
    """Balanced blocks: the heaviest vertices first, each into the lightest block."""
    blocks, part = np.zeros(k, np.int64), np.zeros(graph.num_vertices, np.int32)
    weights = np.array(oracles.vertex_weights(graph))
    for v in np.argsort(-weights, kind="stable"):
        part[v] = blocks.argmin()
        blocks[part[v]] += weights[v]
    return part


def lopsided_part(graph: Graph, k: int) -> np.ndarray:
    """Most vertices in the first blocks."""
    return (k * np.random.default_rng(0).random(graph.num_vertices) ** 3).astype(np.int32)


STARTS = {"balanced": light_part, "overloaded": lopsided_part}

RUNS = (LARGE, (2, 9, 600), STARTS)


def overload(graph: Graph, part: np.ndarray, k: int, imbalance: str) -> int:
    return max(oracles.block_weights(graph, part, k)) - balance_of(graph, k, imbalance).limits[0]


def refined(space: ExecutionSpace, graph: Graph, start: np.ndarray, k: int, imbalance: str,
            objective: Objective | None = None,
            **options: Any) -> tuple[dict[str, int], Refiner]:
    refiner, here = refiner_at(space, graph, start, k, imbalance, objective or tolls_on(space),
                               **options)
    return dict(refiner.refine(here, 0.5)), refiner


def assert_at_rest(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int,
                   imbalance: str) -> None:
    """Refinement that begins anew with a partition, and counts everything, moves nobody."""
    assert overload(graph, part, k, imbalance) <= 0
    outcome, refiner = refined(space, graph, part, k, imbalance, iteration_limit=1)
    assert refiner.level.movable == 0
    assert copied(refiner.run.moves.part).tolist() == part.tolist()
    assert outcome["cut"] == paid(graph, part)


def check_iterations(space: ExecutionSpace, graph: Graph, start: np.ndarray, k: int,
                     limits: tuple[int, ...], imbalance: str) -> Refiner:
    """After each number of iterations, value and weights are those of the partition that is held.

    Returns
    -------
    Refiner
        That with the most iterations.
    """
    before = overload(graph, start, k, imbalance)
    for limit in limits:
        outcome, refiner = refined(space, graph, start, k, imbalance, iteration_limit=limit)
        part, best = copied(refiner.run.moves.part), copied(refiner.best)
        assert outcome["iterations"] <= limit
        if outcome["iterations"] < limit:
            assert_at_rest(space, graph, part, k, imbalance)
        assert copied(refiner.run.moves.cost_sums).sum() == 2 * paid(graph, part)
        assert copied(refiner.run.blocks.weight).tolist() == oracles.block_weights(graph, part, k)
        assert outcome["cut"] == paid(graph, best)
        assert outcome["overload"] == overload(graph, best, k, imbalance) <= max(0, before)
        assert outcome["cut"] <= paid(graph, start) or before > 0
    return refiner


@pytest.mark.parametrize(("name", "k", "start"), every_other(*RUNS))
def test_after_every_iteration_the_value_is_that_of_a_plain_loop(
    space: ExecutionSpace, name: str, k: int, start: str
) -> None:
    graph = LARGE[name]
    part = STARTS[start](graph, k)
    assert (overload(graph, part, k, IMBALANCE[k]) > 0) == (start == "overloaded")
    refiner = check_iterations(space, graph, part, k, (0, 1, 2, 3, 4, 7), IMBALANCE[k])
    assert (copied(refiner.run.moves.part) != part).any()
    if name == "hubs":
        assert refiner.level.hubs == 2
        assert graph.max_degree > refiner.level.hub_degree > 60 > refiner.level.max_low_degree


@pytest.mark.parametrize("max_arcs", [14, 300], ids=["hubs", "no hubs"])
@pytest.mark.parametrize("start", STARTS)
def test_lanes_and_their_order_decide_nothing(start: str, max_arcs: int,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """A star in a random graph; its centre has many neighbours, or is a hub."""
    edges = {(0, leaf) for leaf in range(1, 19)}
    edges |= {(u, v) for u, v, _ in oracles.arcs(random_graph(24, 40, 1)) if u < v}
    graph = raw_graph(24, sorted(edges), list(range(len(edges)))).graph()
    part = STARTS[start](graph, 3)
    expected = check_iterations(reference(), graph, part, 3, (4,), "0.1")
    for module in (of_levels, sizes):
        monkeypatch.setattr(module, "max_arcs", lambda team: max_arcs)
    space = LanesSpace(2, seed=3)
    space.widest_team = 1  # with which the weights into all blocks are counted
    found = check_iterations(space, graph, part, 3, (0, 1, 2, 3, 4), "0.1")
    assert found.level.hubs == (max_arcs == 14)
    assert found.level.max_low_degree < graph.max_degree
    assert np.array_equal(copied(found.best), copied(expected.best))


@pytest.mark.parametrize(("name", "k", "start"), every_other(*RUNS, first=1))
def test_every_space_ends_with_the_same_balanced_partition(
    space: ExecutionSpace, name: str, k: int, start: str
) -> None:
    graph = LARGE[name]
    part = STARTS[start](graph, k)
    outcome, refiner = refined(space, graph, part, k, IMBALANCE[k])
    same, expected = refined(reference(), graph, part, k, IMBALANCE[k])
    assert outcome == same
    assert np.array_equal(copied(refiner.best), copied(expected.best))
    assert outcome["balanced"]
    assert outcome["cut"] == paid(graph, copied(refiner.best))
    if start == "balanced":
        assert outcome["cut"] < paid(graph, part)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("k", [9, 600])
def test_how_blocks_are_found_decides_nothing(space: ExecutionSpace, k: int, start: str) -> None:
    graph = LARGE["hubs"]
    part = STARTS[start](graph, k)
    counted = replace(tolls_on(space), rules=counted_rules())
    found, expected = (refined(space, graph, part, k, IMBALANCE[k], objective)[1]
                       for objective in (counted, tolls_on(space)))
    assert np.array_equal(copied(found.best), copied(expected.best))


@looped("kind", [{"weak_limit": 10**9}, {"weak_limit": 0}])
@looped("name", LARGE)
def test_one_rebalancing_is_accounted_for(space: ExecutionSpace, name: str,
                                          kind: dict[str, int]) -> None:
    graph, k = LARGE[name], 9
    start = lopsided_part(graph, k)
    _, refiner = refined(space, graph, start, k, "0.1", iteration_limit=1, **kind)
    part = copied(refiner.run.moves.part)
    assert max(oracles.block_weights(graph, part, k)) < max(oracles.block_weights(graph, start, k))
    assert copied(refiner.run.moves.cost_sums).sum() == 2 * paid(graph, part)


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.1", "0.5"]),
       data=st.data())
@settings(max_examples=60)
def test_nothing_gets_worse_on_random_graphs(
    space: ExecutionSpace, graph: Graph, k: int, imbalance: str, data: st.DataObject
) -> None:
    n = graph.num_vertices
    if n:
        start = data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
        check_iterations(space, graph, np.array(start, np.int32), k, (0, 1, 2, 5), imbalance)


@looped("k", [2, 9, 600])
@looped("name", LARGE)
def test_totals_are_those_of_a_plain_loop(space: ExecutionSpace, name: str, k: int) -> None:
    part = lopsided_part(LARGE[name], k)
    found = total_cost(LARGE[name].to(space), space.asarray(part), tolls_on(space))
    assert found == paid(LARGE[name], part)


@pytest.mark.parametrize("name", LARGE)
def test_independent_sets_take_it_too(space: ExecutionSpace, name: str) -> None:
    graph, k = LARGE[name].to(space), 9
    start = light_part(LARGE[name], k)
    refiner = independent_set_refiner(space, graph, balance_of(graph, k, "0.1"),
                                      IndependentOptions(), 7, tolls_on(space))
    refiner.start(graph, space.asarray(start))
    outcome = refiner.refine(graph)
    assert outcome["balanced"]
    assert outcome["cut"] == paid(LARGE[name], copied(refiner.best)) < paid(LARGE[name], start)


def small_case(seed: int) -> tuple[Graph, int, str]:
    """A graph of at most 8 vertices, blocks and an imbalance; every other one has weights."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 9))
    density = random.choice([0.4, 0.7])
    edges = [pair for pair in itertools.combinations(range(n), 2) if random.random() < density]
    edges = edges or [(0, 1)]
    weights = random.integers(1, 4, n) if seed % 2 else None
    graph = raw_graph(n, edges, random.integers(1, 9, len(edges)), weights).graph()
    return graph, int(min(random.integers(2, 5), n)), ("0", "0.1", "0.5")[seed % 3]


def optimum(graph: Graph, k: int, imbalance: str) -> int | None:
    """The least that a balanced partition pays, by going through all; None if there is none."""
    weights = oracles.vertex_weights(graph)
    parts = np.array(list(itertools.product(range(k), repeat=len(weights))))
    limit = balance_of(graph, k, imbalance).max_block_weight
    balanced = [((parts == block) @ weights <= limit) for block in range(k)]
    parts = parts[np.all(balanced, axis=0)]
    tolls = np.array([[TOLLS[(a + b) % 3] if a != b else 0 for b in range(k)] for a in range(k)])
    sums = sum((weight * tolls[parts[:, u], parts[:, v]]
                for u, v, weight in oracles.arcs(graph) if u < v), np.zeros(len(parts), int))
    return min(sums.tolist(), default=None)


def walked(graph: Graph, k: int, imbalance: str, seed: int = 1, algorithm: str = "portpart",
           preset: str = "default",
           objective: Callable[[ExecutionSpace], Objective] = tolls_on) -> np.ndarray:
    """The partition that a search ends with; blocks that are too heavy are mended as everywhere."""
    space = graph.space
    run, config = lookup(algorithm, preset)
    problem = Problem(graph, balance_of(graph, k, imbalance), seed, Trace(space, graph, None),
                      objective=objective(space))
    return copied(repaired(graph, run(problem, config), problem.balance)[0])


WALKS = [(name, algorithm) for i, name in enumerate(("medium", "dense"))
         for j, algorithm in enumerate(ALGORITHMS) if (i + j) % 2 == 0]
"""Each algorithm on one graph, and on that with hubs."""


@pytest.mark.parametrize(("name", "algorithm"), [*WALKS, *itertools.product(["hubs"], ALGORITHMS)])
def test_walks_take_it(space: ExecutionSpace, name: str, algorithm: str) -> None:
    """Starts are made for the cut; the rest pays less than where all is done for the cut."""
    graph, k = LARGE[name], 7
    part = walked(graph.to(space), k, "0.1", algorithm=algorithm)
    expected, for_cut = of_any_space(name, k, algorithm)
    assert np.array_equal(part, expected)
    assert overload(graph, part, k, "0.1") <= 0
    assert paid(graph, part) < for_cut


@functools.cache
def of_any_space(name: str, k: int, algorithm: str) -> tuple[np.ndarray, int]:
    """The partition on the CPU, and what one for the cut pays."""
    graph = LARGE[name]
    for_cut = walked(graph, k, "0.1", algorithm=algorithm, objective=lambda _: CUT)
    return walked(graph, k, "0.1", algorithm=algorithm), paid(graph, for_cut)


def test_as_many_blocks_as_vertices_are_numbered_for_it() -> None:
    """One vertex in each block is best for any cut, but not what each edge pays."""
    graph = raw_graph(4, [(0, 2), (1, 3)], [100, 100]).graph()
    values = [paid(graph, walked(graph, 4, "0", seed)) for seed in range(8)]
    assert min(values) == optimum(graph, 4, "0") < paid(graph, np.arange(4))


@pytest.mark.slow
def test_the_best_of_eight_seeds_is_the_optimum_of_most_small_graphs() -> None:
    """Of 94 % of 400, by the preset for the best partitions: of 99 % where vertices are alike.

    Where they have weights, of 91 %: vertices in full blocks would have to change places.
    """
    cases = ((case, optimum(*case)) for case in map(small_case, itertools.count()))
    possible = ((case, value) for case, value in cases if value is not None)
    hits = []
    for (graph, k, imbalance), value in itertools.islice(possible, 400):
        balanced: list[int] = []
        for seed in range(8):
            part = walked(graph, k, imbalance, seed, preset="best")
            if overload(graph, part, k, imbalance) <= 0:
                balanced.append(paid(graph, part))
            if value in balanced:
                break
        assert min(balanced, default=value) >= value
        hits.append(value in balanced)
    assert sum(hits) >= 0.94 * 400
