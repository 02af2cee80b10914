"""iHyperG's pseudo block: every round of edits ends where a plain loop over the text ends."""

from __future__ import annotations

import copy
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.incremental.critical_pins import CRITICAL_PINS, has_changed
from portpart.algorithms.objectives.pin_state import MAX_SMALL
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests.algorithms.incremental.test_incremental_nets import NET_COSTS, Followed
from tests.helpers.nets import circuit, nets_of
from tests.helpers.spaces import reference

Nets = dict[int, set[int]]


class Plain:
    """Algorithms 16 and 17 on dicts.

    Parameters
    ----------
    nets, net_weights, weights : dict
        What is alive.
    part : dict
        The block of each living vertex; new ones have been placed.
    fixed : set
        Vertices that never leave.
    """

    def __init__(self, nets: Nets, net_weights: dict[int, int], weights: dict[int, int],
                 part: dict[int, int], limits: list[int], objective: str,
                 fixed: set[int]) -> None:
        self.nets, self.net_weights, self.weights, self.part = nets, net_weights, weights, part
        self.limits, self.price = limits, NET_COSTS[objective]
        self.of = {v: [e for e, pins in nets.items() if v in pins] for v in weights}
        self.pseudo: set[int] = set()
        self.fixed = fixed

    def room(self, b: int) -> int:
        return self.limits[b] - sum(self.weights[v] for v, block in self.part.items()
                                    if block == b and v not in self.pseudo)

    def alone(self, v: int, net: int) -> bool:
        """Whether v is the only pin in its block."""
        return all(self.part[u] != self.part[v] for u in self.nets[net] - {v})

    def score(self, v: int) -> int:
        return sum(self.net_weights[e] * (1 if self.alone(v, e) else -1)
                   for e in self.of[v] if len(self.nets[e]) > 1)

    def leave(self, new: set[int], edited: set[int]) -> None:
        """New vertices, those of blocks that are too heavy, and critical pins."""
        self.pseudo = set(new)
        for b in range(len(self.limits)):
            inside = sorted((v for v in self.part if self.part[v] == b and self.weights[v] > 0
                             and v not in new | self.fixed), key=lambda v: (-self.score(v), v))
            while self.room(b) < 0 and inside:
                self.pseudo.add(inside.pop(0))
        self.pseudo |= {v for e in edited if len(self.nets[e]) > 1 for v in self.nets[e]
                        if self.alone(v, e)} - self.fixed

    def come_back(self) -> None:
        relaxed = False
        while self.pseudo:
            moves = sorted(move for v in self.pseudo if not self.waits(v)
                           for move in self.move(v, relaxed))
            capacities, made = [self.room(b) for b in range(len(self.limits))], []
            for _, v, b in moves:
                capacities[b] -= self.weights[v]
                if capacities[b] < 0 and not relaxed:
                    break
                made.append((v, b))
            self.part.update(made)
            self.pseudo -= {v for v, _ in made}
            relaxed = not made

    def waits(self, v: int) -> bool:
        """Whether a smaller one in the pseudo block shares a net of few pins."""
        return any(u < v and u in self.pseudo for e in self.of[v]
                   if len(self.nets[e]) <= MAX_SMALL for u in self.nets[e])

    def move(self, v: int, relaxed: bool) -> list[tuple[int, int, int]]:
        """Where v goes, behind what moves are sorted by; nothing if it fits nowhere."""
        connections, total = [0] * len(self.limits), 0
        for e in self.of[v]:
            blocks = {self.part[u] for u in self.nets[e] - {v}}
            step = self.price(len(blocks) + 1) - self.price(len(blocks))
            total += step * self.net_weights[e]
            for b in blocks:
                connections[b] += step * self.net_weights[e]
        capacities = [self.room(b) for b in range(len(connections))]
        fitting = [(-connections[b], -room, b) for b, room in enumerate(capacities)
                   if room >= self.weights[v]]
        if fitting:
            return [(total + min(fitting)[0], v, min(fitting)[2])]
        return [(total, v, capacities.index(max(capacities)))] if relaxed else []


def with_lone_pins(hypergraph: Hypergraph, seed: int) -> Hypergraph:
    """The same with nets of one pin, which weigh more than the others of a vertex together."""
    n, rng = hypergraph.num_vertices, random.Random(seed)
    nets = [*nets_of(hypergraph), *([v] for v in range(n) if rng.random() < 0.5)]
    heavy = [1] * hypergraph.num_nets + [50] * (len(nets) - hypergraph.num_nets)
    return portpart.as_hypergraph(nets, num_vertices=n, net_weights=heavy)


def odd_batch(followed: Followed, rng: random.Random) -> Any:
    """A random batch that also makes a block heavy, and takes pins out and puts them back."""
    block, part = rng.randrange(followed.k), followed.part.tolist()
    heavy = [v for v in sorted(followed.model.weights) if part[v] == block][::3]
    batch = followed.random_batch(rng)
    model = followed.model
    heavy = [v for v in heavy if v in model.weights]
    weights = [rng.randrange(2, 6) for _ in heavy]
    batch.set_vertex_weights(heavy, weights)
    model.set_vertex_weights(heavy, weights)
    pairs = rng.sample(sorted((e, v) for e, pins in model.nets.items() for v in pins), 12)
    ends = [e for e, _ in pairs], [v for _, v in pairs]
    batch.delete_pins(*ends)
    batch.insert_pins(*ends)
    return batch


def check_rounds(space: ExecutionSpace, seed: int, k: int, objective: str, rounds: int,
                 odd: bool = False) -> int:
    """Compare with the text after each batch; how often blocks were too heavy in the end.

    Odd ones have fixed vertices, nets of one pin, and nets whose edits change nothing.
    """
    hypergraph, relieved, fixed = circuit(120, seed, large=70), 0, None
    if odd:
        hypergraph, fixed = with_lone_pins(hypergraph, seed), np.arange(120) * k // 120
        fixed[np.random.default_rng(seed).random(120) < 0.6] = -1
    followed = Followed(space, hypergraph, k, objective, pieces=CRITICAL_PINS, fixed=fixed)
    placed = Followed(reference(), hypergraph, k, objective)  # tells where new vertices begin
    rng, same = random.Random(seed), random.Random(seed)
    for _ in range(rounds):
        nets, _, weights = copy.deepcopy(followed.model.state)
        draw = odd_batch if odd else Followed.random_batch
        placed.apply(draw(placed, same), refine=False)
        followed.check(followed.apply(draw(followed, rng)))
        model, begun, part = followed.model, placed.part, followed.part
        limits = followed.balance(sum(model.weights.values())).limits.tolist()
        held = set() if fixed is None else set(np.flatnonzero(fixed >= 0).tolist())
        plain = Plain(model.nets, model.net_weights, model.weights,
                      {v: int(begun[v]) for v in model.weights}, limits, objective, held)
        plain.leave(set(model.weights) - set(weights),
                    {e for e, pins in model.nets.items() if pins != nets.get(e, set())})
        plain.come_back()
        if all(plain.room(b) >= 0 for b in range(k)):
            assert {v: int(part[v]) for v in model.weights} == plain.part
        else:
            relieved += 1
        placed.incremental.restart(reference().asarray(part, np.int32))
    return relieved


@pytest.mark.parametrize(("k", "objective"), [(2, "cut"), (5, "km1"), (5, "soed")])
def test_rounds_end_where_the_text_does(space: ExecutionSpace, k: int, objective: str) -> None:
    assert check_rounds(space, k, k, objective, 14) < 9


def test_rounds_with_fixed_vertices_and_nets_of_one_pin_end_where_the_text_does(
        space: ExecutionSpace) -> None:
    assert check_rounds(space, 3, 4, "km1", 14, odd=True) < 9


def test_the_first_pin_that_has_changed_is_enough() -> None:
    """Each lane looks for it; a large net may have many."""
    looked: list[int] = []

    class Told(list[int]):
        def __getitem__(self, place: Any) -> Any:
            looked.append(place)
            return super().__getitem__(place)

    keys = [(net << 32) | v for net in (3, 4) for v in range(50)]
    will = [0] * 5 + [1] * 45 + [0] * 20 + [1] * 30
    pins: Any = SimpleNamespace(keys=keys, was=Told([0] * 100), will=will)
    assert has_changed.function(0, 100, pins)
    assert looked == list(range(6))
    assert not has_changed.function(0, 5, pins)
    assert has_changed.function(50, 100, pins)
    assert max(looked) == 70
