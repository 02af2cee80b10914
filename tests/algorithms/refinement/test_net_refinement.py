"""Refinement of hypergraphs: costs, sets of blocks and gains are what plain loops over nets say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.multilevel.refiners import pieces_for
from portpart.algorithms.objectives.net_cost import MAX_LOW_DEGREE, net_objective
from portpart.algorithms.objectives.pin_counts import PIECE
from portpart.algorithms.objectives.pin_state import (
    MAX_SMALL,
    net_rows,
    words_for,
)
from portpart.algorithms.objectives.total import net_values, total_cost
from portpart.algorithms.refinement.nets.afterburner import MAX_GROUP
from portpart.algorithms.refinement.piece import Widths
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import Word, int32, int64
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.from_nets import nets_hypergraph
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.net_phases import NET_COSTS, assert_outcome_is_true, cost, random_part
from tests.helpers.nets import (
    circuit,
    hypergraph_of,
    hypergraphs,
    nets_of,
    weights_of,
)
from tests.helpers.refining import (
    FILTER_RATIO,
    balance_of,
    copied,
    recorded,
    refiner_at,
)
from tests.helpers.spaces import reference
from tests.oracles.nets import values

KS = [2, 3, 64, 65, 200]

PLAIN = circuit(300, 1, large=250)
WEIGHTED = circuit(400, 2, large=2 * MAX_SMALL, weighted=True)
ODD = hypergraph_of([[], [0], [0, 1, 2], [2, 1, 0], [3, 4], list(range(100)), [5]], 120,
                    [7, 7, 1, 2, 0, 3, 1])
HYPERGRAPHS = {"plain": PLAIN, "weighted": WEIGHTED, "odd": ODD}


@looped("objective", NET_COSTS)
@looped("name", HYPERGRAPHS)
def test_the_cost_is_that_of_a_plain_loop(space: ExecutionSpace, name: str,
                                          objective: str) -> None:
    hypergraph = HYPERGRAPHS[name].to(space)
    for k in KS:
        part = random_part(hypergraph, k)
        found = total_cost(hypergraph, space.asarray(part), net_objective(objective),
                           net_rows(hypergraph, k))
        assert found == cost(hypergraph, part, objective)


def assert_state_is_right(refiner: Refiner, hypergraph: Hypergraph, k: int) -> None:
    """Sets and counters of all nets tell where the pins are now, and the cost what they cost."""
    part, rows = copied(refiner.run.moves.part), refiner.rows(hypergraph)
    width = words_for(k)
    sets, touched, connectivity, row, counts, leaving = (copied(array) for array in (
        rows.sets.bits, rows.sets.touched, rows.sets.connectivity, rows.sets.row,
        rows.pin_counts.counts, rows.afterburner.leaving))
    begin = np.cumsum([0, *map(len, nets_of(hypergraph))])
    for net, pins in enumerate(nets_of(hypergraph)):
        expected = np.bincount(part[pins], minlength=k) if pins else np.zeros(k, np.int64)
        place = net if width == 1 else row[net]
        if place < 0:
            listed = touched[begin[net] : begin[net] + connectivity[net]]
            assert sorted(listed) == [2 * b + (expected[b] == 1) for b in np.flatnonzero(expected)]
        else:
            for kind, wanted in enumerate((expected > 0, expected == 1)):
                own = sets[2 * place * width : 2 * (place + 1) * width][kind::2].copy()
                bits = np.unpackbits(own.view(np.uint8), bitorder="little")[:k]
                assert np.array_equal(bits.astype(bool), wanted)
        assert connectivity[net] == np.count_nonzero(expected)
        assert (row[net] >= 0) == (len(pins) > MAX_SMALL)
        if row[net] >= 0:
            assert np.array_equal(counts[row[net] * k : (row[net] + 1) * k], expected)
    assert not leaving.any()
    assert not copied(rows.lists.is_listed).any()
    name = refiner.objective.rules.name
    assert copied(refiner.run.moves.cost_sums).sum() == 2 * cost(hypergraph, part, name)


@pytest.mark.parametrize("objective", NET_COSTS)
@pytest.mark.parametrize("k", KS)
def test_state_and_cost_are_right_after_every_iteration(space: ExecutionSpace, k: int,
                                                        objective: str) -> None:
    """Propagations and rebalancings, weak and strong, from a partition that is not balanced."""
    hypergraph = WEIGHTED
    start = (np.random.default_rng(k).random(hypergraph.num_vertices) ** 2 * k).astype(np.int32)
    for limit in (0, 1, 2, 3, 5, 8, 13, 30):
        refiner, here = refiner_at(space, hypergraph, start, k, "0.1", net_objective(objective),
                                   iteration_limit=limit)
        outcome = refiner.refine(here, FILTER_RATIO)
        assert_state_is_right(refiner, here, k)
        assert outcome["cut"] == cost(hypergraph, copied(refiner.best), objective)


def test_lanes_without_a_block_leave_the_counters_of_other_nets() -> None:
    """Three lanes, as threads, and two blocks: counters of large nets lie side by side.

    All pins in block 1 want to leave it; a vertex of no net stays.
    """
    rows = [list(range(first, first + MAX_SMALL + 4)) for first in range(4)]
    hypergraph = hypergraph_of([*rows, *([v, v + 9] for v in range(4, 60))], 80)
    start = np.zeros(80, np.int32)
    start[[4, 5, 6, 7, 79]] = 1
    refiner, here = refiner_at(LanesSpace(3, seed=5), hypergraph, start, 2, "1",
                               net_objective("km1"), iteration_limit=3)
    assert refiner.refine(here, FILTER_RATIO)["cut"] == 0
    assert_state_is_right(refiner, here, 2)


def agreed(hypergraph: Hypergraph, part: np.ndarray, proposals: dict[int, int],
           name: str, order: list[int]) -> dict[int, int]:
    """What each wanted move gains after those before it."""
    gains, now = {}, part.copy()
    for v in order:
        before = cost(hypergraph, now, name)
        now[v] = proposals[v]
        gains[v] = before - cost(hypergraph, now, name)
    return gains


@pytest.mark.parametrize(("objective", "order"), [("km1", "id"), ("cut", "id"), ("soed", "id"),
                                                   ("cut", "gain")])
@pytest.mark.parametrize("k", [2, 70])
def test_vertices_move_that_still_gain_after_those_before_them(space: ExecutionSpace, k: int,
                                                               objective: str, order: str) -> None:
    """Small nets, and large ones that are asked and that need not be."""
    hypergraph, value = circuit(260, 4, large=240), net_objective(objective)
    start = random_part(hypergraph, k)
    refiner, here = refiner_at(space, hypergraph, start, k, "0.5", value, pieces_for(value, order),
                               iteration_limit=1)
    refiner.refine(here, FILTER_RATIO)
    cache = refiner.run.cache
    gain, proposals = copied(cache.gain), {
        v: int(block) for v, block in enumerate(copied(cache.best_target)) if block >= 0}
    in_turn = sorted(proposals, key=lambda v: (-gain[v] if order == "gain" else 0, v))
    expected = agreed(hypergraph, start, proposals, objective, in_turn)
    after = copied(refiner.rows(here).afterburner.after)
    assert {v: int(after[v]) for v in proposals} == expected
    moved = {v for v, iteration in enumerate(copied(refiner.run.moves.moved_in))
             if iteration == 0}
    assert moved == {v for v, gained in expected.items() if gained >= 0}
    assert len(moved) > 10


@pytest.mark.parametrize(("k", "order"), [(9, "gain"), (300, "id")])
def test_movers_of_a_net_of_thousands_of_pins_go_one_after_the_other(space: ExecutionSpace, k: int,
                                                                     order: str) -> None:
    """More of them than a team moves at once, in two pieces, and with more blocks than lanes.

    Most pins are in block 0 and stay; all others are tied to that, and some to each other.  The
    last one of a block to leave it hears so from the large net.
    """
    n, candidates = 1400, [*range(10, 180), *range(1100, 1130)]
    random = np.random.default_rng(k)
    rows = [list(range(n)), sorted(set(range(n)).difference(candidates)),
            *([v, v + 200] for v in candidates),
            *(random.choice(candidates, 2, replace=False).tolist() for _ in range(40))]
    hypergraph = hypergraph_of(rows, n, [100, 1000] + [5] * len(candidates) + [3] * 40)
    start = np.zeros(n, np.int32)
    start[candidates] = 1 + np.arange(len(candidates)) % (k - 1)
    value = net_objective("km1")
    refiner, here = refiner_at(space, hypergraph, start, k, str(k), value, pieces_for(value, order),
                               iteration_limit=1)
    refiner.refine(here, FILTER_RATIO)
    cache = refiner.run.cache
    gain, proposals = copied(cache.gain), {
        v: int(block) for v, block in enumerate(copied(cache.best_target)) if block >= 0}
    in_turn = sorted(proposals, key=lambda v: (-gain[v] if order == "gain" else 0, v))
    after = copied(refiner.rows(here).afterburner.after)
    assert {v: int(after[v]) for v in proposals} == agreed(hypergraph, start, proposals, "km1",
                                                           in_turn)
    assert len(proposals) > MAX_GROUP
    assert_state_is_right(refiner, here, k)
    assert max(after) >= 90


@pytest.mark.parametrize("objective", NET_COSTS)
@pytest.mark.parametrize("k", [2, 9])
def test_every_space_finds_the_same_partition(space: ExecutionSpace, k: int,
                                              objective: str) -> None:
    """From a start that is balanced, and from one that is not."""
    hypergraph, value = circuit(2000, 6, large=700), net_objective(objective)
    for start in (random_part(hypergraph, k),
                  (np.random.default_rng(1).random(2000) ** 3 * k).astype(np.int32)):
        found = []
        for each in (space, reference()):
            refiner, here = refiner_at(each, hypergraph, start, k, objective=value)
            outcome = dict(refiner.refine(here, FILTER_RATIO))
            found.append((outcome, copied(refiner.best).tolist()))
        assert found[0] == found[1]
        assert_outcome_is_true(hypergraph, k, objective, outcome, copied(refiner.best))
        assert outcome["balanced"]
        assert outcome["cut"] < 0.8 * cost(hypergraph, start, objective)


@pytest.mark.parametrize("k", [3, 70])
def test_values_of_nets_that_are_counted_in_pieces(space: ExecutionSpace, k: int) -> None:
    """Nets of more pins than one team counts, beside one with counters and small ones."""
    n = 2 * PIECE + 3000
    rows = [range(n), range(0, n, 2), range(5, 105), [0, 1], [3, 9, 4]]
    pins = np.concatenate([np.array(row) for row in rows])
    hypergraph = nets_hypergraph(np.cumsum([0, *map(len, rows)]), pins, n, [5, 7, 1, 2, 3])
    part = (np.arange(n) // 1000 % k).astype(np.int32)
    prices = {name: net_objective(name).rules.net_cost for name in NET_COSTS}
    assert net_values(hypergraph.to(space), space.asarray(part), k, prices) == values(
        hypergraph, part)


@given(hypergraph=hypergraphs(12), k=st.integers(2, 4), name=st.sampled_from(sorted(NET_COSTS)),
       data=st.data())
@settings(max_examples=60)
def test_random_starts_on_random_hypergraphs(hypergraph: Hypergraph, k: int, name: str,
                                             data: st.DataObject) -> None:
    """What is reported is true, and a balanced start gets no worse."""
    n = hypergraph.num_vertices
    start = np.array(data.draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int32)
    refiner, here = refiner_at(reference(), hypergraph, start, k, "0.5", net_objective(name))
    outcome = refiner.refine(here, 0.5)
    assert_outcome_is_true(hypergraph, k, name, outcome, copied(refiner.best), "0.5")
    weights = weights_of(hypergraph.vertex_weights, n)
    before = max(np.bincount(start, weights, minlength=k))
    if before <= balance_of(hypergraph, k, "0.5").max_block_weight:
        assert outcome["balanced"]
        assert outcome["cut"] <= cost(hypergraph, start, name)


def test_fixed_vertices_stay(space: ExecutionSpace) -> None:
    hypergraph = PLAIN
    start = random_part(hypergraph, 4)
    fixed = np.where(np.arange(len(start)) % 5 == 0, start, -1).astype(np.int32)
    refiner, here = refiner_at(space, hypergraph, start, 4, objective=net_objective("km1"))
    refiner.refine(here, FILTER_RATIO, space.asarray(fixed))
    best = copied(refiner.best)
    assert np.array_equal(best[::5], start[::5])
    assert cost(hypergraph, best, "km1") < cost(hypergraph, start, "km1")


@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("counter", [int32, int64])
@pytest.mark.parametrize("team", [8, 32])
def test_the_program_has_room_for_the_arrays_of_all_teams(team: int, counter: Word,
                                                          summed: bool) -> None:
    """In the memory of a block of a GPU, with vertices of all degrees."""
    refiner, here = refiner_at(reference(), PLAIN, random_part(PLAIN, 4), 4,
                               objective=net_objective("soed"))
    widths = Widths(team, team, True, True, counter, MAX_LOW_DEGREE, summed=summed)
    check_program(recorded(refiner, here, widths))
