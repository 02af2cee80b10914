"""Refinement of hypergraphs: costs, sets of blocks and gains are what plain loops over nets say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portpart.algorithms.objectives.cut import COUNTING_TEAM
from portpart.algorithms.objectives.net_cost import MAX_FEW, net_objective
from portpart.algorithms.objectives.net_sets import PIECE
from portpart.algorithms.objectives.pin_state import (
    LARGE_TEAM,
    MAX_SMALL,
    SMALL_TEAM,
    NetWords,
    net_rows,
    words_for,
    words_of_hub,
)
from portpart.algorithms.objectives.total import net_values, total_cost
from portpart.algorithms.refinement.by_degree import ByDegree
from portpart.algorithms.refinement.hub_pieces import clear_sums, sum_piece, take_to_pieces
from portpart.algorithms.refinement.moves import move_vertex
from portpart.algorithms.refinement.net_afterburner import MAX_GROUP
from portpart.algorithms.refinement.net_moves import (
    empty_lists,
    settling,
    touch_nets_of_moves,
    touch_nets_of_pieces,
)
from portpart.algorithms.refinement.on_nets import rule_for
from portpart.algorithms.refinement.program import Widths
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.cuda.room import check_program
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import Word, int32, int64
from portpart.graphs.from_nets import nets_hypergraph
from portpart.graphs.hypergraph import Hypergraph
from tests.algorithms.nets import (
    circuit,
    hypergraph_of,
    hypergraphs,
    nets_of,
    rows_of,
    weights_of,
)
from tests.algorithms.refining import (
    FILTER_RATIO,
    Phases,
    balance_of,
    copied,
    recorded,
    refiner_at,
)
from tests.algorithms.spaces import reference
from tests.net_oracles import values

PRICES = {"km1": lambda spread: max(0, spread - 1), "cut": lambda spread: int(spread > 1),
          "soed": lambda spread: spread if spread > 1 else 0}
KS = [2, 3, 64, 65, 200]

PLAIN = circuit(300, 1, large=250)
WEIGHTED = circuit(400, 2, large=2 * MAX_SMALL, weighted=True)
ODD = hypergraph_of([[], [0], [0, 1, 2], [2, 1, 0], [3, 4], list(range(100)), [5]], 120,
                    [7, 7, 1, 2, 0, 3, 1])
HYPERGRAPHS = {"plain": PLAIN, "weighted": WEIGHTED, "odd": ODD}


def cost(hypergraph: Hypergraph, part: np.ndarray, name: str) -> int:
    """What all nets cost."""
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    return sum(weight * PRICES[name](len({int(part[v]) for v in pins}))
               for pins, weight in zip(nets_of(hypergraph), weights))


def random_part(hypergraph: Hypergraph, k: int, seed: int = 0) -> np.ndarray:
    """Most blocks about equal."""
    return np.random.default_rng(seed).permutation(hypergraph.num_vertices).astype(np.int32) % k


@pytest.mark.parametrize("objective", PRICES)
@pytest.mark.parametrize("name", HYPERGRAPHS)
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
    part, state = copied(refiner.run.moves.part), refiner.rows(hypergraph).state
    width = words_for(k)
    sets, touched, spread, row, counts, leaving = (copied(array) for array in (
        state.sets, state.touched, state.spread, state.row, state.counts, state.leaving))
    begin = np.cumsum([0, *map(len, nets_of(hypergraph))])
    for net, pins in enumerate(nets_of(hypergraph)):
        expected = np.bincount(part[pins], minlength=k) if pins else np.zeros(k, np.int64)
        place = net if width == 1 else row[net]
        if place < 0:
            listed = touched[begin[net] : begin[net] + spread[net]]
            assert sorted(listed) == [2 * b + (expected[b] == 1) for b in np.flatnonzero(expected)]
        else:
            for kind, wanted in enumerate((expected > 0, expected == 1)):
                own = sets[2 * place * width : 2 * (place + 1) * width][kind::2].copy()
                bits = np.unpackbits(own.view(np.uint8), bitorder="little")[:k]
                assert np.array_equal(bits.astype(bool), wanted)
        assert spread[net] == np.count_nonzero(expected)
        assert (row[net] >= 0) == (len(pins) > MAX_SMALL)
        if row[net] >= 0:
            assert np.array_equal(counts[row[net] * k : (row[net] + 1) * k], expected)
    assert not leaving.any()
    assert not copied(state.is_listed).any()
    name = refiner.objective.rules.name
    assert copied(refiner.run.moves.cost_sums).sum() == 2 * cost(hypergraph, part, name)


@pytest.mark.parametrize("objective", PRICES)
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


def ties(hypergraph: Hypergraph, part: np.ndarray, name: str, v: int,
         nets: list[int]) -> dict[int, int]:
    """By block: what the nets of v cost more if v is in a block without others of them."""
    price, found = PRICES[name], dict[int, int]()
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    rows = nets_of(hypergraph)
    tied = []
    for net in nets:
        others = {int(part[u]) for u in rows[net] if u != v}
        step = weights[net] * (price(len(others) + 1) - price(len(others)))
        tied.append((len(others | {int(part[v])}), step, others))
        for block in others:
            found[block] = found.get(block, 0) + step
    widest = max(64, min((spread for spread, step, _ in tied if step), default=64))
    led_to = {int(part[v])}.union(*(others for spread, step, others in tied
                                    if spread <= widest and step))
    return {block: weight for block, weight in found.items() if weight > 0 and block in led_to}


def losses(hypergraph: Hypergraph, part: np.ndarray, name: str, v: int, block: int,
           nets: list[int]) -> int:
    """What those of v's nets cost more that cost more if v moves to a block."""
    moved = part.copy()
    moved[v] = block
    total = 0
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    rows = nets_of(hypergraph)
    for net in nets:
        pins = rows[net]
        before, after = (PRICES[name](len({int(p[u]) for u in pins})) for p in (part, moved))
        total += weights[net] * max(0, after - before)
    return total


def assert_gains_are_right(phases: Phases, hypergraph: Hypergraph, name: str,
                           vertices: Sequence[int] | None = None) -> None:
    """Best target, gain and filter of vertices on a boundary, by costs before and after."""
    cache, flags = phases.run.cache, copied(phases.run.active.flags)
    part, target, gain = map(copied, (phases.run.moves.part, cache.best_target, cache.gain))
    vertex_nets = rows_of(hypergraph.vertex_offsets, hypergraph.vertex_nets)
    before = cost(hypergraph, part, name)
    for v in np.flatnonzero(flags).tolist() if vertices is None else vertices:
        row = ties(hypergraph, part, name, v, vertex_nets[v])
        own = row.pop(int(part[v]), 0)
        if not row:
            assert target[v] == -1
            assert gain[v] == -own
            continue
        block = int(target[v]) if target[v] >= 0 else -2 - int(target[v])
        moved = part.copy()
        moved[v] = block
        assert gain[v] == before - cost(hypergraph, moved, name)
        assert gain[v] == max(row.values()) - own
        lost = losses(hypergraph, part, name, v, block, vertex_nets[v])
        assert (target[v] >= 0) == (gain[v] >= 0 or -gain[v] < int(FILTER_RATIO * lost))


class NetPhases(Phases):
    """The same for nets, with hubs in pieces."""

    rows: Any

    @property
    def pieces(self) -> int:
        return int(NetWords(copied(self.rows.state.words.array)).pieces)

    def begin_hubs(self) -> None:
        """Have room for the hubs of any degree."""
        state, n, pins = self.rows.state, self.n, self.graph.num_entries
        state = state.replaced(**{
            name: self.space.empty(size, dtype) for name, size, dtype in (
                ("piece_vertex", n + pins, np.int32), ("piece_begin", n + pins, np.int64),
                ("hub_row", n, np.int32), ("hub_sums", n * words_of_hub(self.k), np.int64))})
        self.rows = self.rows.replaced(state=state)
        self.launch(int(self.level.hubs), take_to_pieces, team=1)

    def refresh_hubs(self, kernels: ByDegree) -> None:
        if words_for(self.k) > 1:
            super().refresh_hubs(kernels)
            return
        hubs, price = int(self.level.hubs), self.objective.rules.price
        self.launch(hubs, clear_sums, team=COUNTING_TEAM)
        self.launch(self.pieces, sum_piece(price, self.counter), team=LARGE_TEAM)
        self.launch(hubs, kernels.of_hub(self.counter, summed=True), team=COUNTING_TEAM)

    def move(self, vertices: np.ndarray, blocks: np.ndarray) -> None:
        moves, count = self.run.moves, len(vertices)
        for array, entries in ((moves.target, blocks), (moves.moved_in, self.level.iteration)):
            changed = copied(array)
            changed[vertices] = entries
            array[:] = self.space.asarray(changed)
        moves.listed[:count] = self.space.asarray(vertices, np.int32)
        self.level.moves = count
        words, price = self.rows.state.words, self.objective.rules.price
        self.launch(count, touch_nets_of_moves)
        self.launch(self.pieces, touch_nets_of_pieces, team=LARGE_TEAM)
        small, large = settling(price)
        listed = type(words)(copied(words.array))
        self.launch(int(listed.small_touched), small, team=SMALL_TEAM)
        self.launch(int(listed.large_touched), large, team=LARGE_TEAM)
        self.level.iteration += 1
        self.launch(count, move_vertex, team=1)
        self.launch(1, empty_lists, team=1)


@pytest.mark.parametrize(("objective", "k"), [*((name, k) for name in PRICES for k in (2, 65)),
                                              ("km1", 100)])
def test_gains_stay_right_through_moves(space: ExecutionSpace, k: int, objective: str) -> None:
    """Of a few vertices and of many, hubs among them; beside nets of more blocks than a word."""
    hypergraph = circuit(110, 3, large=100 if k == 100 else 80, weighted=True)
    phases = NetPhases(space, hypergraph, random_part(hypergraph, k), k, hub_degree=6,
                       objective=net_objective(objective))
    random = np.random.default_rng(1)
    assert (k == 100) == (copied(phases.rows.state.spread).max() > 64)  # type: ignore[attr-defined]
    for share in (0.02, 0.5, 0.05):
        assert_gains_are_right(phases, hypergraph, objective)
        part = copied(phases.run.moves.part)
        movers = random.choice(110, max(1, int(share * 110)), replace=False)
        phases.move(movers, (part[movers] + random.integers(1, k, len(movers))) % k)
        assert copied(phases.run.moves.cost_sums).sum() == 2 * cost(
            hypergraph, copied(phases.run.moves.part), objective)
        phases.refresh()
    assert_gains_are_right(phases, hypergraph, objective)


def with_hubs(weighted: bool = False) -> Hypergraph:
    """Vertices of 2,600, 1,024 and 300 nets, one of 20 in no net of others, among 900."""
    random = np.random.default_rng(5)
    rows = [[hub, *random.choice(np.arange(4, 900), random.integers(1, 4), replace=False).tolist()]
            for hub, count in ((0, 2600), (1, 1024), (2, 300)) for _ in range(count)]
    rows += [[3, 4]] * 20 + [
        random.choice(np.arange(4, 900), 3, replace=False).tolist() for _ in range(900)]
    weights = random.integers(0, 2**33, len(rows)).tolist() if weighted else None
    return hypergraph_of(rows, 900, weights)


@pytest.mark.parametrize("objective", PRICES)
@pytest.mark.parametrize(("k", "weighted"), [(2, False), (64, False), (64, True), (65, False)])
def test_gains_of_hubs_in_several_pieces_stay_right(space: ExecutionSpace, k: int, weighted: bool,
                                                    objective: str) -> None:
    """Where they move, where others do, and where nothing is known but that they have changed."""
    hypergraph = with_hubs(weighted)
    phases = NetPhases(space, hypergraph, random_part(hypergraph, k), k, hub_degree=256,
                       objective=net_objective(objective))
    assert phases.pieces == 3 + 1 + 1
    random = np.random.default_rng(1)
    for movers in ([0, 2], list(range(5, 300)), [1]):
        assert_gains_are_right(phases, hypergraph, objective, [0, 1, 2])
        part = copied(phases.run.moves.part)
        phases.move(np.array(movers), (part[movers] + random.integers(1, k, len(movers))) % k)
        phases.refresh()
    assert_gains_are_right(phases, hypergraph, objective, [0, 1, 2])


def test_a_hub_inside_its_block_has_no_target(space: ExecutionSpace) -> None:
    """All is in one block but a vertex that has no net with the hubs; then others leave."""
    hypergraph = hypergraph_of([[0, v] for v in range(1, 400)] + [[400, 401]], 402)
    part = np.zeros(402, np.int32)
    part[401] = 1
    phases = NetPhases(space, hypergraph, part, 2, hub_degree=256,
                       objective=net_objective("km1"))
    assert copied(phases.run.cache.best_target)[0] == -1
    assert copied(phases.run.active.flags)[0] == 0
    phases.move(np.arange(1, 300), np.ones(299, np.int32))
    phases.refresh()
    assert copied(phases.run.cache.best_target)[0] == 1
    assert_gains_are_right(phases, hypergraph, "km1", [0])


@pytest.mark.parametrize("k", [2, 64, 65])
def test_every_space_refines_hubs_alike(space: ExecutionSpace, k: int) -> None:
    """From a start that is balanced, and from one that is not."""
    hypergraph, value = with_hubs(), net_objective("km1")
    for start in (random_part(hypergraph, k),
                  (np.random.default_rng(1).random(900) ** 3 * k).astype(np.int32)):
        found = []
        for each in (space, reference()):
            refiner, here = refiner_at(each, hypergraph, start, k, "0.5", objective=value)
            outcome = dict(refiner.refine(here, FILTER_RATIO))
            found.append((outcome, copied(refiner.best).tolist()))
        assert found[0] == found[1]
        assert int(refiner.level.hubs) == 3
        assert_outcome_is_true(hypergraph, k, "km1", outcome, copied(refiner.best), "0.5")
        assert outcome["cut"] < cost(hypergraph, start, "km1")


def agreed(hypergraph: Hypergraph, part: np.ndarray, wishes: dict[int, int],
           name: str, order: list[int]) -> dict[int, int]:
    """What each wanted move gains after those before it."""
    gains, now = {}, part.copy()
    for v in order:
        before = cost(hypergraph, now, name)
        now[v] = wishes[v]
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
    refiner, here = refiner_at(space, hypergraph, start, k, "0.5", value, rule_for(value, order),
                               iteration_limit=1)
    refiner.refine(here, FILTER_RATIO)
    cache = refiner.run.cache
    gain, wishes = copied(cache.gain), {
        v: int(block) for v, block in enumerate(copied(cache.best_target)) if block >= 0}
    in_turn = sorted(wishes, key=lambda v: (-gain[v] if order == "gain" else 0, v))
    expected = agreed(hypergraph, start, wishes, objective, in_turn)
    after = copied(refiner.rows(here).state.after)
    assert {v: int(after[v]) for v in wishes} == expected
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
    n, leavers = 1400, [*range(10, 180), *range(1100, 1130)]
    random = np.random.default_rng(k)
    rows = [list(range(n)), sorted(set(range(n)).difference(leavers)),
            *([v, v + 200] for v in leavers),
            *(random.choice(leavers, 2, replace=False).tolist() for _ in range(40))]
    hypergraph = hypergraph_of(rows, n, [100, 1000] + [5] * len(leavers) + [3] * 40)
    start = np.zeros(n, np.int32)
    start[leavers] = 1 + np.arange(len(leavers)) % (k - 1)
    value = net_objective("km1")
    refiner, here = refiner_at(space, hypergraph, start, k, str(k), value, rule_for(value, order),
                               iteration_limit=1)
    refiner.refine(here, FILTER_RATIO)
    cache = refiner.run.cache
    gain, wishes = copied(cache.gain), {
        v: int(block) for v, block in enumerate(copied(cache.best_target)) if block >= 0}
    in_turn = sorted(wishes, key=lambda v: (-gain[v] if order == "gain" else 0, v))
    after = copied(refiner.rows(here).state.after)
    assert {v: int(after[v]) for v in wishes} == agreed(hypergraph, start, wishes, "km1", in_turn)
    assert len(wishes) > MAX_GROUP
    assert_state_is_right(refiner, here, k)
    assert max(after) >= 90


def assert_outcome_is_true(hypergraph: Hypergraph, k: int, name: str, outcome: dict[str, int],
                           part: np.ndarray, imbalance: str = "0.03") -> None:
    weights = weights_of(hypergraph.vertex_weights, hypergraph.num_vertices)
    heaviest = max(np.bincount(part, weights, minlength=k).astype(np.int64))
    limit = balance_of(hypergraph, k, imbalance).max_block_weight
    assert outcome["cut"] == cost(hypergraph, part, name)
    assert outcome["overload"] == heaviest - limit


@pytest.mark.parametrize("objective", PRICES)
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
    prices = {name: net_objective(name).rules.price for name in PRICES}
    assert net_values(hypergraph.to(space), space.asarray(part), k, prices) == values(
        hypergraph, part)


@given(hypergraph=hypergraphs(12), k=st.integers(2, 4), name=st.sampled_from(sorted(PRICES)),
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


@pytest.mark.parametrize("counter", [int32, int64])
@pytest.mark.parametrize("team", [8, 32])
def test_the_program_has_room_for_the_arrays_of_all_teams(team: int, counter: Word) -> None:
    """In the memory of a block of a GPU, with vertices of all degrees."""
    refiner, here = refiner_at(reference(), PLAIN, random_part(PLAIN, 4), 4,
                               objective=net_objective("soed"))
    check_program(recorded(refiner, here, Widths(team, team, True, True, counter, MAX_FEW)))
