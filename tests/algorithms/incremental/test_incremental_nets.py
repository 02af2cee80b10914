"""Partitions follow edits of hypergraphs: cost, weights and sets of nets are those counted anew."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.edits.editable import EditableHypergraph
from portpart.algorithms.incremental import nets
from portpart.algorithms.incremental.edits import MoveLog
from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
from portpart.algorithms.objectives import net_cost
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.objectives.pin_state import MAX_SMALL, words_for
from portpart.algorithms.refinement.piece import Piece
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import netlist
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.net_edit_models import HypergraphModel, random_net_call
from tests.helpers.nets import circuit
from tests.helpers.refining import copied
from tests.helpers.spaces import check_rooms, reference
from tests.oracles.nets import values

NET_COSTS = {"km1": lambda connectivity: max(0, connectivity - 1),
             "cut": lambda connectivity: int(connectivity > 1),
             "soed": lambda connectivity: connectivity if connectivity > 1 else 0}


class Followed:
    """A hypergraph, its partition and a plain model of both."""

    def __init__(self, space: ExecutionSpace, hypergraph: Hypergraph, k: int, objective: str,
                 part: Any = None, price: int = 1, pieces: tuple[Piece, ...] | None = None,
                 fixed: Any = None) -> None:
        self.k, self.objective = k, objective
        self.model = HypergraphModel(hypergraph)
        if hypergraph.vertex_weights is not None:
            self.model.weights = dict(enumerate(hypergraph.vertex_weights.tolist()))
        self.edited = EditableHypergraph(hypergraph.to(space))
        if part is None:
            part = np.arange(hypergraph.num_vertices) * k // hypergraph.num_vertices
        self.incremental = IncrementalRefiner(self.edited, space.asarray(part, np.int32),
                                              self.balance,
                                              net_objective(objective), 7, price, pieces=pieces,
                                              fixed=None if fixed is None
                                              else space.asarray(fixed, np.int32))

    def balance(self, total: int) -> Balance:
        return Balance(self.k, oracles.block_weight_limit(total, self.k, "0.1"), total // self.k)

    @property
    def part(self) -> np.ndarray:
        return copied(self.incremental.refiner.run.moves.part)[: self.edited.vertices.count]

    def apply(self, batch: Any, refine: bool = True) -> Any:
        self.incremental.reserve()
        return self.incremental.follow(self.edited.apply(batch), refine)

    def resized(self, net: int, size: int) -> Any:
        """A batch by which a net gets so many pins, of batch and model."""
        pins, batch = sorted(self.model.nets[net]), self.edited.batch()
        others = sorted(set(self.model.weights) - set(pins))
        gone, come = pins[size:], others[: max(0, size - len(pins))]
        batch.delete_pins([net] * len(gone), gone)
        batch.insert_pins([net] * len(come), come)
        self.model.delete_pins([net] * len(gone), gone, "raise")
        self.model.insert_pins([net] * len(come), come)
        return batch

    def random_batch(self, rng: random.Random) -> Any:
        """A few random calls, of batch and model."""
        batch = self.edited.batch()
        for _ in range(rng.randrange(1, 5)):
            name, *given = random_net_call(rng, self.model, batch, errors=False)
            getattr(self.model, name)(*given)
        return batch

    def check(self, outcome: Any) -> None:
        """Compare all that is known with what plain loops say."""
        part, price = self.part, NET_COSTS[self.objective]
        cost = sum(self.model.net_weights[e] * price(len({int(part[v]) for v in pins}))
                   for e, pins in self.model.nets.items())
        assert outcome.cost == cost
        run = self.incremental.refiner.run
        assert copied(run.moves.cost_sums).sum() == 2 * cost
        alive = sorted(self.model.weights)
        weights = np.bincount(part[alive], [self.model.weights[v] for v in alive], self.k)
        sums = copied(run.moves.weight_sums).reshape(-1, self.k).sum(axis=0)
        assert sums.tolist() == weights.tolist()
        assert outcome.weights.tolist() == weights.tolist()
        self.check_nets(part)
        self.check_rest()

    def check_nets(self, part: np.ndarray) -> None:
        """The sets of blocks of all nets, dead ones included."""
        pieces, begin = self.incremental.refiner.rows.pieces, copied(self.edited.net_rows.begin)
        sets, touched, connectivity, row, counts = map(copied, (
            pieces["sets"].bits, pieces["sets"].touched, pieces["sets"].connectivity,
            pieces["sets"].row, pieces["pin_counts"].counts))
        k, width = self.k, words_for(self.k)
        for net in range(self.edited.nets.count):
            pins = sorted(self.model.nets.get(net, ()))
            expected = np.bincount(part[pins], minlength=k) if pins else np.zeros(k, np.int64)
            assert (row[net] >= 0) == (len(pins) > MAX_SMALL)
            assert connectivity[net] == np.count_nonzero(expected)
            place = net if width == 1 else row[net]
            if place < 0:
                listed = touched[begin[net] : begin[net] + connectivity[net]]
                wanted = [2 * b + (expected[b] == 1) for b in np.flatnonzero(expected)]
                assert sorted(listed) == wanted
            else:
                for kind, blocks in enumerate((expected > 0, expected == 1)):
                    own = sets[2 * place * width : 2 * (place + 1) * width][kind::2].copy()
                    bits = np.unpackbits(own.view(np.uint8), bitorder="little")[:k]
                    assert np.array_equal(bits.astype(bool), blocks)
            if row[net] >= 0:
                assert np.array_equal(counts[row[net] * k : (row[net] + 1) * k], expected)

    def check_rest(self) -> None:
        """Nothing is left over from a round."""
        refiner, n = self.incremental.refiner, len(self.part)
        run, pieces = refiner.run, refiner.rows.pieces
        for array in (pieces["afterburner"].leaving, pieces["lists"].is_listed,
                      run.cache.is_dirty[:n],
                      run.active.flags[:n], run.incumbent.is_unsaved[:n], run.cache.gain[:n]):
            assert not copied(array).any()
        assert (copied(run.incumbent.best)[:n] == self.part).all()


def followed_at_random(space: ExecutionSpace, seed: int, k: int, objective: str,
                       rounds: int) -> list[int]:
    """Apply random batches, check each, and return the partition."""
    rng = random.Random(seed)
    hypergraph = circuit(90, seed, large=70, weighted=rng.random() < 0.5)
    followed = Followed(space, hypergraph, k, objective)
    for _ in range(rounds):
        followed.check(followed.apply(followed.random_batch(rng)))
        if rng.random() < 0.2:
            for side in followed.edited.sides:
                side.store.compact()
    return followed.part.tolist()


@pytest.mark.parametrize(("k", "objective"), [(2, "km1"), (8, "cut"), (8, "soed"), (70, "km1")])
def test_accounts_and_sets_are_those_counted_anew(space: ExecutionSpace, k: int, objective: str,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """After every batch, and the partition is the same in every space."""
    expected = followed_at_random(reference(), k, k, objective, 12)
    monkeypatch.setattr(net_cost, "LONE_LANE_DEGREE", net_cost.MAX_LOW_DEGREE)  # as on a GPU
    assert followed_at_random(space, k, k, objective, 12) == expected
    check_rooms(space)


def test_nets_get_counters_and_lose_them_again(space: ExecutionSpace) -> None:
    """One grows by a pin at a time and all at once, shrinks likewise, and keeps its row."""
    followed = Followed(space, circuit(200, 3, large=100), 70, "km1")
    large = max(followed.model.nets, key=lambda net: len(followed.model.nets[net]))
    for net in (0, large):
        for size in (MAX_SMALL, MAX_SMALL + 1, MAX_SMALL, 3, 150, 0, 90):
            followed.check(followed.apply(followed.resized(net, size)))
    rows = copied(followed.incremental.refiner.rows.pieces["sets"].row)
    assert sorted(rows[rows >= 0]) == [0, 1]


def test_rows_of_counters_are_made_when_they_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nets, "MAX_SPARE_ROWS", 0)
    followed = Followed(reference(), circuit(200, 3), 3, "soed")
    for net in range(6):
        followed.check(followed.apply(followed.resized(net, MAX_SMALL + 1 + net)))
    assert 6 <= followed.incremental.refiner.rows.sizes.large <= 8


@pytest.mark.parametrize("k", [2, 70])
def test_a_net_of_half_of_all_vertices_costs_what_it_should(k: int) -> None:
    """It comes, its weight changes, pins come and go, and it dies."""
    followed = Followed(reference(), circuit(300, 4), k, "km1")
    edited, model, half = followed.edited, followed.model, list(range(0, 300, 2))
    batch = edited.batch()
    (net,) = batch.insert_nets([0, 150], half, 5).tolist()
    model.insert_nets([net], [half], [5])
    followed.check(followed.apply(batch))
    for weight in (7, 0, 3):
        batch = edited.batch()
        batch.set_net_weights(net, weight)
        model.set_net_weights([net], [weight])
        followed.check(followed.apply(batch))
    followed.check(followed.apply(followed.resized(net, 140)))
    batch = edited.batch()
    batch.set_net_weights(net, 9)
    batch.delete_nets(net)
    model.delete_nets([net], "raise")
    followed.check(followed.apply(batch))


def test_nobody_moves_unless_that_is_asked_for() -> None:
    """Accounts and sets follow all the same."""
    followed, rng = Followed(reference(), circuit(90, 8, large=70), 3, "km1"), random.Random(8)
    for _ in range(12):
        before = followed.part
        batch = followed.random_batch(rng)
        found = followed.apply(batch, refine=False)
        followed.check(found)
        assert found.moved == found.affected == 0
        assert (followed.part[: len(before)] == before).all()


def test_balance_is_kept_where_that_is_possible() -> None:
    """Vertices of a block get heavier, and then all others die."""
    followed = Followed(reference(), circuit(200, 9, large=70), 4, "km1")
    for part in range(4):
        heavier = np.flatnonzero(followed.part == part)[:25].tolist()
        batch = followed.edited.batch()
        batch.set_vertex_weights(heavier, 2)
        followed.model.set_vertex_weights(heavier, [2] * len(heavier))
        found = followed.apply(batch)
        followed.check(found)
        assert (found.weights <= followed.balance(int(found.weights.sum())).limits).all()
    dying = np.flatnonzero(followed.part == 1)[:-2].tolist()
    batch = followed.edited.batch()
    batch.delete_vertices(dying)
    followed.model.delete_vertices(dying, "raise")
    found = followed.apply(batch)
    followed.check(found)
    assert (found.weights <= followed.balance(int(found.weights.sum())).limits).all()


def test_what_is_known_is_what_a_new_start_finds(space: ExecutionSpace) -> None:
    """Warm and cold go on in the same way, whatever room rows have."""
    rng, k = random.Random(11), 8
    followed = Followed(space, circuit(90, 11, large=70), k, "km1")
    for _ in range(6):
        followed.apply(followed.random_batch(rng))
    living = followed.edited.ids
    cold = Followed(space, followed.edited.hypergraph(), k, "km1", followed.part[living])
    named = {int(v): place for place, v in enumerate(living)}
    for net, pins in sorted(followed.model.nets.items())[:9]:
        batch, same = followed.edited.batch(), cold.edited.batch()
        there = cold.edited.nets.count
        new = batch.insert_nets([0, len(pins)], sorted(pins))
        assert same.insert_nets([0, len(pins)], [named[v] for v in sorted(pins)]) == there
        followed.model.insert_nets(new.tolist(), [sorted(pins)], [1])
        found, expected = followed.apply(batch), cold.apply(same)
        followed.check(found)
        assert found.cost == expected.cost, net
        assert followed.part[living].tolist() == cold.part[: len(living)].tolist()


def test_after_undo_nets_are_what_they_were() -> None:
    """Of two sessions one tries pins and deaths, and takes all back; then both go on."""
    hypergraph, rng = circuit(400, 3), np.random.default_rng(5)
    first, second = (portpart.Session(hypergraph, 3, preset="fast") for _ in range(2))
    for number in range(12):
        mark, batch = first.mark(), first.batch()
        rows, vertices = rng.integers(0, 400, (2, 40))
        batch.insert_pins(rows, vertices)
        batch.delete_vertices(rng.choice(400, 5, replace=False), missing="ignore")
        batch.delete_nets(rng.choice(400, 5, replace=False), missing="ignore")
        first.apply(batch, ("local", "cycle", "none")[number % 3])
        first.undo(mark)
        updates, pins = [], rng.integers(0, 400, (2, 12))
        for session in (first, second):
            batch = session.batch()
            batch.insert_pins(*pins)
            updates.append(session.apply(batch))
        assert np.array_equal(oracles.host(first.part), oracles.host(second.part))
        part = oracles.host(first.part)[first.ids]
        assert updates[0].km1 == updates[1].km1 == values(first.graph(), part)["km1"]


@pytest.mark.parametrize("k", [3, 70])
def test_what_is_undone_leaves_no_trace(space: ExecutionSpace, k: int) -> None:
    """Several batches at a time, of nets that get counters and lose them, and vertices that die."""
    rng = random.Random(k)
    followed = Followed(space, circuit(150, 12, large=90), k, "km1", price=0)
    edited, incremental, large = followed.edited, followed.incremental, len(followed.model.nets) - 1
    for _ in range(6):
        mark, states, before, part = edited.mark(), [], incremental.last, followed.part
        model = copy.deepcopy(followed.model.state)
        for _ in range(rng.randrange(1, 5)):
            batch = (followed.resized(rng.choice([0, 1, large]), rng.choice([0, 60, 70, 120]))
                     if rng.random() < 0.5 and large in followed.model.nets
                     and followed.model.nets.keys() >= {0, 1} else followed.random_batch(rng))
            followed.apply(batch)
            states.append(MoveLog(*map(space.copy, incremental.moves(incremental.last))))
        if rng.random() < 0.7:
            for moves in reversed(states):
                incremental.undo(moves, undoing=True)
            incremental.recount(before, edited.undo(mark))
            followed.model.state = model
            assert (followed.part[: len(part)] == part).all()
        followed.check(incremental.last)


def test_buffers_cost_little_where_blocks_are_full() -> None:
    """Not they leave a block that is full, but vertices around that lose nothing."""
    hypergraph, k, random = netlist(3000), 32, np.random.default_rng(4)
    edited = EditableHypergraph(hypergraph)
    limits = [oracles.block_weight_limit(3000 + count, k, "0.03") for count in range(601)]
    part = portpart.partition(hypergraph, k, objective="km1", seed=1, threads=1).part
    incremental = IncrementalRefiner(edited, part,
                                     lambda total: Balance(k, limits[total - 3000], total // k),
                                     net_objective("km1"), 1, 0)
    begun = incremental.last.cost
    for _ in range(30):
        batch, nets = edited.batch(), random.choice(2900, 20, replace=False)
        new = batch.insert_vertices(count=20)
        incremental.reserve()
        batch.insert_nets(np.arange(0, 41, 2), np.stack([nets, new], 1).ravel())
        batch.insert_pins(nets, new)  # pin v drives net v
        incremental.follow(edited.apply(batch))
        assert incremental.last.weights.max() <= limits[edited.vertices.count - 3000]
    assert incremental.last.cost <= 1.04 * begun


def test_a_vertex_that_leaves_a_net_is_looked_at() -> None:
    """Of the pins that stay the gains are the same, and one that was has no net there any more."""
    nets = portpart.as_hypergraph([[0, 1, 2], [3, 4, 5], [2, 3], [1, 2], [4, 5], [0, 1]],
                                  net_weights=[4, 4, 2, 1, 1, 1])
    session = portpart.Session(nets, 2, initial=[0, 0, 0, 1, 1, 1], imbalance="50%", migration=0)
    batch = session.batch()
    batch.delete_pins([0, 3], [2, 2])
    session.apply(batch, "local")
    assert oracles.host(session.part).tolist() == [0, 0, 1, 1, 1, 1]
