"""Two-direction refinement: each round is what its definition says, by plain loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Shape
from portpart.algorithms.refinement.options import TwoDirectionOptions
from portpart.algorithms.refinement.prefix.requests import two_direction_refiner
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import Word, int32, int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.algorithms.refinement.test_independent import (
    LARGE,
    balanced_part,
    is_balanced,
    legal_moves,
)
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.refining import balance_of, copied, recorded, widest
from tests.helpers.spaces import GRAPHS, reference, with_int64_offsets

Refined = tuple[dict[str, int], Refiner]


def refined(space: ExecutionSpace, graph: Graph, part: Any, k: int, imbalance: str = "0.03",
            rounds: int | None = None, fixed: Any = None, **options: Any) -> Refined:
    here = graph.to(space)
    chosen = TwoDirectionOptions(**{"tolerance": 1, **options})
    refiner = two_direction_refiner(space, here, balance_of(graph, k, imbalance), chosen, 7)
    if rounds is not None:
        refiner.finest_options = replace(refiner.options, iteration_limit=rounds)
    refiner.start(here, space.asarray(part, np.int32))
    fixed = None if fixed is None else space.asarray(fixed, np.int32)
    return refiner.refine(here, fixed=fixed), refiner


def after_rounds(space: ExecutionSpace, graph: Graph, part: Any, k: int, imbalance: str,
                 rounds: int) -> np.ndarray:
    """The partition after so many rounds, whether or not it is the best."""
    _, refiner = refined(space, graph, part, k, imbalance, rounds, zero_gain=False)
    return copied(refiner.run.moves.part)


def granted(graph: Graph, before: np.ndarray, limits: np.ndarray, k: int,
            upwards: bool, without: Collection[int] = ()) -> dict[int, int]:
    """Where vertices move: every block takes its best requests as long as all up to them fit.

    Of the vertices in `without` there are no requests.
    """
    weights, blocks = oracles.vertex_weights(graph), oracles.block_weights(graph, before, k)
    buffers: dict[int, list[int]] = defaultdict(list)
    legal = legal_moves(graph, before, limits, k)
    for v, (_, there) in legal.items():
        if v not in without and (min(there) > before[v]) == upwards:
            buffers[min(there)].append(v)
    moves = {}
    for block, requests in buffers.items():
        offered = blocks[block]
        for v in sorted(requests, key=lambda v: (-legal[v][0], v)):
            offered += weights[v]
            if offered <= limits[block]:
                moves[v] = block
    return moves


def assert_a_round_is_right(graph: Graph, before: np.ndarray, after: np.ndarray, k: int,
                            imbalance: str, upwards: bool) -> None:
    limits = balance_of(graph, k, imbalance).limits
    legal = legal_moves(graph, before, limits, k)
    moved = {int(v): int(after[v]) for v in np.flatnonzero(before != after)}
    assert all(there in legal[v][1] for v, there in moved.items())
    assert all((there > before[v]) == upwards for v, there in moved.items())
    assert is_balanced(graph, after, k, imbalance)
    if all(len(blocks) == 1 for _, blocks in legal.values()):
        assert moved == granted(graph, before, limits, k, upwards)
    if k == 2:  # in one direction gains can only be larger than they seem
        gained = sum(legal[v][0] for v in moved)
        assert oracles.cut(graph, after) <= oracles.cut(graph, before) - gained


def assert_two_rounds_are_right(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int,
                                imbalance: str) -> None:
    first, second = (after_rounds(space, graph, part, k, imbalance, rounds) for rounds in (1, 2))
    assert_a_round_is_right(graph, part, first, k, imbalance, upwards=True)
    assert_a_round_is_right(graph, first, second, k, imbalance, upwards=False)


@looped("imbalance", ["0", "0.03", "1"])
@looped("k", [2, 5, 40])
@looped("name", LARGE)
def test_two_rounds_on_large_graphs(space: ExecutionSpace, name: str, k: int,
                                    imbalance: str) -> None:
    graph, before = LARGE[name], balanced_part(LARGE[name], k)
    if is_balanced(graph, before, k, imbalance):
        assert_two_rounds_are_right(space, graph, before, k, imbalance)


@given(graph=graphs(14), k=st.integers(2, 4), imbalance=st.sampled_from(["0", "0.03", "0.5"]),
       data=st.data())
@settings(max_examples=80)
def test_two_rounds_on_random_graphs(space: ExecutionSpace, graph: Graph, k: int, imbalance: str,
                                     data: st.DataObject) -> None:
    n = graph.num_vertices
    before = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    if n and is_balanced(graph, before, k, imbalance):
        assert_two_rounds_are_right(space, graph, before, k, imbalance)


@looped("k", [2, 9, 64])
@looped("name", LARGE)
def test_the_outcome_is_true_and_no_worse_than_the_start(space: ExecutionSpace, name: str,
                                                         k: int) -> None:
    graph, before = LARGE[name], balanced_part(LARGE[name], k)
    outcome, refiner = refined(space, graph, before, k)
    after = copied(refiner.best)
    assert outcome["cut"] == oracles.cut(graph, after)
    if is_balanced(graph, before, k, "0.03"):
        assert outcome["balanced"]
        assert outcome["cut"] < oracles.cut(graph, before)
        assert is_balanced(graph, after, k, "0.03")


@pytest.mark.parametrize("name", LARGE)
def test_an_unbalanced_start_ends_balanced(space: ExecutionSpace, name: str) -> None:
    graph, k = LARGE[name], 8
    before = (k * np.random.default_rng(0).random(graph.num_vertices) ** 4).astype(np.int32)
    outcome, refiner = refined(space, graph, before, k)
    assert outcome["balanced"]
    assert is_balanced(graph, copied(refiner.best), k, "0.03")


@pytest.mark.parametrize("name", LARGE)
def test_every_space_finds_the_same_partition(space: ExecutionSpace, name: str) -> None:
    graph = LARGE[name]
    for k in (2, 30):
        before = balanced_part(graph, k)
        (outcome, here), (wanted, expected) = (
            refined(where, graph, before, k) for where in (space, reference()))
        assert outcome == wanted
        assert np.array_equal(copied(here.best), copied(expected.best))


@pytest.mark.parametrize("lanes", [3, 8])
@pytest.mark.parametrize("imbalance", ["0", "0.1"])
def test_neither_width_nor_order_decides(lanes: int, imbalance: str) -> None:
    graph = random_graph(40, 110, 3, weighted=True, vertex_weighted=True)
    before = balanced_part(graph, 3)
    wide, alone = (
        copied(refined(where, graph, before, 3, imbalance, rounds=6)[1].run.moves.part)
        for where in (LanesSpace(lanes, seed=lanes), reference()))
    assert np.array_equal(wide, alone)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    before = balanced_part(graph, 5)
    plain, wide = (copied(refined(space, g, before, 5)[1].best)
                   for g in (graph, with_int64_offsets(graph)))
    assert np.array_equal(plain, wide)


def test_fixed_vertices_stay(space: ExecutionSpace) -> None:
    graph, k = LARGE["mesh"], 4
    before = balanced_part(graph, k)
    fixed = np.where(np.arange(graph.num_vertices) % 3 == 0, before, -1)
    outcome, refiner = refined(space, graph, before, k, fixed=fixed)
    assert np.array_equal(copied(refiner.best)[fixed >= 0], before[fixed >= 0])
    assert outcome["cut"] < oracles.cut(graph, before)


def test_neighbours_do_not_change_places(space: ExecutionSpace) -> None:
    """Both ends of an edge gain by a move; if both moved, the edge would be cut as before."""
    graph = raw_graph(4, [(0, 1)]).graph()
    outcome, refiner = refined(space, graph, [0, 1, 0, 1], 2, "0.5", rounds=1)
    assert outcome["cut"] == 0
    assert copied(refiner.best).tolist() == [1, 1, 0, 1]


def test_the_largest_gains_get_the_room(space: ExecutionSpace) -> None:
    """Block 1 has room for two of four; of equal gains the smaller vertex goes first."""
    edges = [(0, 4), (1, 5), (2, 6), (3, 7)]
    graph = raw_graph(8, edges, [2**50, 2**50 + 1, 2**50, 2**50 - 1]).graph()
    _, refiner = refined(space, graph, [0, 0, 0, 0, 1, 1, 1, 1], 2, "0.5", rounds=1)
    assert copied(refiner.best).tolist() == [1, 1, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(("seed", "imbalance"), [(1, "0.2"), (2, "0.2"), (2, "0.5")])
def test_a_block_gives_no_vertex_without_which_it_would_be_too_light(
        space: ExecutionSpace, seed: int, imbalance: str) -> None:
    """Too light is below mean / (1 + imbalance), as in METIS; block 0 can spare a weight of 4.

    A limit is what (1 + imbalance) means come to once it is rounded, so that counts.
    """
    graph = random_graph(300, 900, seed, weighted=True, vertex_weighted=True)
    weights, balance = np.array(oracles.vertex_weights(graph)), balance_of(graph, 2, imbalance)
    least = Fraction(int(balance.means[0]) ** 2, int(balance.limits[0]))
    order = np.random.default_rng(seed).permutation(300)
    part = np.ones(300, np.int32)
    part[order[: int(np.searchsorted(np.cumsum(weights[order]), least + 4)) + 1]] = 0
    spare = int(weights[part == 0].sum()) - least
    light = {v for v in np.flatnonzero(part == 0).tolist() if weights[v] > spare}
    legal = legal_moves(graph, part, balance.limits, 2)
    upwards = {v for v in legal if part[v] == 0}
    assert light & upwards
    assert upwards - light
    _, refiner = refined(space, graph, part, 2, imbalance, 1, zero_gain=False, rebalance=False,
                         spare_sources=True)
    after = copied(refiner.run.moves.part)[:300]
    moved = {int(v): int(after[v]) for v in np.flatnonzero(part != after)}
    assert moved == granted(graph, part, balance.limits, 2, True, without=light)
    assert moved


def test_a_pass_is_two_rounds(space: ExecutionSpace) -> None:
    graph = LARGE["mesh"]
    outcome, _ = refined(space, graph, balanced_part(graph, 6), 6, pass_limit=3)
    assert outcome["iterations"] == 6


@pytest.mark.parametrize("counter", [int32, int64])
@pytest.mark.parametrize("team", [8, 32])
@pytest.mark.parametrize("one_lane", [False, True])
@pytest.mark.parametrize("mean_degree", [4, 20])
def test_the_program_has_room_for_the_arrays_of_all_teams(
    mean_degree: int, one_lane: bool, team: int, counter: Word,
) -> None:
    graph = LARGE["medium"]
    refiner = two_direction_refiner(graph.space, graph, balance_of(graph, 4),
                                    TwoDirectionOptions(), 1)
    shape = Shape(team, 256, 4, counter, mean_degree, graph.max_degree)
    check_program(recorded(refiner, graph, widest(CUT, shape, one_lane)))
