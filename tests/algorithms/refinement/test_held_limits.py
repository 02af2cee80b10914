"""Refinement without rebalancing: rounds are the papers' even where blocks are too heavy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.refinement.options import IndependentOptions, TwoDirectionOptions
from portpart.algorithms.refinement.prefix.independent_sets import independent_set_refiner
from portpart.algorithms.refinement.prefix.requests import two_direction_refiner
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.algorithms.refinement.test_independent import LARGE, best_prefix, legal_moves
from tests.algorithms.refinement.test_requests import granted
from tests.helpers.each import looped
from tests.helpers.graphs import graphs, raw_graph
from tests.helpers.refining import balance_of, copied
from tests.helpers.spaces import reference

PAPER: dict[str, Any] = {"zero_gain": False, "tolerance": 1, "rebalance": False}
G_KWAY = IndependentOptions(apply_later_moves=False, stall_limit=1, **PAPER)
GP_METIS = TwoDirectionOptions(spare_sources=True, **PAPER)
LONG = 10**6


def refiner_for(space: ExecutionSpace, graph: Graph, part: Any, k: int, options: Any,
                imbalance: str = "0.03") -> tuple[Refiner, Graph]:
    make: Callable[..., Refiner] = (
        independent_set_refiner if isinstance(options, IndependentOptions)
        else two_direction_refiner)
    here = graph.to(space)
    refiner = make(space, here, balance_of(graph, k, imbalance), options, 7)
    refiner.start(here, space.asarray(part, np.int32))
    return refiner, here


def after(space: ExecutionSpace, graph: Graph, part: Any, k: int, options: Any,
          imbalance: str = "0.03", rounds: int = LONG) -> np.ndarray:
    """The partition after so many rounds, whether or not it is the best."""
    refiner, here = refiner_for(space, graph, part, k, options, imbalance)
    refiner.finest_options = replace(refiner.options, iteration_limit=rounds)
    refiner.refine(here)
    return copied(refiner.run.moves.part)


def relaxed_limits(graph: Graph, part: np.ndarray, k: int, imbalance: str) -> np.ndarray:
    """What no block may exceed in a round: its limit, or what it weighs."""
    return np.maximum(balance_of(graph, k, imbalance).limits,
                      oracles.block_weights(graph, part, k))


def expected_of_gkway(graph: Graph, part: np.ndarray, k: int,
                      imbalance: str) -> dict[int, int] | None:
    """Algorithm 2 by plain loops; None where several blocks gain a vertex the same."""
    limits = relaxed_limits(graph, part, k, imbalance)
    legal = legal_moves(graph, part, limits, k)
    if any(len(blocks) > 1 for _, blocks in legal.values()):
        return None
    adjacent: list[set[int]] = [set() for _ in part]
    for u, v, _ in oracles.arcs(graph):
        adjacent[u].add(v)
    moves = sorted((v for v in legal if all(v < u for u in adjacent[v] if u in legal)),
                   key=lambda v: (-legal[v][0], v))
    weights = oracles.vertex_weights(graph)
    sequence = [(weights[v], int(part[v]), min(legal[v][1])) for v in moves]
    kept = best_prefix(sequence, oracles.block_weights(graph, part, k), limits)
    return {v: min(legal[v][1]) for v in moves[:kept]}


def expected_of_gpmetis(graph: Graph, part: np.ndarray, k: int,
                        imbalance: str) -> dict[int, int] | None:
    """The first round of section III.C by plain loops; None as above."""
    limits, weights = relaxed_limits(graph, part, k, imbalance), oracles.vertex_weights(graph)
    blocks, mean = oracles.block_weights(graph, part, k), graph.total_vertex_weight // k
    if any(len(each) > 1 for _, each in legal_moves(graph, part, limits, k).values()):
        return None
    light = {v for v in range(len(part))
             if (blocks[part[v]] - weights[v]) * int(limits[part[v]]) < mean * mean}
    return granted(graph, part, limits, k, upwards=True, without=light)


EXPECTED = [(G_KWAY, expected_of_gkway), (GP_METIS, expected_of_gpmetis)]


def assert_a_round_is_right(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int,
                            imbalance: str) -> int:
    """Returns how many vertices have moved."""
    total = 0
    for options, expected in EXPECTED:
        wanted = expected(graph, part, k, imbalance)
        found = after(space, graph, part, k, options, imbalance, rounds=1)
        moved = {int(v): int(found[v]) for v in np.flatnonzero(found != part)}
        assert wanted is None or moved == wanted
        assert (np.array(oracles.block_weights(graph, found, k))
                <= relaxed_limits(graph, part, k, imbalance)).all()
        total += len(moved)
    return total


def skewed_part(graph: Graph, k: int) -> np.ndarray:
    """Blocks of very different weights."""
    drawn = np.random.default_rng(0).random(graph.num_vertices)
    return (k * drawn ** 4).astype(np.int32)


@pytest.mark.parametrize("imbalance", ["0", "0.03", "1"])
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("name", LARGE)
def test_a_round_from_an_overloaded_start(space: ExecutionSpace, name: str, k: int,
                                          imbalance: str) -> None:
    graph = LARGE[name]
    moved = assert_a_round_is_right(space, graph, skewed_part(graph, k), k, imbalance)
    assert moved > 0 or k == 2  # all may want to go where it is full


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.03", "0.5"]),
       data=st.data())
@settings(max_examples=80)
def test_a_round_on_random_graphs(space: ExecutionSpace, graph: Graph, k: int, imbalance: str,
                                  data: st.DataObject) -> None:
    n = graph.num_vertices
    part = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    if n:
        assert_a_round_is_right(space, graph, part, k, imbalance)


@looped("options", [G_KWAY, GP_METIS])
@looped("name", LARGE)
def test_no_level_makes_a_heavy_block_heavier(space: ExecutionSpace, name: str,
                                              options: Any) -> None:
    graph, k = LARGE[name], 8
    part = skewed_part(graph, k)
    refiner, here = refiner_for(space, graph, part, k, options)
    for _ in range(2):  # the second run begins with what the first one has left
        before = copied(refiner.best)
        outcome = refiner.refine(here)
        found = copied(refiner.best)
        assert outcome["cut"] == oracles.cut(graph, found) <= oracles.cut(graph, before)
        assert (np.array(oracles.block_weights(graph, found, k))
                <= relaxed_limits(graph, before, k, "0.03")).all()
        refiner.restart(here)
    assert balance_of(graph, k).limits.tolist() == refiner.balance.limits.tolist()
    again, there = refiner_for(reference(), graph, part, k, options)
    for _ in range(2):
        again.refine(there)
        again.restart(there)
    assert np.array_equal(found, copied(again.best))


@pytest.mark.parametrize("name", LARGE)
def test_gkway_ends_when_no_legal_move_gains(space: ExecutionSpace, name: str) -> None:
    graph, k = LARGE[name], 9
    part = np.random.default_rng(1).permutation(np.arange(graph.num_vertices) % k)
    found = after(space, graph, part.astype(np.int32), k, G_KWAY, "0.5")
    assert not legal_moves(graph, found, balance_of(graph, k, "0.5").limits, k)


def test_a_light_block_keeps_its_vertices(space: ExecutionSpace) -> None:
    """Vertex 0 would gain in block 1, but block 0 holds less than the others already."""
    graph = raw_graph(12, [(0, 4), (0, 5)]).graph()
    part = [0, 0, 0, *[1] * 4, *[2] * 5]
    for spares, block in ((True, 0), (False, 1)):
        options = TwoDirectionOptions(spare_sources=spares, **PAPER)
        assert after(space, graph, part, 3, options, "0.25")[0] == block
