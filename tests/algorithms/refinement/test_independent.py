"""Independent-set refinement: each round is what its definition says, by plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Shape
from portpart.algorithms.refinement.options import IndependentOptions
from portpart.algorithms.refinement.prefix.independent_sets import independent_set_refiner
from portpart.algorithms.refinement.prefix.move_sequence import PrefixWords
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import Word, int32, int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.refining import balance_of, copied, counted_rows, recorded, widest
from tests.helpers.spaces import GRAPHS, reference, with_int64_offsets

LARGE = {**{name: GRAPHS[name] for name in ("sparse", "medium", "dense", "skewed")},
         "mesh": delaunay(1500)}
ONE_ROUND = {"round_limit": 1, "zero_gain": False, "apply_later_moves": False}


def refined(space: ExecutionSpace, graph: Graph, part: Any, k: int, imbalance: str = "0.03",
            fixed: Any = None, **options: Any) -> tuple[dict[str, int], np.ndarray]:
    here = graph.to(space)
    refiner = refiner_of(space, here, part, k, imbalance, **options)
    fixed = None if fixed is None else space.asarray(fixed, np.int32)
    outcome = refiner.refine(here, fixed=fixed)
    return outcome, copied(refiner.best)


def refiner_of(space: ExecutionSpace, here: Graph, part: Any, k: int, imbalance: str,
               **options: Any) -> Refiner:
    """A refiner of a graph in the space, that starts from `part`."""
    refiner = independent_set_refiner(space, here, balance_of(here, k, imbalance),
                                      IndependentOptions(**{"tolerance": 1, **options}), 7)
    refiner.start(here, space.asarray(part, np.int32))
    return refiner


def balanced_part(graph: Graph, k: int, seed: int = 1) -> np.ndarray:
    """Blocks of equal number, drawn; balanced for unit weights."""
    part = np.arange(graph.num_vertices) % k
    return np.random.default_rng(seed).permutation(part).astype(np.int32)


def legal_moves(graph: Graph, part: np.ndarray, limits: np.ndarray,
                k: int) -> dict[int, tuple[int, set[int]]]:
    """For each vertex with a legal move its gain and the blocks that give it."""
    weights, blocks = oracles.vertex_weights(graph), oracles.block_weights(graph, part, k)
    moves = {}
    for v, row in enumerate(counted_rows(graph, part)):
        own = row.pop(int(part[v]), 0)
        gains = {b: weight - own for b, weight in row.items()
                 if blocks[b] + weights[v] <= limits[b] and weight > own}
        if gains:
            top = max(gains.values())
            moves[v] = top, {b for b, gain in gains.items() if gain == top}
    return moves


def best_prefix(moves: list[tuple[int, int, int]], blocks: list[int],
                limits: np.ndarray) -> int:
    """Length of the longest balanced prefix of (weight, here, there), tried one by one."""
    blocks, longest = list(blocks), 0
    for length, (weight, here, there) in enumerate(moves, 1):
        blocks[here] -= weight
        blocks[there] += weight
        if all(blocks[b] <= limits[b] for b in range(len(blocks))):
            longest = length
    return longest


def assert_one_round_is_right(graph: Graph, before: np.ndarray, after: np.ndarray, k: int,
                              imbalance: str) -> None:
    """Those that moved are the longest balanced prefix of the independent set of legal moves."""
    limits = balance_of(graph, k, imbalance).limits
    legal = legal_moves(graph, before, limits, k)
    neighbours: list[set[int]] = [set() for _ in before]
    for u, v, _ in oracles.arcs(graph):
        neighbours[u].add(v)
    independent = [v for v in legal if all(v < u for u in neighbours[v] if u in legal)]
    in_order = sorted(independent, key=lambda v: (-legal[v][0], v))
    moved = set(np.flatnonzero(before != after).tolist())
    kept = len(moved)
    assert moved == set(in_order[:kept])
    assert all(int(after[v]) in legal[v][1] for v in moved)
    if all(len(legal[v][1]) == 1 for v in in_order):
        weights = oracles.vertex_weights(graph)
        sequence = [(weights[v], int(before[v]), min(legal[v][1])) for v in in_order]
        assert kept == best_prefix(sequence, oracles.block_weights(graph, before, k), limits)
    gained = sum(legal[v][0] for v in moved)
    assert oracles.cut(graph, after) == oracles.cut(graph, before) - gained


def is_balanced(graph: Graph, part: np.ndarray, k: int, imbalance: str) -> bool:
    limits = balance_of(graph, k, imbalance).limits
    return all(w <= limit for w, limit in zip(oracles.block_weights(graph, part, k), limits))


@looped("imbalance", ["0", "0.03", "1"])
@looped("k", [2, 5, 40])
@looped("name", LARGE)
def test_one_round_on_large_graphs(space: ExecutionSpace, name: str, k: int,
                                   imbalance: str) -> None:
    graph, before = LARGE[name], balanced_part(LARGE[name], k)
    if is_balanced(graph, before, k, imbalance):
        _, after = refined(space, graph, before, k, imbalance, **ONE_ROUND)
        assert_one_round_is_right(graph, before, after, k, imbalance)


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.03", "0.5"]),
       data=st.data())
@settings(max_examples=80)
def test_one_round_on_random_graphs(space: ExecutionSpace, graph: Graph, k: int, imbalance: str,
                                    data: st.DataObject) -> None:
    n = graph.num_vertices
    before = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    if n and is_balanced(graph, before, k, imbalance):
        _, after = refined(space, graph, before, k, imbalance, **ONE_ROUND)
        assert_one_round_is_right(graph, before, after, k, imbalance)


@looped("zero_gain", [False, True])
@looped("k", [2, 9, 64])
@looped("name", LARGE)
def test_in_the_end_no_legal_move_gains(space: ExecutionSpace, name: str, k: int,
                                        zero_gain: bool) -> None:
    graph, before = LARGE[name], balanced_part(LARGE[name], k)
    outcome, after = refined(space, graph, before, k, zero_gain=zero_gain)
    assert outcome["cut"] == oracles.cut(graph, after)
    if is_balanced(graph, before, k, "0.03"):
        assert outcome["balanced"]
        assert outcome["cut"] <= oracles.cut(graph, before)
        assert not legal_moves(graph, after, balance_of(graph, k).limits, k)


@pytest.mark.parametrize("name", LARGE)
def test_an_unbalanced_start_ends_balanced(space: ExecutionSpace, name: str) -> None:
    graph, k = LARGE[name], 8
    before = (k * np.random.default_rng(0).random(graph.num_vertices) ** 4).astype(np.int32)
    outcome, after = refined(space, graph, before, k)
    assert outcome["balanced"]
    assert is_balanced(graph, after, k, "0.03")


@pytest.mark.parametrize("name", LARGE)
def test_every_space_finds_the_same_partition(space: ExecutionSpace, name: str) -> None:
    graph = LARGE[name]
    for k in (2, 30):
        before = balanced_part(graph, k)
        outcome, part = refined(space, graph, before, k)
        wanted, expected = refined(reference(), graph, before, k)
        assert outcome == wanted
        assert np.array_equal(part, expected)


@pytest.mark.parametrize("lanes", [3, 8])
@pytest.mark.parametrize("imbalance", ["0", "0.1"])
def test_neither_width_nor_order_decides(lanes: int, imbalance: str) -> None:
    graph = random_graph(40, 110, 3, weighted=True, vertex_weighted=True)
    before = balanced_part(graph, 3)
    _, wide = refined(LanesSpace(lanes, seed=lanes), graph, before, 3, imbalance, round_limit=6)
    assert np.array_equal(wide, refined(reference(), graph, before, 3, imbalance,
                                        round_limit=6)[1])


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    before = balanced_part(graph, 5)
    plain, wide = (refined(space, g, before, 5)[1] for g in (graph, with_int64_offsets(graph)))
    assert np.array_equal(plain, wide)


def test_fixed_vertices_stay(space: ExecutionSpace) -> None:
    graph, k = LARGE["mesh"], 4
    before = balanced_part(graph, k)
    fixed = np.where(np.arange(graph.num_vertices) % 3 == 0, before, -1)
    outcome, after = refined(space, graph, before, k, fixed=fixed)
    assert np.array_equal(after[fixed >= 0], before[fixed >= 0])
    assert outcome["cut"] < oracles.cut(graph, before)


def test_gains_beyond_32_bits_decide_the_order(space: ExecutionSpace) -> None:
    """One place is free in block 1, and the largest of three gains gets it."""
    edges = [(0, 3), (1, 4), (2, 5)]
    graph = raw_graph(8, edges, [2**50, 2**50 + 1, 2**50 - 1]).graph()
    before = np.array([0, 0, 0, 1, 1, 1, 0, 1], np.int32)
    outcome, after = refined(space, graph, before, 2, "0.25", round_limit=1)
    assert outcome["balanced"]
    assert after.tolist() != before.tolist()
    assert outcome["cut"] == oracles.cut(graph, after)


@pytest.mark.parametrize("counter", [int32, int64])
@pytest.mark.parametrize("team", [8, 32])
@pytest.mark.parametrize("one_lane", [False, True])
@pytest.mark.parametrize("mean_degree", [4, 20])
def test_the_program_has_room_for_the_arrays_of_all_teams(
    mean_degree: int, one_lane: bool, team: int, counter: Word,
) -> None:
    graph = LARGE["medium"]
    refiner = independent_set_refiner(graph.space, graph, balance_of(graph, 4),
                                      IndependentOptions(), 1)
    shape = Shape(team, 256, 4, counter, mean_degree, graph.max_degree)
    check_program(recorded(refiner, graph, widest(CUT, shape, one_lane)))


def test_moves_that_swap_are_taken_together(space: ExecutionSpace) -> None:
    graph = raw_graph(8, [(0, 4), (1, 5), (2, 6), (3, 7)], [4, 3, 2, 1]).graph()
    before = np.array([0, 1, 0, 1, 1, 0, 1, 0], np.int32)
    _, after = refined(space, graph, before, 2, "0.25", **ONE_ROUND)
    assert_one_round_is_right(graph, before, after, 2, "0.25")
    assert is_balanced(graph, after, 2, "0.25")


def test_moves_are_sorted_only_where_they_do_not_all_fit(space: ExecutionSpace) -> None:
    """Two moves each way do; of two moves into block 1 and one out of it, one is too much."""
    graph = raw_graph(8, [(0, 4), (1, 5), (2, 6), (3, 7)], vertex_weights=[3] * 8).graph()
    for before, fits in (([0, 1, 0, 1, 1, 0, 1, 0], True), ([0, 1, 0, 1, 1, 1, 1, 0], False)):
        here = graph.to(space)
        refiner = refiner_of(space, here, before, 2, "0.25", **ONE_ROUND)
        refiner.refine(here)
        prefix = PrefixWords(copied(refiner.own["sequence"].prefix.array))
        assert bool(prefix.too_heavy) != fits


def test_zero_gain_moves_make_room(space: ExecutionSpace) -> None:
    """Block 0 is full; 3 leaves it at no loss, and then 4 can come in."""
    edges = [(0, 1), (1, 2), (0, 2), (0, 4), (1, 4), (4, 5), (3, 2), (3, 5), (6, 7), (5, 6)]
    graph = raw_graph(8, edges).graph()
    before = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    plain, _ = refined(space, graph, before, 2, "0", zero_gain=False)
    eased, _ = refined(space, graph, before, 2, "0.25", zero_gain=True)
    assert eased["cut"] < plain["cut"]
