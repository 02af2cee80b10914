"""Plain models of graphs that are edited, and random batches for both."""

from __future__ import annotations

import copy
import random
import re
from typing import Any, NoReturn

import numpy as np

from portpart.algorithms.edits.editable import EditableGraph
from portpart.graphs.graph import Graph


class Refused(Exception):
    """An entry that cannot be applied, and what the error begins with."""


class Model:
    """What happens to a plain structure, its `state`, call by call."""

    state: tuple[Any, ...]

    def __init__(self) -> None:
        self.counts = {"loops": 0, "merged": 0, "missing": 0}
        self.now = "", ""

    def apply(self, calls: list[tuple[Any, ...]]) -> None:
        """All calls in order, or none and `Refused`."""
        before = copy.deepcopy(self.state)
        self.counts = dict.fromkeys(self.counts, 0)
        try:
            for number, (name, *arguments) in enumerate(calls, 1):
                self.now = f"call {number} of the batch", name
                getattr(self, name)(*arguments)
        except Refused:
            self.state = before
            raise

    def refusal(self, calls: list[tuple[Any, ...]]) -> str | None:
        """Apply calls; what an error has to say if they are refused."""
        try:
            self.apply(calls)
        except Refused as problem:
            return str(problem)
        return None

    def set_weights(self, weights: dict[int, int], ids: list[int], given: list[int]) -> None:
        for at, (v, weight) in enumerate(zip(ids, given)):
            if v not in weights:
                self.refuse(at)
            weights[v] = weight

    def lack(self, at: int, missing: str) -> None:
        if missing == "raise":
            self.refuse(at)
        self.counts["missing"] += 1

    def refuse(self, at: int) -> NoReturn:
        call, name = self.now
        raise Refused(re.escape(f"{name}[{at}] ({call})"))


class GraphModel(Model):
    """A graph as a dict of neighbours and weights of each living vertex."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        matrix = graph.to_scipy()
        self.rows: dict[int, dict[int, int]] = {}
        for u in range(graph.num_vertices):
            row: dict[int, int] = {}
            for arc in range(matrix.indptr[u], matrix.indptr[u + 1]):
                v = int(matrix.indices[arc])
                row[v] = row.get(v, 0) + int(matrix.data[arc])
            self.rows[u] = row
        weights = graph.vertex_weights
        listed = [1] * graph.num_vertices if weights is None else graph.space.to_host(weights)
        self.weights = {u: int(weight) for u, weight in enumerate(listed)}

    @property
    def state(self) -> tuple[Any, ...]:
        return self.rows, self.weights

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self.rows, self.weights = state

    def insert_vertices(self, ids: list[int], weights: list[int]) -> None:
        for v, weight in zip(ids, weights):
            self.rows[v], self.weights[v] = {}, weight

    def delete_vertices(self, ids: list[int], missing: str) -> None:
        for at, v in enumerate(ids):
            if v in self.rows:
                for u in self.rows.pop(v):
                    self.rows[u].pop(v, None)
                del self.weights[v]
            else:
                self.lack(at, missing)

    def set_vertex_weights(self, ids: list[int], weights: list[int]) -> None:
        self.set_weights(self.weights, ids, weights)

    def insert_edges(self, us: list[int], vs: list[int], weights: list[int] | None) -> None:
        for at, (u, v) in enumerate(zip(us, vs)):
            weight = 1 if weights is None else weights[at]
            if u not in self.rows or v not in self.rows:
                self.refuse(at)
            if u == v:
                self.counts["loops"] += 1
                continue
            self.counts["merged"] += v in self.rows[u]
            self.rows[u][v] = self.rows[v][u] = self.rows[u].get(v, 0) + weight

    def delete_edges(self, us: list[int], vs: list[int], missing: str) -> None:
        for at, (u, v) in enumerate(zip(us, vs)):
            if u == v and u in self.rows:
                self.counts["loops"] += 1
            elif v in self.rows.get(u, {}):
                del self.rows[u][v], self.rows[v][u]
            else:
                self.lack(at, missing)

    def set_edge_weights(self, us: list[int], vs: list[int], weights: list[int]) -> None:
        for at, (u, v) in enumerate(zip(us, vs)):
            if u == v and u in self.rows:
                self.counts["loops"] += 1
            elif v in self.rows.get(u, {}):
                self.rows[u][v] = self.rows[v][u] = weights[at]
            else:
                self.refuse(at)

    def packed(self) -> list[list[int]]:
        """Ids, offsets, targets, weights and vertex weights of the living, by place."""
        ids = sorted(self.rows)
        place = {v: at for at, v in enumerate(ids)}
        rows = [sorted((place[v], weight) for v, weight in self.rows[u].items()) for u in ids]
        offsets = np.cumsum([0, *map(len, rows)]).tolist()
        return [ids, offsets, [v for row in rows for v, _ in row],
                [weight for row in rows for _, weight in row], [self.weights[u] for u in ids]]


def packed(edited: EditableGraph) -> list[list[int]]:
    """The same of what is tested."""
    graph = edited.graph()
    host = graph.space.to_host
    ones = [np.ones(graph.num_arcs, int), np.ones(graph.num_vertices, int)]
    weights = [one if array is None else host(array) for one, array in
               zip(ones, (graph.weights, graph.vertex_weights))]
    return [array.tolist() for array in (edited.ids, host(graph.offsets), host(graph.targets),
                                         *weights)]


def random_calls(rng: random.Random, model: Any, batch: Any, errors: bool,
                 checked_request: Any) -> list[Any]:
    """Give a batch some random calls, most of them valid one by one, and list them.

    Parameters
    ----------
    errors : bool
        Whether some may be refused.
    checked_request : callable
        ``checked_request(rng, model, batch, errors)`` makes one call and says what it was.
    """
    after = copy.deepcopy(model)
    calls: list[Any] = []
    for _ in range(rng.randrange(1, 6)):
        calls.append(checked_request(rng, after, batch, errors))
        after.refusal(calls[-1:])
    return calls


def random_weights(rng: random.Random, count: int) -> list[int]:
    """Small weights, and large ones now and then."""
    return [2**33 if rng.random() < 0.02 else rng.randrange(5) for _ in range(count)]


def random_call(rng: random.Random, model: GraphModel, batch: Any, errors: bool) -> Any:
    """One call to a batch, and what it was."""
    kind = rng.choice(["insert_vertices", "delete_vertices", "set_vertex_weights", "insert_edges",
                       "insert_edges", "insert_edges", "delete_edges", "delete_edges",
                       "set_edge_weights"])
    count = rng.choice([0, 1, 1, 2, 5])
    weights = random_weights(rng, count)
    missing = rng.choice(["raise", "ignore"]) if errors else "ignore"
    if kind == "insert_vertices":
        given = None if rng.random() < 0.5 else weights
        ids = batch.insert_vertices(given, count).tolist()
        return (kind, ids, [1] * count if given is None else weights)
    here = sorted(model.rows)
    anywhere = range(batch.owner.vertices.count)
    known = list(anywhere) if errors and rng.random() < 0.3 else here
    if not known:
        known, count = [], 0
    ids = [rng.choice(known) for _ in range(count)]
    if kind == "delete_vertices":
        ids = ids[: 1 if rng.random() < 0.7 else None]
        batch.delete_vertices(ids, missing=missing)
        return (kind, ids, missing)
    if kind == "set_vertex_weights":
        batch.set_vertex_weights(ids, weights[: len(ids)] or [])
        return (kind, ids, weights)
    edges = [(u, v) for u in here for v in model.rows[u]]
    if kind == "insert_edges" or (errors and rng.random() < 0.2) or not edges:
        if kind == "set_edge_weights" and not errors:
            ids = []
        others = [rng.choice(known) for _ in ids]
    else:
        chosen = [rng.choice(edges) for _ in range(count)]
        ids, others = [u for u, _ in chosen], [v for _, v in chosen]
    weights = weights[: len(ids)]
    if kind == "insert_edges":
        given = None if rng.random() < 0.5 else weights
        batch.insert_edges(ids, others, given)
        return (kind, ids, others, given)
    if kind == "delete_edges":
        batch.delete_edges(ids, others, missing=missing)
        return (kind, ids, others, missing)
    batch.set_edge_weights(ids, others, weights)
    return (kind, ids, others, weights)
