"""iG-kway's pseudo block: every round of edits ends where a plain loop over the text ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.edits.editable import EditableGraph
from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
from portpart.algorithms.incremental.pseudo import PSEUDO_BLOCK
from portpart.algorithms.incremental.pseudo_rounds import ROUNDS_BY_ID
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.limits import Balance
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.row_store import HALF_MORE, RowGrowth, bucket_list
from tests import oracles
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.spaces import check_rooms, reference

Rows = dict[int, dict[int, int]]

K = 5
SEED = 3


def hashed(v: int) -> int:
    """What orders vertices in late rounds, as a signed number."""
    found = oracles.mixed(v ^ oracles.mixed(SEED))
    return found - 2**64 if found >= 2**63 else found


class Plain:
    """Algorithms 12 and 13 on dicts.

    Parameters
    ----------
    rows : dict
        The neighbours of each living vertex, with weights.
    part : dict
        The block of each vertex that was there before and is alive.
    """

    def __init__(self, rows: Rows, weights: dict[int, int], part: dict[int, int],
                 limits: list[int]) -> None:
        self.rows, self.weights, self.part, self.limits = rows, weights, part, limits
        self.pseudo: set[int] = set()
        self.move_order = self.shortened = 0

    def room(self, b: int) -> int:
        return self.limits[b] - sum(self.weights[v] for v, block in self.part.items() if block == b)

    def leave(self, ends: set[int], fixed: set[int]) -> None:
        """Algorithm 12: the ends of edits, then neighbours of the pseudo block."""
        self.pseudo = set(self.rows) - set(self.part)
        for turn in (1, 2):
            near = {v for u in self.pseudo for v in self.rows[u]}
            asked = (ends if turn == 1 else near) & set(self.part)
            leaving = {v for v in asked if self.pull(v) > 0} - fixed
            for v in leaving:
                del self.part[v]
            self.pseudo |= leaving

    def pull(self, v: int) -> int:
        """Weight of the arcs out of v's block less that of those into it."""
        return sum(-weight if self.part.get(u) == self.part[v] else weight
                   for u, weight in self.rows[v].items())

    def come_back(self) -> None:
        """Algorithm 13, until nobody is in the pseudo block."""
        relaxed, move_order = False, 0
        while self.pseudo:
            rank = {v: v if move_order < ROUNDS_BY_ID else hashed(v) for v in self.pseudo}
            moves = sorted(move for v in self.pseudo
                           if not any(rank[u] < rank[v] for u in set(self.rows[v]) & self.pseudo)
                           for move in self.move(v, relaxed))
            made, move_order = 0, move_order + 1
            for _, v, b in moves:
                if self.weights[v] > self.room(b) and not relaxed:
                    break
                self.part[v] = b
                made += 1
            self.pseudo -= {v for _, v, _ in moves[:made]}
            relaxed = made == 0
            self.shortened += made < len(moves)
        self.move_order = move_order

    def move(self, v: int, relaxed: bool) -> list[tuple[int, int, int]]:
        """Where v goes, behind what moves are sorted by; nothing if it fits nowhere."""
        connections = [0] * len(self.limits)
        for u, weight in self.rows[v].items():
            if u in self.part:
                connections[self.part[u]] += weight
        capacities = [self.room(b) for b in range(len(connections))]
        fitting = [(-connections[b], -room, b) for b, room in enumerate(capacities)
                   if room >= self.weights[v]]
        if fitting:
            return [(min(fitting)[0], v, min(fitting)[2])]
        return [(0, v, capacities.index(max(capacities)))] if relaxed else []


class Twins:
    """A partition that follows edits in a space, and what is known of the graph without it."""

    def __init__(self, space: ExecutionSpace, graph: Graph, part: np.ndarray, slack: float,
                 price: int = 0, growth: RowGrowth = HALF_MORE, fixed: Any = None) -> None:
        self.slack = slack
        self.edited = EditableGraph(graph.to(space), growth)
        self.rows, self.weights = rows_of(graph, np.arange(graph.num_vertices))
        self.fixed = set() if fixed is None else set(np.flatnonzero(fixed >= 0).tolist())
        self.incremental = IncrementalRefiner(
            self.edited, space.asarray(part, np.int32), self.balance, CUT, SEED, price, None,
            None if fixed is None else space.asarray(fixed, np.int32), pieces=PSEUDO_BLOCK)
        self.part = dict(enumerate(part.tolist()))
        self.rebalanced = self.move_order = self.shortened = 0

    def balance(self, total: int) -> Balance:
        limits = [int((1 + self.slack * (b + 1)) * -(-total // K)) for b in range(K)]
        return Balance(K, max(limits), total // K, np.array(limits), np.full(K, total // K))

    def round(self, batch: Any, fits: bool = True) -> None:
        """Apply a batch and compare all that is known; `fits` tells of the limits."""
        self.incremental.reserve()
        last = self.incremental.follow(self.edited.apply(batch))
        ids = self.edited.ids
        rows, weights = rows_of(self.edited.graph(), ids)
        ends = {v for v in rows if rows[v] != self.rows.get(v, {})}
        limits = self.balance(sum(weights.values())).limits.tolist()
        plain = Plain(rows, weights, {v: b for v, b in self.part.items() if v in rows}, limits)
        plain.leave(ends, self.fixed)
        plain.come_back()
        self.move_order, self.shortened = plain.move_order, self.shortened + plain.shortened
        found = oracles.host(self.incremental.existing_part())
        self.part = {v: int(found[v]) for v in rows}
        if all(plain.room(b) >= 0 for b in range(K)):
            assert self.part == plain.part
        else:
            self.rebalanced += 1
        assert {v: self.part[v] for v in self.fixed & set(rows)} == {
            v: plain.part[v] for v in self.fixed & set(rows)}
        by_block = np.bincount([self.part[v] for v in rows], [weights[v] for v in rows], K)
        assert np.array_equal(last.weights, by_block)
        assert last.cost == sum(weight for v, row in rows.items() for u, weight in row.items()
                                if self.part[u] != self.part[v]) // 2
        assert (by_block <= limits).all() == fits
        self.rows, self.weights = rows, weights


def rows_of(graph: Graph, ids: np.ndarray) -> tuple[Rows, dict[int, int]]:
    rows: Rows = {int(v): {} for v in ids}
    for u, v, weight in oracles.arcs(graph):
        rows[int(ids[u])][int(ids[v])] = weight
    return rows, dict(zip(rows, oracles.vertex_weights(graph)))


def weighted_graph(n: int, seed: int, heaviest: int = 3) -> Graph:
    """A mesh with weights, and a vertex with many neighbours."""
    random = np.random.default_rng(seed)
    mesh = portpart.generators.delaunay(n, seed=seed)
    tails = np.repeat(np.arange(n), np.diff(mesh.offsets))
    ends = np.concatenate([np.stack([tails, mesh.targets], 1)[tails < mesh.targets],
                           np.stack([np.full(60, 7), 8 + np.arange(60)], 1)])
    return portpart.from_edges(ends, num_vertices=n, edge_weights=random.integers(1, 5, len(ends)),
                               vertex_weights=random.integers(1, heaviest + 1, n))


def drawn_batch(edited: EditableGraph, random: np.random.Generator, size: int,
                deletions: int = 1, crowd: int = 0) -> Any:
    """Edits of all kinds, and new vertices that crowd into one block."""
    batch, ids = edited.batch(), edited.ids
    pairs = random.choice(ids, (size, 2))
    near = ids[np.minimum(len(ids) - 1, random.integers(0, len(ids), size) + 3)]
    batch.insert_edges(pairs[:, 0], pairs[:, 1], random.integers(1, 6, size))
    new = batch.insert_vertices(random.integers(0, 4, 1 + size // 8))
    batch.insert_edges(np.repeat(new, 2), random.choice(ids, 2 * len(new)))
    batch.insert_edges(new[1:], new[:-1])
    batch.insert_edges(batch.insert_vertices(random.integers(1, 4, crowd)), ids[0],
                       random.integers(1, 4, crowd))
    batch.delete_edges(random.choice(ids, size), near, missing="ignore")
    batch.set_vertex_weights(random.choice(ids, 2, replace=False), [1, 4])
    batch.delete_vertices(random.choice(np.append(ids[2:], new[-1:]), deletions, replace=False))
    return batch


def begun(graph: Graph, seed: int = 2) -> np.ndarray:
    return portpart.partition(graph, K, seed=seed).part


@pytest.mark.parametrize("crowd", [0, 40])
def test_rounds_end_where_the_text_does(space: ExecutionSpace, crowd: int) -> None:
    """Where many want to move to one block, the longest balanced prefix of them does."""
    graph, random = weighted_graph(300, 1), np.random.default_rng(5)
    twins = Twins(space, graph, begun(graph), 0.03)
    for size in (4, 10, 30, 60, 90, 5):
        twins.round(drawn_batch(twins.edited, random, size, crowd=crowd))
    assert twins.rebalanced <= 3
    assert (twins.shortened > 4) == (crowd > 0)
    check_rooms(space)


def test_where_many_die_blocks_are_relieved(space: ExecutionSpace) -> None:
    """Limits sink with the weight of all, and blocks that nobody has edited are too heavy."""
    graph, random = weighted_graph(300, 2), np.random.default_rng(6)
    twins = Twins(space, graph, begun(graph), 0.02)
    for _ in range(6):
        batch = twins.edited.batch()
        living = np.array(sorted(v for v, b in twins.part.items() if b == 0))
        batch.delete_vertices(random.choice(living, 8, replace=False))
        twins.round(batch)
    assert twins.rebalanced > 0


def test_fixed_vertices_stay_and_moves_have_a_price() -> None:
    graph, random = weighted_graph(200, 3), np.random.default_rng(7)
    part = begun(graph)
    fixed = np.where(np.arange(200) % 7 == 0, part, -1)
    twins = Twins(reference(), graph, part, 0.05, price=2, fixed=fixed)
    for size in (20, 40, 60):
        twins.round(drawn_batch(twins.edited, random, size, deletions=0))


def test_the_layout_of_rows_decides_nothing() -> None:
    graph = weighted_graph(300, 4)
    parts = []
    for growth in (HALF_MORE, bucket_list(), RowGrowth(100, 0, 1, 0)):
        random = np.random.default_rng(8)
        twins = Twins(reference(), graph, begun(graph), 0.03, growth=growth)
        for size in (30, 60, 90):
            twins.round(drawn_batch(twins.edited, random, size))
        parts.append(twins.part)
    assert parts[0] == parts[1] == parts[2]


@pytest.mark.parametrize(("weight", "fits"), [(10, True), (80, False)])
def test_who_fits_nowhere_takes_the_block_with_most_room(weight: int, fits: bool) -> None:
    """Others make room for it, or blocks are too heavy for good; all is accounted for."""
    graph = weighted_graph(90, 5, heaviest=1)
    twins = Twins(reference(), graph, begun(graph), 0.03)
    batch = twins.edited.batch()
    new = batch.insert_vertices([weight, weight + 1, weight + 2])
    batch.insert_edges(new, [0, 0, 1])
    twins.round(batch, fits)
    assert twins.rebalanced == 1


def test_a_long_path_of_new_vertices_takes_few_rounds() -> None:
    """Ids ascend along it, so that by id alone each would wait for the one before."""
    graph = weighted_graph(300, 8)
    twins = Twins(reference(), graph, begun(graph), 0.03)
    batch = twins.edited.batch()
    new = batch.insert_vertices(count=600)
    batch.insert_edges(new[1:], new[:-1])
    batch.insert_edges(new[0], 5)
    twins.round(batch)
    assert ROUNDS_BY_ID < twins.move_order < 2 * ROUNDS_BY_ID


@pytest.mark.parametrize("lanes", [2, 3])
def test_lanes_and_the_order_of_items_decide_nothing(lanes: int) -> None:
    graph, random = weighted_graph(90, 6), np.random.default_rng(9)
    twins = Twins(LanesSpace(lanes, seed=lanes), graph, begun(graph), 0.04)
    for size in (10, 30):
        twins.round(drawn_batch(twins.edited, random, size, crowd=30))


def test_sessions_with_it_go_back_and_go_on(tmp_path: Path) -> None:
    """Undo brings back graph and partition, and a saved session goes on as the other one does."""
    graph, random = portpart.generators.delaunay(900, seed=7), np.random.default_rng(10)
    session = portpart.Session(graph, K, algorithm="igkway", device="cpu", migration=0,
                               escalate="never")
    session.save(tmp_path / "session.npz")
    other = portpart.Session.load(tmp_path / "session.npz")
    mark, begun, pairs = session.mark(), session.part.copy(), random.integers(0, 900, (3, 80, 2))
    for now in pairs:
        for each in (session, other):
            batch = each.batch()
            batch.insert_edges(now[:40, 0], now[:40, 1])
            batch.delete_edges(now[40:, 0], now[40:, 1], missing="ignore")
            assert each.apply(batch).effort == "local"
    assert np.array_equal(session.part, other.part)
    assert session.cut == oracles.cut(session.graph(), session.part)
    assert not np.array_equal(session.part, begun)
    session.undo(mark)
    assert np.array_equal(session.part, begun)
    assert session.cut == oracles.cut(graph, begun)
