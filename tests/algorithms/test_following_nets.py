"""Partitions follow edits of hypergraphs: cost, weights and sets of nets are those counted anew."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.edits.editable_nets import EditableHypergraph
from portpart.algorithms.following.following import Following
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.objectives.pin_state import MAX_SMALL, words_for
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.algorithms.net_edit_models import HypergraphModel, random_net_call
from tests.algorithms.nets import circuit
from tests.algorithms.refining import copied
from tests.algorithms.spaces import reference

PRICES = {"km1": lambda spread: max(0, spread - 1), "cut": lambda spread: int(spread > 1),
          "soed": lambda spread: spread if spread > 1 else 0}


class Followed:
    """A hypergraph, its partition and a plain model of both."""

    def __init__(self, space: ExecutionSpace, hypergraph: Hypergraph, k: int, objective: str,
                 part: Any = None, price: int = 1) -> None:
        self.k, self.objective = k, objective
        self.model = HypergraphModel(hypergraph)
        if hypergraph.vertex_weights is not None:
            self.model.weights = dict(enumerate(hypergraph.vertex_weights.tolist()))
        self.edited = EditableHypergraph(hypergraph.to(space))
        if part is None:
            part = np.arange(hypergraph.num_vertices) * k // hypergraph.num_vertices
        self.following = Following(self.edited, space.asarray(part, np.int32), self.balance,
                                   net_objective(objective), 7, price)

    def balance(self, total: int) -> Balance:
        return Balance(self.k, oracles.block_weight_limit(total, self.k, "0.1"), total // self.k)

    @property
    def part(self) -> np.ndarray:
        return copied(self.following.refiner.run.moves.part)[: self.edited.vertices.count]

    def apply(self, batch: Any) -> Any:
        self.following.reserve()
        return self.following.follow(self.edited.apply(batch))

    def random_batch(self, rng: random.Random) -> Any:
        """A few random calls, of batch and model."""
        batch = self.edited.batch()
        for _ in range(rng.randrange(1, 5)):
            name, *given = random_net_call(rng, self.model, batch, errors=False)
            getattr(self.model, name)(*given)
        return batch

    def check(self, outcome: Any) -> None:
        """Compare all that is known with what plain loops say."""
        part, price = self.part, PRICES[self.objective]
        cost = sum(self.model.net_weights[e] * price(len({int(part[v]) for v in pins}))
                   for e, pins in self.model.nets.items())
        assert outcome.cost == cost
        run = self.following.refiner.run
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
        state, begin = self.following.refiner.rows.state, copied(self.edited.net_rows.begin)
        sets, touched, spread, row, counts = map(copied, (
            state.sets, state.touched, state.spread, state.row, state.counts))
        k, width = self.k, words_for(self.k)
        for net in range(self.edited.nets.count):
            pins = sorted(self.model.nets.get(net, ()))
            expected = np.bincount(part[pins], minlength=k) if pins else np.zeros(k, np.int64)
            assert (row[net] >= 0) == (len(pins) > MAX_SMALL)
            assert spread[net] == np.count_nonzero(expected)
            place = net if width == 1 else row[net]
            if place < 0:
                listed = touched[begin[net] : begin[net] + spread[net]]
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
        refiner, n = self.following.refiner, len(self.part)
        run, state = refiner.run, refiner.rows.state
        for array in (state.leaving, state.is_listed, run.cache.dirty[:n], run.active.flags[:n],
                      run.incumbent.unsaved[:n], run.cache.gain[:n]):
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
            for side in followed.edited.sides():
                side.store.compact()
    return followed.part.tolist()


@pytest.mark.parametrize(("k", "objective"), [(2, "km1"), (8, "cut"), (8, "soed"), (70, "km1")])
def test_accounts_and_sets_are_those_counted_anew(space: ExecutionSpace, k: int,
                                                  objective: str) -> None:
    """After every batch, and the partition is the same in every space."""
    found = followed_at_random(space, k, k, objective, 12)
    assert found == followed_at_random(reference(), k, k, objective, 12)
