"""A plain model of hypergraphs that are edited, and random batches for both."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np

from portpart.algorithms.edits.editable import EditableHypergraph
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.edit_models import Model, random_weights


class HypergraphModel(Model):
    """A hypergraph as a set of pins of each living net."""

    def __init__(self, hypergraph: Hypergraph) -> None:
        super().__init__()
        offsets, pins = hypergraph.net_offsets, hypergraph.net_pins
        self.nets = {e: {int(v) for v in pins[offsets[e] : offsets[e + 1]]}
                     for e in range(hypergraph.num_nets)}
        weights = hypergraph.net_weights
        self.net_weights = {e: 1 if weights is None else int(weights[e]) for e in self.nets}
        self.weights = dict.fromkeys(range(hypergraph.num_vertices), 1)

    @property
    def state(self) -> tuple[Any, ...]:
        return self.nets, self.net_weights, self.weights

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self.nets, self.net_weights, self.weights = state

    def insert_vertices(self, ids: list[int], weights: list[int]) -> None:
        self.weights.update(zip(ids, weights))

    def delete_vertices(self, ids: list[int], missing: str) -> None:
        for at, v in enumerate(ids):
            if v in self.weights:
                del self.weights[v]
                for pins in self.nets.values():
                    pins.discard(v)
            else:
                self.lack(at, missing)

    def set_vertex_weights(self, ids: list[int], weights: list[int]) -> None:
        self.set_weights(self.weights, ids, weights)

    def set_net_weights(self, ids: list[int], weights: list[int]) -> None:
        self.set_weights(self.net_weights, ids, weights)

    def insert_nets(self, ids: list[int], rows: list[list[int]], weights: list[int]) -> None:
        flat = [v for row in rows for v in row]
        for at, v in enumerate(flat):
            if v not in self.weights:
                self.refuse(at)
        self.counts["merged"] += sum(len(row) - len(set(row)) for row in rows)
        self.nets.update(zip(ids, map(set, rows)))
        self.net_weights.update(zip(ids, weights))

    def delete_nets(self, ids: list[int], missing: str) -> None:
        for at, e in enumerate(ids):
            if self.nets.pop(e, None) is None:
                self.lack(at, missing)
            self.net_weights.pop(e, None)

    def insert_pins(self, nets: list[int], vertices: list[int]) -> None:
        for at, (e, v) in enumerate(zip(nets, vertices)):
            if e not in self.nets or v not in self.weights:
                self.refuse(at)
            self.counts["merged"] += v in self.nets[e]
            self.nets[e].add(v)

    def delete_pins(self, nets: list[int], vertices: list[int], missing: str) -> None:
        for at, (e, v) in enumerate(zip(nets, vertices)):
            if v in self.nets.get(e, set()):
                self.nets[e].remove(v)
            else:
                self.lack(at, missing)

    def packed(self) -> list[list[int]]:
        """Ids, both directions of the pins, and weights, by place."""
        place = {v: at for at, v in enumerate(sorted(self.weights))}
        nets = [sorted(place[v] for v in pins) for _, pins in sorted(self.nets.items())]
        rows = [[e for e, pins in enumerate(nets) if v in pins] for v in range(len(place))]
        flat = [x for pairs in (nets, rows) for x in (
            np.cumsum([0, *map(len, pairs)]).tolist(), [y for row in pairs for y in row])]
        return [sorted(place), sorted(self.nets), *flat,
                [self.net_weights[e] for e in sorted(self.nets)],
                [self.weights[v] for v in sorted(place)]]


def packed_nets(edited: EditableHypergraph) -> list[list[int]]:
    """The same of what is tested."""
    made = edited.hypergraph()
    host = made.space.to_host
    ones = [np.ones(made.num_nets, int), np.ones(made.num_vertices, int)]
    weights = [one if array is None else host(array) for one, array in
               zip(ones, (made.net_weights, made.vertex_weights))]
    return [array.tolist() for array in (
        edited.ids, edited.nets.ids(), host(made.net_offsets), host(made.net_pins),
        host(made.vertex_offsets), host(made.vertex_nets), *weights)]


def random_net_call(rng: random.Random, model: HypergraphModel, batch: Any, errors: bool) -> Any:
    """One call to a batch, most of them valid, and what it was."""
    kind = rng.choice(["insert_vertices", "delete_vertices", "set_vertex_weights", "insert_nets",
                       "delete_nets", "insert_pins", "insert_pins", "delete_pins",
                       "set_net_weights"])
    missing = rng.choice(["raise", "ignore"]) if errors else "ignore"
    count = rng.choice([0, 1, 1, 2, 5])
    weights = random_weights(rng, count)
    wrong = errors and rng.random() < 0.3
    vertices = list(range(batch.owner.vertices.count)) if wrong else sorted(model.weights)
    nets = list(range(batch.nets.count)) if wrong else sorted(model.nets)
    if kind == "insert_vertices":
        return kind, batch.insert_vertices(weights).tolist(), weights
    if kind == "insert_nets":
        rows = [rng.choices(vertices, k=rng.randrange(4)) if vertices else [] for _ in weights]
        offsets = np.cumsum([0, *map(len, rows)])
        ids = batch.insert_nets(offsets, np.array([v for row in rows for v in row], int), weights)
        return kind, ids.tolist(), rows, weights
    known = nets if kind.endswith(("nets", "net_weights")) else vertices
    if kind.endswith("pins"):
        pairs = [(e, v) for e, pins in model.nets.items() for v in pins]
        if wrong or kind == "insert_pins":
            pairs = [(e, v) for e in nets for v in vertices]
        chosen = rng.choices(pairs, k=count) if pairs else []
        ends = [e for e, _ in chosen], [v for _, v in chosen]
        more = (missing,) if kind == "delete_pins" else ()
        getattr(batch, kind)(*ends, *more)
        return (kind, *copy.deepcopy(ends), *more)
    ids = rng.choices(known, k=count) if known else []
    more = (missing,) if kind.startswith("delete") else (weights[: len(ids)],)
    getattr(batch, kind)(ids, *more)
    return (kind, ids, *more)
