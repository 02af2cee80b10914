"""What follows a batch may be begun before it is known what the batch comes to: nothing changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest

import portpart
from portpart.algorithms.edits.apply import Applying
from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError, OutOfMemory
from tests.algorithms.edits.test_edit_states import CPU
from tests.algorithms.incremental.test_incremental import check_next, play, positions, rounds_on
from tests.helpers.edit_models import GraphModel, random_call, random_calls
from tests.helpers.graphs import random_graph
from tests.helpers.net_edit_models import HypergraphModel, random_net_call
from tests.helpers.nets import circuit


@contextmanager
def running_behind() -> Iterator[Counter[str]]:
    """A CPU that is taken for one that launches and goes on; what became of early followings."""
    seen: Counter[str] = Counter()
    end, give_up = Applying.end, IncrementalRefiner.give_up

    def ends(self: Applying) -> Any:
        update = end(self)
        seen["expected"] += self._expected is not None
        seen["prediction held"] += self.prediction_held
        return update

    def gives_up(self: IncrementalRefiner) -> None:
        seen["given up"] += self._before is not None
        give_up(self)

    with (mock.patch.object(CpuSpace, "runs_behind", True),
          mock.patch.object(Applying, "end", ends),
          mock.patch.object(IncrementalRefiner, "give_up", gives_up)):
        yield seen


def state(session: Any) -> list[Any]:
    """All that a session shows."""
    arrays = [array if array is None else array.tolist()
              for array in session.graph().arrays.values()]
    return [session.part.tolist(), session.ids.tolist(), session._value(session.objective),
            session.block_weights.tolist(), *arrays]


def played(graph: Any, seed: int, move_order: int, **wanted: Any) -> list[Any]:
    """States and answers of a session with random batches, refused ones among them.

    Half of them are undone in the end.
    """
    nets = hasattr(graph, "num_nets")
    model, request = ((HypergraphModel(graph), random_net_call) if nets
                      else (GraphModel(graph), random_call))
    session = portpart.Session(graph, 3, imbalance=0.1, device="cpu", threads=1, **wanted)
    rng, seen, begin = random.Random(seed), [], state(session)
    mark = None
    for turn in range(move_order):
        batch = session.batch()
        calls = random_calls(rng, model, batch, turn % 4 == 3, request)
        if turn == move_order // 2:
            begin, mark = state(session), session.mark()
        if model.refusal(calls) is None:
            update = session.apply(batch, ("local", "none", "auto")[turn % 3])
            seen.append((update.moved, update.migration, update.affected, update.effort))
        else:
            with pytest.raises(InputError) as refused:
                session.apply(batch, "local")
            seen.append(str(refused.value))
        seen.append(state(session))
    session.undo(mark)
    assert state(session)[1:] == begin[1:]
    return seen


GRAPHS = {
    "edges": lambda: random_graph(90, 200, 3), "weights": lambda: random_graph(
        90, 200, 3, weighted=True, vertex_weighted=True), "nets": lambda: circuit(80, 7, large=0)}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("wanted", ["usual", "target", "paper"])
def test_sessions_are_the_same(name: str, wanted: str) -> None:
    given: dict[str, Any] = {
        "usual": {}, "target": {"target": [1, 2, 3]},
        "paper": {"algorithm": "ihyperg" if name == "nets" else "igkway"}}[wanted]
    graph = GRAPHS[name]()
    usual = played(graph, 6, 60, **given)
    with running_behind() as seen:
        assert played(graph, 6, 60, **given) == usual
    assert seen["prediction held"] > 5
    assert seen["given up"] > 0  # refused ones, and where more is not as expected


@pytest.mark.parametrize("name", ["edges", "weights"])
def test_every_space_finds_the_same_blocks(space: ExecutionSpace, name: str) -> None:
    seen: list[Any] = []
    play(rounds_on(CPU, GRAPHS[name]()), 30, 5,
         lambda rounds, model, done: seen.append(positions(rounds)))
    with mock.patch.object(type(space), "runs_behind", True):
        play(rounds_on(space, GRAPHS[name]()), 30, 5,
             lambda rounds, model, done: check_next(seen, rounds))
    assert not seen


def test_deaths_that_are_ignored_make_other_bounds_than_expected() -> None:
    graph = random_graph(90, 200, 3)
    sessions = [portpart.Session(graph, 3, imbalance=0.1, device="cpu") for _ in range(2)]

    def kill(session: Any) -> Any:
        batch = session.batch()
        batch.delete_vertices([4, 4, 5, 6], missing="ignore")
        return session.apply(batch, "local")

    usual = kill(sessions[0])
    with running_behind() as seen:
        assert kill(sessions[1]).missing == usual.missing == 1
    assert seen == {"expected": 1, "prediction held": 0, "given up": 1}
    assert state(sessions[0]) == state(sessions[1])
    assert sessions[1].block_weights.sum() == 87


def test_without_memory_to_begin_early_it_is_begun_afterwards() -> None:
    graph = random_graph(90, 200, 3)
    session, other = (portpart.Session(graph, 3, imbalance=0.1, device="cpu") for _ in range(2))
    run = IncrementalRefiner._run

    def short(self: IncrementalRefiner, update: Any, refine: bool, expected: Any = None) -> None:
        if expected is not None:
            raise OutOfMemory("none is left")
        run(self, update, refine)

    batches = [each.batch() for each in (session, other)]
    for batch in batches:
        new = batch.insert_vertices(count=2)
        batch.insert_edges(new, [0, 1])
    other.apply(batches[1], "local")
    with running_behind() as seen, mock.patch.object(IncrementalRefiner, "_run", short):
        session.apply(batches[0], "local")
    assert seen == {"expected": 1, "prediction held": 1, "given up": 1}
    assert state(session) == state(other)


def test_a_batch_that_is_refused_leaves_bounds_as_they_were() -> None:
    session = portpart.Session(random_graph(90, 200, 3), 3, imbalance=0.1, device="cpu")
    incremental = session._rounds.incremental
    total, balance = incremental.total, incremental.refiner.balance
    batch = session.batch()
    batch.insert_vertices(count=40)
    batch.delete_vertices([3, 3])
    with running_behind() as seen, pytest.raises(InputError, match="id 3 does not exist"):
        session.apply(batch)
    assert seen == {"given up": 1}
    assert (incremental.total, incremental.refiner.balance) == (total, balance)
    assert np.array_equal(session.ids, np.arange(90))
