"""Sessions in the hands of callers who change their arrays, misread the manual, or ask too much."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.errors import InputError
from tests import oracles

WHOLE: dict[str, Callable[[portpart.Session, Any, Path], Any]] = {
    "apply": lambda session, mark, path: session.apply(session.batch(), "local"),
    "undo": lambda session, mark, path: session.undo(mark),
    "mark": lambda session, mark, path: session.mark(),
    "compact": lambda session, mark, path: session.compact(),
    "save": lambda session, mark, path: session.save(path),
}


@pytest.mark.parametrize("name", WHOLE)
def test_progress_may_look_but_not_change(name: str, tmp_path: Path) -> None:
    """A change in the middle of another leaves sums that are those of neither."""
    session = portpart.Session(generators.grid_2d(20), 4)
    mark, seen = session.mark(), []

    def change(*_: Any) -> None:
        seen.append(session.cut)
        WHOLE[name](session, mark, tmp_path / "session.npz")

    before, batch = oracles.host(session.part), session.batch()
    batch.insert_edges(0, [100, 200, 399])
    with pytest.raises(InputError, match="progress= may only examine it"):
        session.apply(batch, "full", progress=change)
    assert len(seen) == 1
    assert np.array_equal(oracles.host(session.part), before)
    assert session.apply(batch, "full").value == oracles.cut(
        session.graph(), session.part)
    session.undo(mark)
    assert np.array_equal(oracles.host(session.part), before)


def test_the_target_stays_what_it_was() -> None:
    """Callers may use their array for something else."""
    target = np.array([0.25, 0.75])
    session = portpart.Session(generators.grid_2d(8), 2, target=target)
    target[:] = 0.9, 0.1
    update = session.apply(session.batch(), "full")
    assert update.feasible
    assert update.block_weights[0] < update.block_weights[1]


@pytest.mark.parametrize(("migration", "size"), [(2**63, 1), ("1e30", 1), (10**15, 2**40)])
def test_a_price_at_which_sums_overflow_is_refused_at_once(migration: Any, size: int) -> None:
    """Around edits it would give a cut of 19 digits."""
    with pytest.raises(InputError, match="costs may exceed"):
        portpart.Session(generators.grid_2d(30), 4, migration=migration, escalate="never",
                         vertex_sizes=np.full(900, size))


def test_a_price_of_many_digits_is_refused_only_where_all_levels_would_know_it() -> None:
    """Else the first batch that escalates would be refused, and every one after it."""
    price, grid = 0.1 + 0.2, generators.grid_2d(30)
    with pytest.raises(InputError, match="fewer digits"):
        portpart.Session(grid, 4, migration=price, vertex_sizes=np.full(900, 1000))
    for options in ({"escalate": "never"}, {"algorithm": "igkway"}):
        portpart.Session(grid, 4, migration=price, vertex_sizes=np.full(900, 1000), **options)


def test_numbers_of_numpy_are_saved(tmp_path: Path) -> None:
    """A seed and a least weight out of an array are like any other."""
    session = portpart.Session(generators.grid_2d(8), 2, seed=np.int64(3),
                               min_block_weight=np.int64(5))
    session.save(tmp_path / "session.npz")
    again = portpart.Session.load(tmp_path / "session.npz")
    assert np.array_equal(oracles.host(again.part), oracles.host(session.part))


def test_a_call_that_is_refused_leaves_no_weight_in_its_batch() -> None:
    """The next call is not refused for it."""
    session = portpart.Session(generators.grid_2d(8), 2)
    batch = session.batch()
    with pytest.raises(InputError, match=r"reach 2\*\*62"):
        batch.insert_edges(0, [9, 10], [2**61, 2**61])
    batch.insert_edges(0, 9, 7)
    assert session.apply(batch, "none").value == oracles.cut(
        session.graph(), session.part)


@pytest.mark.parametrize("batch", [None, {}, 3])
def test_what_is_no_batch_is_refused(batch: Any) -> None:
    """With an error of the library."""
    session = portpart.Session(generators.grid_2d(4), 2)
    with pytest.raises(InputError, match="batch is"):
        session.apply(batch)


@pytest.mark.parametrize("algorithm", ["portpart", "ihyperg"])
def test_without_effort_nobody_moves(algorithm: str) -> None:
    """Though a vertex has all its nets elsewhere now, or its block is too heavy."""
    nets = portpart.as_hypergraph([[v, (v + 1) % 12] for v in range(12)])
    for heavy in (False, True):
        session = portpart.Session(nets, 2, algorithm=algorithm, imbalance="50%")
        before = oracles.host(session.part)
        here, there = np.flatnonzero(before == 0), np.flatnonzero(before == 1)
        batch = session.batch()
        if heavy:
            batch.set_vertex_weights(here, 9)
        else:
            batch.insert_nets(np.arange(len(there) + 1) * 2,
                              np.stack([np.full(len(there), here[2]), there], 1).ravel())
        update = session.apply(batch, "none")
        assert (update.moved, update.effort) == (0, "none")
        assert np.array_equal(oracles.host(session.part), before)


@pytest.mark.parametrize("objective", ["km1", "soed", "volume", "speed", 3])
def test_an_objective_is_suggested_only_if_sessions_have_it(objective: Any) -> None:
    """The volume of a graph is none of theirs."""
    with pytest.raises(InputError, match="for a session of a graph it must be 'cut'") as caught:
        portpart.Session(generators.grid_2d(4), 2, objective=objective)
    assert "volume" not in str(caught.value).partition(";")[2]
    with pytest.raises(InputError, match="of a hypergraph it must be one of 'km1', 'cut', 'soed'"):
        portpart.Session(portpart.as_hypergraph([[0, 1]]), 1, objective="volume")


@pytest.mark.parametrize(("price", "words"), [("1e300", r"about 1\.00e\+300"),
                                              ("1e-300", "about 1e-300"), ("1e30", f"{10**30}/1")])
def test_a_price_of_hundreds_of_digits_is_not_printed_in_full(price: str, words: str) -> None:
    """Of sessions and of single calls."""
    grid = generators.grid_2d(4)
    for call in (lambda: portpart.Session(grid, 2, migration=price),
                 lambda: portpart.repartition(grid, [0, 1] * 8, 2, migration=price)):
        with pytest.raises(InputError, match=f"migration is {words}: costs may exceed"):
            call()


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_who_pickles_or_copies_a_session_is_told_of_save_and_load(
        copied: Callable[[portpart.Session], Any]) -> None:
    """A shallow copy would share the state, and not notice when the other session changes it."""
    with pytest.raises(InputError, match=r"save\(\).*Session\.load"):
        copied(portpart.Session(generators.grid_2d(4), 2))


@pytest.mark.parametrize(("given", "config"), [
    (generators.grid_2d(4), portpart.IgkwayConfig()),
    (generators.netlist(40, seed=1), portpart.IhypergConfig()),
], ids=["graph", "hypergraph"])
def test_rows_lie_the_same_however_the_algorithm_is_named(given: Any, config: Any,
                                                          tmp_path: Path) -> None:
    """By its name, by its configuration, or by one derived from that, or in a file: in buckets."""
    name, path = type(config).__name__.removesuffix("Config").lower(), tmp_path / "session.npz"
    derived = type("Derived", (type(config),), {})()
    sessions = [portpart.Session(given, 2, **options) for options in (
        {"algorithm": name}, {"preset": config}, {"algorithm": name, "preset": derived})]
    sessions[1].save(path)
    for session in (*sessions, portpart.Session.load(path)):
        batch = session.batch()
        if hasattr(batch, "insert_nets"):
            batch.insert_nets([0, 2], [0, 39])
        else:
            batch.insert_edges(0, 15)
        session.apply(batch)
        capacity = session._rounds.edited.sides[0].store.rows.capacity
        assert int(capacity.max()) == 64  # one bucket for what is there, and a spare one


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_batch_tells_whether_it_was_applied(times: int) -> None:
    """One interrupt waits for the end of the batch; the second one takes the batch back."""
    session = portpart.Session(generators.grid_2d(20), 4)
    before, batch = session.part, session.batch()
    batch.insert_edges(0, [100, 200, 399])

    left = [times]

    def interrupt(*_: Any) -> None:
        if left[0]:
            left[0] -= 1
            os.kill(os.getpid(), signal.SIGINT)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            session.apply(batch, "cycle", progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert batch.applied == (times == 1)
    assert session.graph().num_edges == 760 + (3 if batch.applied else 0)
    if batch.applied:
        with pytest.raises(InputError, match="has been applied already"):
            session.apply(batch)
    else:
        assert np.array_equal(session.part, before)
        session.apply(batch)
    assert session.graph().num_edges == 763
