"""A partition follows the edits of a graph: its accounts are exact, and nothing else has a say."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from portpart import generators
from portpart.algorithms.edits.editable import EditableGraph
from portpart.api.bounds import LimitRule
from portpart.api.call_options import CallOptions
from portpart.backends.cpu.program import CpuExecutable
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError, OutOfMemory
from portpart.graphs.graph import Graph
from portpart.graphs.row_store import HALF_MORE, RowGrowth, bucket_list
from portpart.sessions.file import first_request
from portpart.sessions.levels import SessionOptions
from portpart.sessions.session import Session
from portpart.sessions.state import SessionState
from tests import oracles
from tests.algorithms.edits.test_edit_states import CPU, Short
from tests.helpers.edit_models import GraphModel, packed, random_call, random_calls
from tests.helpers.graphs import random_graph
from tests.helpers.spaces import check_rooms

K = 3


def rounds_on(space: ExecutionSpace, graph: Graph, growth: RowGrowth = HALF_MORE,
              price: Fraction = Fraction(1), fixed: Any = None, sizes: Any = None,
              target: Any = None) -> SessionState:
    """The rounds of a graph on a space, from one and the same partition."""
    options = SessionOptions(0.1, target, 0, price, escalates=False)
    request = first_request(graph, CallOptions(K, imbalance=0.1, target=target, preset="fast",
                                               fixed=fixed))
    part, _ = request.partition(request.problem)
    given = request.problem.constraints.fixed
    return SessionState(request, EditableGraph(graph.to(space), growth), space.asarray(part),
                        None if sizes is None else space.asarray(sizes),
                        None if given is None else space.asarray(given), options)


def drawn() -> Graph:
    return random_graph(60, 150, 3, weighted=True, vertex_weighted=True)


def play(rounds: SessionState, move_order: int, seed: int, look: Any, efforts: Any = ("local",
         )) -> None:
    """Apply random batches, refused ones among them, and look after each."""
    rng = random.Random(seed)
    model = GraphModel(rounds.edited.graph())
    for turn in range(move_order):
        batch = rounds.edited.batch()
        calls = random_calls(rng, model, batch, turn % 4 == 3, random_call)
        if model.refusal(calls) is None:
            done = rounds.apply(batch, efforts[turn % len(efforts)])[1]
        else:
            state = positions(rounds)
            with pytest.raises(InputError):
                rounds.apply(batch, "local")
            assert same(state, positions(rounds))
            done = None
        look(rounds, model, done)


def positions(rounds: SessionState) -> list[Any]:
    """All that a session shows."""
    return [oracles.host(rounds.incremental.existing_part()).tolist(), rounds.last.cost,
            rounds.last.weights.tolist(), *packed(rounds.edited)]


def same(one: list[Any], other: list[Any]) -> bool:
    """Whether nothing has changed, but for ids that were given out and are not alive."""
    length = max(len(one[0]), len(other[0]))
    padded = [[part + [-1] * (length - len(part)), *rest] for part, *rest in (one, other)]
    return padded[0] == padded[1]


def check_accounts(rounds: SessionState, model: GraphModel, done: Any) -> None:
    """Cost, weights and blocks are those of the model and the blocks of its vertices."""
    part = oracles.host(rounds.incremental.existing_part())
    alive = sorted(model.rows)
    assert sorted(np.flatnonzero(part >= 0).tolist()) == alive
    cut = sum(weight for u in alive for v, weight in model.rows[u].items()
              if u < v and part[u] != part[v])
    assert rounds.last.cost == cut
    weights = np.zeros(K, np.int64)
    for u in alive:
        weights[part[u]] += model.weights[u]
    assert rounds.last.weights.tolist() == weights.tolist()


def test_accounts_are_those_of_the_edits(space: ExecutionSpace) -> None:
    play(rounds_on(space, drawn()), 40, 1, check_accounts, ("local", "local", "none"))
    check_rooms(space)


@pytest.mark.parametrize("case", ["price 0", "price 5", "fixed", "sizes", "target"])
def test_accounts_are_exact_whatever_is_wanted(case: str) -> None:
    graph, rng = drawn(), np.random.default_rng(4)
    wanted: dict[str, Any] = {
        "price 0": {"price": Fraction(0)}, "price 5": {"price": Fraction(5)},
        "fixed": {"fixed": rng.integers(-1, K, 60)}, "sizes": {"sizes": rng.integers(0, 9, 60)},
        "target": {"target": [1, 2, 3]}}[case]
    play(rounds_on(CPU, graph, **wanted), 60, 2, check_accounts)


def test_every_space_finds_the_same_blocks(space: ExecutionSpace) -> None:
    seen: list[Any] = []
    play(rounds_on(CPU, drawn()), 30, 5, lambda rounds, model, done: seen.append(
        positions(rounds)))
    play(rounds_on(space, drawn()), 30, 5, lambda rounds, model, done: check_next(seen, rounds))
    assert not seen


GROWTHS = {"buckets": bucket_list(), "roomy": bucket_list(3), "tight": RowGrowth(100, 1, 1, 0),
           "wide": RowGrowth(150, 8, 4, 0, 0)}


@pytest.mark.parametrize("growth", GROWTHS)
def test_where_rows_lie_decides_nothing(growth: str) -> None:
    one, other = rounds_on(CPU, drawn()), rounds_on(CPU, drawn(), GROWTHS[growth])
    seen: list[Any] = []
    play(one, 30, 6, lambda rounds, model, done: seen.append(positions(rounds)))
    play(other, 30, 6, lambda rounds, model, done: check_next(seen, rounds))
    assert not seen


def check_next(seen: list[Any], rounds: SessionState) -> None:
    assert positions(rounds) == seen.pop(0)


def test_what_is_known_is_what_would_be_found_anew() -> None:
    """After each round, rounds that begin with the same graph and blocks go on alike."""
    rounds = rounds_on(CPU, drawn(), price=Fraction(1))
    rng, model, compared = random.Random(8), GraphModel(drawn()), 0
    for _ in range(30):
        cold = SessionState(rounds.request, rounds.edited, CPU.copy(rounds.incremental.part), None,
                            None,
                            rounds.options)
        assert cold.last.cost == rounds.last.cost
        assert (cold.last.weights == rounds.last.weights).all()
        mark = rounds.mark()
        batch = rounds.edited.batch()
        calls = random_calls(rng, model, batch, False, random_call)
        assert model.refusal(calls) is None
        cold.incremental.reserve()
        update, _ = rounds.apply(batch, "local")
        warm = oracles.host(rounds.incremental.existing_part()).tolist()
        cold.incremental.follow(update)
        if cold.feasible:  # else vertices have been moved one by one besides
            assert oracles.host(cold.incremental.existing_part()).tolist() == warm
            assert cold.last[:-1] == rounds.last[:-1]
            compared += 1
        del mark
    assert compared > 25


def test_work_arrays_are_not_made_anew_for_each_round() -> None:
    """That would take longer than a round of few edits."""
    rounds, runs = rounds_on(CPU, drawn()), []
    model, rng = GraphModel(drawn()), random.Random(3)
    for _ in range(4):
        batch = rounds.edited.batch()
        assert model.refusal(random_calls(rng, model, batch, False, random_call)) is None
        rounds.apply(batch, "local")
        runs.append(rounds.incremental.refiner.run)
    assert runs[1] is runs[2] is runs[3]


def test_bounds_are_found_again_only_where_the_sum_of_weights_is_another(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding them may try to fill blocks with vertices of all weights."""
    rounds, found = rounds_on(CPU, drawn()), list[int]()
    find = rounds.rule.bounds
    monkeypatch.setattr(LimitRule, "bounds", lambda self, total, *given: (
        found.append(total), find(total, *given))[1])
    for turn in range(4):
        batch = rounds.edited.batch()
        batch.insert_edges([turn], [turn + 30])
        if turn == 2:
            batch.set_vertex_weights([5], [9])
        rounds.apply(batch, "local")
        assert rounds.feasible
    assert found == [rounds.edited.vertices.total_weight]


def test_a_round_is_told_how_many_vertices_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU takes as many threads as that asks for."""
    told: list[int] = []
    run = CpuExecutable.run

    def spied(self: Any, bindings: Any, size: int, sizes: Any = None) -> None:
        told.append(size)
        run(self, bindings, size, sizes)

    rounds = rounds_on(CPU, drawn())
    batch = rounds.edited.batch()
    batch.insert_edges(np.arange(20), np.arange(20, 40))
    monkeypatch.setattr(CpuExecutable, "run", spied)
    rounds.apply(batch, "local")
    assert len(told) == 2  # the batch, and what follows it
    assert min(told) >= 40


def test_undo_brings_back_graph_and_blocks() -> None:
    rounds = rounds_on(CPU, drawn())
    marks = [(rounds.mark(), positions(rounds))]

    def remember(rounds: SessionState, model: GraphModel, done: Any) -> None:
        marks.append((rounds.mark(), positions(rounds)))

    play(rounds, 24, 9, remember, ("local", "none", "cycle", "local", "full", "auto"))
    for at in (20, 20, 13, 7, 0):
        rounds.undo(marks[at][0])
        assert same(positions(rounds), marks[at][1])
    with pytest.raises(InputError, match="the mark belongs to"):
        rounds.undo(marks[13][0])
    play(rounds, 8, 10, check_accounts)


def test_a_high_price_keeps_all_where_they_are() -> None:
    rounds = rounds_on(CPU, generators.grid_2d(20, 20), price=Fraction(10**6))
    rng = np.random.default_rng(2)
    before = oracles.host(rounds.incremental.existing_part())
    for _ in range(10):
        batch = rounds.edited.batch()
        batch.insert_edges(*rng.integers(0, 400, (2, 30)))
        done = rounds.apply(batch, "local")[1]
        assert done.moved == done.migration == 0
    assert (oracles.host(rounds.incremental.existing_part()) == before).all()


def test_moves_and_what_they_carry_are_counted() -> None:
    sizes = np.arange(400) % 7
    rounds = rounds_on(CPU, generators.grid_2d(20, 20), price=Fraction(0), sizes=sizes)
    rng, moved = np.random.default_rng(2), 0
    for effort in ["local"] * 12 + ["cycle", "full"]:
        before = oracles.host(rounds.incremental.existing_part())
        batch = rounds.edited.batch()
        batch.insert_edges(*rng.integers(0, 400, (2, 60)))
        done = rounds.apply(batch, effort)[1]
        away = oracles.host(rounds.incremental.existing_part()) != before
        assert (done.moved, done.migration) == (away.sum(), sizes[away].sum())
        moved += done.moved
    assert moved > 20


def test_new_vertices_go_where_they_are_tied_to_and_fit() -> None:
    rounds = rounds_on(CPU, generators.grid_2d(20, 20))
    part = oracles.host(rounds.incremental.existing_part())
    batch = rounds.edited.batch()
    chain = batch.insert_vertices(count=3)
    batch.insert_edges([chain[0], chain[0], chain[1], chain[2]], [0, 1, chain[0], chain[1]])
    alone = batch.insert_vertices(count=4)
    heavy = batch.insert_vertices(120)
    batch.insert_edges(heavy, 0)
    weights = rounds.last.weights.copy()
    rounds.apply(batch, "none")
    found = oracles.host(rounds.incremental.existing_part())
    assert found[chain].tolist() == [part[0]] * 3
    for v, weight in [*((v, 1) for v in alone), (heavy[0], 120)]:
        assert found[v] == weights.argmin()
        weights[found[v]] += weight


def test_a_vertex_that_comes_and_goes_in_a_batch_weighs_nothing(space: ExecutionSpace) -> None:
    rounds = rounds_on(space, drawn())
    model = GraphModel(rounds.edited.graph())
    for effort in ("none", "local"):
        batch, weights = rounds.edited.batch(), [20, 30, 40]
        new = batch.insert_vertices(weights).tolist()
        gone = [new[1], min(model.rows), new[0]]
        batch.delete_vertices(gone)
        assert model.refusal([("insert_vertices", new, weights),
                              ("delete_vertices", gone, "raise")]) is None
        rounds.apply(batch, effort)
        check_accounts(rounds, model, None)


def test_blocks_that_have_become_too_heavy_are_relieved() -> None:
    rounds = rounds_on(CPU, generators.grid_2d(20, 20))
    batch = rounds.edited.batch()
    batch.set_vertex_weights(np.flatnonzero(
        oracles.host(rounds.incremental.existing_part()) == 1)[:40], 3)
    rounds.apply(batch, "none")
    assert not rounds.feasible
    rounds.apply(rounds.edited.batch(), "local")
    assert rounds.feasible


@pytest.mark.parametrize("effort", ["local", "cycle"])
def test_nothing_has_changed_where_memory_runs_out(effort: str) -> None:
    space = Short()
    rounds = rounds_on(space, generators.grid_2d(6, 6))
    batch = rounds.edited.batch()
    batch.delete_vertices([3, 4])
    batch.insert_edges(batch.insert_vertices([3, 4]).repeat(6), np.arange(20, 32), 2)
    state = positions(rounds)
    for allocations in range(0, 4000, 1 if effort == "local" else 7):
        space.left = allocations
        try:
            rounds.apply(batch, effort)
        except OutOfMemory:
            space.left = 10**9
            rounds.finish()
            assert same(positions(rounds), state)
        else:
            break
    space.left = 10**9
    assert 5 < allocations < 3999
    assert not same(positions(rounds), state)


def test_room_for_vertices_grows() -> None:
    rounds = rounds_on(CPU, generators.grid_2d(6, 6))
    for turn in range(8):
        batch = rounds.edited.batch()
        ids = batch.insert_vertices(count=40 << turn)
        batch.insert_edges(ids, ids - 1)
        rounds.apply(batch, "local")
    part = oracles.host(rounds.incremental.existing_part())
    assert rounds.last.cost == oracles.cut(rounds.edited.graph(), part)
    assert rounds.last.weights.tolist() == np.bincount(part, minlength=K).tolist()
    assert rounds.feasible


def test_new_vertices_cost_little_where_blocks_are_full() -> None:
    """They go where their neighbours are, and others leave a block that is too heavy then."""
    mesh, draw = generators.delaunay(3000, seed=2), np.random.default_rng(4)
    session = Session(mesh, 32, escalate="never", threads=1, seed=1, migration=0)
    begun = session.cut
    for _ in range(25):
        batch, near = session.batch(), draw.choice(3000, 20, replace=False)
        new = batch.insert_vertices(count=20)
        batch.insert_edges(np.tile(new, 2),
                           np.concatenate([near, mesh.targets[mesh.offsets[near]]]))
        assert session.apply(batch).feasible
    assert session.cut <= 1.08 * begun
