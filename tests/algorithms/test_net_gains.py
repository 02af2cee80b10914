"""Bisections of hypergraphs: gains and cuts after every step are those of plain counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.initial.bisection import (
    begin_level,
    shuffle,
    split_sides,
    splits_of,
    take_order,
)
from portpart.algorithms.initial.bisection_state import Candidates, Handover, Run, Splits
from portpart.algorithms.initial.deep_multilevel import _runs, grown_partitions, start_sizes
from portpart.algorithms.initial.fm_gains import (
    TALLY,
    Attempts,
    Bisection,
    Tally,
    Working,
    find_best_of_groups,
    move_by,
    on_attempt,
)
from portpart.algorithms.initial.growing import begin_growing, grow_side
from portpart.algorithms.initial.net_gains import NETS
from portpart.algorithms.initial.net_prices import PRICE, Incidence, incidence_of
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.initial.project_bisection import choose_for_stray, inherit_side
from portpart.algorithms.initial.two_way import refine_sides
from portpart.algorithms.multilevel.grown import grown_parts, levels_below, with_nets
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import device, int32, int64, kernel, lane, team_array, team_sync
from portpart.graphs.clique_graph import clique_graph
from portpart.graphs.hypergraph import Hypergraph
from tests import net_oracles, oracles
from tests.algorithms.nets import circuit, hypergraph_of, nets_of, weights_of
from tests.algorithms.spaces import launch, reference
from tests.backends.lanes import LanesSpace

OPTIONS = GrowingOptions(candidates=2, max_candidates=2, trials=2, refined_trials=1, passes=3)
BLOCKS = 3
SPLITS = 2

SAMPLES: dict[str, Hypergraph] = {
    "weighted": circuit(40, 3, large=37, weighted=True),
    "plain": circuit(30, 4),
    "wide": circuit(290, 1, large=280),
    "heavy": hypergraph_of([[0, 1, 2, 3], [2, 3], [1, 4, 5], [5], [], [0, 5]], 6,
                           net_weights=[2**50, 3, 2**51, 5, 7, 2**40]),
}


class Bisecting:
    """Candidates in the making, step by step, as the program of a bisection makes them."""

    def __init__(self, space: ExecutionSpace, hypergraph: Hypergraph, team: int = 32) -> None:
        self.space, self.hypergraph, self.team = space, hypergraph.to(space), team
        n = hypergraph.num_vertices
        sizes = start_sizes([n], BLOCKS, OPTIONS)
        rows, begins = splits_of(BLOCKS)
        goals, limits = np.ones(BLOCKS), np.full(BLOCKS, 0.4 * hypergraph.total_vertex_weight)
        self.run = _runs([self.hypergraph], BLOCKS, len(begins) - 1, 5, OPTIONS, 1)[0]
        self.run = Run(space.asarray(self.run.array))
        self.candidates = Candidates.allocate(space, sizes)
        self.attempts = Attempts.allocate(space, sizes)
        coarse = np.random.default_rng(1).integers(0, BLOCKS, 2 * n)
        self.records: dict[str, Any] = {
            "graph": incidence_of(self.hypergraph), "candidates": self.candidates,
            "attempts": self.attempts, "run": self.run,
            "splits": Splits.on(space, rows, begins, goals, limits),
            "handover": Handover(space.asarray(np.arange(n), np.int32),
                                 space.asarray(coarse, np.int32), self.candidates.part)}
        self.launch(2 * n, shuffle)
        self.launch(1, begin_level)

    def launch(self, count: int, step: Any, team: int = 1) -> None:
        """Run a step."""
        launch(self.space, count, step, {**self.records, "_": 0}, team)

    def words(self) -> Run:
        """The state of the run."""
        return Run(oracles.host(self.run.array))

    def grow(self) -> None:
        """Grow all bisections of the level."""
        run = self.words()
        self.launch(int(run.vertices_of_all), begin_growing(NETS), self.team)
        self.launch(int(run.attempts), grow_side(NETS, NETS.scratch(self.team)), self.team)

    def inherit(self) -> None:
        """Take bisections over instead; some vertices are strays."""
        self.run.array[Run.coarse_vertices] = self.hypergraph.num_vertices
        self.run.array[Run.trials] = 1
        self.run.array[Run.attempts] = self.words().splits_of_all
        run = self.words()
        self.launch(int(run.attempts), inherit_side, self.team)
        self.launch(int(run.vertices_of_all), choose_for_stray(NETS), self.team)
        self.begin_keys()

    def begin_keys(self) -> None:
        """Find gains and cuts from sides."""
        run = self.words()
        self.launch(int(run.vertices_of_all), NETS.begin_key)
        self.launch(int(run.nets_of_all), NETS.add_gains, self.team)

    def refine(self) -> None:
        """Refine all bisections of the level."""
        refine = refine_sides(NETS, NETS.scratch(self.team))
        self.launch(int(self.words().attempts), refine, self.team)

    def go_down(self) -> None:
        """Begin the next level of recursion."""
        run = self.words()
        self.launch(int(run.splits_of_all), split_sides, self.team)
        self.launch(int(run.vertices_of_all), take_order)
        self.launch(1, begin_level)

    def check(self, keys: bool = True) -> None:
        """Compare the cut of every attempt, and the gains of its vertices, with plain counting."""
        run, rows, begins = self.words(), *splits_of(BLOCKS)
        n, tally = int(run.vertices), oracles.host(self.attempts.tally)
        order, segment = map(oracles.host, (self.candidates.order, self.candidates.segment))
        sides, known = map(oracles.host, (self.attempts.side, self.attempts.key))
        for i in range(int(run.attempts)):
            attempt, split = i // int(run.splits), begins[int(run.level)] + i % int(run.splits)
            c, (first, _, last, _) = attempt // int(run.trials), rows[split]
            lower, upper = (segment[c * (BLOCKS + 1) + b] for b in (first, last))
            place = slice(attempt * n + lower, attempt * n + upper)
            inside = order[c * n + lower : c * n + upper].tolist()
            side = dict(zip(inside, (sides[place] & 1).tolist(), strict=True))
            shift = int(run.weight_shift)
            cut = tally[TALLY * (attempt * BLOCKS + first) + Tally.cut]
            assert cut == cost(self.hypergraph, side, shift)
            if keys:
                found = known[place] >> int(run.key_bits)
                assert found.tolist() == [gain(self.hypergraph, side, v, shift) for v in inside]


def cost(hypergraph: Hypergraph, side: dict[int, int], shift: int) -> int:
    """What a bisection of some vertices costs."""
    total = 0
    nets = nets_of(hypergraph)
    for row, weight in zip(nets, weights_of(hypergraph.net_weights, len(nets)), strict=True):
        ones = [side[v] for v in row if v in side]
        zeros = len(ones) - sum(ones)
        if 0 < zeros < len(ones):
            price = PRICE * (weight >> shift)
            total += price + price // (len(row) - 1) * zeros * sum(ones)
    return total


def gain(hypergraph: Hypergraph, side: dict[int, int], v: int, shift: int) -> int:
    """What it costs less when v has changed sides."""
    return cost(hypergraph, side, shift) - cost(hypergraph, {**side, v: 1 - side[v]}, shift)


def go_through(bisecting: Bisecting) -> None:
    """All steps, on both levels of recursion."""
    for begin in (bisecting.grow, bisecting.inherit):
        begin()
        bisecting.check()
        bisecting.refine()
        bisecting.check(keys=False)
        bisecting.go_down()


@pytest.mark.parametrize("name", SAMPLES)
def test_gains_and_cuts_follow_every_step(space: ExecutionSpace, name: str) -> None:
    go_through(Bisecting(space, SAMPLES[name]))


@pytest.mark.parametrize(("name", "lanes"), [("weighted", 3), ("plain", 8), ("heavy", 64)])
def test_lanes_share_the_work(name: str, lanes: int) -> None:
    go_through(Bisecting(LanesSpace(lanes), SAMPLES[name], lanes))


move, take_back = move_by(NETS), NETS.take_back


@device
def there_and_back(attempt, split, bisection: Bisection, splits: Splits, graph: Incidence,
                   candidates: Candidates, attempts: Working, run: Run):
    """Move every second vertex, and take all of these moves back but the first two."""
    find_best_of_groups(bisection, attempts)
    made = 0
    for p in range(bisection.lower, bisection.upper, 2):
        here = int64(attempts.side[bisection.own + p] & 1)
        team_sync()
        move(p, here, -1, bisection, graph, candidates, attempts)
        if lane() == 0:
            attempts.moves[bisection.own + bisection.lower + made] = int32(p)
        made += 1
    team_sync()
    return take_back(made, 2, True, bisection, graph, candidates, attempts)


there_and_back_on_attempt = on_attempt(there_and_back)
room = NETS.scratch(32)


@kernel
def wander(i, splits: Splits, graph: Incidence, candidates: Candidates, attempts: Attempts,
           run: Run):
    """There and back at bisection i."""
    working = Working(side=attempts.side, key=attempts.key, moves=attempts.moves,
                      best=attempts.best, tally=attempts.tally, stops=team_array(int32, room),
                      shifts=team_array(int64, room), beside=team_array(int32, room),
                      across=team_array(int32, room), change_beside=team_array(int64, room),
                      change_across=team_array(int64, room))
    there_and_back_on_attempt(i, splits, graph, candidates, working, run)


def check_taking_back(space: ExecutionSpace, name: str) -> None:
    bisecting = Bisecting(space, SAMPLES[name])
    bisecting.inherit()
    before = oracles.host(bisecting.attempts.side) & 1
    bisecting.launch(int(bisecting.words().attempts), wander, bisecting.team)
    assert (before != oracles.host(bisecting.attempts.side) & 1).sum() == 2 * 2
    bisecting.launch(2 * bisecting.hypergraph.num_vertices, forget_marks)
    known = oracles.host(bisecting.attempts.key).copy()
    bisecting.attempts.tally[:] = 0
    bisecting.begin_keys()
    bisecting.check()
    assert np.array_equal(known, oracles.host(bisecting.attempts.key))


@kernel
def forget_marks(i, attempts: Attempts):
    """Leave the side alone."""
    attempts.side[i] &= 1


def test_moves_that_are_taken_back_leave_true_gains(space: ExecutionSpace) -> None:
    check_taking_back(space, "weighted")


def test_lanes_take_back_together() -> None:
    check_taking_back(LanesSpace(5), "weighted")


def grown(space: ExecutionSpace, hypergraph: Hypergraph, k: int) -> np.ndarray:
    """Partitions grown without coarsening."""
    limits = np.full(k, int(1.1 * -(-hypergraph.total_vertex_weight // k)) + 8)
    return oracles.host(grown_partitions([hypergraph.to(space)], [], np.ones(k), limits, 2,
                                         OPTIONS))


def test_all_spaces_grow_the_same(space: ExecutionSpace) -> None:
    hypergraph = circuit(400, 6, large=300, weighted=True)
    assert np.array_equal(grown(space, hypergraph, 6), grown(reference(), hypergraph, 6))


def test_nets_that_fall_apart_are_not_cut(space: ExecutionSpace) -> None:
    """Two halves that share no net come apart, whatever is drawn."""
    random = np.random.default_rng(3)
    rows = [(random.permutation(12)[:4] + 12 * half).tolist() for half in (0, 1) * 20]
    part = grown(space, hypergraph_of(rows, 24), 2)[:24]
    assert len(set(part[:12])) == len(set(part[12:])) == 1
    assert part[0] != part[12]


def test_lower_levels_are_graphs_of_the_same_clusters() -> None:
    hypergraph = circuit(400, 6, large=300, weighted=True)
    options = GrowingOptions(net_levels=2, max_net_size=50, min_vertices=20)
    below = levels_below(clique_graph(hypergraph), options, 3)
    levels = with_nets(hypergraph, below, options)
    assert len(levels) == len(below) > 2
    assert [isinstance(level.graph, Hypergraph) for level in levels] == [
        depth < 2 for depth in range(len(levels))]
    for level, like in zip(levels, below, strict=True):
        assert level.graph.num_vertices == like.graph.num_vertices
        assert level.graph.total_vertex_weight == like.graph.total_vertex_weight
    assert max(map(len, nets_of(levels[0].graph))) <= 50
    cluster = oracles.host(levels[0].cluster)
    coarse = {tuple(sorted(set(cluster[row].tolist()))) for row in nets_of(hypergraph)}
    found = set(map(tuple, nets_of(levels[1].graph)))
    assert found == {row for row in coarse if 2 <= len(row) <= 50}


def best_km1(hypergraph: Hypergraph, k: int, **options: int) -> float:
    """The least km1 of partitions that keep their limit, in the mean of a few seeds."""
    limit = int(1.05 * -(-hypergraph.total_vertex_weight // k))
    found = []
    for seed in range(4):
        growing = GrowingOptions(refined=4, candidates=4, **options)
        balance = Balance(k, limit, hypergraph.total_vertex_weight // k)
        parts = map(oracles.host, grown_parts(hypergraph, balance, growing, seed))
        found.append(min(net_oracles.values(hypergraph, part)["km1"] for part in parts
                         if np.bincount(part, minlength=k).max() <= limit))
    return float(np.mean(found))


def test_nets_that_repeat_the_clique_graph_are_left_to_it() -> None:
    """Of 2,000 nets on 60 vertices a vertex sees 1,200 pins or so, and has at most 59 arcs."""
    random = np.random.default_rng(5)
    crowded = hypergraph_of([random.permutation(60)[:6].tolist() for _ in range(2_000)], 60)
    sparse = circuit(400, 6)

    def parts(hypergraph: Hypergraph, **options: Any) -> list[list[int]]:
        growing = GrowingOptions(min_vertices=8, **options)
        total = hypergraph.total_vertex_weight
        balance = Balance(4, int(0.3 * total), total // 4)
        return [oracles.host(part).tolist() for part in
                grown_parts(hypergraph, balance, growing, 3)]

    assert parts(crowded) == parts(crowded, net_levels=0)
    assert parts(crowded, max_pins_per_arc=100.0) != parts(crowded, net_levels=0)
    assert parts(sparse) == parts(sparse, max_pins_per_arc=100.0)
    assert parts(sparse, max_pins_per_arc=0.0) == parts(sparse, net_levels=0)


def test_what_counts_nets_cuts_less_than_what_counts_edges() -> None:
    """Without nets on any level, growing knows but the clique graph."""
    random = np.random.default_rng(9)
    rows = [(random.integers(0, 300) + random.permutation(30)[: random.integers(2, 12)]) % 300
            for _ in range(900)]
    hypergraph = hypergraph_of([row.tolist() for row in rows], 300)
    assert best_km1(hypergraph, 6, net_levels=9) < best_km1(hypergraph, 6, net_levels=0)
