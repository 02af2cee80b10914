"""Sessions as people use them: graphs and hypergraphs that change, and partitions that follow."""

from __future__ import annotations

import inspect
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.errors import GraphFormatError, InputError
from tests import oracles
from tests.helpers.edit_models import GraphModel, random_call, random_calls
from tests.helpers.graphs import random_graph
from tests.helpers.net_edit_models import HypergraphModel, random_net_call
from tests.helpers.nets import circuit
from tests.oracles import nets as net_oracles

SIGNATURE = {
    "graph": inspect.Parameter.empty, "k": inspect.Parameter.empty, "imbalance": 0.03,
    "objective": None, "preset": "default", "algorithm": None, "device": "auto", "threads": None,
    "seed": 0, "target": None, "fixed": None, "min_block_weight": None, "migration": 0.05,
    "vertex_sizes": None, "escalate": "auto", "progress": None, "initial": None,
    "vertex_weights": None, "edge_weights": None, "net_weights": None, "symmetrize": False,
    "weights": None, "weight_scale": None,
}


def test_the_signature() -> None:
    parameters = inspect.signature(portpart.Session).parameters
    assert {name: each.default for name, each in parameters.items()} == SIGNATURE
    assert all(parameters[name].kind == inspect.Parameter.KEYWORD_ONLY
               for name in list(SIGNATURE)[2:])


def test_a_session_of_a_graph_from_the_first_batch_to_the_last() -> None:
    """Random batches against a dict of dicts: graph, blocks, values and bounds after each."""
    graph = random_graph(120, 300, 5, weighted=True, vertex_weighted=True)
    session, model = portpart.Session(graph, 3, imbalance=0.1), GraphModel(graph)
    rng = random.Random(4)
    efforts = set()
    for turn in range(60):
        batch = session.batch()
        calls = random_calls(rng, model, batch, turn % 5 == 4, random_call)
        part, before = session.part, session.cut
        if model.refusal(calls) is not None:
            with pytest.raises(InputError):
                session.apply(batch)
            assert (session.part[: len(part)] == part).all()
            assert session.cut == before
            continue
        update = session.apply(batch)
        efforts.add(update.effort)
        check_graph(session, model, update)
    assert efforts >= {"local", "cycle"}


def check_graph(session: Any, model: GraphModel, update: Any) -> None:
    made, ids = session.graph(), session.ids
    assert ids.tolist() == sorted(model.rows)
    part = session.part
    assert np.flatnonzero(part >= 0).tolist() == ids.tolist()
    assert session.cut == update.cut == update.value == oracles.cut(made, part[ids])
    weights = oracles.block_weights(made, part[ids], session.k)
    assert session.block_weights.tolist() == update.block_weights.tolist() == weights
    assert update.imbalance == pytest.approx(float(oracles.imbalance_of(weights)))
    assert update.feasible <= oracles.is_balanced(weights, "0.1")


@pytest.mark.parametrize("objective", ["km1", "cut", "soed"])
def test_a_session_of_a_hypergraph(objective: str) -> None:
    nets = circuit(150, 7, large=40)
    session = portpart.Session(nets, 4, imbalance=0.1, objective=objective)
    model, rng = HypergraphModel(nets), random.Random(8)
    for _ in range(25):
        batch = session.batch()
        calls = random_calls(rng, model, batch, False, random_net_call)
        assert model.refusal(calls) is None
        update = session.apply(batch)
        made, part = session.graph(), session.part[session.ids]
        expected = net_oracles.values(made, part)
        for each in (session, update):
            assert {"cut": each.cut, "km1": each.km1, "soed": each.soed} == expected
        assert update.value == expected[objective]
        assert session.ids.tolist() == sorted(model.weights)


def test_values_of_a_state_that_is_gone_are_not_made_up() -> None:
    session = portpart.Session(circuit(60, 3), 2)
    update = session.apply(session.batch())
    assert update.km1 == session.km1
    batch = session.batch()
    batch.insert_vertices()
    session.apply(batch)
    assert update.km1 == update.value
    with pytest.raises(AttributeError, match="no longer known"):
        update.soed  # noqa: B018
    with pytest.raises(AttributeError, match="no km1"):
        portpart.Session(generators.grid_2d(4, 4), 2).km1  # noqa: B018


def test_ids_are_given_out_at_once_and_stay() -> None:
    session = portpart.Session(generators.grid_2d(4, 4), 2)
    first, second = session.batch(), session.batch()
    mark = session.mark()
    assert first.insert_vertices(count=2).tolist() == [16, 17]
    assert second.insert_vertices().tolist() == [18]
    second.delete_edges(0, 15)
    with pytest.raises(InputError, match=r"delete_edges\[0\]"):
        session.apply(second)
    session.apply(first)
    assert len(session.part) == 19
    assert session.part[18] == -1
    assert session.ids.tolist() == list(range(18))
    session.undo(mark)
    assert session.batch().insert_vertices().tolist() == [19]
    assert session.part.tolist()[16:] == [-1] * 4


def test_undo_of_each_effort_is_exact() -> None:
    session = portpart.Session(generators.grid_2d(12, 12), 3)
    rng = np.random.default_rng(3)
    marks = []
    for effort in ("local", "cycle", "full", "none", "auto"):
        marks.append((session.mark(), session.part, session.cut, session.block_weights))
        batch = session.batch()
        batch.delete_vertices(rng.choice(session.ids, 5, replace=False))
        batch.insert_vertices([1, 2, 3])
        session.apply(batch, effort)
    for mark, part, cut, weights in reversed(marks):
        session.undo(mark)
        now = session.part
        assert (now[: len(part)] == part).all()
        assert (now[len(part) :] == -1).all()
        assert (session.cut, session.block_weights.tolist()) == (cut, weights.tolist())
        assert oracles.cut(session.graph(), now[session.ids]) == cut


@pytest.mark.parametrize("kind", ["graph", "hypergraph", "configured"])
def test_a_session_that_was_saved_goes_on_alike(kind: str, tmp_path: Path) -> None:
    wanted: dict[str, Any] = {
        "graph": {"fixed": np.where(np.arange(144) % 40, -1, 1), "migration": "1/3",
                      "vertex_sizes": np.arange(144) % 5, "target": [1, "2.5", 3]},
        "hypergraph": {"objective": "soed", "preset": "fast", "seed": 5},
        "configured": {"preset": portpart.PortpartConfig(), "algorithm": "portpart",
                           "min_block_weight": 3},
    }[kind]
    given = circuit(144, 2, large=30) if kind == "hypergraph" else generators.grid_2d(12, 12)
    one = portpart.Session(given, 3, imbalance=0.1, **wanted)
    play(one, 3, 1)
    one.save(tmp_path / "session.npz")
    other = portpart.Session.load(tmp_path / "session.npz", threads=1)
    assert (one.part == other.part).all()
    for turn, effort in enumerate(["local", "cycle", "auto", "full", "local"]):
        updates = [play(each, 1, turn, effort) for each in (one, other)]
        assert (one.part == other.part).all()
        assert updates[0] == updates[1]


def play(session: Any, turns: int, seed: int, effort: str = "auto") -> list[Any]:
    """Some batches that follow from the session and a seed; what they came to."""
    rng, told = np.random.default_rng(seed), []
    for _ in range(turns):
        batch, ids = session.batch(), session.ids
        new = batch.insert_vertices(rng.integers(1, 3, 4))
        batch.delete_vertices(rng.choice(ids, 3, replace=False), missing="ignore")
        left = np.setdiff1d(ids, batch.calls[-1].first)
        if hasattr(batch, "insert_nets"):
            batch.insert_nets([0, 3, 6], [*rng.choice(left, 4), *new[:2]])
        else:
            batch.insert_edges(new, rng.choice(left, 4), rng.integers(1, 5, 4))
        update = session.apply(batch, effort)
        told.append((update.value, update.block_weights.tolist(), update.moved, update.migration,
                     update.affected, update.effort, update.feasible))
    return told


@pytest.mark.parametrize("kind", ["graph", "hypergraph"])
def test_the_dead_weigh_nothing_in_a_session_that_was_saved(kind: str, tmp_path: Path) -> None:
    """Where no vertex had a weight of its own, and ids were given out that were never born."""
    given = circuit(144, 2) if kind == "hypergraph" else generators.grid_2d(12, 12)
    session = portpart.Session(given, 2)
    session.batch().insert_vertices(count=3)
    batch = session.batch()
    batch.delete_vertices(np.arange(20))
    session.apply(batch)
    session.save(tmp_path / "session.npz")
    loaded = portpart.Session.load(tmp_path / "session.npz", threads=1)
    living = session.part[session.ids]
    for each in (session, loaded):
        assert each.block_weights.tolist() == np.bincount(living, minlength=2).tolist()


def test_files_that_are_no_sessions_are_refused(tmp_path: Path) -> None:
    session = portpart.Session(generators.grid_2d(4, 4), 2)
    session.save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    np.savez(tmp_path / "other.npz", part=np.arange(3))
    for name in ("half.npz", "other.npz"):
        with pytest.raises(GraphFormatError, match=name):
            portpart.Session.load(tmp_path / name)


KILLED = """
import sys, portpart
session = portpart.Session(portpart.generators.grid_2d(300, 300), 2, preset="fast")
print("saved", flush=True)
while True:
    session.save(sys.argv[1])
    print("saved", flush=True)
"""


def test_a_process_that_dies_while_saving_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "session.npz"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline() == "saved\n"
        process.send_signal(signal.SIGKILL)
    assert portpart.Session.load(path).ids.tolist() == list(range(90_000))


def test_threads_take_turns() -> None:
    session = portpart.Session(generators.grid_2d(20, 20), 4)
    failures: list[Exception] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(20):
                batch = session.batch()
                batch.insert_edges(batch.insert_vertices(), rng.integers(0, 400))
                session.apply(batch)
                assert len(session.part) >= 400
        except Exception as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(session.ids) == 480
    assert session.cut == oracles.cut(session.graph(), session.part[session.ids])


def test_a_full_effort_without_a_price_is_a_partition_that_keeps_numbers() -> None:
    graph = generators.grid_2d(20, 20)
    session = portpart.Session(graph, 4, migration=0, seed=3)
    update = session.apply(session.batch(), "full")
    fresh = portpart.partition(graph, 4, seed=3)
    assert update.cut == fresh.cut
    pairs = set(zip(session.part.tolist(), fresh.part.tolist()))
    assert len(pairs) == 4


@pytest.mark.parametrize("algorithm", ["igkway", "jet", "gkway", "gpmetis"])
def test_other_algorithms_begin_and_go_on(algorithm: str) -> None:
    session = portpart.Session(generators.grid_2d(20, 20), 4, algorithm=algorithm)
    for effort in ("auto", "cycle", "full"):
        told = play(session, 4, 3, effort)
        assert all(feasible for *_, feasible in told)
    assert session.cut == oracles.cut(session.graph(), session.part[session.ids])


@pytest.mark.parametrize(("given", "message"), [
    ({"objective": "volume"}, "objective"), ({"migration": -1}, "migration"),
    ({"migration": "much"}, "migration"), ({"escalate": "sometimes"}, "escalate"),
    ({"vertex_sizes": [1, 2]}, "vertex_sizes"), ({"k": 0}, "k is"),
    ({"imbalance": -1}, "imbalance"), ({"fixed": [7] * 16}, "fixed"),
    ({"algorithm": "nothing"}, "algorithm"),
], ids=str)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.Session(**{"graph": generators.grid_2d(4, 4), "k": 2, **given})


def test_efforts_and_marks_are_checked() -> None:
    session = portpart.Session(generators.grid_2d(4, 4), 2)
    with pytest.raises(InputError, match="effort"):
        session.apply(session.batch(), "some")
    with pytest.raises(InputError, match="another graph or session"):
        session.apply(portpart.Session(generators.grid_2d(4, 4), 2).batch())
    with pytest.raises(InputError, match="the mark belongs to"):
        session.undo(portpart.Session(generators.grid_2d(4, 4), 2).mark())


@pytest.mark.parametrize("k", [1, 3, 7])
def test_small_and_empty_graphs(k: int) -> None:
    """From nothing to something and back, with more blocks than vertices now and then."""
    session = portpart.Session(portpart.from_edges([], num_vertices=0), k)
    assert session.cut == 0
    for turn in range(6):
        batch = session.batch()
        if turn < 3:
            new = batch.insert_vertices(count=2)
            batch.insert_edges(new[:1], new[1:])
        else:
            batch.delete_vertices(session.ids[:2])
        update = session.apply(batch)
        part = session.part[session.ids]
        assert update.cut == oracles.cut(session.graph(), part)
        assert session.block_weights.tolist() == np.bincount(part, minlength=k).tolist()
    assert len(session.ids) == 0


def test_partitions_stay_as_good_as_new_ones() -> None:
    """A grid that grows at one side and is taken away at the other."""
    rows, width = 30, 30
    session = portpart.Session(generators.grid_2d(rows, width), 4)
    columns = [np.arange(c, rows * width, width) for c in range(width)]
    for _ in range(30):
        batch = session.batch()
        new = batch.insert_vertices(count=rows)
        batch.insert_edges(new[1:], new[:-1])
        batch.insert_edges(new, columns[-1])
        batch.delete_vertices(columns.pop(0))
        columns.append(new)
        update = session.apply(batch)
        assert update.feasible
    fresh = portpart.partition(session.graph(), 4)
    assert update.cut <= 1.1 * fresh.cut


@pytest.mark.parametrize("algorithm", ["portpart", "igkway"])
def test_every_round_ends_within_the_limits(algorithm: str) -> None:
    """In blocks of few vertices of several weights, whose limits sink; and undo goes back."""
    rng = np.random.default_rng(1)
    graph = portpart.as_graph(generators.delaunay(200, seed=1),
                              vertex_weights=rng.integers(1, 5, 200))
    session = portpart.Session(graph, 8, algorithm=algorithm, escalate="never", device="cpu")
    mark, before = session.mark(), session.part.copy()
    for _ in range(30):
        batch = session.batch()
        batch.delete_vertices(rng.choice(session.ids, 3, replace=False))
        batch.insert_vertices(rng.integers(1, 5, 2))
        update = session.apply(batch)
        assert update.effort == "local"
        assert update.feasible
        now = session.graph()
        limit = oracles.block_weight_limit(now.total_vertex_weight, 8, "0.03")
        part = session.part[session.part >= 0]
        assert max(oracles.block_weights(now, part, 8)) <= limit
        assert update.cut == oracles.cut(now, part)
    session.undo(mark)
    assert np.array_equal(session.part[:200], before)
    assert session.cut == oracles.cut(graph, before)
