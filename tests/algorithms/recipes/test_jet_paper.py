"""Jet's refinement step by step against plain loops of what the paper prints (section 4)."""

from __future__ import annotations

import warnings
from math import floor, log, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart.algorithms.recipes.catalogue import differences
from portpart.algorithms.recipes.jet import PRESETS
from portpart.algorithms.refinement.evaluation import evaluate
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.piece import LevelWords
from portpart.algorithms.refinement.rebalancing.rule import (
    RebalancingRule,
    bucket_by_loss,
    rebalancing_rule,
)
from portpart.backends.language import kernel
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d
from portpart.graphs.graph import Graph
from tests import oracles
from tests.api.test_edge_cases import SHAPES, partition
from tests.helpers import checked
from tests.helpers.each import looped
from tests.helpers.graphs import RawGraph, graphs, raw_graph, raw_graphs
from tests.helpers.metis_calls import watching_metis
from tests.helpers.refining import Phases, copied, counted_rows, refiner_at
from tests.helpers.spaces import GRAPHS


def slot(loss: int) -> int:
    """Equation 4.5."""
    return 0 if loss < 0 else 1 if loss == 0 else 2 + floor(log2(loss))


def slot_by_weight(loss: int, weight: int, mean: int) -> int:
    """The logarithm to base 1.5 of the loss for as much as the mean vertex weighs."""
    ratio = loss * mean / weight
    return min(slot(loss), 1) if loss <= 0 else 3 + floor(log(ratio, 1.5)) if ratio >= 1 else 2


def may_go(graph: Graph, part: np.ndarray, k: int, limit: int, below: int,
           most: float = 1.5) -> dict[int, tuple]:
    """Algorithm 4.3, lines 2 to 10: who may leave, with connections to own and other blocks."""
    weights = np.array(oracles.vertex_weights(graph))
    blocks = np.array(oracles.block_weights(graph, part, k))
    mean = blocks.sum() // k
    found = {}
    for v, row in enumerate(counted_rows(graph, part)):
        here = int(part[v])
        if blocks[here] > limit and 0 < weights[v] <= most * (blocks[here] - mean):
            found[v] = row.get(here, 0), {b: w for b, w in row.items()
                                          if b != here and blocks[b] < below}
    return found if (blocks < below).any() else {}


def chosen(slots: dict[int, int], graph: Graph, part: np.ndarray, k: int, limit: int) -> set[int]:
    """Lines 14 to 28 with whole slots: all up to the one that brings a block to its limit."""
    weights = np.array(oracles.vertex_weights(graph))
    blocks, gone = oracles.block_weights(graph, part, k), set()
    for b in range(k):
        left, last = blocks[b] - limit, None
        for v in sorted((v for v in slots if part[v] == b), key=lambda v: slots[v]):
            if left <= 0 and slots[v] != last:
                break
            left, last = left - weights[v], slots[v]
            gone.add(v)
    return gone


def slots_of(losses: dict[int, int]) -> dict[int, int]:
    return {v: slot(loss) for v, loss in losses.items()}


def rebalanced(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int, imbalance: str,
               weak_limit: int, leave_by: str = "loss") -> tuple[np.ndarray, int, np.ndarray]:
    """The blocks after one rebalancing; their limit, and below which weights they take vertices."""
    refiner, here = refiner_at(space, graph, part, k, imbalance, iteration_limit=1,
                               weak_limit=weak_limit, leave_by=leave_by)
    refiner.refine(here, 0.25)
    n, balance = graph.num_vertices, refiner.balance
    return copied(refiner.run.moves.part)[:n], balance.max_block_weight, balance.open_below


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.1", "0.5"]),
       data=st.data())
@settings(max_examples=60)
def test_weak_rebalancing_is_algorithm_43(
    space: ExecutionSpace, graph: Graph, k: int, imbalance: str, data: Any
) -> None:
    """So few vertices have no sub-buckets: whole slots leave."""
    n = graph.num_vertices
    part = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    after, limit, below = rebalanced(space, graph, part, k, imbalance, weak_limit=9)
    blocks = np.array(oracles.block_weights(graph, part, k))
    if blocks.max(initial=0) <= limit:
        return
    ways = may_go(graph, part, k, limit, below[0])
    losses = {v: own - max(there.values(), default=0) for v, (own, there) in ways.items()}
    assert set(np.flatnonzero(after != part)) == chosen(slots_of(losses), graph, part, k, limit)
    for v in np.flatnonzero(after != part):
        there = ways[v][1]
        best = {b for b, weight in there.items() if weight == max(there.values())}
        assert after[v] in (best or set(np.flatnonzero(blocks < below)))


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.1", "0.5"]),
       data=st.data())
@settings(max_examples=60)
def test_strong_rebalancing_fills_the_rooms_in_order(
    space: ExecutionSpace, graph: Graph, k: int, imbalance: str, data: Any
) -> None:
    """Section 4.2.2: losses by equation 4.10; those who leave, in the order of ids, as one list.

    Blocks come as close to their room as they can: a vertex goes where its middle lies.
    """
    n = graph.num_vertices
    part = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    after, limit, below = rebalanced(space, graph, part, k, imbalance, weak_limit=0)
    weights = oracles.vertex_weights(graph)
    blocks = np.array(oracles.block_weights(graph, part, k))
    if blocks.max(initial=0) <= limit:
        return
    losses = {v: own - (sum(there.values()) // len(there) if there else 0)
              for v, (own, there) in may_go(graph, part, k, limit, below[0]).items()}
    expected, position = part.copy(), 0
    ends = np.cumsum(np.maximum(below - blocks, 0))
    for v in sorted(chosen(slots_of(losses), graph, part, k, limit)):
        if position + weights[v] // 2 < ends[-1]:
            expected[v] = np.searchsorted(ends, position + weights[v] // 2, side="right")
        position += weights[v]
    assert np.array_equal(after, expected)


def places(leaving: list[tuple[int, int]], room: list[int]) -> dict[int, int]:
    """Where each leaving vertex, by its weight, finds its place in the capacities laid in a row.

    Who fits to less than half into the room that it begins in comes again behind all others.
    """
    ends, found = np.cumsum(room), {}
    tail, rows = 0, [leaving]
    while rows[-1] and tail < ends[-1]:
        again = []
        for v, weight in rows[-1]:
            place = int(np.searchsorted(ends, tail, side="right"))
            if tail < ends[-1] and weight // 2 <= ends[place] - tail:
                found[v] = place
            elif tail < ends[-1]:
                again.append((v, weight))
            tail += weight
        rows.append(again)
    return found


@given(graph=graphs(14), k=st.integers(2, 5), imbalance=st.sampled_from(["0", "0.1", "0.5"]),
       data=st.data())
@settings(max_examples=60)
def test_in_the_released_code_who_does_not_fit_goes_last(
    space: ExecutionSpace, graph: Graph, k: int, imbalance: str, data: Any
) -> None:
    n = graph.num_vertices
    part = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    after, limit, below = rebalanced(space, graph, part, k, imbalance, 0, "code")
    weights = oracles.vertex_weights(graph)
    blocks = np.array(oracles.block_weights(graph, part, k))
    if blocks.max(initial=0) <= limit:
        return
    mean = max(1, int(blocks.sum()) // n)
    slots = {v: slot_by_weight(own - (sum(there.values()) // len(there) if there else 0),
                               weights[v], mean)
             for v, (own, there) in may_go(graph, part, k, limit, below[0], 2).items()}
    leaving = [(v, weights[v]) for v in sorted(chosen(slots, graph, part, k, limit))]
    expected = part.copy()
    for v, place in places(leaving, np.maximum(below - blocks, 0).tolist()).items():
        expected[v] = place
    assert np.array_equal(after, expected)


@looped("weak_limit", [0, 9])
@looped("name", ["sparse", "medium", "dense", "skewed"])
def test_no_slot_is_left_for_a_costlier_one(
    space: ExecutionSpace, name: str, weak_limit: int
) -> None:
    """With sub-buckets, all of the slots before the last one leave, and of that enough."""
    graph, k = GRAPHS[name], 8
    part = (np.random.default_rng(1).random(graph.num_vertices) ** 1.2 * k).astype(np.int32)
    after, limit, below = rebalanced(space, graph, part, k, "0.03", weak_limit)
    blocks = np.array(oracles.block_weights(graph, part, k))
    weights = np.array(oracles.vertex_weights(graph))
    counted = sum if weak_limit == 0 else max
    losses = {v: own - (counted(there.values()) // (len(there) if weak_limit == 0 else 1)
                        if there else 0)
              for v, (own, there) in may_go(graph, part, k, limit, below[0]).items()}
    moved = after != part
    assert (blocks > limit).sum() >= 2
    for b in np.flatnonzero(blocks > limit):
        mine = [v for v in losses if part[v] == b]
        gone = [v for v in mine if moved[v]]
        last = max(slot(losses[v]) for v in gone)
        before = [v for v in mine if slot(losses[v]) < last]
        assert set(before) <= set(gone)
        assert weights[before].sum() < blocks[b] - limit <= weights[gone].sum()


@kernel
def find_bucket(i, losses, weights, level: LevelWords, found):
    """found[i] = bucket of a loss."""
    found[i] = bucket_by_loss(losses[i], weights[i], level)


def test_slots_are_those_of_equation_45(space: ExecutionSpace) -> None:
    powers = 2 ** np.arange(47, dtype=np.int64)
    losses = np.concatenate([[-(2**62), -1, 0], powers, powers + 1, powers[1:] - 1])
    found = space.empty(len(losses), np.int64)
    level = refiner_at(space, GRAPHS["sparse"], np.zeros(3000), 2)[0].run.level
    weights = np.random.default_rng(0).integers(1, 2**40, len(losses))
    space.parallel_for(len(losses), find_bucket, space.asarray(losses), space.asarray(weights),
                       level, found)
    assert oracles.host(found).tolist() == [slot(loss) for loss in losses.tolist()]


def driven(space: ExecutionSpace, rule: RebalancingRule, options: RefinementOptions,
           states: list[tuple[int, int]]) -> list[tuple[bool, bool, int]]:
    """Evaluate partitions of these costs and overloads in turn: whether to go on, strongly, best.

    All but the two numbers is one and the same partition, in which a vertex can move.
    """
    phases = Phases(space, grid_2d(4), np.arange(16) % 2, 2)
    for name in ("stall_limit", "iteration_limit", "weak_limit"):
        setattr(phases.level, name, getattr(options, name))
    phases.level.iteration = -1
    found = []
    for cost, overload in states:
        limit = int(copied(phases.run.blocks.limits)[0])
        sums = np.zeros(len(phases.run.moves.weight_sums), np.int64)
        sums[0] = limit + overload
        costs = np.zeros(len(phases.run.moves.cost_sums), np.int64)
        costs[0] = 2 * cost
        phases.run = phases.run.replaced(moves=phases.run.moves.replaced(
            weight_sums=space.asarray(sums), cost_sums=space.asarray(costs)))
        phases.level.next_movable = 1
        phases.launch(1, evaluate, team=256, rule=rule)
        level = phases.level
        found.append((bool(level.running), bool(level.strong), int(level.best_cost)))
        if not level.running:
            break
    return found


def printed(states: list[tuple[int, int]], phi: float, again: bool) -> list[tuple]:
    """Jet's algorithm 4.1, lines 5 to 23, and with `again` line 15 of GPU-IM's algorithm 6.

    A balanced partition replaces one that is not, whatever it costs: lines 16 to 20 would ask for a
    smaller cost there, and might end without balance.
    """
    (best, best_overload), rest = states[0], states[1:]
    overload, stalled, weak, found = best_overload, 0, 0, []
    for step in range(len(rest) + 1):
        strong = overload > 0 and weak >= 2
        found.append((stalled < 12, strong, best))
        if stalled == 12 or step == len(rest):
            break
        if overload <= 0:
            weak = 0
        elif strong:
            weak = 0 if again else weak
        else:
            weak += 1
        cost, overload = rest[step]
        stalled += 1
        if overload <= 0 and best_overload <= 0:
            if cost < best:
                stalled = 0 if cost < phi * best else stalled
                best, best_overload = cost, overload
        elif best_overload > 0 and overload < best_overload:
            best, best_overload, stalled = cost, overload, 0
    return found


@given(start=st.tuples(st.integers(10_000, 20_000), st.integers(-3, 9)),
       steps=st.lists(st.tuples(st.sampled_from([0.99, 0.9985, 0.9995, 1.0, 1.01]),
                                st.integers(-3, 9)), max_size=40),
       again=st.booleans())
@settings(max_examples=80)
def test_best_stop_and_kind_of_rebalancing_are_those_of_the_algorithms(
    space: ExecutionSpace, start: tuple[int, int], steps: list[tuple[float, int]], again: bool
) -> None:
    states = [start]
    for factor, overload in steps:
        states.append((int(states[-1][0] * factor), overload))
    options = RefinementOptions(weak_again=again)
    assert driven(space, rebalancing_rule(options), options, states) == printed(
        states, options.tolerance, again)


@pytest.mark.parametrize("again", [False, True])
def test_after_a_strong_rebalancing_come_weak_ones_if_asked_for(
    space: ExecutionSpace, again: bool
) -> None:
    options = RefinementOptions(weak_again=again)
    found = driven(space, rebalancing_rule(options), options, [(100, 5)] * 9)
    strong = [kind for _, kind, _ in found]
    assert strong == ([False, False, True] * 3 if again else [False] * 2 + [True] * 7)


@pytest.mark.parametrize("preset", ["paper", "paper-ultra", "code"])
@pytest.mark.parametrize("k", [2, 8, 64])
def test_coarsening_ends_between_4k_and_8k_and_metis_is_asked_once(preset: str, k: int) -> None:
    for graph in (delaunay(6000), grid_2d(70)):
        with watching_metis() as asked:
            result = checked.partition(graph, k, algorithm="jet", preset=preset)
        sizes = [level["vertices"] for level in result.stats["levels"]]
        assert 4 * k <= sizes[-1] <= 8 * k < sizes[-2]
        assert result.feasible
        assert result.stats["repaired"] == 0
        assert [each[:3] for each in asked] == [(k, sizes[-1], False)]


def test_pairs_of_the_paper_have_no_limit_of_weight() -> None:
    """Two cliques joined by an edge: pairs of pairs become one vertex each."""
    cliques = [(c + i, c + j) for c in (0, 32) for i in range(32) for j in range(i)]
    graph = raw_graph(64, [*cliques, (3, 50)], [9] * len(cliques) + [1]).graph()
    sizes = [level["vertices"] for level in portpart.partition(
        graph, 2, algorithm="jet", preset="paper").stats["levels"]]
    assert sizes == [64, 32, 16]
    assert portpart.partition(graph, 2, algorithm="jet", preset="paper").cut == 1


def test_the_presets_of_the_paper_differ_in_temperatures_alone() -> None:
    assert set(differences(PRESETS["paper"], PRESETS["paper-ultra"])) == {
        "refinement.temperatures", "refinement.finest_temperatures"}


PUBLISHED = ("paper", "paper-ultra", "code")


@looped("k", [1, 2, 7])
@looped("name", SHAPES)
def test_shapes(name: str, k: int) -> None:
    assert partition(SHAPES[name], k, algorithm="jet", preset="paper").feasible


@pytest.mark.parametrize("k", [3, 60, 1000, 1499, 1500, 2000])
def test_any_number_of_blocks(k: int) -> None:
    result = partition(delaunay(1500), k, algorithm="jet", preset="paper")
    assert result.feasible
    assert np.count_nonzero(result.block_weights) == min(k, 1500)


@given(raw=raw_graphs(12, loops=False), k=st.integers(1, 15),
       imbalance=st.sampled_from([0, 0.03, 1]))
@settings(max_examples=40)
def test_results_of_random_graphs_are_true(raw: RawGraph, k: int, imbalance: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        partition(raw.graph(), k, imbalance=imbalance, algorithm="jet", preset="paper")


@pytest.mark.parametrize("preset", PUBLISHED)
@pytest.mark.parametrize("proposal",
                         ["heavy", "large", "exact", "fixed", "target", "least", "time"])
def test_the_bounds_are_kept_whatever_is_wanted(proposal: str, preset: str) -> None:
    """Vertices of very different weights, of which none of the paper's steps makes exact blocks."""
    mesh, random = delaunay(3000), np.random.default_rng(0)
    heavy = np.ones(3000, int)
    heavy[::300] = 450
    fixed = np.full(3000, -1)
    fixed[::50] = np.arange(60) % 6
    options: dict[str, Any] = {
        "heavy": {"vertex_weights": heavy}, "exact": {"imbalance": 0}, "fixed": {"fixed": fixed},
        "large": {"vertex_weights": random.integers(0, 2**45, 3000)},
        "target": {"target": [1, 2, 3, 1, 2, 3]}, "least": {"min_block_weight": 480},
        "time": {"time_limit": 0}}[proposal]
    result = partition(mesh, 6, algorithm="jet", preset=preset, **options)
    assert result.feasible


def test_an_initial_partition_is_never_made_worse() -> None:
    first = portpart.partition(delaunay(3000), 8).part
    better = partition(delaunay(3000), 8, algorithm="jet", preset="paper", initial=first)
    assert better.cut <= oracles.cut(delaunay(3000), first)
